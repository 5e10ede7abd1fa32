"""The rows among which neighbours are sought, and averages over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.errors import ModelError
from likewise.inference.centred_rows import CentredRows, Matrix
from likewise.observations.convert import to_table

Floats = NDArray[np.float64]


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
