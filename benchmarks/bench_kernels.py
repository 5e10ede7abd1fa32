"""The compiled kernels beside SciPy, in one run: ``python benchmarks/bench_kernels.py [--full]``.

Each number is the best of several runs: *wall* is elapsed time, *cpu* processor time of all threads, which a busy machine
disturbs less. Floors are the same work at the speed this machine was seen to reach:

* memory: bytes of the matrix read once, at the bandwidth of a copy;
* arithmetic: 4 b flops an observation, at the speed of a matrix product in BLAS;
* first cache: the same kernel where every row of the block lies in the first cache.

``--full`` takes 480,189 x 17,770 with 92 million observations instead of a tenth of that. With LIKEWISE_DATA set, all
pairs of MovieLens 1M are compared too, beside SciPy's ``cdist`` on a part of them.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from likewise._kernels import (
    CompressedRows,
    PairWalk,
    absolute_differences,
    adjoint_product,
    forward_product,
    gram_product,
    kernel_info,
    sampled_entries,
    shared_differences,
    squared_differences,
)
from likewise._kernels.backend import run_together
from netflix_shaped import netflix_shaped

RUNS, SECONDS = 40, 6.0
THREADS = kernel_info().threads


def best(task: Callable[[], object]) -> tuple[float, float]:
    """Return the least elapsed and the least processor time of a task, in milliseconds."""
    wall, cpu, end = [], [], time.perf_counter() + SECONDS
    while len(wall) < 3 or (len(wall) < RUNS and time.perf_counter() < end):
        started = time.perf_counter(), time.process_time()
        task()
        wall.append(time.perf_counter() - started[0])
        cpu.append(time.process_time() - started[1])
    return 1e3 * min(wall), 1e3 * min(cpu)


def say(name: str, *figures: object) -> None:
    print(f"{name:44}" + "".join(f"{figure:>12}" for figure in figures), flush=True)


def milliseconds(timed: tuple[float, float]) -> tuple[str, str]:
    return f"{timed[0]:.1f}", f"{timed[1]:.1f}"


def copy_bandwidth() -> float:
    """Bytes a second that a copy on all threads reads and writes."""
    source = np.ones((THREADS, 1 << 24))
    target = np.empty_like(source)

    def copy(number: int, *_: int) -> None:
        np.copyto(target[number], source[number])

    wall, _ = best(lambda: run_together(copy, [(k, k + 1) for k in range(THREADS)]))
    return 2e3 * source.nbytes / wall


def blas_speed(dtype: type) -> float:
    """Flops a second of a matrix product."""
    A = np.ones((1500, 1500), dtype)
    return 2e3 * 1500**3 / best(lambda: A @ A)[0]


def in_first_cache(matrix: sparse.csr_array) -> CompressedRows:
    """The same rows, all of whose entries are in 64 columns."""
    return CompressedRows.from_csr(
        sparse.csr_array((matrix.data, matrix.indices % 64, matrix.indptr), (matrix.shape[0], 64))
    )


def products(matrix: sparse.csr_array, dtype: type, b: int, bandwidth: float) -> None:
    """One block width: SciPy's two products, ours on one thread and on all, ours in the first cache, floors."""
    A = matrix.astype(dtype)
    rows, cached, X = CompressedRows.from_csr(A), in_first_cache(A), np.ones((A.shape[1], b), dtype)
    title, transposed = f"{np.dtype(dtype).name}, b = {b}: ", A.T
    peer = best(lambda: transposed @ (A @ X))
    say(title + "SciPy, A.T @ (A @ X)", *milliseconds(peer))
    for n_threads in dict.fromkeys((1, THREADS)):
        ours = best(lambda n=n_threads: gram_product(rows, X, n_threads=n))
        say(f"  gram_product, {n_threads} threads", *milliseconds(ours), f"{peer[0] / ours[0]:.1f}x")
    quickest = best(lambda: gram_product(cached, X[:64]))
    say("  where every row is in the first cache", *milliseconds(quickest), f"{ours[0] / quickest[0]:.1f}")
    memory = 1e3 * (rows.nbytes + 3 * X.nbytes) / bandwidth
    arithmetic = 1e3 * 4 * A.nnz * b / blas_speed(dtype)
    say("  floors: memory, arithmetic", f"{memory:.1f}", "", f"{ours[0] / memory:.1f}")
    say("", f"{arithmetic:.1f}", "", f"{ours[0] / arithmetic:.1f}")


def parts(matrix: sparse.csr_array) -> None:
    """The other products at width 32, entries of rank 32, and what the layout and a low-rank part cost."""
    rows, b = CompressedRows.from_csr(matrix), 32
    X, Y = (np.ones((size, b), np.float32) for size in matrix.shape[::-1])
    m, n = matrix.shape
    biased = rows.plus_low_rank(np.ones((m, 2)), np.ones((n, 2)))
    say("SciPy, A @ X", *milliseconds(best(lambda: matrix @ X)))
    say("  forward_product", *milliseconds(best(lambda: forward_product(rows, X))))
    say("SciPy, A.T @ Y", *milliseconds(best(lambda: matrix.T @ Y)))
    say("  adjoint_product", *milliseconds(best(lambda: adjoint_product(rows, Y))))
    say("gram_product with a part of rank 2", *milliseconds(best(lambda: gram_product(biased, X))))
    L, R = (np.ones((size, b)) for size in matrix.shape)
    for kernels in ("scipy", "native"):
        os.environ["LIKEWISE_KERNELS"] = kernels
        said = "sampled entries, NumPy" if kernels == "scipy" else "  compiled"
        say(said, *milliseconds(best(lambda: sampled_entries(matrix, L, R))))
    say("preparing the matrix", *milliseconds(best(lambda: CompressedRows.from_csr(matrix))))
    own = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    say(
        "bytes: csr_array, prepared beside it",
        f"{own / 1e6:.0f} MB",
        f"{(rows.nbytes - rows.nnz * 4) / 1e6:.0f} MB",
    )


def pairs(ratings: Path) -> None:
    """All pairs of MovieLens 1M, block by block."""
    users, items, values = np.fromstring(ratings.read_text().replace("::", " "), sep=" ").reshape(-1, 3).T
    matrix = sparse.csr_array(((values - 3) / 2, (users.astype(int) - 1, items.astype(int) - 1)))
    walk, m = PairWalk.from_csr(matrix), matrix.shape[0]
    for compare in (absolute_differences, squared_differences, shared_differences):
        timed = best(lambda f=compare: [f(walk, start, min(start + 512, m)) for start in range(0, m, 512)])
        say(f"{compare.__name__}, all i, j", *milliseconds(timed))
    dense = matrix.toarray()
    part = best(lambda: cdist(dense[:100], dense, "cityblock"))
    say("SciPy cdist, all i, j (from 100 rows)", *milliseconds(tuple(m / 100 * time for time in part)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="92 million observations")
    n_users = 480_189 if parser.parse_args().full else 48_000
    matrix, bandwidth = netflix_shaped(n_users), copy_bandwidth()
    print(f"{kernel_info()}\n{matrix.shape[0]} x {matrix.shape[1]}, {matrix.nnz} observations")
    print(
        f"copy: {bandwidth / 1e9:.1f} GB/s; product in BLAS, float32: {blas_speed(np.float32) / 1e9:.0f} Gflop/s\n"
    )
    say("", "wall ms", "cpu ms", "ratio")
    for dtype, b in ((np.float32, 32), (np.float32, 1), (np.float32, 16), (np.float32, 96), (np.float64, 32)):
        products(matrix, dtype, b, bandwidth)
    parts(matrix)
    ratings = Path(os.environ.get("LIKEWISE_DATA", "")) / "ml-1m" / "ratings.dat"
    if ratings.is_file():
        pairs(ratings)
    else:
        print("LIKEWISE_DATA is not set or has no ml-1m/ratings.dat: pairs are left out")


if __name__ == "__main__":
    main()
