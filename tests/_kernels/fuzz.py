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
    CompressedRows,
    PairWalk,
    absolute_differences,
    adjoint_product,
    forward_product,
    gram_product,
    native,
    native_products,
    sampled_entries,
    shared_differences,
    split_columns,
    squared_differences,
)
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
    rows = CompressedRows.from_csr(matrix, order_columns=bool(rng.integers(2)))
    rows = rows.plus_low_rank(rng.standard_normal((m, rank)), rng.standard_normal((n, rank)))
    X, Y = (rng.standard_normal((size, b)).astype(dtype) for size in (n, m))
    pairs, later = PairWalk.from_csr(matrix), bool(rng.integers(2))
    start, stop = np.sort(rng.integers(0, m + 1, 2)).tolist()
    others = range(*np.sort(rng.integers(0, m + 1, 2)).tolist())
    return [
        gram_product(rows, X, n_threads=n_threads),
        forward_product(rows, X, n_threads=n_threads),
        adjoint_product(rows, Y, n_threads=n_threads),
        absolute_differences(pairs, start, stop, later, n_threads=n_threads, others=others),
        squared_differences(pairs, start, stop, later, n_threads=n_threads, others=others),
        *shared_differences(pairs, start, stop, later, n_threads=n_threads, others=others),
        sampled_entries(matrix, Y, X, n_threads=n_threads),
    ]


def attempt(seed):
    """Try one matrix, malformed or sound, and tell what came of it."""
    rng = np.random.default_rng(seed)
    matrix, malform = random_matrix(rng), rng.random() < 0.6
    matrix = corrupted(matrix, rng) if malform else matrix
    os.environ["LIKEWISE_KERNELS"] = "native"
    split_columns.BIT_COST = rng.choice([0, 2.0**-8, 2.0**-4])
    try:
        CompressedRows.from_csr(matrix)
    except InputError:
        assert malform, matrix
        return "refused"
    results = products_and_distances(matrix, seed)
    os.environ["LIKEWISE_KERNELS"] = "scipy"
    for ours, twin in zip(results, products_and_distances(matrix, seed), strict=True):
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
