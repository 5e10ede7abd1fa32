"""A sparse, or sparse plus low rank, matrix laid out once for many products with blocks of columns; and entries of a low-rank one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from likewise._kernels.backend import thread_count, use_native
from likewise._kernels.checks import checked_block, checked_csr
from likewise._kernels.fallback import products as fallback
from likewise._kernels.native import products as native
from likewise._typing import AnyFloats, Floats
from likewise.errors import ShapeError


class CompressedRows:
    """An m x n matrix S + L R^T, S sparse, L and R thin, prepared for `gram_product` and its siblings.

    Made by `from_csr`, `with_values` and `plus_low_rank`; immutable. Products have the dtype of the block they are given.
    """

    def __init__(self, products: native.NativeProducts | fallback.ScipyProducts) -> None:
        self.products = products

    @classmethod
    def from_csr(cls, matrix: Any, dtype: DTypeLike | None = None) -> Self:
        """Check a sparse matrix of any SciPy format, CSR being the cheapest, and lay it out; stored zeros are kept.

        `dtype` is float32 or float64 for the stored values, by default the matrix's own. Raises `InputError` if `matrix` is not a sparse matrix, or its
        indices contradict its shape.

        >>> from scipy import sparse
        >>> CompressedRows.from_csr(sparse.random_array((4, 3), density=0.5, format="csr", rng=0))
        CompressedRows(shape=(4, 3), dtype=float64, nnz=6, rank=0)
        """
        sound = checked_csr(matrix, dtype)
        return cls(native.NativeProducts.of(sound) if use_native() else fallback.ScipyProducts.of(sound))

    def plus_low_rank(self, left: Any, right: Any) -> Self:
        """Return S + L R^T, L m x k and R n x k, which shares the memory of S; it replaces a low-rank part that was there.

        Columns centered without making the matrix dense:

        >>> import numpy as np
        >>> from scipy import sparse
        >>> A = sparse.csr_array([[1.0, 0.0], [3.0, 4.0]])
        >>> centered = CompressedRows.from_csr(A).plus_low_rank(np.ones((2, 1)), -A.mean(axis=0)[:, None])
        >>> from likewise._kernels import forward_product
        >>> forward_product(centered, np.eye(2))
        array([[-1., -2.],
               [ 1.,  2.]])
        """
        m, n = self.shape
        left, right = checked_block(left, "left", m), checked_block(right, "right", n)
        if left.shape[1] != right.shape[1]:
            raise ShapeError(
                f"left has {left.shape[1]} columns, right has {right.shape[1]}", "the same number"
            )
        return type(self)(self.products.plus_low_rank(_frozen(left), _frozen(right)))

    def with_values(self, values: Any) -> Self:
        """Return a matrix with the same entries of S stored, but other values, in the order of the CSR matrix: nothing is laid out anew.

        >>> import numpy as np
        >>> from scipy import sparse
        >>> rows = CompressedRows.from_csr(sparse.csr_array([[1.0, 0.0], [3.0, 4.0]]))
        >>> from likewise._kernels import forward_product
        >>> forward_product(rows.with_values(np.array([5.0, 6.0, 7.0])), np.eye(2))
        array([[5., 0.],
               [6., 7.]])
        """
        values = checked_block(np.reshape(values, (-1, 1)), "values", self.nnz)
        return type(self)(self.products.with_values(_frozen(values[:, 0])))

    @property
    def values(self) -> AnyFloats:
        """What S stores, in the order of the CSR matrix that was laid out."""
        return self.products.values

    @property
    def low_rank(self) -> tuple[AnyFloats, AnyFloats]:
        """L and R."""
        return self.products.left, self.products.right

    @property
    def shape(self) -> tuple[int, int]:
        """``(m, n)``."""
        return self.products.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the stored values."""
        return self.products.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries of the sparse part."""
        return self.products.nnz

    @property
    def rank(self) -> int:
        """Number of columns of the low-rank part."""
        return int(self.products.left.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.products.nbytes

    def __repr__(self) -> str:
        return f"CompressedRows(shape={self.shape}, dtype={self.dtype}, nnz={self.nnz}, rank={self.rank})"


def _frozen(array: AnyFloats) -> AnyFloats:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def gram_product(rows: CompressedRows, X: Any, n_threads: int | None = None) -> AnyFloats:
    """Return A^T (A X), shape (n, b), reading A once, for X of shape (n, b), whose dtype, float32 or float64, decides the arithmetic.

    The same bits for the same number of threads, by default LIKEWISE_NUM_THREADS, else the processors that this process may use; equal to
    rounding otherwise. Raises `ShapeError` or `InputError` if X does not fit.
    """
    block = checked_block(X, "X", rows.shape[1])
    out = np.empty_like(block)
    rows.products.gram(block, out, thread_count(n_threads))
    return out


def forward_product(rows: CompressedRows, X: Any, n_threads: int | None = None) -> AnyFloats:
    """Return A X, shape (m, b), for X of shape (n, b); see `gram_product`."""
    block = checked_block(X, "X", rows.shape[1])
    out = np.empty((rows.shape[0], block.shape[1]), block.dtype)
    rows.products.forward(block, out, thread_count(n_threads))
    return out


def adjoint_product(rows: CompressedRows, Y: Any, n_threads: int | None = None) -> AnyFloats:
    """Return A^T Y, shape (n, b), for Y of shape (m, b); see `gram_product`."""
    block = checked_block(Y, "Y", rows.shape[0])
    out = np.empty((rows.shape[1], block.shape[1]), block.dtype)
    rows.products.adjoint(block, out, thread_count(n_threads))
    return out


def sampled_entries(pattern: Any, left: Any, right: Any, n_threads: int | None = None) -> Floats:
    """Return ``(L R^T)_ij`` for each stored entry (i, j) of an m x n csr_array, in the order of ``pattern.data``, in float64.

    L is m x r, R is n x r; only the structure of `pattern` is read. The result has the same bits whatever the number of threads. Raises `InputError`
    if `pattern` is not a sparse matrix, or its indices contradict its shape, `ShapeError` if the factors do not fit it or each other.

    >>> import numpy as np
    >>> from scipy import sparse
    >>> pattern = sparse.csr_array([[1.0, 0.0], [1.0, 1.0]])
    >>> sampled_entries(pattern, np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]]))
    array([ 3.,  6., 10.])
    """
    rows = checked_csr(pattern)
    L, R = _doubles(left, "left", rows.shape[0]), _doubles(right, "right", rows.shape[1])
    if L.shape[1] != R.shape[1]:
        raise ShapeError(f"left has {L.shape[1]} columns, right has {R.shape[1]}", "the same number")
    if not use_native():
        return fallback.sampled_entries(rows, L, R)
    return native.sampled_entries(rows, L, R, thread_count(n_threads))


def _doubles(factor: Any, name: str, n_rows: int) -> Floats:
    return checked_block(factor, name, n_rows).astype(np.float64, copy=False)
