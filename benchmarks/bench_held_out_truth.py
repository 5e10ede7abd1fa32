"""Fairness on the truth where the truth is known: coverage of intervals, the order of arms, correlations freed of noise.

    python benchmarks/bench_held_out_truth.py [--data-sets 1000] [--first 0] [--simulations 3] [--splits 1] [--only 4] [--levels 400] [--least 15 8 4 2] [--nearest 0.1]
        [--distance estimated] [--sparse 100]

Coverage: outputs that follow A with noise, 80 people; the target is what 1,500 people of the same kind give. Then Experiments 1, 3 and 4 of the paper: the gap of h, of
estimates, and the correlation of D^2 and d^2, by what was kept aside and by A itself on the same pairs. Pairs have the first number of features in common that gives
enough of them. Over all simulations of a cell:

- by how much the correlation is off, in three ways to free it of noise: the mean with its standard error, the root mean square, how often it is off by at most .03;
  and how often the 95% interval of the first holds the one by A (`--distance estimated` takes d from an estimate of A that saw what was kept aside alone);
- of every two arms, how far apart their gaps are by A, and how often the difference that was measured tells which one is less (its interval leaves out 0), rightly or not.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import sparse

from likewise import make_estimator
from likewise.errors import InputError
from likewise.fairness.held_out import (
    MeasuredSplit,
    ReferencePairs,
    measure_held_out,
    reference_pairs,
    usual_shared,
)
from likewise.fairness.metrics.metric_value import SampledValue
from likewise.inference import as_model
from likewise.observations import HoldOut, ObservedMatrix, hold_out
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


def coverage(n_data_sets: int, first: int, n_splits: int) -> None:
    features = np.random.default_rng(0).normal(size=(2, 60))
    large = [measured(1500, features, np.random.default_rng(10**6 + seed), 1) for seed in range(4)]
    targets = {name: np.mean([getattr(arm, name).value for arm in large]) for name in METRICS}
    covered = dict.fromkeys(METRICS, 0)
    for seed in range(first, first + n_data_sets):
        arm = measured(80, features, np.random.default_rng(seed), n_splits)
        for name, target in targets.items():
            value = getattr(arm, name)
            covered[name] += value is not None and value.low <= target <= value.high
    print(f"coverage of 95% intervals over {n_data_sets} data sets from seed {first}, {n_splits} splits")
    for name, count in covered.items():
        print(f"  {name:22} {count / n_data_sets:.1%}", flush=True)


def sparse_ratings(seed: int) -> tuple[np.ndarray, HoldOut]:
    """Draw 300 people of three tastes and their ratings of one in seven of 200 films, some of few and some of many; hide a half of them."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 200))
    A /= np.abs(A).max()
    seen = rng.random(A.shape) < rng.beta(1.5, 9, size=(300, 1))
    seen[np.arange(300), rng.integers(0, 200, 300)] = True
    noise = rng.normal(size=A.shape) * A.std() * (0.5 if seed % 2 else 1.0)
    observed = ObservedMatrix(np.where(seen, np.clip(A + noise, -1, 1), np.nan), value_range=(-1, 1))
    return A, hold_out(observed, 0.5, seed, leave_one=True)


def sparse_orders(n_data_sets: int) -> None:
    """Print what is said of h and f where pairs share so little that fewer than 15 in common have to do; and where both arms differ by noise of one law."""
    gaps, right, wrong, open_, told_of_nothing = [], 0, 0, 0, 0
    for seed in range(n_data_sets):
        A, hidden = sparse_ratings(seed)
        aside, rng = kept_aside(hidden, "symmetric"), np.random.default_rng(seed)
        pairs = reference_pairs(aside, least_shared=usual_shared(aside, rng) or 3, rng=rng)
        h = hidden.training.values.toarray()
        f = make_estimator("als", rank=3, random_state=0).fit(hidden.training).estimate_.to_dense()
        of_one_law = {name: f + f.std() * rng.normal(size=f.shape) for name in ("without", "with")}
        found, nothing = (
            measure_held_out([MeasuredSplit(pairs, arms)], rng=rng)
            for arms in ({"without": h, "with": f}, of_one_law)
        )
        by_truth = [on_truth(pairs, A, outputs, 0.1)[0] for outputs in (h, f)]
        gaps.append([*(arm.relative_gap.value for arm in found.arms.values()), *by_truth])
        change, none = (one.change.relative_gap for one in (found, nothing))
        told = -1 if change.high < 0 else int(change.low > 0)
        right += told != 0 and told == np.sign(by_truth[1] - by_truth[0])
        wrong += told != 0 and told != np.sign(by_truth[1] - by_truth[0])
        open_ += told == 0
        told_of_nothing += not none.low <= 0 <= none.high
    print(
        f"{n_data_sets} sparse data sets: {right} orders told rightly, {wrong} wrongly, {open_} open; {told_of_nothing} changes told where there is none"
    )
    for name, column in zip(("h", "f", "h by A", "f by A"), np.transpose(gaps), strict=True):
        print(f"  gap of {name:7} {column.min():.2f} to {column.max():.2f}", flush=True)


class Seen(NamedTuple):
    """What one simulation says.

    By how much each arm's correlation is off, in each way and whether the interval holds it; differences of gaps, by A and measured; which arms have the same order of
    correlations by A and freed of noise.
    """

    off: dict[str, dict[str, float]]
    held: dict[str, bool]
    apart: dict[tuple[str, str], tuple[float, SampledValue]]
    ordered: dict[tuple[str, str], bool]


def squared_gaps(outputs: np.ndarray, pairs: ReferencePairs) -> np.ndarray:
    return np.sum((outputs[pairs.left] - outputs[pairs.right]) ** 2, axis=1)


def on_truth(
    pairs: ReferencePairs, A: np.ndarray, outputs: np.ndarray, nearest: float
) -> tuple[float, float]:
    """The gap by A itself, and the correlation of D^2 with d^2 on A, over the same pairs."""
    d2 = squared_gaps(A, pairs)
    D2 = squared_gaps(outputs, pairs)
    near = d2 <= np.quantile(d2, nearest)
    return float(np.sqrt(D2[near]).mean() / np.sqrt(D2).mean()), float(np.corrcoef(D2, d2)[0, 1])


def freed(y: np.ndarray, x: np.ndarray, noise: np.ndarray, weights: np.ndarray) -> float:
    """The correlation of y and x without the noise of x, whose variance is known; pairs count by their weights."""
    mean = np.cov(np.vstack([y, x]), aweights=weights, bias=True)
    return float(mean[0, 1] / np.sqrt(mean[0, 0] * (mean[1, 1] - np.average(noise, weights=weights))))


def other_ways(pairs: ReferencePairs, D2: np.ndarray) -> dict[str, float]:
    """Free the correlation of noise in two ways that the library does not take."""
    both, (first, second) = pairs.in_both_halves, pairs.half_squares
    found = np.cov(np.vstack([D2[both], first[both], second[both]]))
    halves = (found[0, 1] + found[0, 2]) / 2 / np.sqrt(found[0, 0] * found[1, 2])
    return {
        "one half against the other": float(halves),
        "weighted by what pairs share": freed(D2, pairs.squares, pairs.variances, pairs.counts),
    }


def together(splits: list[MeasuredSplit], arm: str) -> float:
    """Free the correlation of noise once, over the pairs of all splits, in place of the average over splits."""
    D2 = np.concatenate([squared_gaps(split.outputs[arm], split.pairs) for split in splits])
    squares, noise = (
        np.concatenate([getattr(split.pairs, part) for split in splits]) for part in ("squares", "variances")
    )
    return freed(D2, squares, noise, np.ones(D2.size))


def of_estimate(pairs: ReferencePairs, hidden: HoldOut, seed: int) -> ReferencePairs:
    """Take d from an estimate of A, fitted on what was kept aside; it is taken to be free of noise."""
    Z = np.full(hidden.training.shape, np.nan)
    Z[hidden.rows, hidden.columns] = hidden.values
    kept = ObservedMatrix(Z, value_range=hidden.training.value_range)
    A = make_estimator("als", random_state=seed).fit(kept).estimate_.on_working_range().to_dense()
    squares = squared_gaps(A, pairs) / A.shape[1]
    return replace(pairs, squares=squares, half_squares=(squares, squares), variances=np.zeros_like(squares))


def split_of(
    data: ClusteredData, seed: int, split: int, options: argparse.Namespace
) -> tuple[ReferencePairs, dict[str, np.ndarray]]:
    """Keep a half aside; return the pairs, with as many features in common as give enough of them, and what every arm gives out."""
    hidden = hold_out(data.observed, 0.5, seed + 1000 * split, leave_one=True)
    scaled, aside = hidden.training.scaled("symmetric"), kept_aside(hidden, "symmetric")
    for least in options.least:
        try:
            pairs = reference_pairs(aside, least_shared=least, rng=np.random.default_rng(seed))
            break
        except InputError:
            continue
    if options.distance == "estimated":
        pairs = of_estimate(pairs, hidden, seed)
    model = as_model("knn")
    outputs = {"h": model(scaled.zero_filled(), scaled)}
    for name in ("svt", "als"):
        fitted = make_estimator(name, random_state=seed).fit(hidden.training)
        complete = fitted.estimate_.on_working_range().to_dense()
        outputs |= {f"f on {name}": model(complete, scaled), name: complete}
    return pairs, outputs


def gaps_apart(splits: list[MeasuredSplit], one: str, other: str, nearest: float, seed: int) -> SampledValue:
    """By how much the gap of the second arm is above that of the first, as an audit compares before and after."""
    both = [
        MeasuredSplit(split.pairs, {"without": split.outputs[one], "with": split.outputs[other]})
        for split in splits
    ]
    change = measure_held_out(both, nearest_share=nearest, rng=np.random.default_rng(seed)).change
    return change.relative_gap


def experiment(key: str, level: float, seed: int, options: argparse.Namespace) -> Seen:
    """Print every arm, and return what it says beside A."""
    data, nearest = EXPERIMENTS[key].data(level, seed), options.nearest
    splits = [MeasuredSplit(*split_of(data, seed, split, options)) for split in range(options.splits)]
    found = measure_held_out(splits, nearest_share=nearest, rng=np.random.default_rng(seed)).arms
    told = [arm for arm in found if np.isfinite(found[arm].relative_gap.value)]  # constant outputs have none
    gaps, correlations = {}, {}
    for arm in told:
        by_split = [on_truth(split.pairs, data.truth, split.outputs[arm], nearest) for split in splits]
        gaps[arm], correlations[arm] = np.mean(by_split, axis=0)
    orders = [sorted(told, key=side.get) for side in ({a: found[a].relative_gap.value for a in told}, gaps)]
    pairs = splits[0].pairs
    print(
        f"experiment {key}, level {level:g}, seed {seed}, {pairs.least_shared} in common, {pairs.n_eligible:,} pairs of {pairs.n_covered} people: "
        f"order {'the same' if orders[0] == orders[1] else 'NOT the same'}"
    )
    seen = Seen({}, {}, {}, {})
    for arm in orders[1]:
        corrected, truth, text = found[arm].corrected_correlation, correlations[arm], "none"
        if corrected is not None:
            text = str(corrected)
            by_split = [
                other_ways(split.pairs, squared_gaps(split.outputs[arm], split.pairs)) for split in splits
            ]
            ways = {way: np.mean([one[way] for one in by_split]) for way in by_split[0]}
            if len(splits) > 1:
                ways["pairs of all splits together"] = together(splits, arm)
            seen.off[arm] = {
                way: value - truth for way, value in {"all halves": corrected.value, **ways}.items()
            }
            seen.held[arm] = bool(corrected.low <= truth <= corrected.high)
        print(
            f"  {arm:10} gap {found[arm].relative_gap!s:26} by A {gaps[arm]:.3f}; correlation {text}, by A {truth:.3f}",
            flush=True,
        )
    for one, other in combinations(told, 2):
        if one in seen.held and other in seen.held:
            freed_of_noise = found[other].corrected_correlation.value - found[one].corrected_correlation.value
            seen.ordered[one, other] = freed_of_noise * (correlations[other] - correlations[one]) > 0
        seen.apart[one, other] = gaps[other] - gaps[one], gaps_apart(splits, one, other, nearest, seed)
    return seen


def show_correlations(cell: str, seen: list[Seen]) -> None:
    """Print by how much correlations are off over the simulations of a cell."""
    for arm in sorted({arm for one in seen for arm in one.off}):
        off = [one.off[arm] for one in seen if arm in one.off]
        for way in off[0]:
            by = np.array([one[way] for one in off])
            error = by.std(ddof=1) / np.sqrt(by.size) if by.size > 1 else np.nan
            print(
                f"{cell}, {arm:10} {way:28} off by {by.mean():+.3f} (standard error {error:.3f}), root mean square "
                f"{np.sqrt(np.mean(by**2)):.3f}, at most .03 in {int((np.abs(by) <= 0.03).sum())} of {by.size}"
            )
        held = [one.held[arm] for one in seen if arm in one.held]
        print(f"{cell}, {arm:10} interval holds {sum(held)} of {len(held)}", flush=True)


def show_orders(cell: str, seen: list[Seen]) -> None:
    """Print how far apart gaps are by A, and how often a measured difference says which is less: rightly, wrongly, or not at all."""
    right = wrong = every = 0
    for two in sorted({two for one in seen for two in one.apart}):
        by_A = np.array([one.apart[two][0] for one in seen if two in one.apart])
        found = [one.apart[two][1] for one in seen if two in one.apart]
        value = np.array([one.value for one in found])
        claimed = np.array([one.low > 0 or one.high < 0 for one in found])
        agrees = value * by_A > 0
        right, wrong = right + int((claimed & agrees).sum()), wrong + int((claimed & ~agrees).sum())
        every += by_A.size
        print(
            f"{cell}, {two[1]} less {two[0]}: by A {by_A.mean():+.4f}, from {by_A.min():+.4f} to {by_A.max():+.4f}; measured {value.mean():+.4f}, "
            f"off that by A by a standard deviation of {(value - by_A).std():.4f}; told {int(claimed.sum())} of {by_A.size}, "
            f"{int((claimed & ~agrees).sum())} wrongly; untold {int((~claimed).sum())}, the values alone right in {int(agrees.sum())}; "
            f"of correlations freed of noise right in {sum(one.ordered.get(two, False) for one in seen)}"
        )
    print(
        f"{cell}, all: of {every} orders of two arms {right + wrong} told, {wrong} wrongly; {every - right - wrong} left open",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--sparse", type=int, default=100, help="sparse data sets")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--simulations", type=int, default=3)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--only", choices=list(LEVELS))
    parser.add_argument("--levels", type=float, nargs="*")
    parser.add_argument("--least", type=int, nargs="*", default=[15, 8, 4, 2])
    parser.add_argument("--nearest", type=float, default=0.1)
    parser.add_argument("--distance", choices=["measured", "estimated"], default="measured")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for key, levels in LEVELS.items():
        for level in (options.levels or levels) if options.only in (None, key) else ():
            seen = [experiment(key, level, seed, options) for seed in range(options.simulations)]
            if seen:
                show_correlations(f"experiment {key}, level {level:g}", seen)
                show_orders(f"experiment {key}, level {level:g}", seen)
    if options.sparse:
        sparse_orders(options.sparse)
    if options.data_sets:
        coverage(options.data_sets, options.first, options.splits)


if __name__ == "__main__":
    main()
