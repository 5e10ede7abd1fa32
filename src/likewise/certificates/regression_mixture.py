"""A weighted mixture of regressions as a map on rows: what its constant needs to know of it, from what is known of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.certificates.regression import Reach, RegressionMap


@dataclass(frozen=True, eq=False)
class RegressionMixture:
    """The map ``z -> sum_p weight_p regression_p(z)``, whose constant is at most the same mixture of the constants of its parts.

    Parts speak of one metric, that in which the empty entry is a point, once they share its distance c from every value and the domain, the farthest reach of any part.

    Parameters
    ----------
    parts : tuple of RegressionMap
    weights : ndarray, shape (k,)
        >= 0; they sum to 1.

    Examples
    --------
    Half of z / 2 and half of 0 is z / 4.

    >>> half = RegressionMap(np.ones((1, 1)), np.zeros(1)), RegressionMap(np.zeros((1, 1)), np.zeros(1))
    >>> RegressionMixture(half, np.array([0.5, 0.5])).slopes.round(9)
    array([0.25])
    """

    parts: tuple[RegressionMap, ...]
    weights: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d), d of all parts together."""
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    @property
    def leading(self) -> RegressionMap:
        """The part of the largest weight."""
        return self.parts[int(self.weights.argmax())]

    @cached_property
    def slopes(self) -> Floats:
        """Shape (n,); see `RegressionMap.slopes`."""
        return self._mixed([part.slopes for part in self.parts])

    @cached_property
    def offset_slopes(self) -> Floats:
        """Shape (n,); see `RegressionMap.offset_slopes`."""
        return self._mixed([part.offset_slopes for part in self.parts])

    def excesses(self, size: float) -> Floats:
        """Shape (n,); see `RegressionMap.excesses`."""
        return self._mixed([part.excesses(size) for part in self.parts])

    def reach(self, values: sparse.csr_array) -> Reach:
        """Return how far the part goes that goes farthest, for each row."""
        found = [part.reach(values) for part in self.parts]
        return Reach(
            np.max([each.predictions for each in found], axis=0),
            np.max([each.offsets for each in found], axis=0),
            np.max([each.sizes for each in found], axis=0),
        )

    def _mixed(self, of_parts: list[Floats]) -> Floats:
        return np.asarray(self.weights @ np.asarray(of_parts))
