"""Outputs held against a distance on A that no algorithm saw: are similar people treated alike, did pre-processing help.

Records and the call come first; then the metrics of one split, over all pairs and without each group of individuals, and one value with an
interval from several splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from scipy.stats import t as student_t

from likewise._typing import Floats, Indices
from likewise.errors import DistanceError, InputError, option
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.held_out.pairs import ReferencePairs
from likewise.fairness.metrics.metric_value import SampledValue

_COLUMNS = 4


@dataclass(frozen=True, eq=False)
class MeasuredSplit:
    """One way to keep observations aside: the pairs to compare, and what each arm gives out, for all individuals, that did not see them."""

    pairs: ReferencePairs
    outputs: Mapping[str, ArrayLike | PairwiseDistance]


@dataclass(frozen=True)
class HeldOutMetrics:
    """What one set of outputs does to people who are similar on what nobody saw.

    Parameters
    ----------
    relative_gap : SampledValue
        Mean D of the most similar pairs over mean D of all eligible pairs: 0, the similar are treated alike; 1, similarity makes no difference.
    rank_correlation : SampledValue
        Spearman's, of d and D over all eligible pairs.
    corrected_correlation : SampledValue or None
        Correlation of D^2 and d^2, freed of the noise of d (Spearman 1904), which the differences between features tell: what it would be were A known,
        over features like these. What differs from feature to feature counts as noise, so with few features and little noise it is slightly too large, and can exceed 1.
        Where ratings are one of two values, noise depends on A, and it is the correlation with how often two people agree instead.
        None where d tells nothing.
    mean_ratio : SampledValue
        Mean of D / d, d shrunk towards the mean of all pairs; falls when outputs shrink.
    """

    relative_gap: SampledValue
    rank_correlation: SampledValue
    corrected_correlation: SampledValue | None
    mean_ratio: SampledValue


@dataclass(frozen=True)
class HeldOutChange:
    """The change of a metric by pre-processing: its value with, minus its value without, on the same pairs.

    Parameters
    ----------
    relative_gap, rank_correlation : SampledValue
        Of the differences. Below 0 and above 0 mean that similar people are treated more alike.
    """

    relative_gap: SampledValue
    rank_correlation: SampledValue


@dataclass(frozen=True)
class HeldOutFairness:
    """Fairness on A of every arm, over the same pairs.

    Parameters
    ----------
    arms : mapping of str to HeldOutMetrics
    change : HeldOutChange or None
        From ``"without"`` to ``"with"``, where both are there.
    reliability : float
        Rank correlation of d on two halves of the features, in [-1, 1]; d on all of them is more reliable. NaN where no two pairs were measured by both halves, or
        one of them puts all at the same distance.
    nearest_share : float
        Share of the eligible pairs that counts as most similar.
    n_pairs : int
        Measured in each split; the fewest where splits differ.
    n_splits : int
    pairs : str
        Which pairs are eligible, and whom they speak of; of the first split.
    """

    arms: Mapping[str, HeldOutMetrics]
    change: HeldOutChange | None
    reliability: float
    nearest_share: float
    n_pairs: int
    n_splits: int
    pairs: str


def measure_held_out(
    splits: Iterable[MeasuredSplit],
    *,
    nearest_share: float = 0.1,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> HeldOutFairness:
    """Measure every arm against d on what was kept aside, with intervals that resample individuals, not pairs.

    Individuals are parted into 40 groups at random. Each metric is computed again without the pairs that touch a group; how much it varies says
    how it would vary with other individuals. Ranks, and which pairs are most similar, are those of all pairs. Several splits are averaged;
    individuals are left out of all of them at once, and what splits differ by beyond individuals is added to the interval: see
    `combined_value`. Splits are taken one after another, so that outputs need not be held together.

    InputError for no split, or splits of other individuals or arms; DistanceError for a split in which all pairs differ by noise alone, as far as
    can be told: nobody is more similar to one than to another.

    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Definition 3.2. Correction: Spearman, American Journal of Psychology 1904.

    >>> from scipy import sparse
    >>> from likewise.fairness.held_out import reference_pairs
    >>> rng = np.random.default_rng(0)
    >>> A = rng.uniform(-1, 1, size=(60, 50))
    >>> pairs = reference_pairs(sparse.csr_array(A), rng=rng)
    >>> found = measure_held_out([MeasuredSplit(pairs, {"truth": A, "chance": rng.normal(size=60)})], rng=rng)
    >>> round(found.arms["truth"].rank_correlation.value, 6)
    1.0
    >>> found.arms["truth"].relative_gap.high < 1 < found.arms["chance"].relative_gap.high
    True
    """
    arms: dict[str, list[Floats]] = {}
    measured: list[ReferencePairs] = []
    groups: Indices | None = None
    for split in splits:
        if groups is None:
            # Of one size, to within one, as the jackknife supposes; the same for every split.
            groups = rng.permutation(np.arange(split.pairs.n_individuals) % N_GROUPS)
        _check_same(split, arms, groups.size)
        measured.append(split.pairs)
        _check_tells(split.pairs)
        similar = _similar(split.pairs.distances, nearest_share)
        for arm, outputs in split.outputs.items():
            gaps = _gaps(outputs, split.pairs)
            arms.setdefault(arm, []).append(estimates_without_groups(split.pairs, gaps, similar, groups))
    if not measured:
        raise InputError("no split", "at least one")
    n_pairs = min(pairs.n_pairs for pairs in measured)
    found = {arm: np.stack(estimates) for arm, estimates in arms.items()}
    return HeldOutFairness(
        {arm: _metrics(estimates, confidence, n_pairs) for arm, estimates in found.items()},
        _change(found, confidence, n_pairs),
        float(np.mean([_reliability(pairs) for pairs in measured])),
        nearest_share,
        n_pairs,
        len(measured),
        measured[0].describe(),
    )


def _check_tells(pairs: ReferencePairs) -> None:
    """Raise DistanceError where d is one number for all pairs, so that none is more similar than another."""
    d = pairs.distances
    if np.ptp(d) <= 1e-12 * d.max():
        raise DistanceError(
            f"{pairs.n_pairs:,} pairs whose differences on what was kept aside are no larger than noise",
            "pairs of which some are more similar than others",
            f"two people have too little in common in what is kept aside to say who is similar: keep more aside, or take {option('reference', repr('observed'))}",
        )


def _check_same(split: MeasuredSplit, arms: Mapping[str, Any], n_individuals: int) -> None:
    """Raise InputError for splits of other individuals, or with other arms, which have no average."""
    if split.pairs.n_individuals != n_individuals:
        raise InputError(
            f"splits of {n_individuals} and of {split.pairs.n_individuals} individuals", "the same in each"
        )
    if arms and arms.keys() != split.outputs.keys():
        raise InputError(f"splits with arms {list(arms)} and {list(split.outputs)}", "the same in each")


def _change(found: Mapping[str, Floats], confidence: float, n_pairs: int) -> HeldOutChange | None:
    """Compare both arms on the same pairs, split by split."""
    if not {"without", "with"} <= found.keys():
        return None
    # Of each split and without each group alike, so that what both arms share cancels before it is
    # averaged.
    difference = found["with"] - found["without"]
    gap, correlation = (
        combined_value(difference[:, :, column], confidence, n_pairs) for column in (GAP, RANK)
    )
    return HeldOutChange(gap, correlation)


def _gaps(outputs: Any, pairs: ReferencePairs) -> Floats:
    """Return D of each pair."""
    D = outputs if isinstance(outputs, PairwiseDistance) else RowDistance.of_outputs(outputs)
    return D.between(pairs.left, pairs.right)


def _similar(distances: Floats, share: float) -> Floats:
    """Say of each pair whether it is among the most similar, as 1 or 0; ties with the last are in."""
    rank = max(1, round(share * distances.size))
    nearest: Floats = (distances <= np.partition(distances, rank - 1)[rank - 1]).astype(np.float64)
    return nearest


def _reliability(pairs: ReferencePairs) -> float:
    both = pairs.in_both_halves
    if both.size < 2:
        return float("nan")
    first, second = (rankdata(half[both]) for half in pairs.half_squares)
    with np.errstate(invalid="ignore"):  # a half that tells no pair from another
        return float(np.corrcoef(first, second)[0, 1])


def _metrics(estimates: Floats, confidence: float, n_pairs: int) -> HeldOutMetrics:
    values = [combined_value(estimates[:, :, column], confidence, n_pairs) for column in range(_COLUMNS)]
    corrected = None
    if np.isfinite(estimates[:, :, CORRECTED]).all():
        corrected = combined_correlation(estimates[:, :, CORRECTED], confidence, n_pairs)
    return HeldOutMetrics(values[GAP], values[RANK], corrected, values[RATIO])


N_GROUPS = 40
"""Into which individuals are parted; each is left out in turn."""

GAP, RANK, CORRECTED, RATIO = range(4)
"""Columns of the estimates."""


def estimates_without_groups(pairs: ReferencePairs, gaps: Floats, similar: Floats, groups: Indices) -> Floats:
    """Return the four metrics, shape (1 + groups, 4): of all pairs, then without each group."""
    left, right = groups[pairs.left], groups[pairs.right]
    with np.errstate(invalid="ignore", divide="ignore"):  # people who are all equal have no ratio
        ratios = np.where(pairs.distances > 0, gaps / pairs.distances, np.nan)
    sums = _sums_without(
        np.column_stack([np.ones(gaps.size), gaps, similar, similar * gaps, ratios]),
        left,
        right,
    )
    n, gap, n_similar, similar_gap, ratio = sums.T
    # Ranked once, also for what is left without a group: a few pairs fewer move ranks by little, and all
    # alike.
    output_ranks = rankdata(gaps)
    ranks = _correlation(rankdata(pairs.distances), output_ranks, left, right)
    with np.errstate(invalid="ignore"):  # constant outputs have no gap to compare
        relative_gap = (similar_gap / n_similar) / (gap / n)
    return np.column_stack([relative_gap, ranks, _corrected(pairs, gaps, left, right), ratio / n])


def _corrected(pairs: ReferencePairs, gaps: Floats, left: Indices, right: Indices) -> Floats:
    """Return the correlation of D^2 with d^2 free of noise, over all pairs and without each group.

    The square x of a pair is the mean over C features. Given the pair it has expectation d^2, and the features say how much it varies around that, ``v / C``.
    So the covariance of D^2 with x is that with d^2, and the variance of x less the mean of ``v / C`` is the variance of d^2. This is what the covariance of x on two
    halves of the features is on average over all ways to halve them, as products of different features alone are left. What differs between features counts as noise.
    """
    y, x = (column - column.mean() for column in (gaps**2, pairs.squares))  # for sums that hardly cancel
    # The last column has v / C off each square, so that its sum, less sx^2 / n, is n times the variance of
    # d^2.
    terms = np.column_stack([np.ones(y.size), y, x, y * y, y * x, x * x - pairs.variances])
    n, sy, sx, yy, yx, xx = _sums_without(terms, left, right).T
    with np.errstate(invalid="ignore", divide="ignore"):  # a d that tells nothing has no correction
        covariance, variance = yx - sy * sx / n, xx - sx**2 / n
        corrected: Floats = covariance / np.sqrt((yy - sy**2 / n) * variance)
    return corrected


def _sums_without(terms: Floats, left: Indices, right: Indices) -> Floats:
    """Return the sums of each column over all pairs, then over those that do not touch each group."""
    within = left == right  # such a pair touches its group once
    touching = np.stack(
        [
            np.bincount(left, column, N_GROUPS)
            + np.bincount(right, column, N_GROUPS)
            - np.bincount(left[within], column[within], N_GROUPS)
            for column in terms.T
        ],
        axis=1,
    )
    total = terms.sum(axis=0)
    return np.vstack([total, total - touching])


def _correlation(x: Floats, y: Floats, left: Indices, right: Indices) -> Floats:
    """Return the correlation of two columns over all pairs, then without each group."""
    x, y = x - x.mean(), y - y.mean()  # for sums that hardly cancel
    n, sx, sy, xx, yy, xy = _sums_without(
        np.column_stack([np.ones(x.size), x, y, x * x, y * y, x * y]), left, right
    ).T
    with np.errstate(invalid="ignore", divide="ignore"):  # constant outputs have no correlation
        correlation: Floats = (xy - sx * sy / n) / np.sqrt((xx - sx**2 / n) * (yy - sy**2 / n))
    return correlation


POPULATION = "individuals like these, the algorithm as it was fitted"
OVER_SPLITS = "individuals like these, the algorithm fitted on random parts of their observations"


def combined_value(estimates: Floats, confidence: float, n_pairs: int) -> SampledValue:
    """Average `estimates`, shape (n_splits, 1 + n_groups), over splits, with an interval over individuals that also holds what splits differ by beyond individuals.

    Each split has its estimate over all pairs first, then those without the pairs of each group. All splits are of the same individuals, so
    they are left out of all splits at once: the jackknife of the average holds whatever splits have in common. The average over infinitely
    many splits is the target; given the observations, splits are independent draws, so the average of S of them strays from it with variance
    B / S. Most of B comes from which observations of a person were kept aside, and the jackknife over individuals sees that already: its
    variance of ``theta_s - mean`` adds up to as much. What B exceeds it by comes from the fits, which differ from split to split, and is added.

    By Student's t, its degrees of freedom by Welch and Satterthwaite. With one split nothing can be said of others, and the population is that
    of the algorithm as it was fitted.

    Two splits that differ by 2, from individuals who all count alike: B = 2, and the jackknife sees nothing of it.

    >>> found = combined_value(np.array([[1.0] * 41, [3.0] * 41]), 0.95, 100)
    >>> found.value, round(found.high - 2, 3)      # t of 1 degree of freedom at .975 is 12.706
    (2.0, 12.706)
    """
    n_splits, n_groups = estimates.shape[0], estimates.shape[1] - 1
    mean = estimates.mean(axis=0)
    by_individuals = _jackknife(mean[None])
    beyond = 0.0
    if n_splits > 1:
        deviations = estimates - mean
        # B, unbiased from S splits; S - 1 also makes up for deviations from their own mean in the
        # jackknife.
        between = float(np.sum(deviations[:, 0] ** 2)) / (n_splits - 1)
        beyond = max(0.0, between - _jackknife(deviations) / (n_splits - 1)) / n_splits
    variance = by_individuals + beyond
    margin = 0.0
    if variance != 0:  # also where it is NaN
        # Welch and Satterthwaite: each part of the variance has its own degrees of freedom.
        freedom = variance**2 / (by_individuals**2 / (n_groups - 1) + beyond**2 / max(1, n_splits - 1))
        margin = float(student_t.ppf((1 + confidence) / 2, freedom)) * sqrt(variance)
    return SampledValue(
        float(mean[0]),
        float(mean[0]) - margin,
        float(mean[0]) + margin,
        confidence,
        POPULATION if n_splits == 1 else OVER_SPLITS,
        _method(n_groups, n_splits),
        n_pairs,
    )


def combined_correlation(estimates: Floats, confidence: float, n_pairs: int) -> SampledValue:
    """Do as `combined_value`, with the interval on Fisher's scale, ``artanh r``, on which correlations vary more evenly; as they are where one of them reaches 1.

    >>> found = combined_correlation(np.array([[0.9] * 20 + [0.8] * 21]), 0.95, 100)
    >>> bool(np.isclose(np.arctanh(found.high) - np.arctanh(0.9), np.arctanh(0.9) - np.arctanh(found.low)))
    True
    """
    plain = combined_value(estimates, confidence, n_pairs)
    if not (np.abs(estimates) < 1).all():
        return plain
    scaled = combined_value(np.arctanh(estimates), confidence, n_pairs)
    low, high = float(np.tanh(scaled.low)), float(np.tanh(scaled.high))
    return replace(plain, low=low, high=high, method=f"{plain.method}, on Fisher's scale")


def _jackknife(estimates: Floats) -> float:
    """Return the sum over splits of the variance that leaving out one group after another shows."""
    without = estimates[:, 1:]
    n_groups = without.shape[1]
    centred = without - without.mean(axis=1, keepdims=True)
    # Without group g a mean moves by that group's deviation over G - 1, so this is the sum of deviation^2 /
    # (G (G - 1)).
    return float((n_groups - 1) / n_groups * np.sum(centred**2))


def _method(n_groups: int, n_splits: int) -> str:
    text = f"jackknife over {n_groups} groups of individuals"
    if n_splits > 1:
        text += f", and what {n_splits} splits differ by beyond it"
    return f"{text} (asymptotic)"
