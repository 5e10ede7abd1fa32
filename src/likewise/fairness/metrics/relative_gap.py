"""The headline: mean D of the similar pairs over mean D of all pairs, and its interval over individuals."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from likewise._typing import Floats, Indices, Mask
from likewise.fairness.metrics.jackknife import Jackknife
from likewise.fairness.sampled.intervals.interval import Interval


def relative_gap(similar_gap: float, gap: float) -> float:
    """Return one mean of D over the other; NaN where all outputs are equal."""
    return similar_gap / gap if gap else nan


def gap_interval(gap: Jackknife, confidence: float) -> Interval | None:
    """Bound a relative gap, which is at least 0; see `Jackknife.interval`.

    None also where the similar pairs all have D = 0: nothing shows how large a gap could have been.
    """
    interval = gap.interval(confidence) if gap.value > 0 else None
    return interval and replace(interval, low=max(interval.low, 0.0))


def all_pairs_jackknife(sums: Floats) -> Jackknife:
    """Leave each individual out of all pairs (Arvesen, "Jackknifing U-statistics", Annals of Mathematical Statistics 40, 1969).

    `sums`, shape (4, n_individuals), are over the pairs that each individual takes part in: how many there are, how many of them are similar,
    the sum of D over all of them and over the similar ones.

    Three people of one type each, and everybody is similar: nobody moves the gap.

    >>> found = all_pairs_jackknife(np.full((4, 3), 2.0))
    >>> found.value, found.deviations.tolist(), found.interval(0.95) is None
    (1.0, [0.0, 0.0, 0.0], True)
    """
    return Jackknife(*_leaving_each_out(sums))


def drawn_pairs_jackknife(people: tuple[Indices, Indices], output: Floats, near: Mask) -> Jackknife:
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
    return Jackknife(value, deviations, value * (similar_gap - similar - gap + pairs), people)


def _leaving_each_out(sums: Floats) -> tuple[float, Floats]:
    """Return the relative gap, and how much it moves where each individual is left out, about its mean."""
    # Each pair is in the sums of two people. The appended 0 leaves nobody out.
    pairs, similar, gap, similar_gap = (column.sum() / 2 - np.append(column, 0.0) for column in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        *without_one, everybody = (similar_gap / similar) / (
            gap / pairs
        )  # nobody is left out in the last place
        return float(everybody), np.asarray(without_one) - np.mean(without_one)
