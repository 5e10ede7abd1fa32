"""Rounding bounds, so that a constant computed in floating point is never smaller than the one it stands for.

The standard model of IEEE double precision: each operation has a relative error of at most u = 2^-53, and n of them in
a row of at most ``gamma(n) = n u / (1 - n u)`` (Higham, "Accuracy and Stability of Numerical Algorithms", Section 3.1).
"""

from __future__ import annotations

from math import frexp, inf, ldexp, sqrt

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from likewise._typing import Floats
from likewise.norms import conversion, dual_order

UNIT_ROUNDOFF = 2.0**-53


def gamma(n_operations: int) -> float:
    """Return the relative error that so many roundings in a row can reach.

    >>> gamma(2) >= 2 * 2.0**-53
    True
    """
    share = n_operations * UNIT_ROUNDOFF
    return share / (1 - share) * (1 + 4 * UNIT_ROUNDOFF)


SMALLEST = ldexp(1.0, -1074)
"""The smallest number above 0: as much as a result that is too small to be written exactly can be off by."""


def upward(value: float, n_operations: int) -> float:
    """Return a number that exact arithmetic cannot exceed, for a sum, product, quotient or root of numbers >= 0 that took so many roundings.

    `n_operations` are those on the longest path to it. The value is 0 only if it is exactly that.
    """
    n = n_operations + 4
    return value * (1 + gamma(n)) + n * SMALLEST if value else value


def product_upward(*factors: float) -> float:
    """Return an upper bound on the product of numbers >= 0: 0 only if one of them is, however small the product is.

    >>> product_upward(3.0, 2.0) >= 6.0, product_upward(1e-170, 1e-170) > 0.0
    (True, True)
    """
    if not all(factors):
        return 0.0
    value = 1.0
    for factor in factors:
        # A product too small to be written is no 0, of which a bound would follow that does not hold.
        value = max(value * factor, SMALLEST)
    return upward(value, 2 * len(factors))


POWER_ROUNDINGS = 64
"""Roundings granted to powers and roots, which are not always rounded correctly."""


def operator_norm(matrix: Floats, p: float, q: float) -> tuple[float, str]:
    """Return an upper bound on ``max ||W x||_q / ||x||_p``, for a finite W of shape (n_outputs, n_inputs), and in words what it is.

    At most a few roundings above the exact norm where that has a closed form.

    >>> value, words = operator_norm(np.array([[3.0, 0.0], [4.0, 1.0]]), 1, 2)
    >>> round(value, 12), words
    (5.0, 'largest l2 norm of a column')
    """
    n_outputs, n_inputs = matrix.shape
    # A norm is convex, so over the l1 ball it is largest at a corner: the image of one unit vector.
    if p == 1 or n_inputs == 1:
        return largest_norm(matrix.T, q), f"largest l{q:g} norm of a column"
    # Each output is a product with a row, at most its dual norm (Hölder).
    if q == inf or n_outputs == 1:
        return largest_norm(matrix, dual_order(p)), f"largest l{dual_order(p):g} norm of a row"
    value, words = spectral_norm(matrix), "largest singular value"
    if p == q == 2:
        return value, words
    # Other norms have no closed form: from lp to l2, by W, from l2 to lq.
    factor = conversion(p, 2, n_inputs) * conversion(2, q, n_outputs)
    return upward(value * factor, POWER_ROUNDINGS), f"{words} times {factor:.4g}, by norm inequalities"


def largest_norm(rows: Floats, order: float) -> float:
    """Return the largest lq norm of a row, rounded up.

    >>> round(largest_norm(np.array([[3.0, 4.0], [5.0, 5.0]]), 1.0), 12)
    10.0
    """
    size = float(np.abs(rows).max(initial=0.0))
    if order == inf or size == 0:
        return size
    # Powers of numbers up to 1 neither overflow nor vanish where they matter.
    powers = ((np.abs(rows) / size) ** order).sum(axis=1)
    return upward(size * float(powers.max()) ** (1 / order), rows.shape[1] + POWER_ROUNDINGS)


def spectral_norm(matrix: Floats) -> float:
    """Return an upper bound on the largest singular value, proved in floating point.

    Computed eigenvalues carry an error that is small in practice and not proved, so they only propose a bound s on the
    largest eigenvalue of ``W^T W``. A Cholesky factorisation of ``s I - W^T W`` that succeeds proves it, up to rounding terms that
    are added (Rump, "Verification of positive definiteness", BIT 46, 2006). The bound is above the largest singular value by a relative
    ``min(k, n)^2 u``, about, for W of shape (k, n).

    >>> round(spectral_norm(np.array([[3.0, 0.0], [0.0, 4.0]])), 12)
    4.0
    """
    size = float(np.abs(matrix).max(initial=0.0))
    if size == 0:
        return 0.0
    exponent = frexp(size)[1]  # entries near 1, by an exact power of two: no square overflows or vanishes
    tall = np.ldexp(matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T, -exponent)
    gram = tall.T @ tall
    squared = upward(float(np.trace(gram)), tall.size)  # squared Frobenius norm
    # The computed W^T W is off by at most gamma(k) ||W||_F^2 in l2, so eigenvalues are as well.
    rounding_of_gram = gamma(tall.shape[0]) * squared
    # The Frobenius norm bounds it in any case.
    largest = min(_eigenvalue_bound(gram) + rounding_of_gram, squared)
    return ldexp(upward(sqrt(largest), 4), exponent) + SMALLEST


def _eigenvalue_bound(gram: Floats) -> float:
    """Return a proved upper bound on the largest eigenvalue of a symmetric matrix with non-negative ones."""
    k = gram.shape[0]
    estimate = _estimated_eigenvalue(gram)
    # About what rounding can take from the factorisation: with less it would fail although s bounds all
    # eigenvalues.
    excess = (k + 2) * gamma(k + 2)
    while excess < 1:
        proposed = estimate * (1 + excess)
        shifted = proposed * np.eye(k) - gram
        if _has_cholesky(shifted):
            # What was factored is positive definite but for rounding, at most gamma(k + 2) times the trace,
            # which is at most k s.
            trace = k * proposed
            return upward(proposed + (gamma(k + 2) + UNIT_ROUNDOFF) * trace, k)
        excess *= 4
    return inf


def _estimated_eigenvalue(gram: Floats) -> float:
    try:
        return float(np.linalg.eigvalsh(gram)[-1])
    except np.linalg.LinAlgError:  # did not converge; the trace bounds it
        return float(np.trace(gram))


def _has_cholesky(matrix: Floats) -> bool:
    try:
        cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
