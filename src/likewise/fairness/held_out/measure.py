"""Outputs held against a distance on A that no algorithm saw: are similar people treated alike, did pre-processing help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from likewise._typing import Floats, Indices
from likewise.errors import DistanceError, InputError, option
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.held_out.estimates import (
    CORRECTED,
    GAP,
    N_GROUPS,
    RANK,
    RATIO,
    combined_correlation,
    combined_value,
    estimates_without_groups,
)
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
    `likewise.fairness.held_out.estimates`. Splits are taken one after another, so that outputs need not be held together.

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
