"""An interval for a quantile, from the order statistics of independent draws: no assumption on the distribution."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.fairness.intervals.arguments import Side, check_share, checked_values, tail_errors
from likewise.fairness.intervals.interval import Interval
from likewise.fairness.ratios import order_statistics


def quantile_interval(
    values: ArrayLike, q: float, confidence: float = 0.95, side: Side = "both", *, least: float = 0.0
) -> Interval:
    """Bound the smallest value that at least the share q of the distribution does not exceed.

    Parameters
    ----------
    values : array-like of float, shape (n_draws,)
        Independent draws; infinite ones are allowed, NaN is not.
    q : float
        In [0, 1].
    confidence : float, default 0.95
    side : {"both", "lower", "upper"}, default "both"
    least : float, default 0
        What no value falls below; the low end where the draws are too few to say more.

    Returns
    -------
    Interval
        Its ends are drawn values. Its high end is infinite where the draws are too few to say more.

    Raises
    ------
    InputError
        No draw, NaN, a q outside [0, 1] or a confidence outside (0, 1).

    Notes
    -----
    With X_(1) <= ... <= X_(n) and B binomial (n, q): ``P(quantile < X_(r)) <= P(B <= r - 1)`` and
    ``P(quantile > X_(s)) <= P(B >= s)``, also where values tie. The largest r and the smallest s are taken that keep each within its
    error.

    References
    ----------
    David, Nagaraja, "Order Statistics", 3rd edition, 2003, Section 7.1.

    Examples
    --------
    >>> print(quantile_interval(range(1, 101), 0.5))
    Interval(low=40.0, high=61.0, confidence=0.95, method='order statistics')
    """
    draws = checked_values(values)
    low_rank, high_rank = binomial_ranks(draws.size, q, confidence, side)
    return ranked_interval(draws, low_rank, high_rank, least, confidence, "order statistics")


def binomial_ranks(n_draws: int, q: float, confidence: float, side: Side) -> tuple[int, int]:
    """Return the ranks r and s, from 1, of the ends; 0 and ``n_draws + 1`` where there is none."""
    from scipy.stats import binom

    low_error, high_error = tail_errors(confidence, side)
    check_share(q)
    # ppf is the smallest k with P(B <= k) >= error, isf the smallest with P(B > k) <= error.
    low_rank = int(binom.ppf(low_error, n_draws, q)) if low_error else 0
    high_rank = int(binom.isf(high_error, n_draws, q)) + 1 if high_error else n_draws + 1
    return max(low_rank, 0), high_rank


def ranked_interval(
    values: NDArray[np.float64], low_rank: int, high_rank: int, least: float, confidence: float, method: str
) -> Interval:
    """Return the interval between the values of two ranks, counted from 1; ranks beyond the values leave an end open."""
    ranks = [rank - 1 for rank in (low_rank, high_rank) if 1 <= rank <= values.size]
    found = order_statistics(values, ranks)
    low = found[0] if low_rank >= 1 else least
    high = found[-1] if high_rank <= values.size else inf
    return Interval(low, high, confidence, method)
