"""Factors of a product turned into its singular value decomposition."""

from __future__ import annotations

from scipy import linalg

from likewise._typing import Floats

_NOTHING = 1e-10  # of the strongest component: what a weaker one adds is rounding


def orthogonal_factors(rows: Floats, columns: Floats) -> tuple[tuple[Floats, Floats, Floats], Floats]:
    """Return the singular value decomposition of ``rows columns^T`` and what turns a row of `rows` into coefficients of V.

    Parameters
    ----------
    rows : ndarray, shape (m, k)
    columns : ndarray, shape (n, k)

    Returns
    -------
    factors : tuple of ndarray, shapes (m, r), (r,), (n, r)
        U, d and V, orthonormal; components that are mere rounding are left out.
    turn : ndarray, shape (k, r)
        ``rows turn V^T = rows columns^T``.

    Examples
    --------
    >>> import numpy as np
    >>> (left, values, right), turn = orthogonal_factors(np.array([[1.0], [0.0]]), np.array([[3.0], [4.0]]))
    >>> values, abs(turn)
    (array([5.]), array([[5.]]))
    """
    left, row_triangle = linalg.qr(rows, mode="economic")
    right, column_triangle = linalg.qr(columns, mode="economic")
    turn_left, values, turn_right = linalg.svd(row_triangle @ column_triangle.T, full_matrices=False)
    kept = values > _NOTHING * values.max(initial=0.0)
    across = turn_right[kept].T
    return (left @ turn_left[:, kept], values[kept], right @ across), column_triangle.T @ across
