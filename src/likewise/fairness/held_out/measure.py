"""Outputs held against a distance on A that no algorithm saw: are similar people treated alike, did pre-processing help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from scipy.stats import t as student_t

from likewise._typing import Floats, Indices
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.held_out.pairs import ReferencePairs
from likewise.fairness.metrics.metric_value import SampledValue

N_GROUPS = 40
"""Into which individuals are parted; each is left out in turn."""

POPULATION = "individuals like these, the algorithm as it was fitted"
METHOD = f"jackknife over {N_GROUPS} groups of individuals (asymptotic)"


@dataclass(frozen=True, eq=False)
class MeasuredSplit:
    """One way to keep observations aside: the pairs to compare, and what each arm gives out that did not see them.

    Parameters
    ----------
    pairs : ReferencePairs
    outputs : mapping of str to array-like or PairwiseDistance
        Of every arm, for all individuals.
    """

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
        Correlation of D^2 and d^2, freed of the noise of d, which two halves of the features tell (Spearman 1904): what it would be were A known.
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
    """By how much pre-processing changes a metric: with less without, on the same pairs.

    Parameters
    ----------
    relative_gap, rank_correlation : SampledValue
        Of the differences. Below 0 and above 0 mean that similar people are treated more alike.
    """

    relative_gap: SampledValue
    rank_correlation: SampledValue

    @property
    def direction(self) -> str:
        """``"more"`` alike, ``"less"`` alike, or ``"unclear"`` where the interval of the gap holds 0."""
        if self.relative_gap.high < 0:
            return "more"
        return "less" if self.relative_gap.low > 0 else "unclear"


@dataclass(frozen=True)
class HeldOutFairness:
    """Fairness on A of every arm, over the same pairs.

    Parameters
    ----------
    arms : mapping of str to HeldOutMetrics
    change : HeldOutChange or None
        From ``"without"`` to ``"with"``, where both are there.
    reliability : float
        Rank correlation of d on two halves of the features, in [-1, 1]; d on all of them is more reliable.
    nearest_share : float
        Share of the eligible pairs that counts as most similar.
    n_pairs : int
        Measured in each split.
    n_splits : int
    pairs : str
        Which pairs are eligible, and whom they speak of.
    """

    arms: Mapping[str, HeldOutMetrics]
    change: HeldOutChange | None
    reliability: float
    nearest_share: float
    n_pairs: int
    n_splits: int
    pairs: str


def measure_held_out(
    splits: Sequence[MeasuredSplit],
    *,
    nearest_share: float = 0.1,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> HeldOutFairness:
    """Measure every arm against d on what was kept aside, with intervals that resample individuals, not pairs.

    Individuals are parted into 40 groups at random. Each metric is computed again without the pairs that touch a group; how much it varies says
    how it would vary with other individuals. Ranks, and which pairs are most similar, are those of all pairs. Several splits are averaged.

    Parameters
    ----------
    splits : sequence of MeasuredSplit
        At least one, all of the same individuals and arms.
    nearest_share : float, default 0.1
        In (0, 1].
    confidence : float, default 0.95
        Of each interval for itself, in (0, 1).
    rng : Generator
        Parts the individuals.

    Returns
    -------
    HeldOutFairness

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Definition 3.2. Correction: Spearman, American Journal of Psychology 1904.

    Examples
    --------
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
    first = splits[0].pairs
    groups = rng.permutation(np.arange(first.n_individuals) % N_GROUPS)
    found: dict[str, Floats] = {}
    for split in splits:
        similar = _similar(split.pairs.distances, nearest_share)
        for arm, outputs in split.outputs.items():
            estimates = _estimates(split.pairs, _gaps(outputs, split.pairs), similar, groups) / len(splits)
            found[arm] = found[arm] + estimates if arm in found else estimates
    n_pairs = first.n_pairs
    arms = {arm: _metrics(estimates, confidence, n_pairs) for arm, estimates in found.items()}
    change = None
    if {"without", "with"} <= found.keys():
        difference = found["with"] - found["without"]
        gap, correlation = (_value(difference[:, column], confidence, n_pairs) for column in (_GAP, _RANK))
        change = HeldOutChange(gap, correlation)
    reliability = float(np.mean([_reliability(split.pairs) for split in splits]))
    return HeldOutFairness(arms, change, reliability, nearest_share, n_pairs, len(splits), first.describe())


def _gaps(outputs: Any, pairs: ReferencePairs) -> Floats:
    """Return D of each pair."""
    D = outputs if isinstance(outputs, PairwiseDistance) else RowDistance.of_outputs(outputs)
    return D.between(pairs.left, pairs.right)


def _similar(distances: Floats, share: float) -> Floats:
    """Say of each pair whether it is among the most similar, as 1 or 0; ties with the last are in."""
    rank = max(1, round(share * distances.size))
    nearest: Floats = (distances <= np.partition(distances, rank - 1)[rank - 1]).astype(np.float64)
    return nearest


_GAP, _RANK, _CORRECTED, _RATIO = range(4)


def _estimates(pairs: ReferencePairs, gaps: Floats, similar: Floats, groups: Indices) -> Floats:
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
    output_ranks = rankdata(gaps)
    ranks = _correlation(rankdata(pairs.distances), output_ranks, left, right)
    with np.errstate(invalid="ignore"):  # constant outputs have no gap to compare
        relative_gap = (similar_gap / n_similar) / (gap / n)
    return np.column_stack([relative_gap, ranks, _corrected(pairs, gaps, left, right), ratio / n])


def _corrected(pairs: ReferencePairs, gaps: Floats, left: Indices, right: Indices) -> Floats:
    """Return the correlation of D^2 with d^2 free of noise, over all pairs and without each group.

    ``x_1`` and ``x_2``, the squares on two halves of the features, have the same expectation given the pair, and noises of their own. So the covariance
    of D^2 with their mean is that with d^2 itself, and the covariance of both halves is the variance of d^2.
    """
    both = pairs.in_both_halves
    columns = [gaps[both] ** 2, *(half[both] for half in pairs.half_squares)]
    y, first, second = (column - column.mean() for column in columns)  # for sums that hardly cancel
    terms = np.column_stack(
        [np.ones(y.size), y, first, second, y * y, y * (first + second) / 2, first * second]
    )
    n, sy, s1, s2, yy, yx, xx = _sums_without(terms, left[both], right[both]).T
    with np.errstate(invalid="ignore", divide="ignore"):  # a d that tells nothing has no correction
        covariance, variance = yx - sy * (s1 + s2) / 2 / n, xx - s1 * s2 / n
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


def _reliability(pairs: ReferencePairs) -> float:
    both = pairs.in_both_halves
    if both.size < 2:
        return 0.0
    first, second = (rankdata(half[both]) for half in pairs.half_squares)
    return float(np.corrcoef(first, second)[0, 1])


def _metrics(estimates: Floats, confidence: float, n_pairs: int) -> HeldOutMetrics:
    values = [_value(column, confidence, n_pairs) for column in estimates.T]
    corrected = values[_CORRECTED] if np.isfinite(estimates[:, _CORRECTED]).all() else None
    return HeldOutMetrics(values[_GAP], values[_RANK], corrected, values[_RATIO])


def _value(estimates: Floats, confidence: float, n_pairs: int) -> SampledValue:
    """Return the first estimate, with an interval from how much the others vary."""
    value, without = float(estimates[0]), estimates[1:]
    error = float(np.sqrt((N_GROUPS - 1) / N_GROUPS * np.sum((without - without.mean()) ** 2)))
    margin = float(student_t.ppf((1 + confidence) / 2, N_GROUPS - 1)) * error
    return SampledValue(value, value - margin, value + margin, confidence, POPULATION, METHOD, n_pairs)
