"""Rows minus their column means, read in blocks, so that no centred copy of the matrix is made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from likewise._kernels import CompressedRows, adjoint_product, forward_product
from likewise._typing import Floats
from likewise.errors import ModelError
from likewise.observations.convert import to_table

Matrix = Floats | sparse.csr_array


@dataclass(frozen=True, eq=False)
class CentredRows:
    """The rows of ``C = matrix - 1 mean^T``.

    Parameters
    ----------
    matrix : ndarray or csr_array, shape (m, n)
        In a sparse matrix, what is not stored is 0.
    mean : ndarray, shape (n,)
        What to subtract from every row, also from the zeros of a sparse one.
    magnitude : ndarray, shape (m,)
        Length of each row and of the means before they were subtracted: what is left of a row is rounding if it
        is shorter than rounding of these.
    """

    matrix: Matrix
    mean: Floats
    magnitude: Floats

    @classmethod
    def of(cls, matrix: Matrix, mean: Floats) -> CentredRows:
        """Subtract `mean` from every entry of every row."""
        return cls(matrix, mean, _lengths(matrix) + np.linalg.norm(mean))

    @classmethod
    def of_stored(cls, matrix: sparse.csr_array, mean: Floats) -> CentredRows:
        """Subtract `mean` from the entries that are stored; the others become 0, neither above nor below it."""
        deviations = sparse.csr_array(
            (matrix.data - mean[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape
        )
        return cls(deviations, np.zeros_like(mean), _lengths(matrix) + np.linalg.norm(mean))

    def slices(self, width: int) -> list[slice]:
        """Cut the rows into blocks of which `width` columns take some 32 MiB: they stay in cache."""
        rows = self.matrix.shape[0]
        step = max(16, (32 << 20) // (8 * max(width, 1)))
        return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]

    def unit_block(self, rows: slice) -> Floats:
        """Return some rows of C, dense, scaled to length 1; a row that equals the means to rounding is 0."""
        centred = self.block(rows)
        return centred * self._inverse_lengths_of(centred, rows)[:, np.newaxis]

    @cached_property
    def inverse_lengths(self) -> Floats:
        """1 / length of each row of C; 0 for one that equals the means to rounding."""
        return np.concatenate(
            [self._inverse_lengths_of(self.block(rows), rows) for rows in self.slices(self.mean.size)]
        )

    def products(self, block: Floats, start: int = 0) -> Floats:
        """Return the scalar product of each row of a (b, n) block with each row of C from `start` on."""
        if isinstance(self.matrix, np.ndarray):
            return block @ self.matrix[start:].T - (block @ self.mean)[:, np.newaxis]
        rows = self._compressed if start == 0 else self._compress(self.matrix[start:])
        return np.asarray(forward_product(rows, np.ascontiguousarray(block.T)).T, dtype=np.float64)

    def weighted_sums(self, weights: Matrix) -> Floats:
        """Return ``weights C``: for each row of (b, m) weights, the sum of the rows of C that it weighs."""
        if isinstance(weights, np.ndarray) and not isinstance(self.matrix, np.ndarray):
            return np.asarray(
                adjoint_product(self._compressed, np.ascontiguousarray(weights.T)).T, np.float64
            )
        sums = weights @ self.matrix
        dense: Floats = sums if isinstance(sums, np.ndarray) else sums.toarray()
        return dense - np.outer(weights.sum(axis=1), self.mean)

    def block(self, rows: slice) -> Floats:
        """Return some rows of C, dense."""
        part = self.matrix[rows]
        return (part if isinstance(part, np.ndarray) else part.toarray()) - self.mean

    def _inverse_lengths_of(self, centred: Floats, rows: slice) -> Floats:
        lengths = _lengths(centred)
        rounding = np.finfo(np.float64).eps * max(self.matrix.shape) * self.magnitude[rows]
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > rounding)

    @cached_property
    def _compressed(self) -> CompressedRows:
        return self._compress(self.matrix)

    def _compress(self, stored: Matrix) -> CompressedRows:
        compressed = CompressedRows.from_csr(stored)
        if not self.mean.any():
            return compressed
        return compressed.plus_low_rank(np.ones((stored.shape[0], 1)), -self.mean[:, np.newaxis])


def _lengths(matrix: Matrix) -> Floats:
    lengths: Floats
    if isinstance(matrix, np.ndarray):
        lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        return lengths
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    squares = np.bincount(rows, weights=matrix.data**2, minlength=matrix.shape[0])
    lengths = np.sqrt(squares)
    return lengths


@dataclass(frozen=True, eq=False)
class WeightedAverage:
    """Averages of rows, column by column; the column mean where no weight is left.

    Parameters
    ----------
    deviations : CentredRows, shape (m, k)
        What is averaged, minus the means of its columns.
    mean : ndarray, shape (k,)
        Those means.
    counted : CentredRows, shape (m, k), optional
        1 for an entry that counts, 0 for one that does not. By default all count.
    """

    deviations: CentredRows
    mean: Floats
    counted: CentredRows | None = None

    @classmethod
    def of(cls, rows: Matrix) -> WeightedAverage:
        """Average whole rows."""
        mean = np.asarray(rows.mean(axis=0), dtype=np.float64)
        return cls(CentredRows.of(rows, mean), mean)

    def __call__(self, weights: Matrix) -> Floats:
        """Return one average for each row of (b, m) weights: shape (b, k)."""
        sums = self.deviations.weighted_sums(weights)
        if self.counted is None:
            totals = np.broadcast_to(weights.sum(axis=1)[:, np.newaxis], sums.shape)
        else:
            totals = self.counted.weighted_sums(weights)
        averages: Floats = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        averages += self.mean
        return averages


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows that can be neighbours.

    Parameters
    ----------
    centred : CentredRows
        The rows minus the item means: cosines between these are adjusted cosines.
    average : WeightedAverage
        Averages of the rows themselves.
    partly_observed : bool
        Whether entries can be missing.
    """

    centred: CentredRows
    average: WeightedAverage
    partly_observed: bool

    @classmethod
    def complete(cls, matrix: Any) -> TrainingRows:
        """Every entry counts, also those that a sparse matrix does not store: they are 0."""
        average = WeightedAverage.of(_complete(matrix))
        return cls(average.deviations, average, partly_observed=False)

    @classmethod
    def partial(cls, matrix: Any) -> TrainingRows:
        """Entries count that a sparse matrix stores, or that are not NaN in a dense one; the others are missing."""
        stored = _stored(matrix)
        if not stored.nnz:
            raise ModelError("a matrix without an observation", "at least one")
        mean = _observed_means(stored)
        centred = CentredRows.of_stored(stored, mean)
        ones = sparse.csr_array((np.ones(stored.nnz), stored.indices, stored.indptr), shape=stored.shape)
        counted = CentredRows.of(ones, np.zeros_like(mean))
        return cls(centred, WeightedAverage(centred, mean, counted), partly_observed=True)

    def center(self, new_rows: Any) -> CentredRows:
        """Centre rows never seen by the item means of these."""
        if self.partly_observed:
            return CentredRows.of_stored(_stored(new_rows), self.average.mean)
        return CentredRows.of(_complete(new_rows), self.average.mean)


def _complete(matrix: Any) -> Matrix:
    is_sparse = sparse.issparse(matrix)
    return sparse.csr_array(matrix, dtype=np.float64) if is_sparse else np.asarray(matrix, dtype=np.float64)


def _stored(matrix: Any) -> sparse.csr_array:
    values = to_table(matrix).values
    return sparse.csr_array(
        (values.data.astype(np.float64), values.indices, values.indptr), shape=values.shape
    )


def _observed_means(stored: sparse.csr_array) -> Floats:
    """Return the item means over those who observed the item; for an item of nobody, the mean of everything."""
    counts = np.bincount(stored.indices, minlength=stored.shape[1])
    sums = np.bincount(stored.indices, weights=stored.data, minlength=stored.shape[1])
    return np.where(counts > 0, sums / np.maximum(counts, 1), stored.data.mean())
