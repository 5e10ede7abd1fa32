"""What a solver knows of the matrix: its shape, its energy, and its products with blocks of columns.

A solver keeps only blocks of n rows; the m rows of the matrix may live anywhere that can answer these products, in
memory, on disk or on other machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from likewise import _kernels
from likewise._kernels.checks import checked_csr
from likewise._typing import AnyFloats
from likewise.errors import InputError, ObservationError, ShapeError


class RowOperator(ABC):
    """An m x n matrix A known through products; subclass it for rows that live elsewhere.

    Every product has the dtype of the block it is given (float32 or float64) and counts as one pass over A.

    Attributes
    ----------
    shape : tuple of int
        ``(m, n)``.
    dtype : dtype
        Of the stored values.
    energy : float or None
        ``||A||_F^2``, the sum of all squared singular values; None where it is not known.
    passes : int
        How often A has been read from end to end.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    energy: float | None = None
    passes: int = 0

    def gram(self, X: AnyFloats) -> AnyFloats:
        """Return ``A^T (A X)``, shape (n, b), for X of shape (n, b)."""
        self.passes += 1
        return self._gram(X)

    def forward(self, X: AnyFloats) -> AnyFloats:
        """Return ``A X``, shape (m, b), for X of shape (n, b)."""
        self.passes += 1
        return self._forward(X)

    def adjoint(self, Y: AnyFloats) -> AnyFloats:
        """Return ``A^T Y``, shape (n, b), for Y of shape (m, b)."""
        self.passes += 1
        return self._adjoint(Y)

    def _gram(self, X: AnyFloats) -> AnyFloats:
        return self._adjoint(self._forward(X))

    @abstractmethod
    def _forward(self, X: AnyFloats) -> AnyFloats: ...

    @abstractmethod
    def _adjoint(self, Y: AnyFloats) -> AnyFloats: ...


class SparseRows(RowOperator):
    """A sparse, or sparse plus low rank, matrix in memory."""

    def __init__(self, rows: _kernels.CompressedRows, energy: float | None = None) -> None:
        self.rows, self.shape, self.dtype, self.energy = rows, rows.shape, rows.dtype, energy

    def _gram(self, X: AnyFloats) -> AnyFloats:
        return _kernels.gram_product(self.rows, X)

    def _forward(self, X: AnyFloats) -> AnyFloats:
        return _kernels.forward_product(self.rows, X)

    def _adjoint(self, Y: AnyFloats) -> AnyFloats:
        return _kernels.adjoint_product(self.rows, Y)


class DenseRows(RowOperator):
    """A dense matrix in memory."""

    def __init__(self, array: AnyFloats) -> None:
        self.array, self.dtype, self.energy = array, array.dtype, _sum_of_squares(array)
        self.shape = (array.shape[0], array.shape[1])

    def _forward(self, X: AnyFloats) -> AnyFloats:
        return np.asarray(self.array.astype(X.dtype, copy=False) @ X)

    def _adjoint(self, Y: AnyFloats) -> AnyFloats:
        return np.asarray(self.array.astype(Y.dtype, copy=False).T @ Y)


class Transposed(RowOperator):
    """``A^T`` through the products of A."""

    def __init__(self, inner: RowOperator) -> None:
        self.inner, self.shape = inner, inner.shape[::-1]
        self.dtype, self.energy = inner.dtype, inner.energy

    def _forward(self, X: AnyFloats) -> AnyFloats:
        return self.inner._adjoint(X)

    def _adjoint(self, Y: AnyFloats) -> AnyFloats:
        return self.inner._forward(Y)


def as_operator(operand: Any, dtype: Any = None) -> tuple[RowOperator, bool]:
    """Wrap whatever was given so that the short side is the side of the columns.

    Parameters
    ----------
    operand : ObservedMatrix, sparse array, ndarray, CompressedRows or RowOperator
    dtype : float32 or float64, optional
        Of the stored values; by default the operand's.

    Returns
    -------
    operator : RowOperator
    transposed : bool
        Whether the operator stands for the transpose of the operand.

    Raises
    ------
    ShapeError, ObservationError, InputError
        If it is no matrix, is empty, or holds NaN or infinite values.
    """
    if isinstance(operand, (RowOperator, _kernels.CompressedRows)):
        inner = operand if isinstance(operand, RowOperator) else SparseRows(operand)
        wide = inner.shape[0] < inner.shape[1]
        return (Transposed(inner) if wide else inner), wide
    matrix = _as_matrix(operand, dtype)
    wide = matrix.shape[0] < matrix.shape[1]
    if isinstance(matrix, np.ndarray):
        return DenseRows(matrix.T if wide else matrix), wide
    rows = _kernels.CompressedRows.from_csr(matrix.T.tocsr() if wide else matrix)
    return SparseRows(rows, _sum_of_squares(matrix.data)), wide


def _as_matrix(operand: Any, dtype: Any) -> Any:
    source = getattr(operand, "values", operand)
    if np.dtype(getattr(source, "dtype", float)).kind == "c":
        raise InputError("the operand is complex", "a real matrix")
    wanted = _float_type(getattr(source, "dtype", None) if dtype is None else dtype)
    matrix = (
        _without_duplicates(checked_csr(source, wanted)) if issparse(source) else _as_array(source, wanted)
    )
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ShapeError(f"the operand has shape {matrix.shape}", "a matrix with at least one row and column")
    if not np.isfinite(matrix.data if issparse(matrix) else matrix).all():
        raise ObservationError(
            "the matrix holds NaN or infinite values",
            "finite values",
            "leave missing entries out of a sparse matrix, or pass an ObservedMatrix",
        )
    return matrix


def _without_duplicates(matrix: csr_array) -> csr_array:
    if matrix.has_canonical_format:
        return matrix
    summed = matrix.copy()
    summed.sum_duplicates()
    return summed


def _as_array(source: Any, dtype: np.dtype[Any]) -> AnyFloats:
    try:
        return np.asarray(source, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise InputError(f"the operand is a {type(source).__name__}", "a matrix of numbers") from error


def _float_type(dtype: Any) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype is not None and np.dtype(dtype) == np.float32 else np.float64)


def _sum_of_squares(values: AnyFloats) -> float:
    """Sum in float64 whatever the dtype, without a copy of all values."""
    flat = values.ravel(order="K")
    step = 1 << 20
    parts = (flat[start : start + step].astype(np.float64, copy=False) for start in range(0, flat.size, step))
    return float(sum(float(part @ part) for part in parts))
