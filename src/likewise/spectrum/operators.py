"""What a solver knows of the matrix: its shape, its energy, and its products with blocks of columns.

A solver keeps only blocks of n rows; the m rows of the matrix may live anywhere that can answer these products, in
memory, on disk or on other machines.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, issparse

from likewise import _kernels
from likewise._kernels.checks import checked_csr
from likewise._typing import AnyFloats
from likewise.arrays import as_reals, ensure_axes_fit, without_duplicates
from likewise.engines import Engine
from likewise.errors import InputError, ObservationError, ShapeError

_NEAR_ONE = 8
"""Binary digits: where the largest entry lies within so many of 1, the fourth power of a singular value fits even float32."""
_SINGLE_REACH = 40
"""Binary digits by which a float32 block can be scaled without a loss, and the square of a float64 entry too."""
_FARTHEST = 1000
"""Binary digits that a matrix is scaled by at the most: 2 to that power is a number still, and so is its inverse."""


class RowOperator(ABC):
    """An m x n matrix A known through products; subclass it for rows that live elsewhere.

    Every product has the dtype of the block it is given (float32 or float64) and counts as one pass over A. A product
    that holds NaN or infinite values raises `ObservationError`: nothing could be proved of such a matrix.

    Attributes
    ----------
    shape : tuple of int
        ``(m, n)``.
    dtype : dtype
        Of the stored values.
    energy : float or None
        ``||A||_F^2``, the sum of all squared singular values; None where it is not known.
    passes : int
        How often A has been read from end to end since `singular_triplets` was last called with it.
    width : int
        Columns of a block of the iteration: narrow ones need fewer columns in all, wide ones fewer passes.
    rows_fit : bool
        Whether arrays of m rows may be held. Where not, triplets come without left singular vectors, ``u = A v / sigma``.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    energy: float | None = None
    passes: int = 0
    width: int = 16
    rows_fit: bool = True

    def gram(self, X: AnyFloats) -> AnyFloats:
        """Return ``A^T (A X)``, shape (n, b), for X of shape (n, b)."""
        self.passes += 1
        return _finite(self._gram(X))

    def forward(self, X: AnyFloats) -> AnyFloats:
        """Return ``A X``, shape (m, b), for X of shape (n, b)."""
        self.passes += 1
        return _finite(self._forward(X))

    def adjoint(self, Y: AnyFloats) -> AnyFloats:
        """Return ``A^T Y``, shape (n, b), for Y of shape (m, b)."""
        self.passes += 1
        return _finite(self._adjoint(Y))

    def largest_entry(self) -> float:
        """Return about how large the largest entry is; here by a product with one random column.

        Solvers divide by it, so that no square of a singular value overflows or vanishes. A subclass that knows it saves a pass.
        """
        probe = np.random.default_rng(0).standard_normal((self.shape[1], 1))
        return largest_of(self.forward(probe))

    def energy_over(self, exponent: int) -> float | None:
        """Return the energy of ``A / 2^exponent``; None where it is not known."""
        # A sum of squares that is 0, infinite or next to it may be a rounding of anything.
        if self.energy is None or not 1e-280 < self.energy < np.inf:
            return None
        return math.ldexp(self.energy, -2 * exponent)

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

    def largest_entry(self) -> float:
        """Return the largest entry of the sparse part, or of a bound on the low-rank part."""
        left, right = self.rows.low_rank
        # An entry of L R^T is a sum of so many products, none larger than this one.
        low_rank = left.shape[1] * largest_of(left) * largest_of(right)
        return float(np.maximum(largest_of(self.rows.values), low_rank))

    def energy_over(self, exponent: int) -> float | None:
        """Return the energy of ``A / 2^exponent``; None where it is not known."""
        return None if self.energy is None else _sum_of_squares(self.rows.values, exponent)

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

    def largest_entry(self) -> float:
        """Return the largest entry."""
        return largest_of(self.array)

    def energy_over(self, exponent: int) -> float:
        """Return the energy of ``A / 2^exponent``."""
        return _sum_of_squares(self.array, exponent)

    def _forward(self, X: AnyFloats) -> AnyFloats:
        return np.asarray(self.array.astype(X.dtype, copy=False) @ X)

    def _adjoint(self, Y: AnyFloats) -> AnyFloats:
        return np.asarray(self.array.astype(Y.dtype, copy=False).T @ Y)


class Transposed(RowOperator):
    """``A^T`` through the products of A."""

    def __init__(self, inner: RowOperator) -> None:
        self.inner, self.shape = inner, inner.shape[::-1]
        self.dtype, self.energy, self.width = inner.dtype, inner.energy, inner.width

    def largest_entry(self) -> float:
        """Return that of A."""
        return self.inner.largest_entry()

    def energy_over(self, exponent: int) -> float | None:
        """Return that of A."""
        return self.inner.energy_over(exponent)

    def _forward(self, X: AnyFloats) -> AnyFloats:
        return self.inner._adjoint(X)

    def _adjoint(self, Y: AnyFloats) -> AnyFloats:
        return self.inner._forward(Y)


class Rescaled(RowOperator):
    """``A / 2^exponent`` through the products of A: a power of two changes no digit.

    The block is scaled, not the matrix, which may fill the memory. A block of float32 does not reach as far as a matrix of
    float64 may; where the exponent is large the arithmetic is float64, and the two halves of a Gram product are scaled one by one.
    """

    def __init__(self, inner: RowOperator, exponent: int) -> None:
        self.inner, self.shape, self.dtype = inner, inner.shape, inner.dtype
        self.exponent, self.energy = exponent, inner.energy_over(exponent)
        self.passes, self.width, self.rows_fit = inner.passes, inner.width, inner.rows_fit

    def _gram(self, X: AnyFloats) -> AnyFloats:
        if abs(self.exponent) > _SINGLE_REACH:
            return self._adjoint(self._forward(X))
        return np.ldexp(self.inner._gram(np.ldexp(X, -self.exponent)), -self.exponent)

    def _forward(self, X: AnyFloats) -> AnyFloats:
        return self._scaled(self.inner._forward, X)

    def _adjoint(self, Y: AnyFloats) -> AnyFloats:
        return self._scaled(self.inner._adjoint, Y)

    def _scaled(self, product: Callable[[AnyFloats], AnyFloats], block: AnyFloats) -> AnyFloats:
        wide = block if abs(self.exponent) <= _SINGLE_REACH else block.astype(np.float64, copy=False)
        return product(np.ldexp(wide, -self.exponent)).astype(block.dtype, copy=False)


def near_one(operator: RowOperator) -> tuple[RowOperator, int]:
    """Scale a matrix by a power of two where its largest entry is far from 1: ``(A / 2^exponent, exponent)``.

    Raises `ObservationError` if it holds NaN or infinite values.

    >>> operator, exponent = near_one(DenseRows(np.array([[3e200]])))
    >>> float(operator.forward(np.ones((1, 1)))[0, 0]) * 2.0**exponent == 3e200
    True
    """
    exponent = _digits(_checked_largest(operator.largest_entry()))
    if abs(exponent) <= _NEAR_ONE:
        return operator, 0
    exponent = min(max(exponent, -_FARTHEST), _FARTHEST)
    return Rescaled(operator, exponent), exponent


def as_operator(operand: Any, dtype: Any = None) -> tuple[RowOperator, bool]:
    """Wrap whatever was given so that the short side is the side of the columns, and say whether that transposed it.

    `operand` is an ObservedMatrix, sparse array, ndarray, CompressedRows or RowOperator; `dtype` is that of the stored values, by default the
    operand's. Raises `ShapeError`, `ObservationError` or `InputError` if it is not a matrix, is empty, or holds NaN or infinite values.
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
    kind = np.dtype(getattr(source, "dtype", float))
    if kind.kind == "c":
        raise InputError("the operand is complex", "a real matrix")
    wanted = _float_type(kind if dtype is None else dtype)
    # float32 holds any whole number, but not any float64: these are looked at before they are narrowed.
    narrow = wanted == np.float32 and kind.kind == "f" and kind.itemsize > wanted.itemsize
    stored = np.dtype(np.float64) if narrow else wanted
    if issparse(source):
        ensure_axes_fit(source)
        matrix: Any = without_duplicates(checked_csr(source, stored))
    else:
        matrix = as_reals(source, "entries of the matrix").astype(stored, copy=False)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ShapeError(f"the operand has shape {matrix.shape}", "a matrix with at least one row and column")
    largest = _checked_largest(largest_of(matrix if isinstance(matrix, np.ndarray) else matrix.data))
    return matrix.astype(wanted) if narrow and abs(_digits(largest)) <= _SINGLE_REACH else matrix


def largest_of(values: AnyFloats) -> float:
    """Return the largest absolute value, 0 of none; NaN where one is."""
    if not values.size:
        return 0.0
    return float(np.maximum(values.max(), -values.min()))


def _digits(value: float) -> int:
    """Return the exponent of a number, so that ``value / 2^exponent`` is between 1/2 and 1."""
    return math.frexp(value)[1]


def _checked_largest(largest: float) -> float:
    if not math.isfinite(largest):
        raise ObservationError(
            "the matrix holds NaN or infinite values",
            "finite values",
            "leave missing entries out of a sparse matrix, or pass an ObservedMatrix",
        )
    return largest


def _finite(product: AnyFloats) -> AnyFloats:
    _checked_largest(largest_of(product))
    return product


def _float_type(dtype: Any) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype is not None and np.dtype(dtype) == np.float32 else np.float64)


def _sum_of_squares(values: AnyFloats, exponent: int = 0) -> float:
    """Sum the squares of ``values / 2^exponent`` in float64 whatever the dtype, without a copy of all values."""
    flat = values.ravel(order="K")
    step = 1 << 20
    parts = (flat[start : start + step].astype(np.float64, copy=False) for start in range(0, flat.size, step))
    if exponent:
        parts = (np.ldexp(part, -exponent) for part in parts)
    with np.errstate(over="ignore"):  # a sum that overflows is infinite: see `energy_over`
        return float(sum(float(part @ part) for part in parts))


_WIDE = 144
"""Columns of a block of the iteration: so many more than in memory, as every pass reads all blocks anew."""


class Block(Protocol):
    """Consecutive rows of the matrix, by their first and the one after the last."""

    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def stop(self) -> int: ...  # noqa: D102


class Reader(Protocol):
    """What reads the rows of a block; it goes to other processes."""

    def read(self, block: Any, dtype: Any) -> csr_array: ...  # noqa: D102


class BlockRows(RowOperator):
    """An m x n matrix in blocks of rows, m of any size: what is held is n rows high, but for `forward`.

    The order of every sum depends on the blocks alone, so that all engines give the same bits. `blocks` are all rows in order, `energy` is
    ``||A||_F^2``, `largest` the largest entry.
    """

    dtype = np.dtype(np.float32)
    width = _WIDE
    rows_fit = False

    def __init__(
        self,
        blocks: Sequence[Block],
        reader: Reader,
        shape: tuple[int, int],
        engine: Engine,
        energy: float,
        largest: float,
    ) -> None:
        self.blocks, self.reader, self.shape, self.engine = blocks, reader, shape, engine
        self.energy, self._largest = energy, largest

    def largest_entry(self) -> float:
        """Return the largest entry."""
        return self._largest

    def _gram(self, X: AnyFloats) -> AnyFloats:
        product: AnyFloats = self.engine.reduce(_gram_of, self.blocks, (self.reader, X))[0]
        return product

    def _forward(self, X: AnyFloats) -> AnyFloats:
        product = np.empty((self.shape[0], X.shape[1]), X.dtype)
        images = self.engine.map(_forward_of, self.blocks, (self.reader, X))
        for block, image in zip(self.blocks, images, strict=True):
            product[block.start : block.stop] = image
        return product

    def _adjoint(self, Y: AnyFloats) -> AnyFloats:
        pieces = [(block, Y[block.start : block.stop]) for block in self.blocks]
        product: AnyFloats = self.engine.reduce(_adjoint_of, pieces, (self.reader, Y.dtype))[0]
        return product


def _rows(reader: Reader, block: Block, dtype: np.dtype[Any]) -> _kernels.CompressedRows:
    return _kernels.CompressedRows.from_csr(reader.read(block, dtype))


def _gram_of(block: Block, told: tuple[Reader, AnyFloats]) -> tuple[AnyFloats]:
    reader, X = told
    # One thread: the engine already has a task for each processor.
    return (_kernels.gram_product(_rows(reader, block, X.dtype), X, 1),)


def _forward_of(block: Block, told: tuple[Reader, AnyFloats]) -> AnyFloats:
    reader, X = told
    return _kernels.forward_product(_rows(reader, block, X.dtype), X, 1)


def _adjoint_of(piece: tuple[Block, AnyFloats], told: tuple[Reader, np.dtype[Any]]) -> tuple[AnyFloats]:
    block, Y = piece
    return (_kernels.adjoint_product(_rows(told[0], block, told[1]), Y, 1),)
