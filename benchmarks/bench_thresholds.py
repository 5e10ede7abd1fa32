"""Which threshold and which shrinker predict best: tau, components, error, and CPU time, on Experiment 1 and on real ratings.

    LIKEWISE_DATA=... python benchmarks/bench_thresholds.py [--seeds 5] [--only experiment-1]

Experiment 1: root mean squared error to the truth A, over all entries, mean of the seeds. Ratings: RMSE in stars of a tenth of the ratings, hidden
before; residuals of biases are decomposed, and not divided by one global share of observed entries, which is wrong where items differ
in how often they are rated.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import likewise
from likewise.errors import LikewiseError, LikewiseWarning
from likewise.estimation import SVT
from likewise.observations import clustered, hold_out

LEVELS = (0.05, 0.1, 0.2, 0.4)
RULES: tuple[tuple[str, str], ...] = (
    ("paper-synthetic", "rescaled"),
    ("released-code", "rescaled"),
    ("adaptive", "rescaled"),
    ("noise-edge", "rescaled"),
    ("noise-edge-residual", "rescaled"),
    ("optimal-hard", "rescaled"),
    ("screenot", "rescaled"),
    ("sign-flip", "rescaled"),
    ("cross-validated", "rescaled"),
    ("noise-edge-residual", "optimal-frobenius"),
    ("noise-edge-residual", "optimal-operator"),
    ("noise-edge-residual", "optimal-nuclear"),
    ("cross-validated", "optimal-frobenius"),
    ("cross-validated", "soft-rescaled"),
)
FOR_RATINGS: tuple[tuple[str, str], ...] = (
    ("adaptive", "identity"),
    ("noise-edge", "identity"),
    ("sign-flip", "identity"),
    ("cross-validated", "identity"),
    ("screenot", "identity"),
    ("noise-edge-residual", "identity"),
    ("optimal-hard", "identity"),
)
KEEPING_TOO_MUCH = {"noise-edge-residual", "optimal-hard"}
"""On a million ratings, whose noise is far from white, these keep a thousand components and take minutes."""
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "MovieLens 100K": ("ml-100k/u.data", {"value_range": (1, 5)}),
    "MovieLens 1M": ("ml-1m/ratings.dat", {"value_range": (1, 5)}),
}


def experiment_1(seeds: int) -> None:
    """Print error to the truth and rank, one line a rule, one column a level."""
    print(f"\nExperiment 1, {seeds} seeds: error (components)")
    print(
        f"{'threshold':22} {'shrinker':18}"
        + "".join(f"{f'p = {level:g}':>16}" for level in LEVELS)
        + f"{'CPU s':>8}"
    )
    for threshold, shrinker in RULES:
        cells, start = [], process_time()
        for level in LEVELS:
            errors, ranks = [], []
            for seed in range(seeds):
                data = clustered(observed_fraction=level, random_state=seed)
                estimate = SVT(threshold, shrinker, random_state=0).fit(data.observed).estimate_
                errors.append(float(np.sqrt(np.mean((estimate.to_dense() - data.truth) ** 2))))
                ranks.append(estimate.rank)
            cells.append(f"{np.mean(errors):8.4f} ({np.mean(ranks):5.1f})")
        spent = (process_time() - start) / (len(LEVELS) * seeds)
        print(f"{threshold:22} {shrinker:18}" + "".join(f"{cell:>16}" for cell in cells) + f"{spent:8.2f}")


def ratings(name: str, path: Path, options: dict[str, Any]) -> None:
    """Print held-out error of residuals of biases at each threshold."""
    split = hold_out(likewise.read_ratings(path, **options), 0.1, 0)
    print(f"\n{name}: {'threshold':22} {'shrinker':10} {'tau':>8} {'rank':>5} {'RMSE':>8} {'CPU s':>8}")
    for threshold, shrinker in FOR_RATINGS:
        if threshold in KEEPING_TOO_MUCH and split.training.n_observed > 500_000:
            continue
        start = process_time()
        try:
            fitted = SVT(threshold, shrinker, centering="biases", random_state=0).fit(split.training)
        except LikewiseError as error:
            print(f"{'':{len(name)}}  {threshold:22} {shrinker:10} {error}")
            continue
        predicted = fitted.estimate_.entries(split.rows, split.columns)
        rmse = float(np.sqrt(np.mean((predicted - split.values) ** 2)))
        spent = process_time() - start
        print(
            f"{'':{len(name)}}  {threshold:22} {shrinker:10} {fitted.threshold_:8.4g} {fitted.rank_:5d} {rmse:8.4f} {spent:8.1f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5, help="of Experiment 1")
    parser.add_argument("--only", choices=["experiment-1", "ratings"])
    arguments = parser.parse_args()
    folder = os.environ.get("LIKEWISE_DATA")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        if arguments.only != "ratings":
            experiment_1(arguments.seeds)
        if arguments.only != "experiment-1" and folder:
            for name, (file, options) in FILES.items():
                ratings(name, Path(folder) / file, options)
    if not folder:
        print("\nratings: LIKEWISE_DATA names no folder")


if __name__ == "__main__":
    main()
