"""What is checked, once, before a kernel is entered: no input can make it read or write out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from likewise.errors import InputError, ShapeError

Floats = NDArray[np.floating[Any]]
FLOAT_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


def checked_csr(matrix: Any, dtype: DTypeLike | None = None) -> sparse.csr_array:
    """Return a float csr_array that is sound: pointers never decrease, every column index is in range.

    Raises
    ------
    InputError
        If `matrix` is not a 2-D SciPy sparse matrix, its structure contradicts itself, or `dtype` is not a
        float32 or float64.
    """
    is_sparse = bool(sparse.issparse(matrix))
    if not is_sparse or matrix.ndim != 2:
        raise InputError(f"matrix is a {type(matrix).__name__}", "a two-dimensional SciPy sparse array")
    kind = _float_type(matrix.dtype if dtype is None else np.dtype(dtype))
    if matrix.format == "csr":
        _check_structure(matrix)
    rows: sparse.csr_array = sparse.csr_array(matrix).astype(kind, copy=False)
    return rows


def checked_block(block: Any, name: str, n_rows: int) -> Floats:
    """Return `block` as a C-contiguous float32 or float64 array of `n_rows` rows."""
    array = np.asarray(block)
    if array.ndim != 2 or array.shape[0] != n_rows:
        raise ShapeError(f"{name} has shape {array.shape}", f"({n_rows}, b), a block of b columns")
    return np.ascontiguousarray(array, dtype=_float_type(array.dtype))


def checked_out(out: Any, like: Floats, shape: tuple[int, int]) -> Floats:
    """Return `out`, or a new array where it is None, after checking that a kernel may write into it."""
    if out is None:
        return np.empty(shape, dtype=like.dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != like.dtype:
        given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ShapeError(f"out is {given}", f"a {like.dtype} array of shape {shape}")
    if not (out.flags.c_contiguous and out.flags.writeable) or np.may_share_memory(out, like):
        raise InputError(
            "out is not C-contiguous, is read-only, or overlaps the input", "an array of its own"
        )
    return out


def checked_range(start: int, stop: int, size: int) -> None:
    """Raise unless a range of rows lies within a matrix of `size` rows."""
    if not 0 <= start <= stop <= size:
        raise ShapeError(f"rows {start} to {stop}", f"0 <= start <= stop <= {size}")


def _float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype in FLOAT_TYPES:
        return dtype
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    raise InputError(f"dtype is {dtype}", "float32 or float64")


def _check_structure(matrix: Any) -> None:
    pointers, indices = matrix.indptr, matrix.indices
    fault = _pointer_fault(pointers, matrix.shape[0], min(indices.size, matrix.data.size))
    if not fault and pointers[-1]:
        used = indices[: pointers[-1]]
        if used.min() < 0 or used.max() >= matrix.shape[1]:
            fault = f"column indices reach from {used.min()} to {used.max()}"
    if fault:
        raise InputError(fault, f"a sound csr_array of shape {matrix.shape}", "see csr_array.check_format()")


def _pointer_fault(pointers: NDArray[Any], n_rows: int, n_entries: int) -> str:
    if pointers.shape != (n_rows + 1,):
        return f"indptr has shape {pointers.shape} for {n_rows} rows"
    if pointers[0] != 0 or pointers[-1] > n_entries:
        return f"indptr runs from {pointers[0]} to {pointers[-1]} over {n_entries} entries"
    if np.any(pointers[1:] < pointers[:-1]):
        return "indptr decreases"
    return ""
