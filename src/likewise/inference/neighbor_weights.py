"""How much every row counts as a neighbour of every other, block by block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from likewise.inference.centred_rows import CentredRows, Matrix
from likewise.inference.nearest_so_far import NearestSoFar

Floats = NDArray[np.float64]
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
        nearest = NearestSoFar(block.stop - block.start, n_neighbors)
        everyone = slice(None)
        nearest.offer(everyone, 0, _adjusted_cosine(new_rows, block, rows))
        yield block, nearest.weights(everyone, rows.magnitude.size)


def _nearest_of_each_other(rows: CentredRows, n_neighbors: int) -> Blocks:
    """Compare each pair once: what a block learns of the rows after it, they learn of the block."""
    m = rows.magnitude.size
    nearest = NearestSoFar(m, n_neighbors)
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
