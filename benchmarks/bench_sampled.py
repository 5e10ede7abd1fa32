"""Audit 480,189 people by drawn pairs: l1 on zero-filled ratings of Netflix's shape, l2 on outputs of rank 50.

Run ``python benchmarks/bench_sampled.py``. Ratings are generated: as many people, items and ratings as Netflix's, activity and popularity
skewed. All pairs, 1.15e11, are not measured here.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import sparse

from likewise.fairness import ObservedDistance, RowDistance
from likewise.fairness.sampled.measure import measure_sampled

PEOPLE, ITEMS, RATINGS = 480_189, 17_770, 100_480_507


def ratings(people: int, rng: np.random.Generator) -> sparse.csr_array:
    """Draw ratings in [-1, 1]; some fall on the same person and item and count once."""
    activity = rng.lognormal(0, 1.2, people)
    counts = rng.poisson(activity * (RATINGS / PEOPLE * people) / activity.sum()).clip(5, ITEMS // 2)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = (ITEMS * rng.random(indptr[-1], dtype=np.float32) ** 2).astype(np.int32)
    matrix = sparse.csr_array((np.ones(indptr[-1], dtype=np.float32), indices, indptr), shape=(people, ITEMS))
    matrix.sum_duplicates()
    matrix.data = rng.integers(-2, 3, matrix.nnz).astype(np.float64) / 2
    return matrix


def memory(field: str) -> float:
    """Return the memory of the process in GiB: ``VmRSS`` now, ``VmHWM`` at most since it was reset."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[field].split()[0]) / 2**20


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    reference = ObservedDistance(ratings(arguments.people, rng))
    outputs = RowDistance(rng.standard_normal((arguments.people, 50)) * np.linspace(1, 0.1, 50))
    before = memory("VmRSS")
    print(f"{arguments.people:,} people, {reference.values.nnz:,} ratings, {before:.1f} GiB\n")
    print("| population | pairs | seconds | peak beyond data, GiB | mean ratio | violation rate at 0.02 |")
    print("|---|---|---|---|---|---|")
    for population in ("data set", "population"):
        most = arguments.people // 2 * 10 // 11
        for n_pairs in arguments.pairs:
            if population == "population" and n_pairs > most:
                continue
            reset_peak()
            started = perf_counter()
            found = measure_sampled(
                outputs, reference, n_pairs=n_pairs, population=population, lipschitz=0.02, random_state=0
            )
            seconds, rate = perf_counter() - started, found.violations.rate
            row = (
                population,
                f"{n_pairs:,}",
                f"{seconds:.1f}",
                f"{memory('VmHWM') - before:.2f}",
                found.mean_ratio,
                rate,
            )
            print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
