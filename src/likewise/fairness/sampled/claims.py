"""From values seen on drawn pairs to figures that say what they cover: the population, the confidence, and the method.

Two ways to draw, one interface: `IndependentPairs` are draws with replacement or disjoint pairs, `AllPairs` are all pairs of independent
individuals, which share people.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf, isinf, nan
from typing import ClassVar, Self

import numpy as np

from likewise._typing import Floats, Mask
from likewise.errors import InputError, unknown_name
from likewise.fairness.metrics.metric_value import SampledValue
from likewise.fairness.metrics.ratios import order_statistics, share_rank
from likewise.fairness.sampled.intervals import (
    Interval,
    betting,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    quantile_interval,
    share_beyond_maximum,
    student,
    u_empirical_bernstein,
    u_hoeffding,
    u_jackknife,
    u_quantile,
)
from likewise.fairness.sampled.intervals.interval import Side

ASYMPTOTIC = "asymptotic"

_NO_PAIR = "no such pair drawn"


@dataclass(frozen=True)
class Claims(ABC):
    """What may be claimed from the values of drawn pairs. Each figure has the confidence for itself, not all of them together.

    Parameters
    ----------
    population : str
        Of which pairs the claims speak.
    confidence : float
    means : str
        How means are bounded, one of `known_means`.
    """

    population: str
    confidence: float
    means: str

    known_means: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.means not in self.known_means:
            raise InputError(*unknown_name("interval for means", self.means, self.known_means))

    def spending(self, share: float) -> Self:
        """Return the same with a share of the error only."""
        return replace(self, confidence=1 - share * (1 - self.confidence))

    def mean(self, values: Floats, bound: float | None, within: Mask | None = None) -> SampledValue:
        """Claim the mean over all pairs, or over those pairs of which `within` marks the drawn ones.

        Parameters
        ----------
        values : ndarray, shape (n_pairs,)
            At least 0.
        bound : float or None
            What no pair exceeds; None if no such number is known, and then the mean is bounded from below only.
        within : ndarray of bool, shape (n_pairs,), optional

        Returns
        -------
        SampledValue
        """
        seen = values if within is None else values[within]
        if not seen.size:
            return self.figure(nan, self._anything(bound, _NO_PAIR), 0)
        value = float(seen.mean())
        return self.figure(value, self._mean(value, values, bound, within), seen.size)

    def rate(self, events: Mask, side: Side = "both") -> SampledValue:
        """Claim the share of the pairs that show an event."""
        return self.figure(float(events.mean()), self._rate_interval(events, side), events.size)

    def quantile(self, values: Floats, q: float) -> SampledValue:
        """Claim the smallest value that at least the share q of the pairs does not exceed."""
        value = order_statistics(values, [share_rank(q, values.size)])[0]
        return self.figure(value, self._quantile_interval(values, q), values.size)

    def maximum(self, values: Floats, bound: float | None) -> SampledValue:
        """Claim the maximum: at least what was seen, at most the bound."""
        anything = self._anything(bound, "largest drawn, a low end only" if values.size else _NO_PAIR)
        largest = float(values.max()) if values.size else nan
        low = largest if values.size else 0.0
        return self.figure(largest, replace(anything, low=low), values.size)

    def beyond_maximum(self, values: Floats) -> SampledValue:
        """Claim the share of the pairs with a value above the largest one drawn."""
        return self.figure(0.0, share_beyond_maximum(self._independent(values), self.confidence), values.size)

    def figure(self, value: float, interval: Interval, n_pairs: int) -> SampledValue:
        """Return an interval as a figure of the population."""
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

    @abstractmethod
    def _mean_interval(self, values: Floats, bound: float | None, within: Mask | None) -> Interval: ...

    @abstractmethod
    def _rate_interval(self, events: Mask, side: Side) -> Interval: ...

    @abstractmethod
    def _quantile_interval(self, values: Floats, q: float) -> Interval: ...

    @abstractmethod
    def _independent(self, values: Floats) -> int:
        """Return how many independent draws the values are worth."""


class IndependentPairs(Claims):
    """Claims from independent draws. Those within a subset are independent draws from the pairs of that subset."""

    known_means = ("betting", "empirical bernstein", "hoeffding", ASYMPTOTIC)

    def _mean_interval(self, values: Floats, bound: float | None, within: Mask | None) -> Interval:
        seen = values if within is None else values[within]
        if seen.size == 1:
            return self._anything(bound, "none from a single pair")
        if self.means == ASYMPTOTIC:
            return student(seen, self.confidence)
        if bound is None or self.means == "betting":
            return betting(seen, bound, self.confidence)
        known = {"empirical bernstein": empirical_bernstein, "hoeffding": hoeffding}
        return known[self.means](seen, bound, self.confidence)

    def _rate_interval(self, events: Mask, side: Side) -> Interval:
        return clopper_pearson(int(np.count_nonzero(events)), events.size, self.confidence, side)

    def _quantile_interval(self, values: Floats, q: float) -> Interval:
        return quantile_interval(values, q, self.confidence)

    def _independent(self, values: Floats) -> int:
        return values.size


@dataclass(frozen=True)
class AllPairs(Claims):
    """Claims from all pairs of independent individuals, by bounds for U-statistics.

    Parameters
    ----------
    population, confidence, means
        See `Claims`.
    n_individuals : int
    """

    n_individuals: int

    known_means = ("hoeffding", "empirical bernstein", ASYMPTOTIC)

    def _mean_interval(self, values: Floats, bound: float | None, within: Mask | None) -> Interval:
        if within is None:
            return self._u_interval(values, bound)
        return self._ratio_interval(np.where(within, values, 0.0), bound, within)

    def _ratio_interval(self, parts: Floats, bound: float | None, within: Mask) -> Interval:
        """Divide the mean of the values within by the share within, each with half the error."""
        halved = self.spending(0.5)
        part, share = halved._u_interval(parts, bound), halved._rate_interval(within, "both")
        high = inf if not share.low else part.high / share.low
        return Interval(
            part.low / share.high, high if bound is None else min(bound, high), self.confidence, part.method
        )

    def _u_interval(self, values: Floats, bound: float | None) -> Interval:
        if self.means == ASYMPTOTIC:
            return u_jackknife(values, self.n_individuals, self.confidence)
        if bound is None:
            return self._anything(None, "none without a bound on the values")
        known = {"empirical bernstein": u_empirical_bernstein, "hoeffding": u_hoeffding}
        return known[self.means](values, self.n_individuals, bound, self.confidence)

    def _rate_interval(self, events: Mask, side: Side) -> Interval:
        return u_hoeffding(events, self.n_individuals, 1.0, self.confidence, side)

    def _quantile_interval(self, values: Floats, q: float) -> Interval:
        return u_quantile(values, self.n_individuals, q, self.confidence)

    def _independent(self, values: Floats) -> int:  # noqa: ARG002
        return self.n_individuals // 2
