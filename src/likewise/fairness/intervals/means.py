"""Intervals for a mean of independent draws that are known to lie in [0, bound], and one that only approaches its confidence.

Nothing can bound a mean from above without knowing how large a value can be: a rare huge value may never have been drawn.
"""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from likewise.fairness.intervals.arguments import Side, bounded_values, checked_values, tail_errors
from likewise.fairness.intervals.chernoff import greatest_mean, least_mean
from likewise.fairness.intervals.interval import Interval


def hoeffding(values: ArrayLike, bound: float, confidence: float = 0.95, side: Side = "both") -> Interval:
    """Bound the mean of values in [0, bound] by Hoeffding's inequality in its sharp form.

    Parameters
    ----------
    values : array-like of float, shape (n_draws,)
        Independent draws.
    bound : float
        No value of the distribution exceeds it.
    confidence : float, default 0.95
    side : {"both", "lower", "upper"}, default "both"

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        No draw, a value outside [0, bound], or a confidence outside (0, 1).

    Notes
    -----
    With p the mean over `bound` and a the error of an end, the ends are where ``n KL(p, mean) = log(1 / a)``,
    ``KL(p, t) = p log(p / t) + (1 - p) log((1 - p) / (1 - t))``. Always inside ``p +- sqrt(log(1 / a) / (2 n))``.

    References
    ----------
    Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58, 1963, Theorem 1, (2.1).

    Examples
    --------
    >>> interval = hoeffding([0.0, 1.0] * 50, 1.0)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.3667, 0.6333)
    """
    draws = bounded_values(values, bound)
    low_error, high_error = tail_errors(confidence, side)
    share = min(float(draws.mean()) / bound, 1.0)
    low, high = least_mean(share, draws.size, low_error), greatest_mean(share, draws.size, high_error)
    return Interval(bound * low, bound * high, confidence, "Hoeffding")


def empirical_bernstein(
    values: ArrayLike, bound: float, confidence: float = 0.95, side: Side = "both"
) -> Interval:
    """Bound the mean of values in [0, bound]; narrow where they vary little beside the bound.

    Parameters
    ----------
    values : array-like of float, shape (n_draws,)
        Independent draws, at least two.
    bound, confidence, side
        See `hoeffding`.

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        Fewer than two draws, a value outside [0, bound], or a confidence outside (0, 1).

    Notes
    -----
    Each end is ``sqrt(2 V log(2 / a) / n) + 7 bound log(2 / a) / (3 (n - 1))`` from the mean, V the sample variance, a its error.

    References
    ----------
    Maurer, Pontil, "Empirical Bernstein bounds and sample-variance penalization", COLT 2009, Theorem 4.

    Examples
    --------
    >>> interval = empirical_bernstein([0.4, 0.6] * 500, 1.0)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4804, 0.5196)
    """
    draws = bounded_values(values, bound, least=2)
    low_error, high_error = tail_errors(confidence, side)
    mean, variance = float(draws.mean()), float(draws.var(ddof=1))
    low = mean - bernstein_margin(variance, draws.size, bound, low_error) if low_error else 0.0
    high = mean + bernstein_margin(variance, draws.size, bound, high_error) if high_error else bound
    return Interval(max(0.0, low), min(bound, high), confidence, "empirical Bernstein")


def bernstein_margin(variance: float, n_draws: int, bound: float, error: float) -> float:
    """Return how far the mean may be from what was seen; see `empirical_bernstein`."""
    logarithm = log(2 / error)
    return sqrt(2 * variance * logarithm / n_draws) + 7 * bound * logarithm / (3 * (n_draws - 1))


def student(values: ArrayLike, confidence: float = 0.95, side: Side = "both") -> Interval:
    """Bound a mean as if it were normal: right in the limit, too short for skewed values and few draws.

    Parameters
    ----------
    values : array-like of float, shape (n_draws,)
        Independent draws, at least two.
    confidence, side
        See `hoeffding`.

    Returns
    -------
    Interval
        Its method says that it is asymptotic.

    Raises
    ------
    InputError
        Fewer than two draws, or a confidence outside (0, 1).

    Examples
    --------
    >>> interval = student([1.0, 2.0, 3.0, 4.0])
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4457, 4.5543)
    """
    draws = checked_values(values, least=2)
    error = float(draws.std(ddof=1)) / sqrt(draws.size)
    return student_interval(float(draws.mean()), error, draws.size - 1, confidence, side, "Student t")


def student_interval(
    estimate: float, standard_error: float, freedom: int, confidence: float, side: Side, name: str
) -> Interval:
    """Return ``estimate +- t * standard_error``, cut at 0."""
    from scipy.stats import t

    low_error, high_error = tail_errors(confidence, side)
    low = estimate - t.isf(low_error, freedom) * standard_error if low_error else 0.0
    high = estimate + t.isf(high_error, freedom) * standard_error if high_error else inf
    return Interval(float(np.maximum(low, 0)), float(high), confidence, f"{name} (asymptotic)")
