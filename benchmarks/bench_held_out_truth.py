"""Fairness on the truth where the truth is known: coverage of intervals, the order of arms, correlations freed of noise.

    python benchmarks/bench_held_out_truth.py [--data-sets 1000] [--simulations 3] [--splits 1] [--only 4] [--least 15 8 4 2]

Coverage: outputs that follow A with noise, 80 people; the target is what 1,500 people of the same kind give. Then Experiments 1, 3 and 4 of the paper: the gap of h, of
estimates, and the correlation of D^2 and d^2, by what was kept aside and by A itself on the same pairs; last, by how much the correlation is off over all simulations
of a cell: the mean with its standard error, the root mean square, and how often the 95% interval holds the one by A. Pairs have the first number of features in common
that gives enough of them.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy import sparse

from likewise import make_estimator
from likewise.errors import InputError
from likewise.fairness.held_out import MeasuredSplit, ReferencePairs, measure_held_out, reference_pairs
from likewise.inference import as_model
from likewise.observations import hold_out
from likewise.observations.synthetic import ClusteredData
from likewise.pipeline.held_out import kept_aside
from likewise.reproduction.experiments import EXPERIMENTS

METRICS = ("relative_gap", "rank_correlation", "corrected_correlation", "mean_ratio")
LEVELS = {"1": (0.2, 0.4), "3": (0.2, 0.4), "4": (400, 800)}


def measured(m: int, features: np.ndarray, rng: np.random.Generator, n_splits: int):
    """Draw people, observe all of them with noise twice as large as in outputs, keep a half aside in every split."""
    A = rng.normal(size=(m, 2)) @ features
    Z = A + rng.normal(size=A.shape)
    splits = []
    for _ in range(n_splits):
        aside = rng.random(A.shape) < 0.6
        i, j = np.nonzero(aside)
        pairs = reference_pairs(sparse.csr_array((Z[aside], (i, j)), shape=A.shape), least_shared=10, rng=rng)
        seen = np.where(aside, 0.0, Z)
        splits.append(MeasuredSplit(pairs, {"outputs": seen @ features.T}))
    return measure_held_out(splits, rng=rng).arms["outputs"]


def coverage(n_data_sets: int, n_splits: int) -> None:
    features = np.random.default_rng(0).normal(size=(2, 60))
    large = [measured(1500, features, np.random.default_rng(10**6 + seed), 1) for seed in range(4)]
    targets = {name: np.mean([getattr(arm, name).value for arm in large]) for name in METRICS}
    covered = dict.fromkeys(METRICS, 0)
    for seed in range(n_data_sets):
        arm = measured(80, features, np.random.default_rng(seed), n_splits)
        for name, target in targets.items():
            value = getattr(arm, name)
            covered[name] += value is not None and value.low <= target <= value.high
    print(f"coverage of 95% intervals over {n_data_sets} data sets, {n_splits} splits")
    for name, count in covered.items():
        print(f"  {name:22} {count / n_data_sets:.1%}", flush=True)


def on_truth(pairs: ReferencePairs, A: np.ndarray, outputs: np.ndarray) -> tuple[float, float]:
    """The gap by A itself, and the correlation of D^2 with d^2 on A, over the same pairs."""
    d2 = np.mean((A[pairs.left] - A[pairs.right]) ** 2, axis=1)
    D2 = np.sum((outputs[pairs.left] - outputs[pairs.right]) ** 2, axis=1)
    near = d2 <= np.quantile(d2, 0.1)
    return float(np.sqrt(D2[near]).mean() / np.sqrt(D2).mean()), float(np.corrcoef(D2, d2)[0, 1])


def split_of(
    data: ClusteredData, seed: int, split: int, leasts: list[int]
) -> tuple[ReferencePairs, dict[str, np.ndarray]]:
    """Keep a half aside; return the pairs, with as many features in common as give enough of them, and what every arm gives out."""
    hidden = hold_out(data.observed, 0.5, seed + 1000 * split, leave_one=True)
    scaled, aside = hidden.training.scaled("symmetric"), kept_aside(hidden, "symmetric")
    for least in leasts:
        try:
            pairs = reference_pairs(aside, least_shared=least, rng=np.random.default_rng(seed))
            break
        except InputError:
            continue
    model = as_model("knn")
    outputs = {"h": model(scaled.zero_filled(), scaled)}
    for name in ("svt", "als"):
        fitted = make_estimator(name, random_state=seed).fit(hidden.training)
        complete = fitted.estimate_.on_working_range().to_dense()
        outputs |= {f"f on {name}": model(complete, scaled), name: complete}
    return pairs, outputs


def experiment(
    key: str, level: float, seed: int, options: argparse.Namespace
) -> dict[str, tuple[float, bool]]:
    """Print every arm; return by how much its correlation is off, and whether the interval holds the one by A."""
    data = EXPERIMENTS[key].data(level, seed)
    splits = [split_of(data, seed, split, options.least) for split in range(options.splits)]
    measured_splits = [MeasuredSplit(*split) for split in splits]
    found = measure_held_out(measured_splits, rng=np.random.default_rng(seed)).arms
    outputs = list(found)
    known = {
        arm: np.mean([on_truth(pairs, data.truth, of[arm]) for pairs, of in splits], axis=0)
        for arm in outputs
    }
    told = [
        arm for arm in outputs if np.isfinite(found[arm].relative_gap.value)
    ]  # constant outputs have no gap
    orders = [
        sorted(told, key=lambda arm: side[arm])
        for side in ({a: found[a].relative_gap.value for a in told}, {a: known[a][0] for a in told})
    ]
    pairs = splits[0][0]
    print(
        f"experiment {key}, level {level:g}, seed {seed}, {pairs.least_shared} in common, {pairs.n_eligible:,} pairs of {pairs.n_covered} people: "
        f"order {'the same' if orders[0] == orders[1] else 'NOT the same'}"
    )
    off = {}
    for arm in orders[1]:
        corrected, text = found[arm].corrected_correlation, "none"
        if corrected is not None:
            text, truth = str(corrected), known[arm][1]
            off[arm] = corrected.value - truth, bool(corrected.low <= truth <= corrected.high)
        print(
            f"  {arm:10} gap {found[arm].relative_gap!s:26} by A {known[arm][0]:.3f}; correlation {text}, by A {known[arm][1]:.3f}",
            flush=True,
        )
    return off


def summary(key: str, level: float, off: list[dict[str, tuple[float, bool]]]) -> None:
    """Print by how much correlations are off over the simulations of a cell."""
    for arm in sorted({arm for one in off for arm in one}):
        differences, held = np.array([one[arm] for one in off if arm in one]).T
        error = differences.std(ddof=1) / np.sqrt(differences.size) if differences.size > 1 else np.nan
        print(
            f"experiment {key}, level {level:g}, {arm:10} off by {differences.mean():+.3f} (standard error {error:.3f}), "
            f"root mean square {np.sqrt(np.mean(differences**2)):.3f}, interval holds {int(held.sum())} of {differences.size}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--simulations", type=int, default=3)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--only", choices=list(LEVELS))
    parser.add_argument("--least", type=int, nargs="*", default=[15, 8, 4, 2])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for key, levels in LEVELS.items():
        for level in levels if options.only in (None, key) else ():
            off = [experiment(key, level, seed, options) for seed in range(options.simulations)]
            summary(key, level, off)
    if options.data_sets:
        coverage(options.data_sets, options.splits)


if __name__ == "__main__":
    main()
