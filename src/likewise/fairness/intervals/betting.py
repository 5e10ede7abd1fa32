"""Intervals for a mean by betting against it: the narrowest here, and the only ones that need no upper bound for their low end."""

from __future__ import annotations

from math import inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError
from likewise.fairness.intervals.arguments import Side, bounded_values, checked_values, tail_errors
from likewise.fairness.intervals.interval import Interval

Floats = NDArray[np.float64]

_LARGEST_STAKE = 0.75
"""No bet can lose more than this share of the capital."""


def betting(
    values: ArrayLike, bound: float | None = None, confidence: float = 0.95, side: Side = "both"
) -> Interval:
    """Bound the mean of non-negative values by the winnings of bets against every candidate mean.

    Parameters
    ----------
    values : array-like of float, shape (n_draws,)
        Independent draws >= 0, in the order in which they were drawn.
    bound : float, optional
        No value of the distribution exceeds it. Without it there is no high end, and the low end gets the whole error.
    confidence : float, default 0.95
    side : {"both", "lower", "upper"}, default "both"

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        No draw, a value that is negative, infinite or above the bound, a confidence outside (0, 1), or a high end alone without a
        bound.

    Notes
    -----
    Against a candidate mean u, capital 1 is multiplied at draw x by ``1 + b (x - u)``, ``0 <= b <= 3 / (4 u)``, b chosen before x is
    seen. It is non-negative and, if the mean is at most u, never expected to grow; so it ever reaches ``1 / a`` with probability at most
    a (Ville), and each u against which it did is too small. The high end bets on ``bound - x``.

    References
    ----------
    Waudby-Smith, Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024, Section 4.

    Examples
    --------
    >>> interval = betting([0.4, 0.6] * 500, bound=1.0)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.491, 0.509)
    """
    if bound is None:
        return _unbounded(checked_values(values), confidence, side)
    draws = bounded_values(values, bound)
    low_error, high_error = tail_errors(confidence, side)
    low = betting_low(draws, low_error) if low_error else 0.0
    high = bound - betting_low(bound - draws, high_error) if high_error else bound
    return Interval(low, high, confidence, "betting")


def _unbounded(draws: Floats, confidence: float, side: Side) -> Interval:
    """Return the interval that needs no bound, from a low end to infinity."""
    if side == "upper":
        raise InputError("a high end without a bound", "bound=, a number that no value exceeds")
    if draws.min() < 0 or not np.isfinite(draws).all():
        raise InputError("negative or infinite values", "finite values >= 0")
    error, _ = tail_errors(confidence, "lower")
    return Interval(betting_low(draws, error), inf, confidence, "betting, low end only")


def betting_low(draws: Floats, error: float) -> float:
    """Return the largest candidate mean that the bets disprove; 0 if they disprove none.

    A candidate's largest capital falls as the candidate grows, so that one root has to be found.
    """
    from scipy.optimize import brentq

    stakes, goal = bets(draws, error), log(1 / error)

    def excess(candidate: float) -> float:
        return largest_capital(draws, stakes, candidate) - goal

    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, float(draws.max()), xtol=1e-12 * float(draws.mean())))


def largest_capital(draws: Floats, stakes: Floats, candidate: float) -> float:
    """Return the logarithm of the largest capital that betting against one candidate mean ever reached."""
    allowed = np.minimum(stakes, _LARGEST_STAKE / candidate) if candidate else stakes
    return float(np.cumsum(np.log1p(allowed * (draws - candidate))).max())


def bets(draws: Floats, error: float) -> Floats:
    """Choose each bet from the draws before it: ``sqrt(2 log(1 / error) / (n V))``, V their variance.

    V counts one further draw that is off by the mean, so that few draws that happen to agree do not lead to a reckless bet. Nothing
    is bet until a value above 0 was seen.
    """
    counts = np.arange(1, draws.size + 1)
    means = np.cumsum(draws) / counts
    spreads = (np.cumsum((draws - means) ** 2) + means**2) / counts
    stakes = np.zeros(draws.size)
    known = spreads[:-1] > 0
    stakes[1:][known] = np.sqrt(2 * log(1 / error) / (draws.size * spreads[:-1][known]))
    return stakes
