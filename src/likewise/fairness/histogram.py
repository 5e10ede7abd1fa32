"""Histogram of ratios: the paper's Figures 1 and 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.ratios import order_statistics, share_rank

Floats = NDArray[np.float64]

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
