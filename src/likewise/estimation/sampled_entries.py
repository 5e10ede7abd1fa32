"""Entries of a low-rank matrix at the places of a sparse one, a few rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.observations.table import Values

Floats = NDArray[np.float64]

_BLOCK = 1 << 21  # numbers gathered at a time: 16 MiB, which the caches nearly hold


def sampled_entries(pattern: Values, left: NDArray[np.floating], right: NDArray[np.floating]) -> Floats:
    """Return ``(L R^T)_ij`` for each stored entry (i, j), in the order of ``pattern.data``.

    Parameters
    ----------
    pattern : csr_array, shape (m, n)
        Only its structure is read.
    left : ndarray, shape (m, r)
    right : ndarray, shape (n, r)

    Returns
    -------
    ndarray, shape (nnz,)

    Examples
    --------
    >>> from scipy import sparse
    >>> pattern = sparse.csr_array([[1.0, 0.0], [1.0, 1.0]])
    >>> sampled_entries(pattern, np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]]))
    array([ 3.,  6., 10.])
    """
    entries = np.empty(pattern.nnz)
    counts = np.diff(pattern.indptr)
    step = max(1, _BLOCK // max(left.shape[1], 1))
    rows = np.repeat(np.arange(counts.size), counts)
    for start in range(0, entries.size, step):
        part = slice(start, start + step)
        np.einsum("pr,pr->p", left[rows[part]], right[pattern.indices[part]], out=entries[part])
    return entries
