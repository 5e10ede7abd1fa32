"""Who is most similar to whom, found piece by piece."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


class NearestSoFar:
    """The k most similar candidates that each of m rows has been offered; among equals the one of lowest index.

    Parameters
    ----------
    n_rows : int
        m.
    n_neighbors : int
        k. Each row must be offered at least as many candidates before `weights` is asked for.

    Examples
    --------
    >>> nearest = NearestSoFar(1, n_neighbors=2)
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
