"""Draw pairs of individuals so that what is seen on them can be told of all others, measure them, and say what may be claimed.

With replacement from all pairs of a data set, the draws are independent although the pairs share people: intervals speak of this data
set. Disjoint pairs of independent individuals are independent as well: intervals speak of the population the individuals come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf, isinf, isnan, nan
from typing import Self

import numpy as np

from likewise._typing import Floats, Indices, Mask
from likewise.checks import checked_name, checked_non_negative, checked_share, checked_whole, is_whole
from likewise.errors import InputError, option
from likewise.fairness.distances.cancellation import RELATIVE_ERROR
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.blocks import pair_count, pair_places, pair_positions
from likewise.fairness.metrics.metric_value import SampledValue, order_statistics, share_rank
from likewise.fairness.options import progress_counter
from likewise.fairness.sampled.intervals import (
    Interval,
    betting,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    quantile_interval,
    share_beyond_maximum,
    student,
)
from likewise.fairness.sampled.intervals.interval import Side, tail_errors
from likewise.memory import ensure_fits
from likewise.progress import Progress

DATA_SET = "all pairs of this data set"
"""What exact metrics and draws with replacement speak of."""

POPULATION = "all pairs of the population that the individuals were drawn from"
"""What disjoint pairs of independent individuals speak of."""

_PAIRS_AT_ONCE = 1 << 14


def draw_pairs(n_individuals: int, n_pairs: int, generator: np.random.Generator) -> tuple[Indices, Indices]:
    """Draw pairs i < j uniformly from all pairs, with replacement; InputError for fewer than 1 or more than there are.

    With as many draws as there are pairs, every pair could be measured.

    >>> left, right = draw_pairs(100, 1000, np.random.default_rng(0))
    >>> bool((left < right).all())
    True
    """
    _check_number(n_pairs, pair_count(n_individuals), "pairs", "measure_fairness covers every pair exactly")
    return pair_positions(generator.integers(pair_count(n_individuals), size=n_pairs), n_individuals)


def draw_disjoint_pairs(
    n_individuals: int, n_pairs: int, generator: np.random.Generator
) -> tuple[Indices, Indices]:
    """Draw pairs i < j of which no two share an individual: part of a uniformly random perfect matching.

    InputError for fewer than 1, or more than half the individuals.

    >>> left, right = draw_disjoint_pairs(7, 3, np.random.default_rng(0))
    >>> len({*left.tolist(), *right.tolist()})
    6
    """
    _check_number(n_pairs, n_individuals // 2, "disjoint pairs", "draw fewer, or leave n_pairs out")
    # Neighbours in a random order are a uniform matching; part of them is a uniform part.
    couples = generator.permutation(n_individuals)[: 2 * n_pairs].reshape(n_pairs, 2)
    couples.sort(axis=1)
    return couples[:, 0], couples[:, 1]


def measure_pairs(
    distance: PairwiseDistance, left: Indices, right: Indices, advance: Callable[[int], None] = lambda _: None
) -> Floats:
    """Measure given pairs, some thousands at a time; `advance` is called with the number of pairs that each part added."""
    measured = np.empty(len(left))
    for start in range(0, len(left), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        measured[part] = distance.between(left[part], right[part])
        advance(len(left[part]))
    return measured


def _check_number(n_pairs: int, most: int, what: str, hint: str) -> None:
    if not is_whole(n_pairs) or not 1 <= n_pairs <= most:
        raise InputError(
            option("n_pairs", repr(n_pairs)), f"a whole number from 1 to {most:,}, the number of {what}", hint
        )


@dataclass(frozen=True)
class Bounds:
    """Numbers that no pair of those spoken of exceeds; None where none is known.

    Of D / d, D and d; InputError for one that is negative, infinite or NaN.
    """

    ratio: float | None = None
    output: float | None = None
    reference: float | None = None

    def __post_init__(self) -> None:
        for name, bound in vars(self).items():
            if bound is not None:
                checked_non_negative(f"{name}_bound", bound, "None")

    def check(self, **drawn: Floats) -> None:
        """Raise InputError if a drawn pair exceeds a bound."""
        for name, values in drawn.items():
            bound, largest = getattr(self, name), float(values.max())
            if bound is not None and largest > bound:
                given = f"{name}_bound={bound:.6g}, yet a pair drawn has {largest:.6g}"
                raise InputError(
                    given, "a number that no pair exceeds", f"leave {name}_bound out if none is known"
                )


def distance_bound(distance: PairwiseDistance) -> float | None:
    """Bound a distance over all pairs of a data set: by what is known of it, or by measuring everybody against one individual.

    The smaller one of what no such distance exceeds and of ``2 max_i d(i, 0)``, by the triangle inequality; None where neither is known.

    >>> from likewise.fairness import RowDistance
    >>> round(distance_bound(RowDistance([1.0, 0.0, 4.0])), 6)  # the largest is 4
    6.0
    """
    known = inf if distance.upper_bound is None else distance.upper_bound
    if distance.description.axioms in ("metric", "pseudometric"):
        others = np.arange(1, distance.n_individuals)
        # Small distances that were set to 0 count as they were: without them the inequality can fail.
        farthest = float(measure_pairs(distance.unresolved(), np.zeros_like(others), others).max())
        if not isnan(farthest):
            known = min(known, 2 * farthest)
    return known * (1 + RELATIVE_ERROR) if known < inf else None


ASYMPTOTIC = "asymptotic"
KNOWN_MEANS = ("betting", "empirical bernstein", "hoeffding", ASYMPTOTIC)

_NO_PAIR = "no such pair drawn"


@dataclass(frozen=True)
class Claims:
    """What may be claimed from the values of independent draws: pairs drawn with replacement, or pairs that share nobody.

    Those within a subset are independent draws from the pairs of that subset. Each metric has the confidence for itself, not all of them
    together.
    """

    population: str  # of which pairs the claims speak
    confidence: float
    means: str  # how means are bounded, one of KNOWN_MEANS

    def __post_init__(self) -> None:
        checked_name("interval for means", self.means, KNOWN_MEANS)

    def spending(self, share: float) -> Self:
        """Return the same with a share of the error only."""
        return replace(self, confidence=1 - share * (1 - self.confidence))

    def mean(self, values: Floats, bound: float | None, within: Mask | None = None) -> SampledValue:
        """Claim the mean of values >= 0 over all pairs, or over those pairs of which `within` marks the drawn ones.

        No pair exceeds `bound`; None if no such number is known, and then the mean is bounded from below only.
        """
        seen = values if within is None else values[within]
        if not seen.size:
            return self.value(nan, self._anything(bound, _NO_PAIR), 0)
        value = float(seen.mean())
        return self.value(value, self._mean(value, values, bound, within), seen.size)

    def rate(self, events: Mask, side: Side = "both") -> SampledValue:
        """Claim the share of the pairs that show an event."""
        return self.value(float(events.mean()), self._rate_interval(events, side), events.size)

    def quantile(self, values: Floats, q: float) -> SampledValue:
        """Claim the smallest value that at least the share q of the pairs does not exceed."""
        value = order_statistics(values, [share_rank(q, values.size)])[0]
        return self.value(value, self._quantile_interval(values, q), values.size)

    def maximum(self, values: Floats, bound: float | None) -> SampledValue:
        """Claim the maximum: at least what was seen, at most the bound."""
        anything = self._anything(bound, "largest drawn, a low end only" if values.size else _NO_PAIR)
        largest = float(values.max()) if values.size else nan
        low = largest if values.size else 0.0
        return self.value(largest, replace(anything, low=low), values.size)

    def beyond_maximum(self, values: Floats) -> SampledValue:
        """Claim the share of the pairs with a value above the largest one drawn."""
        return self.value(0.0, share_beyond_maximum(values.size, self.confidence), values.size)

    def value(self, value: float, interval: Interval, n_pairs: int) -> SampledValue:
        """Return an interval as a metric of the population."""
        ends = (interval.low, interval.high, interval.confidence)
        return SampledValue(value, *ends, self.population, interval.method, n_pairs)

    def _anything(self, bound: float | None, method: str) -> Interval:
        """Return the interval that holds whatever is true."""
        return Interval(0.0, inf if bound is None else bound, self.confidence, method)

    def _mean(self, value: float, values: Floats, bound: float | None, within: Mask | None) -> Interval:
        """Set apart what needs no statistics: an infinite mean, and values that cannot differ from 0."""
        if isinf(value):
            return Interval(inf, inf, self.confidence, "an infinite value was drawn")
        if bound == 0:
            return Interval(0.0, 0.0, self.confidence, "no value can exceed 0")
        return self._mean_interval(values, bound, within)

    def _mean_interval(self, values: Floats, bound: float | None, within: Mask | None) -> Interval:
        seen = values if within is None else values[within]
        # One draw tells nothing of how far others are.
        if seen.size == 1:
            return self._anything(bound, "none from a single pair")
        if self.means == ASYMPTOTIC:
            return student(seen, self.confidence)
        # Only bets need no bound: what nobody has seen can raise a mean without limit, but lower it to no
        # less than what the draws show.
        if bound is None or self.means == "betting":
            return betting(seen, bound, self.confidence)
        known = {"empirical bernstein": empirical_bernstein, "hoeffding": hoeffding}
        return known[self.means](seen, bound, self.confidence)

    def _rate_interval(self, events: Mask, side: Side) -> Interval:
        return clopper_pearson(int(np.count_nonzero(events)), events.size, self.confidence, side)

    def _quantile_interval(self, values: Floats, q: float) -> Interval:
        return quantile_interval(values, q, self.confidence)


DEFAULT_PAIRS = 100_000

POPULATIONS = ("data set", "population")

_BYTES_A_PAIR = 120
"""Both individuals, both distances, the ratio, and working copies of them for an interval."""

_PILOT = 10
"""With ten pairs goes one that only tells what counts as similar."""


@dataclass(frozen=True)
class Plan:
    """Which pairs to draw and what to claim from them; see `measure_sampled`."""

    n_pairs: int | None
    population: str
    confidence: float
    means: str | None
    nearest_share: float
    nearest_radius: float | None

    def __post_init__(self) -> None:
        tail_errors(self.confidence)
        checked_name("population", self.population, POPULATIONS)
        checked_share("nearest_share", self.nearest_share, one=True)
        n_pairs, radius = self.n_pairs, self.nearest_radius
        if n_pairs is not None:
            checked_whole("n_pairs", n_pairs)
        if radius is not None:
            checked_non_negative("nearest_radius", radius)

    def pilot(self, number: int) -> int:
        """Return how many pilots go with a number of pairs: none where the radius is given."""
        return 0 if self.nearest_radius is not None else ceil(number / _PILOT)

    def radius(self, pilot: Floats) -> float:
        """Return the radius given, or that of the nearest share of pilot pairs; NaN if no pilot has a defined distance."""
        if self.nearest_radius is not None:
            return self.nearest_radius
        known = pilot[~np.isnan(pilot)]
        return (
            order_statistics(known, [share_rank(self.nearest_share, known.size)])[0] if known.size else np.nan
        )


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """Pairs with both distances, and what may be claimed from them."""

    places: Indices  # (n_pairs,), where each pair stands in the vector of all pairs
    reference: Floats  # d; NaN where it is not defined
    output: Floats  # D
    # pairs at most this far apart count as most similar; it was found on other pairs, so it is a fixed
    # number for these
    radius: float
    claims: Claims


def draw(
    output: PairwiseDistance,
    reference: PairwiseDistance,
    plan: Plan,
    generator: np.random.Generator,
    progress: Progress | None = None,
) -> DrawnPairs:
    """Draw independent pairs by a plan and measure them; of further pairs, only their reference distance.

    Raises InputError for more pairs than there are, MemoryLimitError for more than fit into memory.
    """
    m = reference.n_individuals
    if plan.n_pairs is not None:
        ensure_fits(_BYTES_A_PAIR * plan.n_pairs, f"{plan.n_pairs:,} drawn pairs", "draw fewer pairs")
    of_data_set = plan.population == "data set"
    (left, right), pilots = (_with_replacement if of_data_set else _disjoint)(m, plan, generator)
    advance = progress_counter(progress, 2 * left.size + pilots[0].size)
    return DrawnPairs(
        pair_places(left, right, m),
        measure_pairs(reference, left, right, advance),
        measure_pairs(output, left, right, advance),
        # The radius comes from pilots: found on the pairs themselves it would choose which of them count,
        # and these would be no independent draws any more.
        plan.radius(measure_pairs(reference, *pilots, advance)),
        Claims(
            DATA_SET if of_data_set else POPULATION,
            plan.confidence,
            "betting" if plan.means is None else plan.means,
        ),
    )


Pairs = tuple[Indices, Indices]


def _with_replacement(m: int, plan: Plan, generator: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Draw pairs and pilots from all pairs of the data set."""
    n_pairs = min(DEFAULT_PAIRS, pair_count(m)) if plan.n_pairs is None else plan.n_pairs
    pairs = draw_pairs(m, n_pairs, generator)
    n_pilots = plan.pilot(n_pairs)
    return pairs, draw_pairs(m, n_pilots, generator) if n_pilots else _no_pairs()


def _disjoint(m: int, plan: Plan, generator: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Draw pairs and pilots of which no two share an individual; by default as many as there are."""
    most = m // 2
    n_pairs = most if plan.n_pairs is None else plan.n_pairs
    if plan.n_pairs is None and plan.nearest_radius is None:
        n_pairs = most * _PILOT // (_PILOT + 1)
    n_pilots = plan.pilot(n_pairs)
    if n_pairs >= 1 and n_pairs + n_pilots > most:
        given = f"{option('n_pairs', str(n_pairs))} disjoint pairs and {n_pilots} pilots of {m:,} individuals"
        raise InputError(given, f"at most {most:,} in all", "leave n_pairs out, or give nearest_radius")
    # One matching for both, so that pilots share nobody with the pairs either.
    left, right = draw_disjoint_pairs(m, n_pairs + n_pilots, generator)
    return (left[:n_pairs], right[:n_pairs]), (left[n_pairs:], right[n_pairs:])


def _no_pairs() -> Pairs:
    return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
