"""Histogram of ratios (the paper's Figures 1 and 3), and the largest output distance within each reference distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.errors import InputError
from likewise.fairness.metrics.metric_value import order_statistics, share_rank
from likewise.fairness.metrics.similar import reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes


REACH = 0.999
"""A histogram ends at this quantile of the ratios, so that one extreme pair does not squeeze all others into a bin."""


@dataclass(frozen=True, eq=False)
class RatioHistogram:
    """How many pairs have a ratio in each bin.

    Parameters
    ----------
    edges : ndarray, shape (n_bins + 1,)
    counts : ndarray of int, shape (n_bins,)
        The last bin includes its upper edge.
    above : int
        Pairs with a finite ratio above the last edge.
    infinite : int
        Pairs with an infinite ratio.
    """

    edges: Floats
    counts: NDArray[np.int64]
    above: int
    infinite: int

    def plot(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the share of pairs per bin of D / d; pairs beyond the axis are named in the legend.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default; give the same axes twice to lay two arms over each other.
        label : str, optional

        Returns
        -------
        matplotlib Axes
        """
        ax = new_axes(ax)
        beyond = self.above + self.infinite
        total = max(int(self.counts.sum()) + beyond, 1)
        tail = f"{beyond / total:.2%} beyond" if beyond else ""
        words = ", ".join(filter(None, [label, tail])) or None
        ax.stairs(self.counts / total, np.asarray(self.edges), fill=True, alpha=0.5, label=words)
        ax.set_xlabel("output distance / reference distance")
        ax.set_ylabel("share of pairs")
        if words:
            ax.legend()
        return ax


@dataclass(frozen=True)
class EqualBins:
    """Histogram bins of equal width from 0 to `reach`: counted faster than bins with given edges."""

    count: int
    reach: float


Bins = EqualBins | Floats


def histogram_reach(ratios: Floats) -> float:
    """Return where nearly all finite ratios end; 1 if all are 0."""
    finite = ratios if np.isfinite(ratios).all() else ratios[np.isfinite(ratios)]
    return order_statistics(finite, [share_rank(REACH, finite.size)])[0] or 1.0 if finite.size else 1.0


def ratio_histogram(ratios: Floats, bins: Bins) -> RatioHistogram:
    """Count the ratios in each bin."""
    if isinstance(bins, EqualBins):
        counts, edges = np.histogram(ratios, bins.count, (0.0, bins.reach))
    else:
        counts, edges = np.histogram(ratios, bins)
    infinite = int(np.count_nonzero(np.isinf(ratios)))
    above = int(np.count_nonzero(ratios > edges[-1])) - infinite
    return RatioHistogram(np.asarray(edges), counts.astype(np.int64), above, infinite)


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
        """Draw the largest output distance among pairs that are at most epsilon apart; parameters as for `RatioHistogram.plot`."""
        ax = new_axes(ax)
        ax.step(self.epsilon, self.delta, where="post", label=label)
        ax.set_xlabel("epsilon: reference distance at most")
        ax.set_ylabel("delta: largest output distance")
        if label:
            ax.legend()
        return ax


@dataclass(frozen=True, eq=False)
class EpsilonBins:
    """Which epsilon each pair falls under; made once from d and used for every arm."""

    epsilon: Floats
    bins: NDArray[np.uint8]  # (n_pairs,), index of the smallest epsilon that is at least d

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


def new_axes(given: Axes | None = None) -> Axes:
    """Return the axes that were given, or those of a new figure that belongs to no window; InputError for what cannot be drawn on."""
    if given is not None:
        if not hasattr(given, "get_xlim"):
            raise InputError(f"ax of type {type(given).__name__}", "axes of Matplotlib, or None")
        return given
    from matplotlib.figure import Figure

    return Figure(layout="constrained").subplots()
