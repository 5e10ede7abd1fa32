"""What observations in blocks cost: fitted on two sizes, held against a third, and a reduce tree of a thousand workers simulated.

    python benchmarks/bench_scaling.py measure --users 5208 20833 52083
    python benchmarks/bench_scaling.py simulate --workers 1000 --items 1000000

Processor seconds, so that other work on the machine matters little. Parts and sorted copies are made in the folder for temporary files
and removed.
"""

from __future__ import annotations

import argparse
import heapq
import math
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

from likewise import read_partitioned
from likewise.engines import engine_of
from likewise.engines.engine import in_tree
from likewise.estimation.base.block_preparation import prepare_blocks
from likewise.observations.partitioned import PartitionedMatrix
from netflix_shaped import netflix_shaped

WIDTHS = 16, 128
LINES_OF_A_PART = 1_500_000
SECONDS_OF_A_BLOCK = 0.071
"""Of two million observations, in a pass of 128 columns, as `measure` found it here."""


def cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@contextmanager
def parts(n_users: int) -> Iterator[Path]:
    """Ratings of Netflix's shape in Parquet parts, lines in random order."""
    matrix = netflix_shaped(n_users)
    rows = np.repeat(np.arange(n_users), np.diff(matrix.indptr))
    order = np.random.default_rng(0).permutation(matrix.nnz)
    with tempfile.TemporaryDirectory() as folder:
        for number, lines in enumerate(np.array_split(order, math.ceil(matrix.nnz / LINES_OF_A_PART))):
            frame = pl.DataFrame(
                {"user": rows[lines], "item": matrix.indices[lines], "rating": matrix.data[lines]}
            )
            frame.write_parquet(Path(folder) / f"{number:04}.parquet")
        yield Path(folder)


def measure(n_users: list[int], n_workers: int) -> None:
    """Fit seconds = a + b observations on all sizes but the last, and predict that."""
    found: dict[str, list[tuple[int, float]]] = {}
    for users in n_users:
        with parts(users) as folder:
            begun = cpu_seconds()
            with read_partitioned(folder, value_range=(1, 5), engine="threads") as observed:
                found.setdefault("sort", []).append((observed.n_observed, cpu_seconds() - begun))
                for width in WIDTHS:
                    seconds = pass_seconds(observed, width)
                    found.setdefault(f"pass of {width} columns", []).append((observed.n_observed, seconds))
    for name, points in found.items():
        sizes, seconds = np.array(points).T
        slope, intercept = np.polyfit(sizes[:-1], seconds[:-1], 1)
        predicted = intercept + slope * sizes[-1]
        print(
            f"{name:20} {slope * 1e9:7.1f} ns an observation + {intercept:6.3f} s; "
            f"{sizes[-1] / 1e6:.1f}M: predicted {predicted:.2f} s, measured {seconds[-1]:.2f} s"
        )
    print(f"{n_workers} processors")


def pass_seconds(observed: PartitionedMatrix, width: int, repeats: int = 3) -> float:
    """The least of some passes ``A^T (A X)``."""
    operator = prepare_blocks(observed, "symmetric", "none").operator
    X = np.random.default_rng(0).standard_normal((observed.shape[1], width)).astype(np.float32)
    best = math.inf
    for _ in range(repeats):
        begun = cpu_seconds()
        operator.gram(X)
        best = min(best, cpu_seconds() - begun)
    return best


def simulate(n_workers: int, n_items: int, width: int, gigabits: float, latency: float, blocks: int) -> None:
    """Time one reduction: each worker adds up its blocks, then sums travel along the tree; a link carries one message at a time.

    Nothing is computed but the times; the tree is the one that engines use.
    """
    message = 4 * n_items * width
    wire = message / (gigabits * 1e9 / 8) + latency
    adding = message / 5e9  # float32 additions read and write some 5 GB/s
    rng = np.random.default_rng(0)
    spread = rng.gamma(50.0, 1 / 50.0, (n_workers, blocks))  # give or take 14% a block
    work = SECONDS_OF_A_BLOCK * spread.sum(axis=1)
    sent = 0
    busy = dict.fromkeys(range(n_workers), 0.0)

    def add(left: tuple[int, float], right: tuple[int, float]) -> tuple[int, float]:
        nonlocal sent
        sent += message
        begins = max(left[1], right[1], busy[left[0]])
        busy[left[0]] = begins + wire + adding
        return left[0], busy[left[0]]

    _, end = in_tree([(worker, float(work[worker])) for worker in range(n_workers)], add)
    down = broadcast(n_workers, wire)
    print(
        f"{n_workers:,} workers, {n_items:,} items x {width} columns: messages of {message / 2**20:,.0f} MiB"
    )
    print(f"  slowest worker {work.max():.1f} s, sum complete after {end:.1f} s, broadcast {down:.1f} s")
    print(
        f"  {2 * sent / 2**30:,.0f} GiB over the network a pass, {message * 2 / 2**30:.2f} GiB a worker at most in hand"
    )


def broadcast(n_workers: int, wire: float) -> float:
    """Time until all have it where whoever has it passes it on."""
    holders, done = [0.0], 1
    while done < n_workers:
        free = heapq.heappop(holders) + wire
        heapq.heappush(holders, free)
        heapq.heappush(holders, free)
        done += 1
    return max(holders)


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--users", type=int, nargs="+", default=[5208, 20833, 52083])
    simulating = commands.add_parser("simulate")
    for name, default in (("workers", 1000), ("items", 1_000_000), ("width", 128), ("blocks", 48)):
        simulating.add_argument(f"--{name}", type=int, default=default)
    simulating.add_argument("--gigabits", type=float, default=10.0)
    simulating.add_argument("--latency", type=float, default=5e-4)
    given = parser.parse_args()
    if given.command == "measure":
        measure(given.users, engine_of("threads").n_workers)
    else:
        simulate(given.workers, given.items, given.width, given.gigabits, given.latency, given.blocks)


if __name__ == "__main__":
    main()
