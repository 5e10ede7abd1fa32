"""The means at which a seen mean of values in [0, 1] becomes too unlikely: Hoeffding's inequality in its sharp form.

``P(mean >= p) <= exp(-n KL(p, t))`` for every p above the true mean t, and likewise below (Hoeffding 1963, Theorem 1). It holds for
n independent draws, and for a U-statistic over m individuals with ``n = floor(m / 2)`` (Section 5a there).
"""

from __future__ import annotations

from math import log

from scipy.special import rel_entr


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
