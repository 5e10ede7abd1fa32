"""How differently people within a given distance of each other are treated: the epsilon-delta curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.ratios import order_statistics, share_rank
from likewise.fairness.similar import reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

SHARES = np.geomspace(1e-3, 1.0, 25)
"""Shares of the pairs that the points of a curve do not exceed: closer together where people are more similar."""


@dataclass(frozen=True, eq=False)
class EpsilonDeltaCurve:
    """For each epsilon, the smallest delta such that ``d <= epsilon`` implies ``D <= delta`` for every pair.

    Parameters
    ----------
    epsilon : ndarray, shape (n_points,)
        Increasing reference distances.
    delta : ndarray, shape (n_points,)
        Largest output distance of the pairs that are at most epsilon apart; never decreases.
    n_pairs : ndarray of int, shape (n_points,)
        How many pairs that are.

    References
    ----------
    John, Vijaykeerthy, Saha, "Verifying individual fairness in machine learning models", UAI 2020.
    """

    epsilon: Floats
    delta: Floats
    n_pairs: NDArray[np.int64]

    def plot(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw delta over epsilon; returns the axes."""
        from likewise.fairness.plots import plot_epsilon_delta

        return plot_epsilon_delta(self, ax, label)


@dataclass(frozen=True, eq=False)
class EpsilonBins:
    """Which epsilon each pair falls under; made once from d and used for every arm.

    Parameters
    ----------
    epsilon : ndarray, shape (n_points,)
    bins : ndarray of uint8, shape (n_pairs,)
        Index of the smallest epsilon that is at least d.
    """

    epsilon: Floats
    bins: NDArray[np.uint8]

    @classmethod
    def of(cls, reference: Floats) -> EpsilonBins:
        """Choose epsilons that 0.1% to 100% of the pairs do not exceed."""
        ranks = [share_rank(share, reference.size) for share in SHARES]
        epsilon = distinct(order_statistics(reference, ranks))
        return cls(epsilon, np.searchsorted(reach(epsilon), reference).astype(np.uint8))

    def curve(self, output: Floats) -> EpsilonDeltaCurve:
        """Take the largest D up to each epsilon."""
        largest = np.zeros(self.epsilon.size)
        np.maximum.at(largest, self.bins, output)
        counts = np.bincount(self.bins, minlength=self.epsilon.size)
        return accumulated(self.epsilon, largest, counts)


def distinct(epsilon: list[float]) -> Floats:
    """Return the points of a curve in order; of points that differ by rounding alone, the last.

    Examples
    --------
    >>> distinct([0.3, 0.1 + 0.2, 0.5]).tolist()
    [0.30000000000000004, 0.5]
    """
    points: Floats = np.unique(epsilon)
    is_last: NDArray[np.bool_] = np.append(points[1:] > reach(points[:-1]), True)
    distinct_points: Floats = points[is_last]
    return distinct_points


def accumulated(epsilon: Floats, largest: Floats, counts: NDArray[np.int64]) -> EpsilonDeltaCurve:
    """Make a curve from the largest D and the number of pairs between each epsilon and the one before."""
    return EpsilonDeltaCurve(epsilon, np.maximum.accumulate(largest), np.cumsum(counts))
