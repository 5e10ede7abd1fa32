"""Ridge regression of each row of a sparse matrix on the rows of a factor, over what is observed of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from likewise.observations.table import Values

Floats = NDArray[np.float64]

_BLOCK_BYTES = 16 << 20


def ridge_rows(
    values: Values,
    basis: Floats,
    penalties: Floats,
    weights: Floats | None = None,
    *,
    by_count: bool = False,
) -> Floats:
    """Solve ``min sum_j w_ij (values_ij - c_i b_j)^2 + sum_l penalty_l c_il^2`` for each row i, over its stored entries j.

    The normal equations of a row cost ``n_i r^2`` operations; they are solved for many rows at once.

    Parameters
    ----------
    values : csr_array, shape (k, n)
        A stored entry is an observation.
    basis : ndarray, shape (n, r)
        Rows ``b_j``.
    penalties : ndarray, shape (r,)
        Above 0.
    weights : ndarray, shape (n_observed,), optional
        >= 0; all 1 by default.
    by_count : bool, default False
        Multiply the penalties of a row by the number of its stored entries.

    Returns
    -------
    ndarray, shape (k, r)
        Zero for rows without an entry.

    Examples
    --------
    >>> from scipy import sparse
    >>> ridge_rows(sparse.csr_array([[2.0, 4.0]]), np.array([[1.0], [2.0]]), np.array([5.0]))
    array([[1.]])
    """
    k, rank = values.shape[0], basis.shape[1]
    basis = np.ascontiguousarray(basis, dtype=np.float64)
    coefficients = np.zeros((k, rank))
    if rank == 0:
        return coefficients
    step = max(1, _BLOCK_BYTES // (8 * rank * rank))
    for start in range(0, k, step):
        stop = min(start + step, k)
        grams, sides = _normal_equations(values, basis, weights, start, stop)
        counts = np.diff(values.indptr[start : stop + 1])
        factors = np.maximum(counts, 1) if by_count else np.ones(counts.size)
        diagonal = np.arange(rank)
        grams[:, diagonal, diagonal] += factors[:, None] * penalties
        coefficients[start:stop] = np.linalg.solve(grams, sides[:, :, None])[:, :, 0]
    return coefficients


def _normal_equations(
    values: Values, basis: Floats, weights: Floats | None, start: int, stop: int
) -> tuple[Floats, Floats]:
    rank = basis.shape[1]
    grams, sides = np.empty((stop - start, rank, rank)), np.empty((stop - start, rank))
    bounds = values.indptr[start : stop + 1].tolist()
    for row, (first, last) in enumerate(pairwise(bounds)):
        seen = basis[values.indices[first:last]]
        weighted = seen if weights is None else seen * weights[first:last, None]
        np.matmul(weighted.T, seen, out=grams[row])
        np.matmul(values.data[first:last], weighted, out=sides[row])
    return grams, sides
