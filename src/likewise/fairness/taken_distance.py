"""A distance between some individuals, in another order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.distance import PairwiseDistance

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class TakenDistance(PairwiseDistance):
    """Another distance, of which only some individuals are seen.

    Parameters
    ----------
    distance : PairwiseDistance
    individuals : ndarray of int, shape (n_individuals,)
        Positions in `distance`.
    """

    def __init__(self, distance: PairwiseDistance, individuals: Indices) -> None:
        self.distance, self.individuals = distance, individuals
        self.n_individuals = len(individuals)
        self.description = distance.description
        self.row_ids = None if distance.row_ids is None else distance.row_ids[individuals]
        self.scale, self.concurrent = distance.scale, distance.concurrent

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        others = np.arange(self.n_individuals)[first:last]
        left, right = np.meshgrid(np.arange(start, stop), others, indexing="ij")
        return self.between(left.ravel(), right.ravel()).reshape(left.shape)

    def between(self, left: Indices, right: Indices) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        return self.distance.between(self.individuals[left], self.individuals[right])
