"""Probabilities of stars at hidden ratings, whether they are right, and how many levels a set has that covers.

$ LIKEWISE_DATA=... python benchmarks/bench_levels.py
MovieLens 100K, its five official splits; least squares of rank 10, its noise .6 of the variance (seed 0). A tenth of the training is set aside.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

import numpy as np

from bench_auto import official_splits
from likewise.estimation import AlternatingLeastSquares, level_probabilities

CONFIDENCES = (0.8, 0.9, 0.95)


def main() -> None:
    folder = os.environ.get("LIKEWISE_DATA")
    if folder is None:
        print("LIKEWISE_DATA names no folder; nothing to measure")
        return
    print(
        "split  RMSE of the estimate, of the expected level  log likelihood, of shares  CPU s  covered and levels in a set at .8, .9, .95"
    )
    for number, (training, (rows, columns, stars)) in enumerate(official_splits(Path(folder) / "ml-100k"), 1):
        began = process_time()
        found = level_probabilities(training, AlternatingLeastSquares(10, noise=0.6, random_state=0))
        seconds = process_time() - began
        errors = [
            float(np.sqrt(np.mean((predicted - stars) ** 2)))
            for predicted in (found.estimate.entries(rows, columns), found.means(rows, columns))
        ]
        level, values = np.searchsorted(found.levels, stars), training.values.data
        shares = np.bincount(np.searchsorted(found.levels, values)) / values.size
        likely = found.entries(rows, columns)[np.arange(stars.size), level]
        sets = [found.sets(rows, columns, confidence) for confidence in CONFIDENCES]
        told = [
            f"{np.mean((low <= stars) & (stars <= high)):.3f} {np.mean(high - low + 1):.2f}"
            for low, high in (ends.T for ends in sets)
        ]
        print(
            f"{number}  {errors[0]:.4f} {errors[1]:.4f}  {np.log(likely).mean():.3f} {np.log(shares[level]).mean():.3f}  {seconds:.1f}  {'  '.join(told)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
