"""The metrics of one split, over all pairs and again without the pairs of each group of individuals."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from likewise._typing import Floats, Indices
from likewise.fairness.held_out.pairs import ReferencePairs

N_GROUPS = 40
"""Into which individuals are parted; each is left out in turn."""

GAP, RANK, CORRECTED, RATIO = range(4)
"""Columns of the estimates."""


def estimates_without_groups(pairs: ReferencePairs, gaps: Floats, similar: Floats, groups: Indices) -> Floats:
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
    of D^2 with their mean is that with d^2 itself, and the covariance of both halves is the variance of d^2, less what differs between features
    over their number, which two halves without a common feature cannot tell from noise.
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
