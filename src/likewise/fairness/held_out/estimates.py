"""The metrics of one split, over all pairs and without each group of individuals; and one value with an interval from several splits."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student_t

from likewise._typing import Floats, Indices
from likewise.fairness.held_out.pairs import ReferencePairs
from likewise.fairness.metrics.metric_value import SampledValue

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
    # Ranked once, also for what is left without a group: a few pairs fewer move ranks by little, and all
    # alike.
    output_ranks = rankdata(gaps)
    ranks = _correlation(rankdata(pairs.distances), output_ranks, left, right)
    with np.errstate(invalid="ignore"):  # constant outputs have no gap to compare
        relative_gap = (similar_gap / n_similar) / (gap / n)
    return np.column_stack([relative_gap, ranks, _corrected(pairs, gaps, left, right), ratio / n])


def _corrected(pairs: ReferencePairs, gaps: Floats, left: Indices, right: Indices) -> Floats:
    """Return the correlation of D^2 with d^2 free of noise, over all pairs and without each group.

    The square x of a pair is the mean over C features. Given the pair it has expectation d^2, and the features say how much it varies around that, ``v / C``.
    So the covariance of D^2 with x is that with d^2, and the variance of x less the mean of ``v / C`` is the variance of d^2. This is what the covariance of x on two
    halves of the features is on average over all ways to halve them, as products of different features alone are left. What differs between features counts as noise.
    """
    y, x = (column - column.mean() for column in (gaps**2, pairs.squares))  # for sums that hardly cancel
    # The last column has v / C off each square, so that its sum, less sx^2 / n, is n times the variance of
    # d^2.
    terms = np.column_stack([np.ones(y.size), y, x, y * y, y * x, x * x - pairs.variances])
    n, sy, sx, yy, yx, xx = _sums_without(terms, left, right).T
    with np.errstate(invalid="ignore", divide="ignore"):  # a d that tells nothing has no correction
        covariance, variance = yx - sy * sx / n, xx - sx**2 / n
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


POPULATION = "individuals like these, the algorithm as it was fitted"
OVER_SPLITS = "individuals like these, the algorithm fitted on random parts of their observations"


def combined_value(estimates: Floats, confidence: float, n_pairs: int) -> SampledValue:
    """Average `estimates`, shape (n_splits, 1 + n_groups), over splits, with an interval over individuals that also holds what splits differ by beyond individuals.

    Each split has its estimate over all pairs first, then those without the pairs of each group. All splits are of the same individuals, so
    they are left out of all splits at once: the jackknife of the average holds whatever splits have in common. The average over infinitely
    many splits is the target; given the observations, splits are independent draws, so the average of S of them strays from it with variance
    B / S. Most of B comes from which observations of a person were kept aside, and the jackknife over individuals sees that already: its
    variance of ``theta_s - mean`` adds up to as much. What B exceeds it by comes from the fits, which differ from split to split, and is added.

    By Student's t, its degrees of freedom by Welch and Satterthwaite. With one split nothing can be said of others, and the population is that
    of the algorithm as it was fitted.

    Two splits that differ by 2, from individuals who all count alike: B = 2, and the jackknife sees nothing of it.

    >>> found = combined_value(np.array([[1.0] * 41, [3.0] * 41]), 0.95, 100)
    >>> found.value, round(found.high - 2, 3)      # t of 1 degree of freedom at .975 is 12.706
    (2.0, 12.706)
    """
    n_splits, n_groups = estimates.shape[0], estimates.shape[1] - 1
    mean = estimates.mean(axis=0)
    by_individuals = _jackknife(mean[None])
    beyond = 0.0
    if n_splits > 1:
        deviations = estimates - mean
        # B, unbiased from S splits; S - 1 also makes up for deviations from their own mean in the
        # jackknife.
        between = float(np.sum(deviations[:, 0] ** 2)) / (n_splits - 1)
        beyond = max(0.0, between - _jackknife(deviations) / (n_splits - 1)) / n_splits
    variance = by_individuals + beyond
    margin = 0.0
    if variance != 0:  # also where it is NaN
        # Welch and Satterthwaite: each part of the variance has its own degrees of freedom.
        freedom = variance**2 / (by_individuals**2 / (n_groups - 1) + beyond**2 / max(1, n_splits - 1))
        margin = float(student_t.ppf((1 + confidence) / 2, freedom)) * sqrt(variance)
    return SampledValue(
        float(mean[0]),
        float(mean[0]) - margin,
        float(mean[0]) + margin,
        confidence,
        POPULATION if n_splits == 1 else OVER_SPLITS,
        _method(n_groups, n_splits),
        n_pairs,
    )


def combined_correlation(estimates: Floats, confidence: float, n_pairs: int) -> SampledValue:
    """Do as `combined_value`, with the interval on Fisher's scale, ``artanh r``, on which correlations vary more evenly; as they are where one of them reaches 1.

    >>> found = combined_correlation(np.array([[0.9] * 20 + [0.8] * 21]), 0.95, 100)
    >>> bool(np.isclose(np.arctanh(found.high) - np.arctanh(0.9), np.arctanh(0.9) - np.arctanh(found.low)))
    True
    """
    plain = combined_value(estimates, confidence, n_pairs)
    if not (np.abs(estimates) < 1).all():
        return plain
    scaled = combined_value(np.arctanh(estimates), confidence, n_pairs)
    low, high = float(np.tanh(scaled.low)), float(np.tanh(scaled.high))
    return replace(plain, low=low, high=high, method=f"{plain.method}, on Fisher's scale")


def _jackknife(estimates: Floats) -> float:
    """Return the sum over splits of the variance that leaving out one group after another shows."""
    without = estimates[:, 1:]
    n_groups = without.shape[1]
    centred = without - without.mean(axis=1, keepdims=True)
    # Without group g a mean moves by that group's deviation over G - 1, so this is the sum of deviation^2 /
    # (G (G - 1)).
    return float((n_groups - 1) / n_groups * np.sum(centred**2))


def _method(n_groups: int, n_splits: int) -> str:
    text = f"jackknife over {n_groups} groups of individuals"
    if n_splits > 1:
        text += f", and what {n_splits} splits differ by beyond it"
    return f"{text} (asymptotic)"
