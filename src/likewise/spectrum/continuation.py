"""Triplets of a matrix that differs little from one whose triplets are known: a step of subspace iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise._typing import AnyFloats
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import orthonormalise, tall_product

_SPARE = 8
"""Columns of a subspace beyond those that are wanted: so many new singular values can rise at a time."""
_SPARE_SHARE = 0.5
"""Of those that are wanted, so many more: a third of each step more work, and where hundreds rise a third of the steps."""


@dataclass(frozen=True, eq=False)
class ApproximateTriplets:
    """The singular triplets of a matrix restricted to a subspace, largest first; nothing is proved about them.

    Parameters
    ----------
    left : ndarray, shape (m, b)
        Orthonormal.
    values : ndarray of float64, shape (b,)
        The i-th is never above the i-th singular value of the whole matrix.
    right : ndarray, shape (n, b)
        Orthonormal.
    """

    left: AnyFloats
    values: NDArray[np.float64]
    right: AnyFloats


def continue_triplets(operator: RowOperator, start: AnyFloats) -> ApproximateTriplets:
    """Return the triplets of ``Q Q^T A``, Q an orthonormal basis of ``A start``: two passes over A.

    For an algorithm that decomposes a sequence of matrices, each near the last: the right singular vectors of one are the
    start for the next, and the subspace catches up while the sequence converges. `singular_triplets` proves the end.

    Parameters
    ----------
    operator : RowOperator
        A, m x n with m >= n.
    start : ndarray, shape (n, b)
        Right singular vectors of a similar matrix, and a few columns more.

    Returns
    -------
    ApproximateTriplets
        b of them.

    References
    ----------
    Halko, Martinsson, Tropp, "Finding structure with randomness", SIAM Review 53 (2011), section 4.5.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.spectrum.operators import as_operator
    >>> operator, _ = as_operator(np.diag([3.0, 2.0, 1.0]))
    >>> near = np.array([[1.0, 0.1], [-0.1, 1.0], [0.0, 0.0]])
    >>> continue_triplets(operator, near).values.round(6)
    array([3., 2.])
    """
    # Q = orth(A X); then Q^T A = (A^T Q)^T is small on one side, and its triplets are those of Q Q^T A, turned by Q.
    left = operator.forward(start)
    orthonormalise(left)
    right, values, turn = linalg.svd(operator.adjoint(left), full_matrices=False, check_finite=False)
    return ApproximateTriplets(tall_product(left, turn.T), values, right)


def first_subspace(width: int, rng: np.random.Generator) -> AnyFloats:
    """Return a random subspace of so many dimensions to start a sequence from, shape (width, b)."""
    return with_room(np.zeros((width, 0)), _SPARE, rng)


def with_room(vectors: AnyFloats, wanted: int, rng: np.random.Generator) -> AnyFloats:
    """Cut or widen a subspace to half as many columns again as are wanted and a few more, the new ones random.

    Parameters
    ----------
    vectors : ndarray, shape (n, b)
    wanted : int
    rng : Generator

    Returns
    -------
    ndarray, shape (n, min(1.5 wanted + 8, n))
    """
    n = vectors.shape[0]
    width = min(wanted + _SPARE + round(_SPARE_SHARE * wanted), n)
    missing = max(width - vectors.shape[1], 0)
    return np.hstack([vectors[:, :width], rng.standard_normal((n, missing)) / np.sqrt(n)])
