"""Intervals over individuals for what depends on all of them, such as a gap or an error, and for how it changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, nan, sqrt

import numpy as np

from likewise._typing import Floats, Indices
from likewise.fairness.metrics.metric_value import SampledValue
from likewise.fairness.sampled.intervals.interval import Interval
from likewise.fairness.sampled.intervals.means import student_interval

FEWEST_INDIVIDUALS = 20
"""An interval over fewer individuals would rest on too few of them."""


@dataclass(frozen=True, eq=False)
class Jackknife:
    """A number, and how it moves where each individual in turn is left out with all that belongs to them.

    Individuals are independent; pairs are not, as one individual takes part in m - 1 of them, nor are several observations of one individual. How much the
    number moves without an individual says how much it would differ between samples of individuals. The same holds of the difference between two numbers of
    the same individuals: what makes one sample differ from another moves both, and cancels.
    """

    value: float
    deviations: Floats  # (n_individuals,), the same without each individual, about the mean of these
    of_pairs: Floats | None = None  # (n_pairs,), where pairs were drawn: how each of them moves the value
    people: tuple[Indices, Indices] | None = None  # the two individuals of each pair that was drawn

    def is_of_those_of(self, other: Jackknife) -> bool:
        """Return whether another number is of the same individuals, or of the same drawn pairs."""
        if self.people is None or other.people is None:
            return self.people is other.people and self.deviations.shape == other.deviations.shape
        return all(
            np.array_equal(mine, theirs) for mine, theirs in zip(self.people, other.people, strict=True)
        )

    def interval(self, confidence: float) -> Interval | None:
        """Bound the value in the population that the individuals were drawn from.

        The quantile is Student's with as many degrees of freedom as individuals carry the variance: ``(sum e^2)^2 / sum e^4`` for deviations e, few where a
        few people decide. Where pairs were drawn, leaving out individuals counts what is particular to a pair twice, once for each of its two; that is taken
        off again, as in variance estimates for dyads. Coverage in simulation is in ``docs/intervals.md``.

        None for fewer than 20 individuals, or where leaving anybody out moves nothing or leaves nothing.
        """
        variance, degrees = self._variance()
        if self.deviations.size < FEWEST_INDIVIDUALS or not (variance > 0 and isfinite(self.value)):
            return None
        margin = student_interval(0.0, sqrt(variance), degrees, confidence, "both", _METHOD)
        if not isfinite(margin.high):
            return None
        return replace(margin, low=self.value - margin.high, high=self.value + margin.high)

    def _variance(self) -> tuple[float, float]:
        """Return the variance of the value, and its degrees of freedom."""
        m, own = self.deviations.size, float(self.deviations @ self.deviations)
        if self.of_pairs is None:
            return (m - 1) / m * own, _carriers(self.deviations)
        alone = float(self.of_pairs @ self.of_pairs)
        # Never less than what the pairs alone show: the difference of two estimates can fall below it by
        # chance.
        return max(own - alone, alone), min(_carriers(self.deviations), _carriers(self.of_pairs))


_METHOD = "jackknife over individuals"


def change_between(
    before: Jackknife | None, after: Jackknife | None, confidence: float, n: int
) -> SampledValue | None:
    """Return how a number changes, after minus before, over `n` pairs or observations of the same individuals, with an interval.

    None where it has no interval, or where both are not of the same individuals or pairs.

    >>> from likewise.fairness import RowDistance, measure_fairness
    >>> rng = np.random.default_rng(0)
    >>> people, noise = rng.normal(size=(50, 1)), rng.normal(size=(50, 1))
    >>> one, other = (measure_fairness(people + share * noise, RowDistance(people)).similar.leaving_out for share in (1.0, 0.9))
    >>> found = change_between(one, other, 0.95, 123)
    >>> round(other.value - one.value, 3) == round(found.value, 3), found.high < 0
    (True, True)
    """
    if before is None or after is None or not after.is_of_those_of(before):
        return None
    of_pairs = None if after.of_pairs is None else after.of_pairs - np.asarray(before.of_pairs)
    change = Jackknife(after.value - before.value, after.deviations - before.deviations, of_pairs)
    interval = change.interval(confidence)
    if interval is None:
        return None
    ends = interval.low, interval.high
    return SampledValue(change.value, *ends, confidence, "individuals like these", interval.method, n)


def _carriers(deviations: Floats) -> float:
    """Return how many of the deviations carry their sum of squares: all if they are alike, 1 if one of them is large."""
    fourth = float(np.sum(deviations**4))
    return float(deviations @ deviations) ** 2 / fourth if fourth else nan
