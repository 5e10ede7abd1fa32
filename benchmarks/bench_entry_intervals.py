"""Coverage and width of intervals for single entries, on generated data and on MovieLens.

$ LIKEWISE_DATA=... python benchmarks/bench_entry_intervals.py
Nominal 95%. Test entries are observations that neither the fit nor the calibration saw. "few" and "many" are the entries of the third of the
rows with the fewest and with the most observations: coverage there is not promised, so it shows what the scaling is for.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from likewise import hold_out, read_ratings
from likewise.errors import LikewiseWarning
from likewise.estimation import MatrixEstimator, entry_intervals, make_estimator
from likewise.estimation.intervals import SCALINGS
from likewise.observations import HoldOut, ObservedMatrix
from likewise.observations.synthetic import clustered

CONFIDENCE, SIMULATIONS, TEST_SHARE = 0.95, 20, 0.2
MOVIELENS = {"MovieLens 100K": "ml-100k/u.data", "MovieLens 1M": "ml-1m/ratings.dat"}


def main() -> None:
    warnings.simplefilter("ignore", LikewiseWarning)
    print(f"{'data':26} {'estimator':9} {'scaling':8} coverage  few    many   mean width / range   tests")
    for share in (0.1, 0.4):
        for name in ("svt", "als"):
            splits = [
                split(clustered(observed_fraction=share, random_state=i).observed, i)
                for i in range(SIMULATIONS)
            ]
            measure(f"generated, p = {share}", name, splits)
    for title, observed in movielens():
        measure(title, "als", [split(observed, 0)])


def split(observed: ObservedMatrix, seed: int) -> HoldOut:
    return hold_out(observed, TEST_SHARE, seed)


def movielens() -> Iterator[tuple[str, ObservedMatrix]]:
    folder = os.environ.get("LIKEWISE_DATA")
    if folder is None:
        print("without LIKEWISE_DATA, not on MovieLens")
        return
    for title, path in MOVIELENS.items():
        yield title, read_ratings(Path(folder) / path, value_range=(1, 5))


def made(name: str) -> MatrixEstimator:
    return make_estimator(name, random_state=0, **({"rank": 10} if name == "als" else {}))


def measure(title: str, name: str, splits: list[HoldOut]) -> None:
    for scaling in SCALINGS:
        found = [_one(held, name, scaling) for held in splits]
        covered, widths, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
        few, many = np.quantile(counts, (1 / 3, 2 / 3))
        print(
            f"{title:26} {name:9} {scaling:8} {covered.mean():8.4f}  {covered[counts <= few].mean():.3f}  "
            f"{covered[counts >= many].mean():.3f}  {widths.mean():.3f}  {covered.size:26,}",
            flush=True,
        )


def _one(held: HoldOut, name: str, scaling: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    observed = held.training
    found = entry_intervals(observed, made(name), confidence=CONFIDENCE, scaling=scaling, random_state=1)
    ends = found.entries(held.rows, held.columns)
    covered = (ends[:, 0] <= held.values + 1e-12) & (held.values <= ends[:, 1] + 1e-12)
    width = float(observed.value_range.high - observed.value_range.low)
    counts = np.diff(observed.values.indptr)
    return covered, (ends[:, 1] - ends[:, 0]) / width, counts[held.rows] / counts.mean()


if __name__ == "__main__":
    main()
