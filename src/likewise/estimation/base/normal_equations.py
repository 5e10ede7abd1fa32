"""The normal equations of factors, for all rows of a sparse matrix at once, as products with packed second moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import CompressedRows, forward_product
from likewise._typing import Floats
from likewise.observations.table import Values, with_data

_BLOCK_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Factors:
    """What is known of the vectors ``x_j = (coordinates, bias)`` of one side, d numbers each.

    Parameters
    ----------
    means : ndarray, shape (n, d)
        The last column holds the biases.
    moments : ndarray, shape (n, d (d + 1) / 2)
        ``E[x_j x_j^T]``, upper triangles row by row; ``x_j x_j^T`` itself where nothing is uncertain.
    """

    means: Floats
    moments: Floats

    @classmethod
    def certain(cls, means: Floats) -> Factors:
        """Take factors as they are, without uncertainty."""
        return cls(means, packed(means[:, :, None] * means[:, None, :]))

    @property
    def coordinates(self) -> Floats:
        """Shape (n, d - 1)."""
        return self.means[:, :-1]

    @property
    def biases(self) -> Floats:
        """Shape (n,)."""
        return self.means[:, -1]

    @property
    def squared_biases(self) -> Floats:
        """``E[bias^2]``, shape (n,)."""
        return self.moments[:, -1]

    def rows(self, rows: slice) -> Factors:
        """Return some of the vectors: a view."""
        return Factors(self.means[rows], self.moments[rows])

    def total_moment(self, counted: NDArray[np.bool_]) -> Floats:
        """``sum_j E[x_j x_j^T]`` over the vectors that count, shape (d, d)."""
        summed = self.moments[counted].sum(axis=0, keepdims=True)
        total: Floats = unpacked(summed, self.means.shape[1])[0]
        return total


@dataclass(frozen=True, eq=False)
class Regressors:
    """What the other side regresses on: ``f_j = (coordinates, 1)``, while the bias of j is taken from the observation.

    Parameters
    ----------
    means : ndarray, shape (n, d)
        ``E[f_j]``.
    products : ndarray, shape (n, d (d + 1) / 2 + d)
        ``E[f_j f_j^T]`` packed, and ``E[bias_j f_j]``.
    """

    means: Floats
    products: Floats

    @classmethod
    def of(cls, factors: Factors) -> Regressors:
        """Exchange the bias of each vector for 1."""
        d = factors.means.shape[1]
        last = last_column(d)
        means, moments, cross = factors.means.copy(), factors.moments.copy(), factors.moments[:, last]
        means[:, -1] = 1.0
        cross[:, -1] = factors.biases
        moments[:, last] = means
        return cls(means, np.hstack([moments, cross]))


class ObservedRows:
    """Weighted observations, laid out so that the normal equations of all rows are two sparse products.

    Parameters
    ----------
    values : csr_array, shape (m, n)
        A stored entry is an observation.
    weights : ndarray, shape (n_observed,), optional
        >= 0; all 1 by default.
    rank : int
        Number of coordinates, which decides how many rows are treated at a time.
    """

    def __init__(self, values: Values, weights: Floats | None, rank: int) -> None:
        w = np.ones(values.nnz) if weights is None else weights
        self.n_rows, self.d = values.shape[0], rank + 1
        self.counts = np.diff(values.indptr)
        self._weights, self._weighted = with_data(values, w), with_data(values, w * values.data)
        self.column_weights = np.bincount(values.indices, w, minlength=values.shape[1])
        self.column_sums = np.bincount(values.indices, self._weighted.data, minlength=values.shape[1])
        self.energy = float(self._weighted.data @ values.data)
        self.blocks = [(rows, self._laid_out(rows)) for rows in self._slices()]

    def equations(self, regressors: Regressors) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield (rows, their packed ``sum_j w_ij E[f_j f_j^T]``, their ``sum_j w_ij E[(z_ij - bias_j) f_j]``)."""
        n_packed = packed_size(self.d)
        for rows, (weights, weighted) in self.blocks:
            products = _product(weights, regressors.products)
            yield (
                rows,
                products[:, :n_packed],
                _product(weighted, regressors.means) - products[:, n_packed:],
            )

    def bias_misfit(self, columns: Factors) -> float:
        """``sum w_ij E[(z_ij - bias_j)^2]``: what the coordinates and the biases of the rows have to explain."""
        known = self.column_weights @ columns.squared_biases - 2 * self.column_sums @ columns.biases
        return self.energy + float(known)

    def _slices(self) -> Iterator[slice]:
        step = max(1, _BLOCK_BYTES // (8 * (packed_size(self.d) + self.d)))
        return (slice(start, min(start + step, self.n_rows)) for start in range(0, self.n_rows, step))

    def _laid_out(self, rows: slice) -> tuple[CompressedRows, CompressedRows]:
        return CompressedRows.from_csr(self._weights[rows]), CompressedRows.from_csr(self._weighted[rows])


def _product(rows: CompressedRows, block: Floats) -> Floats:
    return np.asarray(forward_product(rows, block), dtype=np.float64)


def packed_size(d: int) -> int:
    """How many numbers the upper triangle of a d x d matrix has."""
    return d * (d + 1) // 2


def packed(matrices: Floats) -> Floats:
    """Return the upper triangles of symmetric matrices, shape (k, d, d), row by row."""
    upper, _ = _places(matrices.shape[-1])
    return matrices.reshape(matrices.shape[0], -1)[:, upper]


def unpacked(triangles: Floats, d: int) -> Floats:
    """Return symmetric matrices, shape (k, d, d), from their upper triangles."""
    _, place = _places(d)
    return triangles[:, place].reshape(-1, d, d)


def packed_inner(left: Floats, right: Floats) -> Floats:
    """Return ``sum_kl L_kl R_kl`` of pairs of symmetric matrices given by their upper triangles, shape (k,)."""
    on_diagonal = _diagonal(left.shape[1])
    products = left * right
    return np.asarray(2 * products.sum(axis=1) - products[:, on_diagonal].sum(axis=1))


def last_column(d: int) -> NDArray[np.intp]:
    """Where the last column of a d x d matrix stands in its packed upper triangle."""
    return _places(d)[1].reshape(d, d)[:, -1]


@cache
def _places(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the upper triangle stands in a flat d x d matrix, and where each entry of the matrix stands in the triangle."""
    i, j = np.triu_indices(d)
    place = np.empty((d, d), np.intp)
    place[i, j] = place[j, i] = np.arange(i.size)
    return i * d + j, place.ravel()


@cache
def _diagonal(size: int) -> NDArray[np.intp]:
    """Where the diagonal stands in a packed triangle of so many numbers."""
    d = int((np.sqrt(8 * size + 1) - 1) / 2)
    return np.cumsum(np.arange(d + 1, 1, -1)) - (d + 1)
