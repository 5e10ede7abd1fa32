"""Rows minus their column means, read in blocks, so that no centred copy of the matrix is made; and who of them is most similar to whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._kernels import CompressedRows, adjoint_product, forward_product
from likewise._typing import Floats
from likewise.errors import ModelError
from likewise.observations.convert import to_table

Matrix = Floats | sparse.csr_array


@dataclass(frozen=True, eq=False)
class CentredRows:
    """The rows of ``C = matrix - 1 mean^T``."""

    matrix: Matrix  # (m, n); in a sparse one, what is not stored is 0
    mean: Floats  # (n,), subtracted from every row, also from the zeros of a sparse one
    # (m,), lengths of each row and of the means before they were subtracted: what is left of a row is rounding if it is
    # shorter than rounding of these.
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
        # The mean is taken from the products, not from the rows: no centred copy is made.
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
        # Rounding of a sum of so many terms; a row of this length points nowhere.
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
    """Averages of rows, column by column; the column mean where no weight is left."""

    deviations: CentredRows  # (m, k), what is averaged, minus the means of its columns
    mean: Floats  # (k,), those means
    # (m, k), 1 for an entry that counts, 0 for one that does not; by default all count.
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
        # Deviations are averaged and the mean is added: where no weight is left, 0 leaves the mean.
        averages: Floats = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        averages += self.mean
        return averages


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows that can be neighbours."""

    centred: CentredRows  # the rows minus the item means: cosines between these are adjusted cosines
    average: WeightedAverage  # of the rows themselves
    partly_observed: bool  # whether entries can be missing

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


class TopK:
    """The k most similar candidates that each of m rows has been offered; among equals the one of lowest index.

    Each row must be offered at least k candidates before `weights` is asked for.

    >>> nearest = TopK(1, n_neighbors=2)
    >>> nearest.offer(slice(0, 1), 0, np.array([[0.1, 0.9, 0.5]]))
    >>> nearest.offer(slice(0, 1), 3, np.array([[0.5, -0.2]]))
    >>> print(nearest.weights(slice(0, 1), n_candidates=5).toarray())
    [[0.  0.9 0.5 0.  0. ]]
    """

    def __init__(self, n_rows: int, n_neighbors: int) -> None:
        self._similarities = np.full((n_rows, n_neighbors), -np.inf)
        self._candidates = np.zeros((n_rows, n_neighbors), dtype=np.intp)

    def offer(self, rows: slice, first: int, similarities: Floats) -> None:
        """Consider the candidates `first`, `first` + 1, ... for some rows; similarities, (rows, candidates), are ``-inf`` for one that must not be chosen."""
        k = self._similarities.shape[1]
        best = _largest(similarities, min(k, similarities.shape[1]))
        values = np.hstack((self._similarities[rows], np.take_along_axis(similarities, best, axis=1)))
        candidates = np.hstack((self._candidates[rows], best + first))
        # By similarity, then by index: the same neighbours in whatever blocks they are offered.
        order = np.lexsort((candidates, -values), axis=1)[:, :k]
        self._similarities[rows] = np.take_along_axis(values, order, axis=1)
        self._candidates[rows] = np.take_along_axis(candidates, order, axis=1)

    def weights(self, rows: slice, n_candidates: int) -> sparse.csr_array:
        """Return the similarities of the nearest, and 0 for all others, also for those that are not similar (0 or below): shape (rows, n_candidates)."""
        weights, candidates = np.maximum(self._similarities[rows], 0.0), self._candidates[rows]
        starts = np.arange(0, weights.size + 1, weights.shape[1])
        shape = (weights.shape[0], n_candidates)
        chosen = sparse.csr_array((weights.ravel(), candidates.ravel(), starts), shape=shape)
        chosen.sort_indices()  # sums then have one order
        return chosen


def _largest(similarities: Floats, k: int) -> NDArray[np.intp]:
    """Return the positions of the k largest of each row; among equals the first: shape (rows, k)."""
    largest = np.argpartition(similarities, -k, axis=1)[:, -k:]
    smallest = np.take_along_axis(similarities, largest, axis=1).min(axis=1)
    # The partition takes any of those that tie for the last place.
    tied = ((similarities >= smallest[:, np.newaxis]).sum(axis=1) > k) & (smallest > 0)
    for row in np.flatnonzero(tied):
        largest[row] = np.argsort(-similarities[row], kind="stable")[:k]
    return largest


Blocks = Iterator[tuple[slice, Matrix]]

_DECIMALS = 12
"""Similarities that agree so far are ties, whatever the order in which a BLAS sums."""


def neighbor_weights(rows: CentredRows, new_rows: CentredRows | None, n_neighbors: int | None) -> Blocks:
    """Yield blocks of rows, and for each the weights of all `rows` as their neighbours, (b, m).

    The neighbours of `new_rows` are sought; None stands for `rows` themselves, of which none is its own neighbour. Positive adjusted cosines of
    the `n_neighbors` nearest are weights; None for all.
    """
    if n_neighbors is None:
        return _all_similar(rows, new_rows)
    if new_rows is None:
        return _nearest_of_each_other(rows, n_neighbors)
    return _nearest_of_new(rows, new_rows, n_neighbors)


def _all_similar(rows: CentredRows, new_rows: CentredRows | None) -> Blocks:
    queries = rows if new_rows is None else new_rows
    for block in _blocks(queries, rows):
        similarities = _adjusted_cosine(queries, block, rows)
        # The similarity of everybody to themselves.
        if new_rows is None:
            np.fill_diagonal(similarities[:, block], 0.0)
        yield block, np.maximum(similarities, 0.0, out=similarities)


def _nearest_of_new(rows: CentredRows, new_rows: CentredRows, n_neighbors: int) -> Blocks:
    for block in _blocks(new_rows, rows):
        nearest = TopK(block.stop - block.start, n_neighbors)
        everyone = slice(None)
        nearest.offer(everyone, 0, _adjusted_cosine(new_rows, block, rows))
        yield block, nearest.weights(everyone, rows.magnitude.size)


def _nearest_of_each_other(rows: CentredRows, n_neighbors: int) -> Blocks:
    """Compare each pair once: what a block learns of the rows after it, they learn of the block."""
    m = rows.magnitude.size
    nearest = TopK(m, n_neighbors)
    for block in _blocks(rows, rows):
        size = block.stop - block.start
        similarities = _adjusted_cosine(rows, block, rows, block.start)
        np.fill_diagonal(similarities, -np.inf)
        nearest.offer(block, block.start, similarities)
        if block.stop < m:
            nearest.offer(slice(block.stop, m), block.start, np.ascontiguousarray(similarities[:, size:].T))
        # Nobody who comes later changes this block any more.
        yield block, nearest.weights(block, m)


def _blocks(queries: CentredRows, rows: CentredRows) -> list[slice]:
    return queries.slices(max(rows.matrix.shape))


def _adjusted_cosine(queries: CentredRows, block: slice, rows: CentredRows, start: int = 0) -> Floats:
    """Return the adjusted cosines of a block of queries with each row from `start` on."""
    similarities = rows.products(queries.unit_block(block), start)
    similarities *= rows.inverse_lengths[start:]
    return np.round(similarities, _DECIMALS, out=similarities)
