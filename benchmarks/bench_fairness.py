"""Fairness over all 18.2 million pairs of MovieLens 1M, beside SciPy's `pdist` on the dense rows.

    LIKEWISE_DATA=... python benchmarks/bench_fairness.py [--repeat 3]

`pdist` runs on some rows and is extrapolated by the number of pairs, since it takes minutes on all. Outputs are a stand-in of the real size:
for each person the mean of ten people's zero-filled ratings. Best of the repeats; memory is the peak beyond what the data need.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist

from likewise.fairness import ObservedDistance, RowDistance, measure_arms
from likewise.fairness.exact.blocks import all_pairs, pair_count
from likewise.observations import ObservedMatrix, read_ratings

PDIST_ROWS = 600


def resident() -> float:
    """Memory in use, MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def best_of(repeat: int, task: Callable[[], object]) -> tuple[float, float]:
    """Best seconds, and the highest peak of memory beyond the start, MiB."""
    seconds, peak, done = np.inf, 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, resident() - start)

    for _ in range(repeat):
        start = resident()
        done.clear()
        watcher = threading.Thread(target=watch)
        watcher.start()
        begun = time.perf_counter()
        task()
        seconds = min(seconds, time.perf_counter() - begun)
        done.set()
        watcher.join()
    return seconds, peak


def mixed_outputs(observed: ObservedMatrix, seed: int) -> np.ndarray:
    """For each person the mean of ten people's zero-filled ratings."""
    dense = observed.scaled().to_dense()
    groups = np.random.default_rng(seed).integers(len(dense), size=(len(dense), 10))
    return np.stack([dense[group].mean(axis=0) for group in groups])


def extrapolated_pdist(rows: np.ndarray, metric: str) -> float:
    """Seconds of `pdist` on all pairs, from those on some rows."""
    begun = time.perf_counter()
    pdist(rows[:PDIST_ROWS], metric)
    return (time.perf_counter() - begun) * pair_count(len(rows)) / pair_count(PDIST_ROWS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    observed = read_ratings(Path(os.environ["LIKEWISE_DATA"]) / "ml-1m" / "ratings.dat", value_range=(1, 5))
    outputs = [mixed_outputs(observed, seed) for seed in (0, 1)]
    dense = observed.scaled().to_dense()
    distance = ObservedDistance(observed)
    print(
        f"{observed.shape[0]:,} people, {pair_count(observed.shape[0]):,} pairs, {observed.n_observed:,} ratings"
    )
    l1, l2 = extrapolated_pdist(dense, "cityblock"), extrapolated_pdist(outputs[0], "euclidean")
    tasks: dict[str, tuple[Callable[[], object], float]] = {
        "d: l1 on zero-filled ratings": (lambda: all_pairs(distance), l1),
        "d: l2 on zero-filled ratings": (
            lambda: all_pairs(ObservedDistance(observed, "l2")),
            extrapolated_pdist(dense, "euclidean"),
        ),
        "D: l2 on dense outputs": (lambda: all_pairs(RowDistance(outputs[0])), l2),
        "all metrics, one arm": (lambda: measure_arms({"one": outputs[0]}, distance), l1 + l2),
        "all metrics, two arms": (
            lambda: measure_arms({"one": outputs[0], "two": outputs[1]}, distance),
            l1 + 2 * l2,
        ),
    }
    print(f"{'':<32}{'seconds':>10}{'pdist s':>10}{'ratio':>8}{'MiB':>8}")
    for name, (task, peer) in tasks.items():
        seconds, peak = best_of(repeat, task)
        print(f"{name:<32}{seconds:>10.2f}{peer:>10.1f}{peer / seconds:>7.0f}x{peak:>8.0f}")


if __name__ == "__main__":
    main()
