"""All pairs exactly, and the worst of them: MovieLens 1M beside SciPy's `pdist`, and ratings of Netflix's shape.

    LIKEWISE_DATA=... python benchmarks/bench_all_pairs.py [--people 48000] [--seconds 60] [--repeat 3]

MovieLens 1M: l1 on zero-filled ratings and l2 on outputs of 3,706 numbers, stand-ins of the real size (`bench_fairness`). `pdist` runs on some
of the rows and is extrapolated by the number of pairs.

Netflix's shape (generated): l1 on zero-filled ratings, l2 on outputs of rank 50, the ratings projected on directions that one power step finds.
Unless `--seconds` suffice for all of it, streaming measures units of work spread evenly over all pairs; the time for all pairs is extrapolated by
their number and marked ``~``. The sampled audit and the worst pairs are of all people.

Seconds are elapsed time, best of the repeats on MovieLens; CPU seconds, of all threads, are disturbed less by whatever else runs. Memory is the
peak beyond what was held before.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from bench_fairness import best_of, extrapolated_pdist, mixed_outputs
from likewise._kernels import kernel_info
from likewise.fairness import (
    FactorDistance,
    ObservedDistance,
    RowDistance,
    measure_fairness,
    measure_sampled,
    worst_pairs,
)
from likewise.fairness.exact import sweep
from likewise.fairness.exact.accumulated import ReferenceTally, Request, Tally
from likewise.fairness.exact.blocks import Block, all_pairs, pair_count, units
from likewise.fairness.exact.order_statistics import BinnedNumbers
from likewise.fairness.metrics.groups import PairGroups
from likewise.observations import read_ratings
from netflix_shaped import netflix_shaped

RANK = 50
GUESSED_PAIRS_A_SECOND = 5e7


def say(what: str, seconds: str, cpu: str, mib: str, beside: str = "", note: str = "") -> None:
    print(f"{what:<44}{seconds:>10}{cpu:>10}{mib:>8}{beside:>9}  {note}", flush=True)


def timed(what: str, task: Callable[[], object], repeat: int = 1, peer: float | None = None) -> object:
    results: list[object] = []
    cpu = time.process_time()
    seconds, peak = best_of(repeat, lambda: results.append(task()))
    cpu = (time.process_time() - cpu) / repeat
    beside = "" if peer is None else f"{peer / seconds:.0f}x"
    note = "" if peer is None else f"pdist, extrapolated: {peer:.1f} s"
    say(what, f"{seconds:.2f}", f"{cpu:.2f}", f"{peak:.0f}", beside, note)
    return results[-1]


def sums_of_a_block(D: RowDistance, d: ObservedDistance) -> None:
    """CPU nanoseconds a pair of what is added up, on one block that was measured before: best of 20."""
    block = Block(0, 128, 512, 2560)
    place = (block.start, block.stop, block.first, block.last)
    measured, outputs = d.block(*place), D.block(*place)
    everybody = np.arange(d.n_individuals)
    ratio = float(np.median(outputs / measured))
    kinds = {
        "ratios in bins": {},
        "with a condition": {"condition": (ratio, 0.0)},
        "with two groups": {"groups": PairGroups.of(everybody % 2, everybody.size)},
    }
    known = ReferenceTally()
    tasks: dict[str, Callable[[], None]] = {"d in bins": lambda: known.add(block, measured)}
    known.add(block, measured)
    for name, options in kinds.items():
        of_ranks = BinnedNumbers(known.added["bins"], known.largest["bins"]).of_ranks
        tally = Tally(
            Request(everybody, 0.1, (0.5,), **options).thresholds(of_ranks, known.n_pairs, in_bins=True)
        )
        tasks[name] = partial(tally.add, block, measured, outputs)
    for name, task in tasks.items():
        nanoseconds = []
        for _ in range(20):
            begun = time.process_time_ns()
            task()
            nanoseconds.append(time.process_time_ns() - begun)
        print(f"  sums over a block, {name}: {min(nanoseconds) / block.n_pairs:.1f} CPU ns a pair")


def movielens(ratings: Path, repeat: int) -> None:
    observed = read_ratings(ratings, value_range=(1, 5))
    outputs, d = mixed_outputs(observed, 0), ObservedDistance(observed)
    l1 = extrapolated_pdist(observed.scaled().to_dense(), "cityblock")
    l2 = extrapolated_pdist(outputs, "euclidean")
    print(f"\nMovieLens 1M: {observed.shape[0]:,} people, {pair_count(observed.shape[0]):,} pairs")
    say("", "seconds", "CPU s", "MiB", "beside")
    timed("d: l1 of all pairs", lambda: all_pairs(d), repeat, l1)
    timed("D: l2 of all pairs", lambda: all_pairs(RowDistance(outputs)), repeat, l2)
    timed("all metrics, in memory", lambda: measure_fairness(outputs, d), repeat, l1 + l2)
    timed("all metrics, streamed", lambda: measure_fairness(outputs, d, streaming=True), repeat, l1 + l2)
    sums_of_a_block(RowDistance(outputs), d)
    found = timed("worst 100 pairs", lambda: worst_pairs(outputs, d), repeat)
    print(f"  examined {found.n_examined / found.n_pairs:.2%} of the pairs, measured {found.n_measured:,}")


def projected(values: sparse.csr_array) -> FactorDistance:
    """Outputs of rank 50: rows projected on orthonormal directions from one power step."""
    start = np.random.default_rng(0).standard_normal((values.shape[1], RANK))
    directions = np.linalg.qr(values.T @ (values @ start))[0]
    return FactorDistance(values @ directions, directions)


def some_units(n_individuals: int, seconds: float) -> list[Block]:
    """Units spread evenly over all pairs, about as many as the seconds last for; all of them if they do."""
    work = units(n_individuals)
    share = seconds * GUESSED_PAIRS_A_SECOND / pair_count(n_individuals)
    count = min(len(work), max(2, round(share * len(work))))
    return [work[k] for k in np.linspace(0, len(work) - 1, count).round().astype(int)]


def stream_some(D: FactorDistance, d: ObservedDistance, chosen: list[Block]) -> tuple[float, float]:
    """Elapsed and CPU seconds of both passes over some units; working copies are made before."""
    for distance in (D, d):
        distance.block(0, 1, 0, 1)
    every, sweep.units = sweep.units, lambda _: chosen
    try:
        begun, cpu = time.perf_counter(), time.process_time()
        measure_fairness(D, d, streaming=True)
        return time.perf_counter() - begun, time.process_time() - cpu
    finally:
        sweep.units = every


def netflix(people: int, seconds: float) -> None:
    ratings = netflix_shaped(people)
    scaled = (ratings.data.astype(np.float64) - 3) / 2
    values = sparse.csr_array((scaled, ratings.indices, ratings.indptr), shape=ratings.shape)
    D, d, n_pairs = projected(values), ObservedDistance(values), pair_count(people)
    print(f"\nNetflix's shape: {people:,} people, {values.nnz:,} ratings, {n_pairs:,} pairs")
    say("", "seconds", "CPU s", "MiB")
    timed("sampled audit, 100,000 pairs", lambda: measure_sampled(D, d, random_state=0))
    found = timed("worst 100 pairs", lambda: worst_pairs(D, d))
    print(f"  examined {found.n_examined / n_pairs:.2%} of the pairs, measured {found.n_measured:,}")
    chosen = some_units(people, seconds)
    n_measured = sum(unit.n_pairs for unit in chosen)
    elapsed, cpu = stream_some(D, d, chosen)
    say(f"streamed twice, {n_measured / n_pairs:.2%} of the pairs", f"{elapsed:.1f}", f"{cpu:.1f}", "")
    mark, factor = ("~" if n_measured < n_pairs else ""), n_pairs / n_measured
    say("  all pairs", f"{mark}{elapsed * factor:,.0f}", f"{mark}{cpu * factor:,.0f}", "")
    print(f"  {n_measured / elapsed:,.0f} pairs a second, both passes")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=48_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(kernel_info())
    ratings = Path(os.environ.get("LIKEWISE_DATA", "")) / "ml-1m" / "ratings.dat"
    if ratings.is_file():
        movielens(ratings, arguments.repeat)
    else:
        print("LIKEWISE_DATA is not set or has no ml-1m/ratings.dat: MovieLens is left out")
    netflix(arguments.people, arguments.seconds)


if __name__ == "__main__":
    main()
