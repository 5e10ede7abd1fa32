"""lq norms by name, their duals, and the constants by which one bounds another."""

from __future__ import annotations

from math import inf

from likewise.fairness.norms import Norm, norm_order


def order_of(norm: Norm) -> float:
    """Return q of an lq norm given by name or number; the largest entry, ``"linf"``, included.

    Raises
    ------
    DistanceError
        If it is neither, or below 1.

    Examples
    --------
    >>> order_of("l2"), order_of("linf"), order_of(1)
    (2.0, inf, 1.0)
    """
    return inf if norm in ("linf", inf) else norm_order(norm)


def dual_order(order: float) -> float:
    """Return q with 1/p + 1/q = 1, so that ``|x . y| <= ||x||_p ||y||_q`` (Hölder, attained).

    Examples
    --------
    >>> dual_order(1.0), dual_order(2.0), dual_order(inf)
    (inf, 2.0, 1.0)
    """
    if order == 1:
        return inf
    return 1.0 if order == inf else order / (order - 1)


def conversion(order: float, to: float, n: int) -> float:
    """Return the smallest c with ``||x||_to <= c ||x||_order`` for every x of n entries.

    Examples
    --------
    >>> conversion(1, 2, 9), conversion(2, 1, 9), conversion(inf, 2, 9)
    (1.0, 3.0, 3.0)
    """
    return 1.0 if to >= order else float(n ** (1 / to - 1 / order))
