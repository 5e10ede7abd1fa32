"""Who is most similar to whom, and how much each counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


def neighbor_weights(similarities: Floats, n_neighbors: int | None) -> Floats | sparse.csr_array:
    """Keep the similarities of the nearest rows, and 0 for all others.

    Parameters
    ----------
    similarities : ndarray, shape (b, m)
        ``-inf`` for a row that must not be a neighbour.
    n_neighbors : int or None
        K. Among equals the lowest index is nearest. None takes all that are similar.

    Returns
    -------
    ndarray or csr_array, shape (b, m)
        Dense where `n_neighbors` is None. A row that is not similar (similarity 0 or below) has weight 0.
    """
    if n_neighbors is None:
        return np.maximum(similarities, 0.0)
    nearest = _nearest(similarities, n_neighbors)
    weights = np.maximum(np.take_along_axis(similarities, nearest, axis=1), 0.0)
    starts = np.arange(0, nearest.size + 1, n_neighbors)
    return sparse.csr_array((weights.ravel(), nearest.ravel(), starts), shape=similarities.shape)


def _nearest(similarities: Floats, k: int) -> NDArray[np.intp]:
    """Return the positions of the k largest of each row, ascending: shape (b, k)."""
    nearest = np.argpartition(similarities, -k, axis=1)[:, -k:]
    smallest = np.take_along_axis(similarities, nearest, axis=1).min(axis=1)
    # The partition takes any of those that tie for the last place.
    tied = ((similarities >= smallest[:, np.newaxis]).sum(axis=1) > k) & (smallest > 0)
    for row in np.flatnonzero(tied):
        nearest[row] = np.argsort(-similarities[row], kind="stable")[:k]
    nearest.sort(axis=1)
    return nearest
