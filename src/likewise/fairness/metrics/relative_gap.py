"""The headline: mean D of the similar pairs over mean D of all pairs, and intervals over individuals for it and for its change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, nan, sqrt

import numpy as np

from likewise._typing import Floats, Indices, Mask
from likewise.fairness.metrics.metric_value import SampledValue
from likewise.fairness.sampled.intervals.interval import Interval
from likewise.fairness.sampled.intervals.means import student_interval

FEWEST_INDIVIDUALS = 20
"""An interval over fewer individuals would rest on too few of them."""


def relative_gap(similar_gap: float, gap: float) -> float:
    """Return one mean of D over the other; NaN where all outputs are equal."""
    return similar_gap / gap if gap else nan


@dataclass(frozen=True, eq=False)
class GapJackknife:
    """A relative gap, and how it moves where each individual in turn is left out with all pairs that they take part in.

    Individuals are independent, pairs are not: one individual takes part in m - 1 of them. How much the result moves without an individual says how much
    it would differ between samples of individuals. The same holds of the difference between the gaps of two sets of outputs over the same pairs: what makes
    one sample of individuals differ from another moves both gaps, and cancels.
    """

    value: float  # the relative gap, or the difference of two
    deviations: Floats  # (n_individuals,), the same without each individual, about the mean of these
    of_pairs: Floats | None = None  # (n_pairs,), where pairs were drawn: how each of them moves the value
    people: tuple[Indices, Indices] | None = None  # the two individuals of each pair that was drawn

    def over_pairs_of(self, other: GapJackknife) -> bool:
        """Return whether another gap is over the same pairs."""
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


def gap_interval(gap: GapJackknife, confidence: float) -> Interval | None:
    """Bound a relative gap, which is at least 0; see `GapJackknife.interval`.

    None also where the similar pairs all have D = 0: nothing shows how large a gap could have been.
    """
    interval = gap.interval(confidence) if gap.value > 0 else None
    return interval and replace(interval, low=max(interval.low, 0.0))


def all_pairs_jackknife(sums: Floats) -> GapJackknife:
    """Leave each individual out of all pairs (Arvesen, "Jackknifing U-statistics", Annals of Mathematical Statistics 40, 1969).

    `sums`, shape (4, n_individuals), are over the pairs that each individual takes part in: how many there are, how many of them are similar,
    the sum of D over all of them and over the similar ones.

    Three people of one type each, and everybody is similar: nobody moves the gap.

    >>> found = all_pairs_jackknife(np.full((4, 3), 2.0))
    >>> found.value, found.deviations.tolist(), found.interval(0.95) is None
    (1.0, [0.0, 0.0, 0.0], True)
    """
    return GapJackknife(*_leaving_each_out(sums))


def drawn_pairs_jackknife(people: tuple[Indices, Indices], output: Floats, near: Mask) -> GapJackknife:
    """Leave each individual out of pairs that were drawn: the two `people` of each, its D, and whether it is similar, each of shape (n_pairs,).

    Aronow, Samii, Assenova, "Cluster-robust variance estimation for dyadic data", Political Analysis 23, 2015.
    """
    columns = (np.ones(output.size), near.astype(np.float64), output, near * output)
    _, places = np.unique(np.concatenate(people), return_inverse=True)
    sums = np.array([np.bincount(places, np.tile(column, 2)) for column in columns])
    value, deviations = _leaving_each_out(sums)
    with np.errstate(divide="ignore", invalid="ignore"):  # outputs that are all equal have no gap
        pairs, similar, gap, similar_gap = (column / column.sum() for column in columns)
    # To first order: the gap is a quotient of two means, and a pair moves its logarithm by its share in
    # each of the four sums.
    return GapJackknife(value, deviations, value * (similar_gap - similar - gap + pairs), people)


def gap_change(
    before: GapJackknife, after: GapJackknife, confidence: float, n_pairs: int
) -> SampledValue | None:
    """Return how the relative gap changes between two sets of outputs over the same pairs, `n_pairs` of them similar, with an interval.

    After minus before: below 0, similar individuals are treated more alike. None where it has no interval, or the pairs are not the same.

    >>> from likewise.fairness import RowDistance, measure_fairness
    >>> rng = np.random.default_rng(0)
    >>> people, noise = rng.normal(size=(50, 1)), rng.normal(size=(50, 1))
    >>> one, other = (measure_fairness(people + share * noise, RowDistance(people)).similar.leaving_out for share in (1.0, 0.9))
    >>> found = gap_change(one, other, 0.95, 123)
    >>> round(other.value - one.value, 3) == round(found.value, 3), found.high < 0
    (True, True)
    """
    if not after.over_pairs_of(before):
        return None
    of_pairs = None if after.of_pairs is None else after.of_pairs - np.asarray(before.of_pairs)
    change = GapJackknife(after.value - before.value, after.deviations - before.deviations, of_pairs)
    interval = change.interval(confidence)
    if interval is None:
        return None
    return SampledValue(
        change.value,
        interval.low,
        interval.high,
        confidence,
        "individuals like these",
        interval.method,
        n_pairs,
    )


def _leaving_each_out(sums: Floats) -> tuple[float, Floats]:
    """Return the relative gap, and how much it moves where each individual is left out, about its mean."""
    # Each pair is in the sums of two people. The appended 0 leaves nobody out.
    pairs, similar, gap, similar_gap = (column.sum() / 2 - np.append(column, 0.0) for column in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        *without_one, everybody = (similar_gap / similar) / (
            gap / pairs
        )  # nobody is left out in the last place
        return float(everybody), np.asarray(without_one) - np.mean(without_one)


def _carriers(deviations: Floats) -> float:
    """Return how many of the deviations carry their sum of squares: all if they are alike, 1 if one of them is large."""
    fourth = float(np.sum(deviations**4))
    return float(deviations @ deviations) ** 2 / fourth if fourth else nan
