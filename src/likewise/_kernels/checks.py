"""What is checked, once, before a kernel is entered: no input can make it read or write out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from likewise._typing import AnyFloats
from likewise.errors import InputError, ShapeError

FLOAT_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


def checked_csr(matrix: Any, dtype: DTypeLike | None = None) -> sparse.csr_array:
    """Return a float csr_array that is sound: pointers never decrease, every column index is in range.

    Raises `InputError` if `matrix` is not a 2-D SciPy sparse matrix in CSR, CSC or COO format, its structure contradicts itself, or
    `dtype` is not float32 or float64.
    """
    form = getattr(matrix, "format", type(matrix).__name__)
    if form not in _FAULTS or len(matrix.shape) != 2:
        raise InputError(
            f"matrix is {form}", "a two-dimensional SciPy sparse array, CSR, CSC or COO", "call its tocsr()"
        )
    if fault := _FAULTS[form](matrix):
        raise InputError(
            fault, f"a sound {form}_array of shape {matrix.shape}", "make it with SciPy's constructors"
        )
    kind = _float_type(matrix.dtype if dtype is None else np.dtype(dtype))
    rows: sparse.csr_array = sparse.csr_array(matrix).astype(kind, copy=False)
    return rows


def checked_block(block: Any, name: str, n_rows: int) -> AnyFloats:
    """Return `block` as a C-contiguous float32 or float64 array of `n_rows` rows."""
    array = np.asarray(block)
    if array.ndim != 2 or array.shape[0] != n_rows:
        raise ShapeError(f"{name} has shape {array.shape}", f"({n_rows}, b), a block of b columns")
    return np.ascontiguousarray(array, dtype=_float_type(array.dtype))


def checked_range(start: int, stop: int, size: int, step: int = 1) -> None:
    """Raise unless a range of rows lies within a matrix of `size` rows and leaves none out."""
    if not 0 <= start <= stop <= size or step != 1:
        raise ShapeError(f"rows {start} to {stop}, step {step}", f"0 <= start <= stop <= {size}, step 1")


def _float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype in FLOAT_TYPES:
        return dtype
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    raise InputError(f"dtype is {dtype}", "float32 or float64")


def _coo_fault(matrix: Any) -> str:
    sizes = {array.shape for array in (matrix.data, *matrix.coords)}
    if len(sizes) != 1:
        return f"data and coordinates have shapes {sorted(sizes)}"
    return next(filter(None, map(_index_fault, matrix.coords, matrix.shape)), "")


def _compressed_fault(matrix: Any) -> str:
    """Say what is wrong with a matrix of compressed rows or columns, or nothing."""
    n_lists, n_members = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    pointers, members, values = matrix.indptr, matrix.indices, matrix.data
    if not (pointers.ndim == members.ndim == values.ndim == 1 and pointers.dtype.kind in "iu"):
        return "indptr, indices or data is not a flat array of its kind"
    if pointers.size != n_lists + 1 or pointers[0] != 0:
        return f"indptr has {pointers.size} entries for {n_lists} rows or columns, the first {pointers[:1]}"
    if np.any(pointers[1:] < pointers[:-1]):
        return "indptr decreases"
    if pointers[-1] > members.size or members.size != values.size:
        return f"indptr ends at {pointers[-1]}, with {members.size} indices and {values.size} values"
    return _index_fault(members[: pointers[-1]], n_members)


_FAULTS = {"csr": _compressed_fault, "csc": _compressed_fault, "coo": _coo_fault}


def _index_fault(indices: NDArray[Any], size: int) -> str:
    if indices.dtype.kind not in "iu":
        return f"indices are {indices.dtype}"
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        return f"indices reach from {indices.min()} to {indices.max()} in a dimension of {size}"
    return ""
