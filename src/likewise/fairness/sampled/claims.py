"""From values seen on drawn pairs to metrics that say what they cover: the population, the confidence, and the method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isinf, nan
from typing import Self

import numpy as np

from likewise._typing import Floats, Mask
from likewise.checks import checked_name
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
)
from likewise.fairness.sampled.intervals.interval import Side

ASYMPTOTIC = "asymptotic"
KNOWN_MEANS = ("betting", "empirical bernstein", "hoeffding", ASYMPTOTIC)

_NO_PAIR = "no such pair drawn"


@dataclass(frozen=True)
class Claims:
    """What may be claimed from the values of independent draws: pairs drawn with replacement, or pairs that share nobody.

    Those within a subset are independent draws from the pairs of that subset. Each metric has the confidence for itself, not all of them
    together.

    Parameters
    ----------
    population : str
        Of which pairs the claims speak.
    confidence : float
    means : str
        How means are bounded: ``"betting"``, ``"empirical bernstein"``, ``"hoeffding"`` or ``"asymptotic"``.
    """

    population: str
    confidence: float
    means: str

    def __post_init__(self) -> None:
        checked_name("interval for means", self.means, KNOWN_MEANS)

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
