"""What fairness costs: error and measured ratios at every budget for K*, on Experiment 1 and on MovieLens 1M, and whether K* is sound.

    LIKEWISE_DATA=... python benchmarks/bench_frontier.py [--seeds 5] [--only experiment-1]

Each table is one decomposition and all budgets. RMSE is that of a tenth of the observations, hidden before. Soundness: pairs of people
of the fit, drawn at random, and for every feature the worst pair there is, two complete rows that differ in it alone. Times are CPU times.
"""

from __future__ import annotations

import argparse
import os
import resource
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np

import likewise
from likewise.errors import LikewiseWarning
from likewise.estimation import SVT, LowRankEstimate
from likewise.estimation.budget.budget import within_budget
from likewise.fairness import ObservedDistance
from likewise.observations import ObservedMatrix, clustered, hold_out

LEVELS = (0.05, 0.1, 0.2, 0.4)
BUDGETS = (None, 0.9, 0.75, 0.5, 0.35, 0.25, 0.1)
ESTIMATORS = {
    "svt, default": SVT(random_state=0),
    "svt, optimal shrinker": SVT("noise-edge-residual", "optimal-frobenius", random_state=0),
}
RATINGS = {
    "svt, the paper's threshold": SVT("paper-ratings", random_state=0),
    "residuals of biases, sign-flip": SVT("sign-flip", "identity", centering="biases", random_state=0),
    "residuals of biases, cross-validated": SVT(
        "cross-validated", "identity", centering="biases", random_state=0
    ),
}
HEAD = f"{'budget':>8} {'K*':>9} {'RMSE':>8} {'mean D/d':>9} {'similar':>8} {'moved':>7} {'gap':>8} {'exceed':>7} {'largest':>8}"


def table(name: str, observed: ObservedMatrix, estimator: SVT, seed: int = 0) -> list[tuple[float, ...]]:
    """Print the frontier of one estimator on one data set; return (RMSE, K*, similar ratio) of its points."""
    start = process_time()
    found = likewise.frontier(observed, estimator=estimator, random_state=seed)
    seconds = process_time() - start
    training = hold_out(observed, 0.1, seed).training
    free = SVT(**estimator.get_params()).fit(training).estimate_
    print(
        f"\n{name}: rank {free.rank}; {seconds:.1f} s of CPU for the frontier, of which estimate {found.seconds['estimate the matrix']:.1f} s wall"
    )
    print(HEAD)
    k_star = found.unconstrained.k_star
    for point in found:
        estimate = free if point.budget is None else within_budget(free, point.budget)[0]
        exceeding, largest = soundness(estimate, training, point.k_star)
        gap = 0.0 if point.change is None else point.change.gap / max(point.change.distance**2, 1e-300)
        assert point.error is not None
        share = "none" if point.budget is None else f"{point.budget / k_star:.0%}"
        print(
            f"{share:>8} {point.k_star:9.4g} {point.error.rmse:8.4f} {float(point.mean_ratio):9.4f} "
            f"{float(point.similar_ratio):8.4f} {point.moved:7.1%} {gap:8.0e} {exceeding:7d} {largest:8.2%}"
        )
    return [(point.error.rmse, point.k_star, float(point.similar_ratio)) for point in found if point.error]


def soundness(estimate: LowRankEstimate, training: ObservedMatrix, k_star: float) -> tuple[int, float]:
    """Count the pairs that exceed K*, and say how near the nearest comes to it."""
    exceeding, largest = 0, 0.0
    for inputs, outputs in (*random_pairs(estimate, training), *worst_pairs(estimate)):
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(outputs > 0, outputs / (k_star * inputs), 0.0)
        exceeding += int((shares > 1 + 1e-9).sum())
        largest = max(largest, float(shares.max()))
    return exceeding, largest


def random_pairs(
    estimate: LowRankEstimate, training: ObservedMatrix
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield distances of filled rows and of their estimates, for pairs of people of the fit; zero-filled rows where nothing is centred."""
    if estimate.column_offsets is not None:
        return
    distance, n_pairs = ObservedDistance(training), min(20_000, 20_000_000 // training.shape[1])
    rng = np.random.default_rng(0)
    left, right = rng.integers(training.shape[0], size=(2, n_pairs))
    on_working_range = estimate.on_working_range()
    for start in range(0, n_pairs, 2000):
        i, j = left[start : start + 2000], right[start : start + 2000]
        yield (
            distance.between(i, j),
            np.linalg.norm(on_working_range.rows(i) - on_working_range.rows(j), axis=1),
        )


def worst_pairs(estimate: LowRankEstimate, change: float = 1e-4) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield distances of complete rows that differ in one feature, for every feature."""
    n = estimate.shape[1]
    centre = np.zeros(n) if estimate.column_offsets is None else estimate.column_offsets
    middle = np.clip(centre, -0.9, 0.9)
    base = estimate.on_working_range().fold_in(middle[None])
    for start in range(0, n, 500):
        features = np.arange(start, min(start + 500, n))
        rows = np.repeat(middle[None], features.size, axis=0)
        rows[np.arange(features.size), features] += change
        outputs = np.linalg.norm(estimate.on_working_range().fold_in(rows) - base, axis=1)
        yield np.full(features.size, change), outputs


def experiment_1(seeds: int) -> None:
    for level in LEVELS:
        for name, estimator in ESTIMATORS.items():
            halved = []
            for seed in range(seeds):
                observed = clustered(observed_fraction=level, random_state=seed).observed
                if seed == 0:
                    points = table(f"Experiment 1, p = {level:g}, {name}", observed, estimator)
                else:
                    found = likewise.frontier(observed, estimator=estimator, random_state=seed)
                    points = [(p.error.rmse, p.k_star, float(p.similar_ratio)) for p in found if p.error]
                halved.append(points[BUDGETS.index(0.5)][0] / points[0][0] - 1)
            print(
                f"  K* halved, {seeds} seeds: RMSE {np.mean(halved):+.2%} (from {min(halved):+.2%} to {max(halved):+.2%})"
            )


def movielens() -> None:
    folder = os.environ.get("LIKEWISE_DATA")
    if not folder:
        print("\nMovieLens 1M: LIKEWISE_DATA names no folder")
        return
    observed = likewise.read_ratings(Path(folder) / "ml-1m" / "ratings.dat", value_range=(1, 5))
    for name, estimator in RATINGS.items():
        table(f"MovieLens 1M, {name}", observed, estimator)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5, help="of Experiment 1")
    parser.add_argument("--only", choices=["experiment-1", "movielens"])
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        if arguments.only != "movielens":
            experiment_1(arguments.seeds)
        if arguments.only != "experiment-1":
            movielens()
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
