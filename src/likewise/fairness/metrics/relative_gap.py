"""The headline: mean D of the similar pairs over mean D of all pairs, and an interval for it over individuals."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np

from likewise._typing import Floats, Indices, Mask
from likewise.fairness.sampled.intervals.interval import Interval
from likewise.fairness.sampled.intervals.means import student_interval

FEWEST_INDIVIDUALS = 20
"""An interval over fewer individuals would rest on too few of them."""


def relative_gap(similar_gap: float, gap: float) -> float:
    """Return one mean of D over the other; NaN where all outputs are equal.

    Examples
    --------
    >>> relative_gap(1.0, 4.0), relative_gap(0.0, 0.0)
    (0.25, nan)
    """
    return similar_gap / gap if gap else nan


def jackknife_interval(sums: Floats, confidence: float) -> Interval | None:
    """Bound the relative gap of the population that the individuals were drawn from.

    Individuals are independent, pairs are not: one individual takes part in m - 1 of them. So each individual in turn is left out with all
    pairs that they take part in, and how much the result moves says how much it would differ between samples of individuals. The quantile is
    Student's with as many degrees of freedom as individuals carry the variance: ``(sum e^2)^2 / sum e^4`` for deviations e, few where
    a few people decide. Coverage in simulation is in ``docs/intervals.md``.

    Parameters
    ----------
    sums : ndarray, shape (4, n_individuals)
        Over the pairs that each individual takes part in: how many there are, how many of them are similar, the sum of D over all of them
        and over the similar ones.
    confidence : float
        In (0, 1).

    Returns
    -------
    Interval or None
        None for fewer than 20 individuals, where the similar pairs all have D = 0, or where they all share one individual.

    References
    ----------
    Arvesen, "Jackknifing U-statistics", Annals of Mathematical Statistics 40, 1969.

    Examples
    --------
    >>> jackknife_interval(np.ones((4, 3)), 0.95) is None
    True
    """
    value, deviations = _leaving_each_out(sums)
    m = deviations.size
    variance = (m - 1) / m * float(deviations @ deviations)
    return _interval(value, variance, _carriers(deviations), confidence) if m >= FEWEST_INDIVIDUALS else None


def drawn_interval(
    people: tuple[Indices, Indices], output: Floats, near: Mask, confidence: float
) -> Interval | None:
    """Bound the same from drawn pairs.

    Leaving out individuals counts what is particular to a pair twice, once for each of its two; that is taken off again, as in
    variance estimates for dyads.

    Parameters
    ----------
    people : (ndarray, ndarray) of int, shape (n_pairs,)
        The two individuals of each pair.
    output : ndarray, shape (n_pairs,)
        D.
    near : ndarray of bool, shape (n_pairs,)
        Which pairs are similar.
    confidence : float

    Returns
    -------
    Interval or None
        See `jackknife_interval`.

    References
    ----------
    Aronow, Samii, Assenova, "Cluster-robust variance estimation for dyadic data", Political Analysis 23, 2015.
    """
    columns = (np.ones(output.size), near.astype(np.float64), output, near * output)
    _, places = np.unique(np.concatenate(people), return_inverse=True)
    sums = np.array([np.bincount(places, np.tile(column, 2)) for column in columns])
    value, deviations = _leaving_each_out(sums)
    if deviations.size < FEWEST_INDIVIDUALS or not value > 0:
        return None
    pairs, similar, gap, similar_gap = (column / column.sum() for column in columns)
    of_pairs = value * (similar_gap - similar - gap + pairs)
    alone = float(of_pairs @ of_pairs)
    variance = max(float(deviations @ deviations) - alone, alone)
    return _interval(value, variance, min(_carriers(deviations), _carriers(of_pairs)), confidence)


def _leaving_each_out(sums: Floats) -> tuple[float, Floats]:
    """Return the relative gap, and how much it moves where each individual is left out, about its mean."""
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


def _interval(value: float, variance: float, degrees: float, confidence: float) -> Interval | None:
    if not (value > 0 and variance > 0):
        return None
    interval = student_interval(
        value, sqrt(variance), degrees, confidence, "both", "jackknife over individuals"
    )
    return interval if interval.high < np.inf else None
