"""What every pair is held against, the same for all arms: fixed before anything is added up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import EdgeCounter, PairLimits
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

    @cached_property
    def limits(self) -> PairLimits:
        """The same as the kernels take it."""
        groups = self.groups
        return PairLimits(
            near=reach(self.radius),
            epsilon=EdgeCounter(reach(self.epsilon[:-1]), "left"),
            histogram=None if self.edges is None else _up_to_the_last(self.edges),
            condition=self.condition,
            groups=None if groups is None else groups.numbers.astype(np.int32),
            n_groups=0 if groups is None else len(groups.names),
            in_bins=self.in_bins,
        )


def _up_to_the_last(edges: Floats) -> EdgeCounter:
    """Return edges of bins, of which the last one includes its upper edge."""
    return EdgeCounter(np.append(edges[:-1], np.nextafter(edges[-1], np.inf)), "right")
