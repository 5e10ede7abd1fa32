"""The walk over pairs in NumPy: the twin of the compiled one, and what runs where that was not built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.errors import InputError

Doubles = NDArray[np.float64]
Term = Callable[[Doubles, Doubles], Doubles]


def overlap(a: Doubles, b: Doubles) -> Doubles:
    """Return what |a| and |b| have in common: half of |a| + |b| - |a - b|, without its rounding."""
    return np.where(a * b > 0, np.minimum(np.abs(a), np.abs(b)), 0.0)


def absolute_difference(a: Doubles, b: Doubles) -> Doubles:
    """Return |a - b|."""
    return np.abs(a - b)


def one(a: Doubles, b: Doubles) -> Doubles:  # noqa: ARG001
    """Return 1 for each pair of observations."""
    return np.ones_like(b)


@dataclass(frozen=True, eq=False)
class NumpyPairs:
    """Observations by individual and by feature, both sorted, with the norms of the rows."""

    by_row: sparse.csr_array
    by_column: sparse.csc_array
    absolute_norms: Doubles
    squared_norms: Doubles

    @classmethod
    def from_csr(cls, matrix: sparse.csr_array) -> Self:
        """Sort a sound matrix both ways; its norms are summed in the order of the walk."""
        by_row = matrix if matrix.has_canonical_format else _canonical(matrix)
        if not np.isfinite(by_row.data).all():
            raise InputError("the matrix holds a NaN or infinity", "finite values")
        owners = np.repeat(np.arange(by_row.shape[0]), np.diff(by_row.indptr))
        sizes = (np.abs(by_row.data), by_row.data**2)
        return cls(by_row, by_row.tocsc(), *(_sums_in_order(owners, size, by_row.shape[0]) for size in sizes))

    @property
    def shape(self) -> tuple[int, int]:
        """``(m, n)``."""
        m, n = self.by_row.shape
        return m, n

    def absolute(self, start: int, stop: int, out: Doubles, n_threads: int) -> None:  # noqa: ARG002
        """Write l1 distances."""
        norms = self.absolute_norms
        for line, i in zip(out, range(start, stop), strict=True):
            shared = self._sums(i, overlap)
            line[:] = (norms[i] - shared) + (norms - shared)

    def squared(self, start: int, stop: int, out: Doubles, n_threads: int) -> None:  # noqa: ARG002
        """Write squared l2 distances."""
        norms = self.squared_norms
        for line, i in zip(out, range(start, stop), strict=True):
            shared = self._sums(i, np.multiply)
            line[:] = np.maximum((norms[i] - shared) + (norms - shared), 0.0)

    def shared(
        self,
        start: int,
        stop: int,
        counts: NDArray[np.int32],
        sums: Doubles,
        n_threads: int,  # noqa: ARG002
    ) -> None:
        """Write how many features are shared, and the absolute differences over them."""
        for line, i in enumerate(range(start, stop)):
            counts[line] = self._sums(i, one)
            sums[line] = self._sums(i, absolute_difference)

    def _sums(self, i: int, term: Term) -> Doubles:
        """Sum ``term(z_ik, z_jk)`` over the features k that i and j share, for every j."""
        others, terms = [np.zeros(0, np.intp)], [np.zeros(0)]
        for own, who, theirs in self._lists(i):
            others.append(who)
            terms.append(term(np.full(theirs.size, own), theirs))
        return _sums_in_order(np.concatenate(others), np.concatenate(terms), self.shape[0])

    def _lists(self, i: int) -> Iterator[tuple[float, NDArray[Any], Doubles]]:
        rows, columns = self.by_row, self.by_column
        for position in range(rows.indptr[i], rows.indptr[i + 1]):
            k = rows.indices[position]
            span = slice(columns.indptr[k], columns.indptr[k + 1])
            yield rows.data[position], columns.indices[span], columns.data[span]


def _canonical(matrix: sparse.csr_array) -> sparse.csr_array:
    copy = matrix.copy()
    copy.sum_duplicates()
    return copy


def _sums_in_order(keys: NDArray[Any], weights: Doubles, size: int) -> Doubles:
    """Sum weights by key one by one, in order, as the compiled walk does: hence the same bits."""
    return np.bincount(keys, weights=weights, minlength=size).astype(np.float64, copy=False)
