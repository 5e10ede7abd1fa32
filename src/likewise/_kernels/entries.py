"""Entries of a low-rank matrix at the places of a sparse one, at the cost of those entries."""

from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np
from scipy import sparse

from likewise._kernels.backend import equal_shares, run_together, thread_count, use_native
from likewise._kernels.checks import checked_block, checked_csr
from likewise._kernels.native import library as native
from likewise._typing import Floats
from likewise.errors import ShapeError

_BLOCK = 1 << 21  # numbers that NumPy gathers at a time: 16 MiB, which the caches nearly hold


def sampled_entries(pattern: Any, left: Any, right: Any, n_threads: int | None = None) -> Floats:
    """Return ``(L R^T)_ij`` for each stored entry (i, j) of an m x n csr_array, in the order of ``pattern.data``, in float64.

    L is m x r, R is n x r; only the structure of `pattern` is read. The result has the same bits whatever the number of threads. Raises `InputError`
    if `pattern` is not a sparse matrix, or its indices contradict its shape, `ShapeError` if the factors do not fit it or each other.

    >>> from scipy import sparse
    >>> pattern = sparse.csr_array([[1.0, 0.0], [1.0, 1.0]])
    >>> sampled_entries(pattern, np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]]))
    array([ 3.,  6., 10.])
    """
    rows = checked_csr(pattern)
    L, R = _doubles(left, "left", rows.shape[0]), _doubles(right, "right", rows.shape[1])
    if L.shape[1] != R.shape[1]:
        raise ShapeError(f"left has {L.shape[1]} columns, right has {R.shape[1]}", "the same number")
    return _native(rows, L, R, thread_count(n_threads)) if use_native() else _numpy(rows, L, R)


def _doubles(factor: Any, name: str, n_rows: int) -> Floats:
    return checked_block(factor, name, n_rows).astype(np.float64, copy=False)


def _native(pattern: sparse.csr_array, left: Floats, right: Floats, n_threads: int) -> Floats:
    """Each thread on rows of its own."""
    entries = np.empty(pattern.nnz)
    pointers = pattern.indptr.astype(np.int64, copy=False)
    columns = pattern.indices.astype(np.int32, copy=False)
    places = native.Places(
        rank=left.shape[1],
        pointers=native.address(pointers),
        columns=native.address(columns),
        left=native.address(left),
        right=native.address(right),
        entries=native.address(entries),
    )
    C = native.library()
    run_together(
        lambda _, start, stop: C.likewise_entries(byref(places), start, stop),
        equal_shares(pointers, n_threads),
    )
    return entries


def _numpy(pattern: sparse.csr_array, left: Floats, right: Floats) -> Floats:
    """A few entries at a time, on one thread."""
    entries = np.empty(pattern.nnz)
    step = max(1, _BLOCK // max(left.shape[1], 1))
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    for start in range(0, entries.size, step):
        part = slice(start, start + step)
        np.einsum("pr,pr->p", left[rows[part]], right[pattern.indices[part]], out=entries[part])
    return entries
