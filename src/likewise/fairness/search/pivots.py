"""Distances from everybody to a few pivots: by the triangle inequality they bound all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.distance import PairwiseDistance

Floats = NDArray[np.float64]

_CANDIDATES = 32


def pivot_distances(distance: PairwiseDistance, n_pivots: int) -> Floats:
    """Measure everybody against some pivots: a central individual, then those farthest from all pivots so far.

    Parameters
    ----------
    distance : PairwiseDistance
        A metric or pseudometric.
    n_pivots : int

    Returns
    -------
    ndarray, shape (n_individuals, n_pivots)
    """
    m = distance.n_individuals
    drawn = np.unique(np.random.default_rng(0).integers(m, size=_CANDIDATES))
    among = distance.between(*(ends.ravel() for ends in np.meshgrid(drawn, drawn, indexing="ij")))
    pivot = int(drawn[among.reshape(drawn.size, -1).mean(axis=1).argmin()])
    measured: list[Floats] = []
    while len(measured) < n_pivots:
        measured.append(distance.block(pivot, pivot + 1)[0])
        pivot = int(np.min(measured, axis=0).argmax())
    return np.stack(measured, axis=1)
