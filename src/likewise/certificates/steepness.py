"""How far one regressor can move an estimate, over all information that is at least so much: exactly, by one number to search for.

Wanted is ``sup ||X A^-1 y||`` over all A of at least B. The inverses of such A are the C with ``0 <= C <= B^-1``, so ``C y = B^-1/2 P B^-1/2 y`` with ``0 <= P <= I``, and ``P z`` fills the
ball with diameter from 0 to z (every p in it is ``P z`` for ``P = p p^T / p^T z``). The largest ``||F p||^2`` over a ball is a trust-region problem, whose dual has no gap
(S-lemma). With ``G = X^T X`` that dual is

    sup ||X A^-1 y||^2 = min over mu with mu B > G of mu^2 / 4  y^T (mu B - G)^-1 y,

convex in mu; every mu gives a bound, the best one is attained. Where A is at least ``B + y y^T``, as where the feature itself is observed, Sherman and Morrison turn
``s = y^T (mu B - G)^-1 y`` into ``s / (1 + mu s)``.
"""

from __future__ import annotations

import numpy as np

from likewise._typing import Floats, Mask

_GOLDEN = (5**0.5 - 1) / 2
_STEPS = 60
"""Of a golden section: mu to within 1e-12, the bound, which is flat there, to within rounding."""


def steepest_images(levels: Floats, squares: Floats, added: Mask | bool) -> Floats:
    """Return ``sup ||X A^-1 y||`` over all A of at least B, or of at least ``B + y y^T`` where `added`, for k many y at once.

    `levels`, (d,), are the generalised eigenvalues l of G and B, increasing: ``V^T B V = I``, ``V^T G V = diag(l)``; `squares`, (k, d), are
    ``(V^T y)^2`` of each y.

    One dimension, X = 3, y = 2: of at least 1 the best A is 1, of at least 1 + 4 it is 5.

    >>> steepest_images(np.array([9.0]), np.array([[4.0], [4.0]]), np.array([False, True])).round(9)
    array([6. , 1.2])
    """
    top = float(levels[-1]) if levels.size else 0.0
    if top <= 0:
        return np.zeros(squares.shape[0])
    second = max(0.0, float(levels[-2])) if levels.size > 1 else 0.0
    # mu^2 / (mu - l) is least at 2 l, so no mu beyond twice the largest level is better. From below mu
    # comes to the largest level, or with y y^T added to the second.
    low, high = np.where(added, second, top) + np.zeros(squares.shape[0]), np.full(squares.shape[0], 2 * top)
    best = _dual(high, levels, squares, added)
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = (_dual(mu, levels, squares, added) for mu in (left, right))
        # Every mu gives a bound: the least seen is kept, and is one whether or not the search has settled.
        best = np.minimum(best, np.minimum(at_left, at_right))
        smaller = at_left < at_right  # not where both are infinite: what is feasible lies to the right
        low, high = np.where(smaller, low, left), np.where(smaller, right, high)
    return np.asarray(np.sqrt(best))


def _dual(mu: Floats, levels: Floats, squares: Floats, added: Mask | bool) -> Floats:
    """Return ``mu^2 / 4 y^T (mu B - G)^-1 y``, infinite where ``mu B`` is not above G."""
    top = levels[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.sum(squares / (mu[:, None] - levels), axis=1)
        value = mu**2 / 4 * np.where(added, s / (1 + mu * s), s)
        # Between the two largest levels mu B - G has one negative eigenvalue; adding mu y y^T makes it
        # positive where 1 + mu s < 0 (determinants).
        feasible = (mu > top) | (added & (1 + mu * s < 0))
    return np.where(feasible & (value >= 0), value, np.inf)


def phi(t: Floats) -> Floats:
    """Return ``sup ||A^-1 x||`` over all ``A >= I + x x^T``, for ``||x|| = t``: ``t / (1 + t^2)`` up to 1, then 1/2.

    With ``A = B + x x^T`` and ``q = x^T B^-1 x <= t^2``, ``||A^-1 x|| = ||B^-1 x|| / (1 + q) <= sqrt(q) / (1 + q)``, which grows up to q = 1.

    >>> phi(np.array([0.0, 0.5, 1.0, 9.0]))
    array([0. , 0.4, 0.5, 0.5])
    """
    below = np.minimum(t, 1.0)
    return np.asarray(below / (1 + below**2))
