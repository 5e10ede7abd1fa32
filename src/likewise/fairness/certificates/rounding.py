"""Rounding bounds, so that a constant computed in floating point is never smaller than the one it stands for.

The standard model of IEEE double precision: each operation has a relative error of at most u = 2^-53, and n of them in
a row of at most ``gamma(n) = n u / (1 - n u)`` (Higham, "Accuracy and Stability of Numerical Algorithms", Section 3.1).
"""

from __future__ import annotations

UNIT_ROUNDOFF = 2.0**-53


def gamma(n_operations: int) -> float:
    """Return the relative error that so many roundings in a row can reach.

    Examples
    --------
    >>> gamma(2) >= 2 * 2.0**-53
    True
    """
    share = n_operations * UNIT_ROUNDOFF
    return share / (1 - share) * (1 + 4 * UNIT_ROUNDOFF)


def upward(value: float, n_operations: int) -> float:
    """Return a number that exact arithmetic cannot exceed, for a value that took so many roundings.

    Parameters
    ----------
    value : float
        >= 0: a sum, product, quotient or root of numbers >= 0, in floating point.
    n_operations : int
        Roundings on the longest path to it.
    """
    return value * (1 + gamma(n_operations + 4))
