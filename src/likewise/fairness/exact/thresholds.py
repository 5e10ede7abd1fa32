"""What every pair is held against, the same for all arms: fixed before anything is added up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.exact.log_grid import EdgeCounter
from likewise.fairness.groups import PairGroups
from likewise.fairness.similar import reach

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Thresholds:
    """What pairs are held against.

    Parameters
    ----------
    radius : float
        Pairs at most this far apart, to within rounding, count as most similar.
    epsilon : ndarray, shape (n_points,)
        Points of the epsilon-delta curve, increasing; the last one is the largest reference distance.
    edges : ndarray, shape (n_bins + 1,), or None
        Of the histogram; None where they are chosen later, from ratios counted in bins.
    condition : (float, float) or None
        L and gamma of ``D <= L d + gamma``.
    groups : PairGroups or None
    worst : int
        How many pairs with the largest ratios to keep.
    in_bins : bool
        Whether ratios and excesses are counted in bins, for their order statistics.
    """

    radius: float
    epsilon: Floats
    edges: Floats | None
    condition: tuple[float, float] | None
    groups: PairGroups | None
    worst: int
    in_bins: bool

    def near(self, reference: Floats) -> NDArray[np.intp]:
        """Return the places of the most similar pairs."""
        return np.flatnonzero(reference <= reach(self.radius))

    @cached_property
    def epsilon_counter(self) -> EdgeCounter:
        """Finds the smallest epsilon that is at least d."""
        return EdgeCounter(reach(self.epsilon), "left")

    @cached_property
    def edge_counter(self) -> EdgeCounter:
        """Finds the bin of the histogram; the last one includes its upper edge."""
        assert self.edges is not None
        return EdgeCounter(np.append(self.edges[:-1], np.nextafter(self.edges[-1], np.inf)), "right")
