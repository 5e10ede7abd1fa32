"""Who is most similar to whom, found piece by piece."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.inference.neighbors.training_rows import CentredRows, Matrix


class TopK:
    """The k most similar candidates that each of m rows has been offered; among equals the one of lowest index.

    Parameters
    ----------
    n_rows : int
        m.
    n_neighbors : int
        k. Each row must be offered at least as many candidates before `weights` is asked for.

    Examples
    --------
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
        """Consider the candidates `first`, `first` + 1, ... for some rows.

        Parameters
        ----------
        rows : slice
        first : int
            Index of the candidate in the first column.
        similarities : ndarray, shape (rows, candidates)
            ``-inf`` where a candidate must not be chosen.
        """
        k = self._similarities.shape[1]
        best = _largest(similarities, min(k, similarities.shape[1]))
        values = np.hstack((self._similarities[rows], np.take_along_axis(similarities, best, axis=1)))
        candidates = np.hstack((self._candidates[rows], best + first))
        order = np.lexsort((candidates, -values), axis=1)[:, :k]
        self._similarities[rows] = np.take_along_axis(values, order, axis=1)
        self._candidates[rows] = np.take_along_axis(candidates, order, axis=1)

    def weights(self, rows: slice, n_candidates: int) -> sparse.csr_array:
        """Return the similarities of the nearest, and 0 for all others: shape (rows, n_candidates).

        A candidate that is not similar (similarity 0 or below) has weight 0 as well.
        """
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
    """Yield the weights of all rows as neighbours of one block after the other.

    Parameters
    ----------
    rows : CentredRows, shape (m, n)
        Those that can be neighbours.
    new_rows : CentredRows, shape (k, n), or None
        Those whose neighbours are sought; None for `rows` themselves, of which none is its own neighbour.
    n_neighbors : int or None
        Positive adjusted cosines of so many nearest are weights; None for all.

    Yields
    ------
    block : slice
    weights : ndarray or csr_array, shape (b, m)
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
