"""The means at which a seen mean of values in [0, 1] becomes too unlikely: Hoeffding's inequality in its sharp form.

``P(mean >= p) <= exp(-n KL(p, t))`` for every p above the true mean t, and likewise below (Hoeffding 1963, Theorem 1). It holds for
n independent draws, and for a U-statistic over m individuals with ``n = floor(m / 2)`` (Section 5a there).
"""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from likewise.fairness.sampled.intervals.interval import (
    Interval,
    Side,
    bounded_values,
    checked_values,
    tail_errors,
)


def divergence(p: float, t: float) -> float:
    """Return ``KL(p, t) = p log(p / t) + (1 - p) log((1 - p) / (1 - t))`` for p and t in [0, 1].

    Examples
    --------
    >>> divergence(0.5, 0.5), round(divergence(0.0, 0.5), 4), divergence(0.5, 1.0)
    (0.0, 0.6931, inf)
    """
    return float(rel_entr(p, t) + rel_entr(1 - p, 1 - t))


def least_mean(p: float, n_draws: int, error: float) -> float:
    """Return the smallest t <= p with ``n KL(p, t) <= log(1 / error)``; 0 if the error is 0.

    Examples
    --------
    >>> round(least_mean(1.0, 100, 0.05), 4)  # 0.05^(1 / 100)
    0.9705
    """
    return 0.0 if not error else _crossing(p, 0.0, log(1 / error) / n_draws)


def greatest_mean(p: float, n_draws: int, error: float) -> float:
    """Return the largest t >= p with ``n KL(p, t) <= log(1 / error)``; 1 if the error is 0.

    Examples
    --------
    >>> round(greatest_mean(0.0, 100, 0.05), 4)  # 1 - 0.05^(1 / 100)
    0.0295
    """
    return 1.0 if not error else _crossing(p, 1.0, log(1 / error) / n_draws)


def _crossing(p: float, end: float, allowed: float) -> float:
    """Return where the divergence from p, which grows on the way to `end`, reaches what is allowed."""
    from scipy.optimize import bisect

    if divergence(p, end) <= allowed:
        return end
    return float(bisect(lambda t: divergence(p, t) - allowed, p, end, xtol=1e-18, maxiter=2000))


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
    estimate: float, standard_error: float, freedom: float, confidence: float, side: Side, name: str
) -> Interval:
    """Return ``estimate +- t * standard_error``, cut at 0."""
    from scipy.stats import t

    low_error, high_error = tail_errors(confidence, side)
    low = estimate - t.isf(low_error, freedom) * standard_error if low_error else 0.0
    high = estimate + t.isf(high_error, freedom) * standard_error if high_error else inf
    return Interval(float(np.maximum(low, 0)), float(high), confidence, f"{name} (asymptotic)")
