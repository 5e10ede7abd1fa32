"""The products on SciPy: the twin of the compiled ones, and what runs where those were not built."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from likewise._typing import AnyFloats, Floats


@dataclass(frozen=True, eq=False)
class ScipyProducts:
    """Products with S + L R^T, S a sound csr_array."""

    matrix: sparse.csr_array
    left: AnyFloats
    right: AnyFloats

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Self:
        """Wrap a sparse matrix without a low-rank part."""
        m, n = matrix.shape
        return cls(matrix, np.zeros((m, 0), matrix.dtype), np.zeros((n, 0), matrix.dtype))

    def plus_low_rank(self, left: AnyFloats, right: AnyFloats) -> Self:
        """Return the same sparse part with another low-rank part."""
        return replace(self, left=left, right=right)

    def with_values(self, values: AnyFloats) -> Self:
        """Return a matrix with the same entries of S stored, but other values."""
        S = self.matrix
        return replace(self, matrix=sparse.csr_array((values, S.indices, S.indptr), shape=S.shape))

    def forward(self, X: AnyFloats, out: AnyFloats, n_threads: int) -> None:  # noqa: ARG002
        """Write A X = S X + L (R^T X)."""
        S, L, R = self._as(X.dtype)
        out[...] = S @ X
        out += L @ (R.T @ X)

    def adjoint(self, Y: AnyFloats, out: AnyFloats, n_threads: int) -> None:  # noqa: ARG002
        """Write A^T Y = S^T Y + R (L^T Y)."""
        S, L, R = self._as(Y.dtype)
        out[...] = S.T @ Y
        out += R @ (L.T @ Y)

    def gram(self, X: AnyFloats, out: AnyFloats, n_threads: int) -> None:
        """Write A^T (A X)."""
        product = np.empty((self.matrix.shape[0], X.shape[1]), X.dtype)
        self.forward(X, product, n_threads)
        self.adjoint(product, out, n_threads)

    @property
    def values(self) -> AnyFloats:
        """What S stores."""
        return np.asarray(self.matrix.data[: self.nnz])

    @property
    def shape(self) -> tuple[int, int]:
        """``(m, n)``."""
        m, n = self.matrix.shape
        return m, n

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the stored values."""
        return self.matrix.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return int(self.matrix.indptr[-1])

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        S = self.matrix
        return int(sum(a.nbytes for a in (S.data, S.indices, S.indptr, self.left, self.right)))

    def _as(self, dtype: np.dtype[Any]) -> tuple[sparse.csr_array, AnyFloats, AnyFloats]:
        S: sparse.csr_array = self.matrix.astype(dtype, copy=False)
        return S, self.left.astype(dtype, copy=False), self.right.astype(dtype, copy=False)


_BLOCK = 1 << 21  # numbers that NumPy gathers at a time: 16 MiB, which the caches nearly hold


def sampled_entries(pattern: sparse.csr_array, left: Floats, right: Floats) -> Floats:
    """Return entries of ``L R^T``, a few at a time, on one thread."""
    entries = np.empty(pattern.nnz)
    step = max(1, _BLOCK // max(left.shape[1], 1))
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    for start in range(0, entries.size, step):
        part = slice(start, start + step)
        np.einsum("pr,pr->p", left[rows[part]], right[pattern.indices[part]], out=entries[part])
    return entries
