"""The means at which a seen mean becomes too unlikely: by Hoeffding's inequality in its sharp form, by the variance, by betting.

Of values in [0, 1], ``P(mean >= p) <= exp(-n KL(p, t))`` for every p above the true mean t, and likewise below (Hoeffding 1963, Theorem 1).
It holds for n independent draws, and for a U-statistic over m individuals with ``n = floor(m / 2)`` (Section 5a there).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, rel_entr

from likewise._typing import Floats
from likewise.errors import InputError
from likewise.fairness.sampled.intervals.interval import (
    Interval,
    Side,
    bounded_values,
    checked_values,
    tail_errors,
)


def divergence(p: float, t: float) -> float:
    """Return ``KL(p, t) = p log(p / t) + (1 - p) log((1 - p) / (1 - t))`` for p and t in [0, 1].

    >>> divergence(0.5, 0.5), round(divergence(0.0, 0.5), 4), divergence(0.5, 1.0)
    (0.0, 0.6931, inf)
    """
    return float(rel_entr(p, t) + rel_entr(1 - p, 1 - t))


def least_mean(p: float, n_draws: int, error: float) -> float:
    """Return the smallest t <= p with ``n KL(p, t) <= log(1 / error)``; 0 if the error is 0.

    >>> round(least_mean(1.0, 100, 0.05), 4)  # 0.05^(1 / 100)
    0.9705
    """
    return 0.0 if not error else _crossing(p, 0.0, log(1 / error) / n_draws)


def greatest_mean(p: float, n_draws: int, error: float) -> float:
    """Return the largest t >= p with ``n KL(p, t) <= log(1 / error)``; 1 if the error is 0.

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
    """Bound the mean of independent draws in [0, bound] by Hoeffding's inequality in its sharp form.

    With p the mean over `bound` and a the error of an end, the ends are where ``n KL(p, mean) = log(1 / a)``. Always inside
    ``p +- sqrt(log(1 / a) / (2 n))``. InputError for no draw, a value outside [0, bound], or a confidence outside (0, 1).

    Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58, 1963, Theorem 1, (2.1).

    >>> interval = hoeffding([0.0, 1.0] * 50, 1.0)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.3667, 0.6333)
    """
    draws = bounded_values(values, bound)
    low_error, high_error = tail_errors(confidence, side)
    # Rounding may lift the mean of draws at the bound above it.
    share = min(float(draws.mean()) / bound, 1.0)
    low, high = least_mean(share, draws.size, low_error), greatest_mean(share, draws.size, high_error)
    return Interval(bound * low, bound * high, confidence, "Hoeffding")


def empirical_bernstein(
    values: ArrayLike, bound: float, confidence: float = 0.95, side: Side = "both"
) -> Interval:
    """Bound the mean of at least two independent draws in [0, bound]; narrow where they vary little beside the bound.

    Each end is ``sqrt(2 V log(2 / a) / n) + 7 bound log(2 / a) / (3 (n - 1))`` from the mean, V the sample variance, a its error. InputError
    as in `hoeffding`.

    Maurer, Pontil, "Empirical Bernstein bounds and sample-variance penalization", COLT 2009, Theorem 4.

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
    """Bound the mean of at least two independent draws as if it were normal: right in the limit, too short for skewed values and few draws.

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


_LARGEST_SHARE = 0.75
"""No bet can lose more than this share of the capital."""

_NOTHING = 1e-12
"""A candidate this small beside the largest draw is taken for 0."""

_LEARNING = 0.8
"""Share of the error that goes to bets which learn from past draws; the rest insures against what the past did not show."""


def betting(
    values: ArrayLike, bound: float | None = None, confidence: float = 0.95, side: Side = "both"
) -> Interval:
    """Bound the mean of independent draws >= 0, in the order in which they were drawn, by the winnings of bets against every candidate mean.

    No value of the distribution exceeds `bound`. Without it there is no high end, and the low end gets the whole error. The interval holds the
    mean of the draws. InputError for no draw, a value that is negative, infinite or above the bound, a confidence outside (0, 1), or a high
    end alone without a bound.

    Against a candidate mean u, capital 1 is multiplied at draw x by ``1 + b (x - u)``, ``0 <= b <= 3 / (4 u)``, b chosen before x is
    seen. It is non-negative and, if the mean is at most u, never expected to grow; so it ever reaches ``1 / a`` with probability at most
    a (Ville), and each u against which it did is too small. Two players bet, with 4/5 and 1/5 of the error: one learns b from the
    past (`learned_stakes`), one spreads its capital over fixed shares ``b u`` (`capital_of_fixed_shares`). The high end bets on
    ``bound - x``.

    Waudby-Smith, Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024, Section 4.

    >>> interval = betting([0.4, 0.6] * 500, bound=1.0)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.491, 0.509)
    """
    if bound is None:
        return _unbounded(checked_values(values), confidence, side)
    draws = bounded_values(values, bound)
    low_error, high_error = tail_errors(confidence, side)
    # In an unlucky order bets can disprove even the mean that was seen; a wider interval is right as well.
    mean = float(draws.mean())
    low = min(mean, betting_low(draws, low_error)) if low_error else 0.0
    high = max(mean, bound - betting_low(bound - draws, high_error)) if high_error else bound
    return Interval(low, high, confidence, "betting")


def _unbounded(draws: Floats, confidence: float, side: Side) -> Interval:
    """Return the interval that needs no bound, from a low end to infinity."""
    if side == "upper":
        raise InputError("a high end without a bound", "bound=, a number that no value exceeds")
    if draws.min() < 0 or not np.isfinite(draws).all():
        raise InputError("negative or infinite values", "finite values >= 0")
    error, _ = tail_errors(confidence, "lower")
    return Interval(
        min(float(draws.mean()), betting_low(draws, error)), inf, confidence, "betting, low end only"
    )


def betting_low(draws: Floats, error: float) -> float:
    """Return the largest candidate mean that one of the two players disproves; 0 if there is none."""
    largest = float(draws.max())
    if largest == 0:
        return 0.0
    # Bets know ratios of draws alone, so the largest is the unit, and every candidate lies within (0, 1].
    unit = draws / largest
    stakes = learned_stakes(unit, _LEARNING * error)
    learning = _disproved(lambda u: capital_of_stakes(unit, stakes, u), _LEARNING * error, _NOTHING)
    # A candidate is too small if either player wins against it, and capitals fall as it grows: the second
    # starts where the first stopped.
    best = _disproved(lambda u: capital_of_fixed_shares(unit, u), (1 - _LEARNING) * error, learning)
    return largest * best if best > _NOTHING else 0.0


def _disproved(capital: Callable[[float], float], error: float, known: float) -> float:
    """Return the largest candidate in [known, 1] against which a capital, given as its logarithm, exceeds the inverse of the error.

    Capitals fall as the candidate grows, and against 1, the largest draw, nothing can be won: one root has to be found, unless a
    candidate that is known to be too small is out of reach already.
    """
    from scipy.optimize import brentq

    goal = log(1 / error)
    if capital(known) <= goal:
        return known
    return float(brentq(lambda u: capital(u) - goal, known, 1.0, xtol=1e-15))


def learned_stakes(draws: Floats, error: float) -> Floats:
    """Choose each b from the draws before it: ``sqrt(2 log(1 / error) / (n V))``, V their variance.

    V counts one further draw that is off by the mean, so that few draws that happen to agree do not lead to a reckless bet. Nothing
    is bet until a value above 0 was seen.
    """
    counts = np.arange(1, draws.size + 1)
    means = np.cumsum(draws) / counts
    spreads = (np.cumsum((draws - means) ** 2) + means**2) / counts
    stakes = np.zeros(draws.size)
    # Shifted by one: a stake that knew the draw it is for would win against true means too.
    known = spreads[:-1] > 0
    with np.errstate(over="ignore"):  # an infinite stake is cut like any other that is too large
        stakes[1:][known] = np.sqrt(2 * log(1 / error) / (draws.size * spreads[:-1][known]))
    return stakes


def capital_of_stakes(draws: Floats, stakes: Floats, candidate: float) -> float:
    """Return the logarithm of the largest capital that given stakes ever had against a candidate mean: Ville's bound is on the largest."""
    allowed = np.minimum(stakes, _LARGEST_SHARE / candidate)
    return float(np.cumsum(np.log1p(allowed * (draws - candidate))).max())


def capital_of_fixed_shares(draws: Floats, candidate: float) -> float:
    """Return the logarithm of the last capital of a player who spreads it over shares 3/4, 3/32, ... to 3/4n, or below, and keeps to them.

    It needs no idea of how large values are: rare large ones among many tiny ones, which ruin those who learn from the tiny ones, are
    what it wins by.
    """
    steps = ceil(log(draws.size, 8)) if draws.size > 1 else 0
    gains = draws / candidate - 1
    capitals = [np.log1p(_LARGEST_SHARE * 8.0**-k * gains).sum() for k in range(steps + 1)]
    # The mean of all shares' capitals, whose logarithm is taken without forming them: they overflow.
    return float(logsumexp(capitals) - log(len(capitals)))
