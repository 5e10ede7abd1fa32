"""Envelopes of outputs: the largest and the smallest function with a given Lipschitz constant that the outputs allow."""

from __future__ import annotations

import numpy as np

from likewise._typing import Floats
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.progress import Progress

_BLOCK_BYTES = 32 << 20


def envelopes(distances: Floats, outputs: Floats, budgets: Floats) -> tuple[Floats, Floats]:
    """Return the upper and the lower envelope at some individuals, given their distances to those whose outputs are known.

    Upper: ``min_j (y_j + L d(x, x_j))``. Lower: ``max_j (y_j - L d(x, x_j))``. Each is L-Lipschitz in x, for any metric d, since it is a minimum
    or a maximum of functions that are (McShane 1934, Whitney 1934).

    Parameters
    ----------
    distances : ndarray, shape (q, m)
        All defined: a pair that constrained nothing itself could be constrained by way of others.
    outputs : ndarray, shape (m, k)
    budgets : ndarray, shape (k,)
        L of each output.

    Returns
    -------
    upper, lower : ndarray, shape (q, k)

    Examples
    --------
    >>> envelopes(np.array([[0.0, 2.0]]), np.array([[5.0], [1.0]]), np.array([1.0]))
    (array([[3.]]), array([[5.]]))
    """
    reach = distances
    upper = np.empty((len(reach), outputs.shape[1]))
    lower = np.empty_like(upper)
    scaled = np.empty_like(reach)
    for column, (values, budget) in enumerate(zip(outputs.T, budgets, strict=True)):
        np.multiply(reach, budget, out=scaled)
        scaled += values
        scaled.min(axis=1, out=upper[:, column])
        # y - L d = 2 y - (y + L d): the sum is reused, but rounds otherwise, so it is made again from the distances.
        np.multiply(reach, -budget, out=scaled)
        scaled += values
        scaled.max(axis=1, out=lower[:, column])
    return upper, lower


def defined(distances: Floats, name: str) -> Floats:
    """Return distances, all of which must be numbers.

    Raises
    ------
    DistanceError
    """
    wrong = int((~np.isfinite(distances)).sum())
    if wrong:
        raise DistanceError(
            f"the distance {name!r} with {wrong:,} pairs of which it is not defined",
            "a metric between all individuals",
        )
    return distances


def envelopes_of_all(
    distance: PairwiseDistance, outputs: Floats, budgets: Floats, progress: Progress | None = None
) -> tuple[Floats, Floats]:
    """Return both envelopes at everybody, a few rows of distances at a time: no m x m array is held.

    Parameters
    ----------
    distance : PairwiseDistance
        Between m individuals.
    outputs : ndarray, shape (m, k)
    budgets : ndarray, shape (k,)
    progress : callable, optional
        Called with (rows done, m).

    Returns
    -------
    upper, lower : ndarray, shape (m, k)
    """
    m = distance.n_individuals
    upper, lower = np.empty(outputs.shape), np.empty(outputs.shape)
    step = max(1, _BLOCK_BYTES // (8 * m))
    for start in range(0, m, step):
        stop = min(start + step, m)
        block = defined(distance.block(start, stop), distance.name)
        upper[start:stop], lower[start:stop] = envelopes(block, outputs, budgets)
        if progress is not None:
            progress(stop, m)
    return upper, lower
