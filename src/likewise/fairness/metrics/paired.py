"""What two sets of outputs do to the same pairs: differences of D / d pair by pair, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.checks import checked_instance, checked_non_negative
from likewise.errors import InputError, option
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.blocks import pair_positions
from likewise.fairness.metrics.metric_value import SampledValue, order_statistics, share_rank, values_of
from likewise.fairness.metrics.similar import reach
from likewise.fairness.sampled.intervals import Interval, betting, clopper_pearson, quantile_interval
from likewise.fairness.sampled.sampling import DrawnPairs, Plan, draw, measure_pairs
from likewise.plain import plain
from likewise.progress import Progress
from likewise.randomness import generator_of


@dataclass(frozen=True)
class PairedMetrics:
    """How outputs after a change treat pairs, against the outputs before it.

    Each pair is compared with itself, so what makes pairs differ from one another cancels.

    Parameters
    ----------
    share_lower, share_higher : SampledValue
        Share of the pairs whose outputs are closer together, and farther apart, than before.
    median_difference : SampledValue
        Median of ``D_after / d - D_before / d``; negative where pairs are treated more alike.
    mean_difference : SampledValue
        Mean of the same; undefined where an infinite ratio was drawn.
    """

    share_lower: SampledValue
    share_higher: SampledValue
    median_difference: SampledValue
    mean_difference: SampledValue

    def metrics(self) -> dict[str, SampledValue]:
        """Return every metric by name."""
        return values_of(self)  # type: ignore[return-value]


@dataclass(frozen=True)
class PairedDifferences:
    """`PairedMetrics` over all drawn pairs and over the most similar of them.

    Parameters
    ----------
    population : str
        Of which pairs the intervals speak.
    n_pairs : int
        How many pairs were drawn.
    overall, similar : PairedMetrics
    radius : float
        Pairs with d up to this count as most similar; it was found on other pairs.
    """

    population: str
    n_pairs: int
    overall: PairedMetrics
    similar: PairedMetrics
    radius: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, strings and numbers."""
        record: Mapping[str, Any] = plain(self)
        return dict(record)

    def __str__(self) -> str:
        lines = [f"Paired differences over {self.n_pairs:,} drawn pairs, for {self.population}"]
        for title, part in (("all pairs", self.overall), ("most similar pairs", self.similar)):
            lines.append(f"  {title}")
            lines += [
                f"    {name.replace('_', ' '):<18} {_told(value)}" for name, value in part.metrics().items()
            ]
        return "\n".join(lines)


def _told(value: SampledValue) -> str:
    """Write a value with its interval, or why there is none."""
    if not isnan(value.value):
        return str(value)
    return "none: at least one ratio is infinite" if value.n_pairs else "none: no such pair was drawn"


def paired_differences(
    before: PairwiseDistance,
    after: PairwiseDistance,
    reference: PairwiseDistance,
    *,
    population: str = "population",
    n_pairs: int | None = None,
    confidence: float = 0.95,
    ratio_bound: float | None = None,
    nearest_share: float = 0.1,
    random_state: int | np.random.Generator | None = None,
    progress: Progress | None = None,
) -> PairedDifferences:
    """Compare two sets of outputs pair by pair, on pairs that are drawn so that intervals are valid.

    Parameters
    ----------
    before, after : PairwiseDistance
        Output distances D of the same individuals.
    reference : PairwiseDistance
        d, the same for both.
    population : {"population", "data set"}, default "population"
        Of which pairs to speak: disjoint pairs of individuals speak of the population that these are independent draws from, pairs
        drawn with replacement of this data set.
    n_pairs : int, optional
        See `measure_sampled`.
    confidence : float, default 0.95
        In (0, 1), of each interval for itself.
    ratio_bound : float, optional
        What D / d of no pair exceeds before or after. With it the mean difference has an interval that holds at any sample size
        (betting); without it one by Student's t, which is right for many pairs only and says so.
    nearest_share : float, default 0.1
    random_state : int, numpy.random.Generator or None
    progress : callable, optional

    Returns
    -------
    PairedDifferences

    Raises
    ------
    InputError
        An option out of its range, or a pair that exceeds the bound.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> people = np.random.default_rng(0).standard_normal((600, 2))
    >>> before, after = RowDistance(people @ [1.0, 1.0]), RowDistance(people @ [0.5, 0.4])
    >>> found = paired_differences(before, after, RowDistance(people), random_state=0)
    >>> found.overall.share_lower.low > 0.8
    True
    """
    for name, distance in (("before", before), ("after", after), ("reference", reference)):
        checked_instance(name, distance, PairwiseDistance, "a distance", "RowDistance(outputs) makes one")
    plan = Plan(n_pairs, population, confidence, None, nearest_share, None)
    drawn = draw(before, reference, plan, generator_of(random_state), progress)
    # The same pairs as before, so that what makes one pair differ from another cancels in the change.
    later = measure_pairs(after, *pair_positions(drawn.places, reference.n_individuals))
    defined = ~np.isnan(drawn.reference)
    near = defined & (drawn.reference <= reach(drawn.radius))
    return PairedDifferences(
        population=drawn.claims.population,
        n_pairs=int(defined.sum()),
        overall=_paired_metrics(drawn, later, defined, ratio_bound),
        similar=_paired_metrics(drawn, later, near, ratio_bound),
        radius=float(drawn.radius),
    )


def _paired_metrics(
    drawn: DrawnPairs, later: Floats, chosen: NDArray[np.bool_], ratio_bound: float | None
) -> PairedMetrics:
    claims, change = drawn.claims, (later - drawn.output)[chosen]
    if not change.size:
        nothing = claims.value(nan, Interval(-inf, inf, claims.confidence, "no such pair drawn"), 0)
        return PairedMetrics(nothing, nothing, nothing, nothing)
    differences = _over(change, drawn.reference[chosen])
    middle = order_statistics(differences, [share_rank(0.5, differences.size)])[0]
    median = quantile_interval(differences, 0.5, claims.confidence)
    mean = _mean_interval(differences, claims.confidence, ratio_bound)
    return PairedMetrics(
        share_lower=claims.value(
            float(np.mean(change < 0)), _share(change < 0, claims.confidence), change.size
        ),
        share_higher=claims.value(
            float(np.mean(change > 0)), _share(change > 0, claims.confidence), change.size
        ),
        median_difference=claims.value(middle, median, change.size),
        mean_difference=claims.value(_mean(differences), mean, change.size),
    )


def _over(change: Floats, reference: Floats) -> Floats:
    """Divide by d; at d = 0 a change of outputs is an infinite change of the ratio, no change is none."""
    differences = np.zeros_like(change)
    np.divide(change, reference, out=differences, where=reference > 0)
    differences[(reference == 0) & (change != 0)] = inf * np.sign(change[(reference == 0) & (change != 0)])
    return differences


def _share(events: NDArray[np.bool_], confidence: float) -> Interval:
    return clopper_pearson(int(events.sum()), events.size, confidence)


def _mean(values: Floats) -> float:
    return float(values.mean()) if np.isfinite(values).all() else nan


def _mean_interval(values: Floats, confidence: float, ratio_bound: float | None) -> Interval:
    """Bound a mean that may be negative."""
    if not np.isfinite(values).all():
        return Interval(-inf, inf, confidence, "none: an infinite ratio was drawn")
    if values.size == 1:
        return Interval(-inf, inf, confidence, "none from a single pair")
    if ratio_bound is not None:
        checked_non_negative("ratio_bound", ratio_bound, "None")
    if ratio_bound is None:
        return _student(values, confidence)
    if np.abs(values).max() > ratio_bound:
        given = f"{option('ratio_bound', f'{ratio_bound:.6g}')}, yet ratios of a pair differ by {np.abs(values).max():.6g}"
        raise InputError(given, "a number that no ratio exceeds", "leave ratio_bound out if none is known")
    # Differences lie in [-bound, bound]: moved up by the bound, they are what bets are about.
    shifted = betting(values + ratio_bound, 2 * ratio_bound, confidence)
    return Interval(shifted.low - ratio_bound, shifted.high - ratio_bound, confidence, shifted.method)


def _student(values: Floats, confidence: float) -> Interval:
    """Bound a mean of either sign as if it were normal."""
    from scipy.stats import t

    margin = t.isf((1 - confidence) / 2, values.size - 1) * values.std(ddof=1) / sqrt(values.size)
    mean = float(values.mean())
    return Interval(mean - float(margin), mean + float(margin), confidence, "Student t (asymptotic)")
