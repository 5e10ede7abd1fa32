"""Feed the compiled kernels random matrices, sound and malformed, and compare them with their twins.

Usage: fuzz.py LIBRARY SECONDS. Run by fuzz_asan.sh with a library built with AddressSanitizer, which ends the process
at the first read or write out of bounds; a malformed matrix has to be refused with an InputError before that.
"""

import ctypes
import os
import sys
import time
from collections import Counter
from functools import partial
from itertools import count

import numpy as np
from scipy import sparse

from likewise._kernels import (
    N_BINS,
    CompressedRows,
    EdgeCounter,
    PairBlock,
    PairLimits,
    PairSums,
    PairWalk,
    absolute_differences,
    add_pairs,
    adjoint_product,
    count_pairs,
    distances_from_products,
    forward_product,
    gram_product,
    pair_lists,
    sampled_entries,
    shared_differences,
    solve_regressions,
    squared_differences,
)
from likewise._kernels.native import library as native
from likewise._kernels.native import products as native_products
from likewise.errors import InputError


def random_matrix(rng):
    m, n = rng.integers(0, 60, 2)
    n = n if rng.random() < 0.99 else rng.integers(60_000, 70_000)
    entries = rng.integers(0, 4 * (m + 1)) if n and m else 0
    where = (rng.integers(0, max(m, 1), entries), rng.integers(0, max(n, 1), entries))
    values = rng.standard_normal(entries) if rng.integers(2) else rng.integers(-2, 3, entries) / 2
    values = values.astype(rng.choice(["f4", "f8"]))
    return sparse.coo_array((values, where), shape=(m, n)).asformat(rng.choice(["csr", "csc", "coo"]))


def corrupted(matrix, rng):
    """Overwrite, cut or extend one of the arrays of a matrix."""
    names = ["row", "col", "data"] if matrix.format == "coo" else ["indptr", "indices", "data"]
    name = rng.choice(names)
    array = getattr(matrix, name).copy()
    fault = rng.integers(0, 4)
    if fault == 0 and array.size:
        array[rng.integers(array.size)] = rng.choice([-1, 1, 7, 100, 2**30, -(2**30)])
    elif fault == 1:
        array = array[: rng.integers(0, array.size + 1)]
    elif fault == 2:
        array = np.concatenate([array, array[:3]])
    else:
        rng.shuffle(array)
    setattr(matrix, name, array)
    return matrix


def products_and_distances(matrix, seed):
    """Run every kernel on a matrix that was accepted."""
    rng = np.random.default_rng(seed)
    m, n = matrix.shape
    b, rank, n_threads = rng.integers(0, 70), rng.integers(0, 3), int(rng.integers(1, 4))
    dtype = rng.choice(["f4", "f8"])
    rows = CompressedRows.from_csr(matrix)
    rows = rows.plus_low_rank(rng.standard_normal((m, rank)), rng.standard_normal((n, rank)))
    X, Y = (rng.standard_normal((size, b)).astype(dtype) for size in (n, m))
    pairs = PairWalk.from_csr(matrix)
    start, stop = np.sort(rng.integers(0, m + 1, 2)).tolist()
    others = range(*np.sort(rng.integers(0, m + 1, 2)).tolist())
    return [
        gram_product(rows, X, n_threads=n_threads),
        forward_product(rows, X, n_threads=n_threads),
        adjoint_product(rows, Y, n_threads=n_threads),
        absolute_differences(pairs, start, stop, others, n_threads),
        squared_differences(pairs, start, stop, others, n_threads),
        *shared_differences(pairs, start, stop, others, n_threads),
        sampled_entries(matrix, Y, X, n_threads=n_threads),
    ]


def sums_over_pairs(seed):
    """Add up distances of all kinds: undefined, zero, negative, infinite, no number, against edges of all kinds."""
    rng = np.random.default_rng(seed)
    start, first = rng.integers(0, 40, 2).tolist()
    block = PairBlock(start, start + int(rng.integers(0, 20)), first, first + int(rng.integers(0, 900)))
    odd = np.array([0.0, -0.0, -1.0, 5e-324, 1.0, 1e308, np.inf, np.nan])
    d, D = (np.where(rng.random(block.shape) < 0.1, rng.choice(odd, block.shape), size) for size in (
        np.abs(rng.standard_normal(block.shape)), rng.random(block.shape)
    ))  # fmt: skip
    edges = [
        np.sort(rng.choice([*odd[:-1], *rng.standard_normal(30)], rng.integers(1, 30))) for _ in range(2)
    ]
    n_groups = int(rng.integers(0, 5))
    limits = PairLimits(
        near=float(rng.choice(odd)),
        epsilon=EdgeCounter(edges[0], "left"),
        histogram=EdgeCounter(edges[1], "right") if rng.integers(2) else None,
        condition=(1.0, 0.1) if rng.integers(2) else None,
        groups=rng.integers(0, n_groups, 1000).astype(np.int32) if n_groups else None,
        n_groups=n_groups,
        in_bins=bool(rng.integers(2)),
    )
    sums, bins, most = PairSums(limits), np.zeros(N_BINS, np.int64), np.zeros(N_BINS)
    packed = bool(rng.integers(2))
    d, D = (block.pairs_of(d), block.pairs_of(D)) if packed else (d, D)
    n_largest, floor = int(rng.integers(0, 2000)), float(rng.choice([-np.inf, 1.0]))
    with np.errstate(all="ignore"):
        worst = add_pairs(sums, limits, block, d, D, n_largest, floor)
    n_known = block.n_pairs - count_pairs(bins, most, block, d)
    assert sums.counts["pairs"] == sums.epsilon_counts.sum() == bins.sum() == n_known
    assert worst["ratio"].size <= n_known
    # Ratios of negative distances, which there are none of elsewhere, are only to do no harm.
    return np.array([sums.counts[name] for name in ("pairs", "zero", "near", "violating")])


def distances_of_products(seed):
    """Expand products of all kinds."""
    rng = np.random.default_rng(seed)
    products = rng.standard_normal(rng.integers(0, 70, 2))
    odd = rng.random(products.shape) < 0.1
    products[odd] = rng.choice([0.0, -np.inf, np.nan, 1e308], odd.sum())
    sizes, others = (rng.random(n) * 9 for n in products.shape)
    with np.errstate(all="ignore"):
        n_cancelled = distances_from_products(products, sizes, others, 1e-9, 0.1)
    assert n_cancelled == np.isnan(products).sum()
    return np.nan_to_num(products, posinf=0.0)


def solutions_of_regressions(seed):
    """Solve systems of all sizes, some of them singular, whose solutions are only to do no harm."""
    rng = np.random.default_rng(seed)
    k, d = rng.integers(0, 40), rng.integers(1, 30)
    means = np.zeros((k, d))
    grams, moments = np.zeros((2, k, d * (d + 1) // 2))
    diagonal = np.cumsum(np.r_[0, np.arange(d, 1, -1)])
    grams[:, diagonal] = rng.exponential(size=(k, d))
    grams[rng.random(k) < 0.1] = np.nan if rng.random() < 0.5 else 0.0
    precision = np.zeros(grams.shape[1])
    precision[diagonal] = rng.random() < 0.9
    ones = np.ones(k)
    n_lost = solve_regressions(grams, rng.normal(size=(k, d)), precision, ones, 0.5, True, means, moments)[-1]
    return np.nan_to_num(means) if n_lost == 0 else np.array([n_lost])


def every_result(matrix, seed):
    return [
        *products_and_distances(matrix, seed),
        sums_over_pairs(seed),
        distances_of_products(seed),
        solutions_of_regressions(seed),
    ]


def attempt(seed):
    """Try one matrix, malformed or sound, and tell what came of it."""
    rng = np.random.default_rng(seed)
    matrix, malform = random_matrix(rng), rng.random() < 0.6
    matrix = corrupted(matrix, rng) if malform else matrix
    os.environ["LIKEWISE_KERNELS"] = "native"
    pair_lists.BIT_COST = rng.choice([0, 2.0**-8, 2.0**-4])
    try:
        CompressedRows.from_csr(matrix)
    except InputError:
        assert malform, matrix
        return "refused"
    results = every_result(matrix, seed)
    os.environ["LIKEWISE_KERNELS"] = "scipy"
    for ours, twin in zip(results, every_result(matrix, seed), strict=True):
        assert np.abs(ours - twin).max(initial=0.0) <= 1e-3 * np.abs(twin).max(initial=1.0), matrix
    return "computed"


def main(library, seconds):
    """Fuzz each instruction set of this processor in turn."""
    native._load = lambda: native.declared(ctypes.CDLL(library))
    native_products._WORK_PER_THREAD = 1
    sets = native.library().likewise_instruction_sets()
    outcomes, end = Counter(), time.monotonic() + seconds
    for seed in count():
        native.instruction_set = partial(int, seed % sets)
        outcomes[attempt(seed)] += 1
        if time.monotonic() > end:
            break
    print(f"{seed + 1} matrices on {sets} instruction sets: {dict(outcomes)}, no error")
    assert min(outcomes["refused"], outcomes["computed"]) > 0


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
