"""Entries of a low-rank matrix at the places of a sparse one, at the cost of those entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise._kernels.backend import use_native
from likewise._kernels.checks import checked_block, checked_csr
from likewise._kernels.fallback import entries as fallback
from likewise._kernels.native import entries as native
from likewise._kernels.threads import thread_count
from likewise._typing import Floats
from likewise.errors import ShapeError


def sampled_entries(pattern: Any, left: Any, right: Any, n_threads: int | None = None) -> Floats:
    """Return ``(L R^T)_ij`` for each stored entry (i, j), in the order of ``pattern.data``, in float64.

    Parameters
    ----------
    pattern : csr_array, shape (m, n)
        Only its structure is read.
    left : ndarray, shape (m, r)
        L.
    right : ndarray, shape (n, r)
        R.
    n_threads : int, optional
        By default LIKEWISE_NUM_THREADS, else the processors that this process may use. The result has the same bits whatever
        their number.

    Returns
    -------
    ndarray, shape (nnz,)

    Raises
    ------
    InputError
        If `pattern` is no sparse matrix, or its indices contradict its shape.
    ShapeError
        If the factors do not fit it or each other.

    Examples
    --------
    >>> from scipy import sparse
    >>> pattern = sparse.csr_array([[1.0, 0.0], [1.0, 1.0]])
    >>> sampled_entries(pattern, np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]]))
    array([ 3.,  6., 10.])
    """
    rows = checked_csr(pattern)
    L, R = _doubles(left, "left", rows.shape[0]), _doubles(right, "right", rows.shape[1])
    if L.shape[1] != R.shape[1]:
        raise ShapeError(f"left has {L.shape[1]} columns, right has {R.shape[1]}", "the same number")
    compute = native.sampled_entries if use_native() else fallback.sampled_entries
    return compute(rows, L, R, thread_count(n_threads))


def _doubles(factor: Any, name: str, n_rows: int) -> Floats:
    return checked_block(factor, name, n_rows).astype(np.float64, copy=False)
