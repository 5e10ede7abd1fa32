"""Intervals for the population from all pairs of m individuals: pairs that share people are not independent, U-statistics know it.

The mean over all pairs is an average, over all ways to match people into ``floor(m / 2)`` couples, of means of independent couples. So
what bounds the exponential moments of the latter bounds those of the former (Hoeffding 1963, Section 5a), and each bound below is that
of ``floor(m / 2)`` independent draws, with a steadier estimate in its middle.
"""

from __future__ import annotations

from math import ceil, comb, floor, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.errors import ShapeError
from likewise.fairness.exact.blocks import pair_count, pair_starts
from likewise.fairness.sampled.intervals.interval import (
    Interval,
    Side,
    bounded_values,
    check_count,
    check_share,
    checked_values,
    tail_errors,
)
from likewise.fairness.sampled.intervals.means import (
    bernstein_margin,
    divergence,
    greatest_mean,
    least_mean,
    student_interval,
)
from likewise.fairness.sampled.intervals.quantiles import ranked_interval


def u_hoeffding(
    values: ArrayLike, n_individuals: int, bound: float = 1.0, confidence: float = 0.95, side: Side = "both"
) -> Interval:
    """Bound a population mean or rate from the values of all pairs, in [0, bound], by Hoeffding's inequality for U-statistics.

    Parameters
    ----------
    values : array-like of float or bool, shape (m (m - 1) / 2,)
        One for each pair i < j, in the order (0, 1), (0, 2), ... (1, 2), ...
    n_individuals : int
        m individuals, independent draws from the population.
    bound : float, default 1
        No pair of the population has a larger value; 1 for rates.
    confidence : float, default 0.95
    side : {"both", "lower", "upper"}, default "both"

    Returns
    -------
    Interval

    Raises
    ------
    ShapeError
        Not one value for each pair.
    InputError
        Fewer than two individuals, a value outside [0, bound], or a confidence outside (0, 1).

    Notes
    -----
    With p the mean over `bound`, ``k = floor(m / 2)`` and a the error of an end, the ends are where ``k KL(p, mean) = log(1 / a)``.

    References
    ----------
    Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58, 1963, Theorem 1 and (5.7).

    Examples
    --------
    >>> interval = u_hoeffding(np.zeros(100 * 99 // 2), 100, side="upper")
    >>> round(interval.high, 4)  # 1 - 0.05^(1 / 50)
    0.0582
    """
    pairs = bounded_values(_of_all_pairs(values, n_individuals), bound)
    low_error, high_error = tail_errors(confidence, side)
    share, couples = min(float(pairs.mean()) / bound, 1.0), n_individuals // 2
    low, high = least_mean(share, couples, low_error), greatest_mean(share, couples, high_error)
    return Interval(bound * low, bound * high, confidence, "U-statistic, Hoeffding")


def u_empirical_bernstein(
    values: ArrayLike, n_individuals: int, bound: float = 1.0, confidence: float = 0.95, side: Side = "both"
) -> Interval:
    """Bound a population mean from the values of all pairs; narrow where they vary little beside the bound.

    Parameters
    ----------
    values, n_individuals, bound, confidence, side
        See `u_hoeffding`; at least four individuals.

    Returns
    -------
    Interval

    Raises
    ------
    ShapeError, InputError
        See `u_hoeffding`.

    Notes
    -----
    Each end is ``sqrt(2 W log(2 / a) / k) + 7 bound log(2 / a) / (3 (k - 1))`` from the mean, ``k = floor(m / 2)``, a its error, W half
    the mean of ``(g(i, j) - g(u, v))^2`` over all four different people: the mean, over all matchings, of the variance that
    Maurer and Pontil use for k independent draws. Their two exponential inequalities carry over as the mean's does.

    References
    ----------
    Maurer, Pontil, "Empirical Bernstein bounds and sample-variance penalization", COLT 2009, Theorem 4.
    Peel, Anthoine, Ralaivola, "Empirical Bernstein inequalities for U-statistics", NIPS 2010.

    Examples
    --------
    >>> interval = u_empirical_bernstein(np.tile([0.4, 0.6], 1000 * 999 // 4), 1000)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.466, 0.534)
    """
    check_count("n_individuals", n_individuals, least=4)
    pairs = bounded_values(_of_all_pairs(values, n_individuals), bound)
    low_error, high_error = tail_errors(confidence, side)
    mean, variance, couples = float(pairs.mean()), disjoint_variance(pairs, n_individuals), n_individuals // 2
    low = mean - bernstein_margin(variance, couples, bound, low_error) if low_error else 0.0
    high = mean + bernstein_margin(variance, couples, bound, high_error) if high_error else bound
    return Interval(max(0.0, low), min(bound, high), confidence, "U-statistic, empirical Bernstein")


def u_jackknife(
    values: ArrayLike, n_individuals: int, confidence: float = 0.95, side: Side = "both"
) -> Interval:
    """Bound a population mean from the values of all pairs as if it were normal: right in the limit only.

    Parameters
    ----------
    values, n_individuals, confidence, side
        See `u_hoeffding`; at least three individuals.

    Returns
    -------
    Interval
        Its method says that it is asymptotic.

    Raises
    ------
    ShapeError, InputError
        See `u_hoeffding`.

    Notes
    -----
    The variance is ``(m - 1) / m sum (U_i - mean U_i)^2``, U_i the mean over the pairs without individual i; t with m - 1 degrees of freedom.

    References
    ----------
    Arvesen, "Jackknifing U-statistics", Annals of Mathematical Statistics 40, 1969.

    Examples
    --------
    >>> interval = u_jackknife([1.0, 2.0, 3.0, 2.0, 3.0, 4.0], 4)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0, 5.547)
    """
    check_count("n_individuals", n_individuals, least=3)
    pairs = checked_values(_of_all_pairs(values, n_individuals))
    without = (pairs.sum() - person_sums(pairs, n_individuals)) / comb(n_individuals - 1, 2)
    error = sqrt((n_individuals - 1) * float(without.var()))
    return student_interval(
        float(pairs.mean()), error, n_individuals - 1, confidence, side, "U-statistic, jackknife"
    )


def u_quantile(
    values: ArrayLike,
    n_individuals: int,
    q: float,
    confidence: float = 0.95,
    side: Side = "both",
    *,
    least: float = 0.0,
) -> Interval:
    """Bound a population quantile from the values of all pairs.

    Parameters
    ----------
    values, n_individuals, confidence, side
        See `u_hoeffding`; here values may be infinite.
    q : float
        In [0, 1].
    least : float, default 0
        What no value falls below.

    Returns
    -------
    Interval

    Raises
    ------
    ShapeError, InputError
        See `u_hoeffding`.

    Notes
    -----
    The share of pairs at or below the true quantile is the mean of an indicator, at least q in the population. By `u_hoeffding` it
    is seen at a or less only where ``k KL(a, q) >= log(1 / error)``; so too from above.

    References
    ----------
    Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58, 1963, Theorem 1 and (5.7).

    Examples
    --------
    >>> interval = u_quantile(np.arange(1.0, 4951.0), 100, 0.5)
    >>> interval.low, interval.high
    (1537.0, 3414.0)
    """
    check_share(q)
    pairs = checked_values(_of_all_pairs(values, n_individuals))
    errors = tail_errors(confidence, side)
    low_rank, high_rank = _rare_ranks(pairs.size, n_individuals // 2, q, errors)
    return ranked_interval(
        pairs, low_rank, high_rank, least, confidence, "U-statistic, quantile by Hoeffding"
    )


def disjoint_variance(pairs: Floats, n_individuals: int) -> float:
    """Return half the mean of ``(g(i, j) - g(u, v))^2`` over all four different people.

    From sums: with r_i the sum over the pairs of individual i, all ordered choices of two pairs without a common person have
    ``sum g g' = (sum g)^2 - sum r_i^2 + sum g^2``.
    """
    centred = pairs - pairs.mean()
    square = float(centred @ centred)
    people = person_sums(centred, n_individuals)
    products = float(centred.sum()) ** 2 - float(people @ people) + square
    return max(0.0, square / pairs.size - products / (pairs.size * comb(n_individuals - 2, 2)))


def person_sums(pairs: Floats, n_individuals: int) -> Floats:
    """Return the sum over the pairs of each individual."""
    sums, starts = np.zeros(n_individuals), pair_starts(n_individuals)
    for i in range(n_individuals - 1):
        mine = pairs[starts[i] : starts[i + 1]]
        sums[i] += mine.sum()
        sums[i + 1 :] += mine
    return sums


def _rare_ranks(n_pairs: int, couples: int, q: float, errors: tuple[float, float]) -> tuple[int, int]:
    """Return the ranks, from 1, of the ends of a quantile's interval; 0 and ``n_pairs + 1`` where there is none.

    A share at which the divergence from q reaches what is allowed is rarely seen; the one between it and q next to it may be.
    """
    low_error, high_error = errors
    rare_low = _rare_share(q, 0.0, couples, low_error)
    rare_high = _rare_share(q, 1.0, couples, high_error)
    low_rank = 0 if rare_low is None else floor(rare_low * n_pairs) + 1
    high_rank = n_pairs + 1 if rare_high is None else ceil(rare_high * n_pairs)
    return low_rank, high_rank


def _rare_share(q: float, end: float, couples: int, error: float) -> float | None:
    """Return the share on the way from q to `end` that is seen with probability `error` at most; None if there is none."""
    from scipy.optimize import bisect

    allowed = log(1 / error) / couples if error else np.inf
    if divergence(end, q) < allowed:
        return None
    return float(bisect(lambda share: divergence(share, q) - allowed, q, end, xtol=1e-15))


def _of_all_pairs(values: ArrayLike, n_individuals: int) -> Floats:
    """Return values as floats, one for each pair of individuals."""
    check_count("n_individuals", n_individuals, least=2)
    pairs = np.asarray(values, dtype=np.float64)
    if pairs.shape != (pair_count(n_individuals),):
        given = f"values of shape {pairs.shape} for {n_individuals} individuals"
        raise ShapeError(given, f"one for each of {pair_count(n_individuals)} pairs")
    return pairs
