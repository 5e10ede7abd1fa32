"""Bins for numbers >= 0, of nearly equal relative width: what is counted in them tells order statistics to within a bin.

The bins are the leading bits of floats, read as integers: finding a number's bin takes two operations.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats

Bins = NDArray[np.intp]

_FRACTION_BITS = 12
_SHIFT = 52 - _FRACTION_BITS
_OCTAVES = 64
_ORIGIN = (1023 - _OCTAVES) << _FRACTION_BITS
_FEW = 1 << 14
_TOGETHER = 3  # as in pair_sums.c: what is looked up stays in the first cache

N_BINS = (2 * _OCTAVES) << _FRACTION_BITS
"""Bin 0 holds zeros alone, bin 1 all other numbers below about 2^-64, the last one all from nearly 2^64 on."""

RELATIVE_WIDTH = 2.0**-_FRACTION_BITS
"""No bin between them is wider than this share of its lower end."""


def bins_of(values: Floats) -> Bins:
    """Return the bin of each number.

    Parameters
    ----------
    values : ndarray, shape (n,), contiguous
        >= 0 or infinite, none NaN.

    Examples
    --------
    >>> bins_of(np.array([0.0, 1e-300, np.inf])).tolist() == [0, 1, N_BINS - 1]
    True
    """
    bins: Bins = values.view(np.int64) >> _SHIFT
    bins -= _ORIGIN
    np.clip(bins, 1, N_BINS - 1, out=bins)
    bins *= values != 0
    return bins


@cache
def bin_ends() -> tuple[Floats, Floats]:
    """Return the smallest and the largest number of each bin."""
    starts = ((np.arange(N_BINS + 1, dtype=np.int64) + _ORIGIN) << _SHIFT).view(np.float64)
    starts[:2] = 0.0, np.nextafter(0.0, 1.0)
    largest = np.nextafter(starts[1:], 0.0)
    largest[-1] = np.inf
    for ends in (starts, largest):
        ends.setflags(write=False)
    return starts[:-1], largest


class EdgeCounter:
    """Says how many of some edges lie below numbers: `numpy.searchsorted`, several times faster where bins are at hand.

    Parameters
    ----------
    edges : ndarray, shape (n_edges,)
        Increasing.
    side : {"left", "right"}
        ``"left"`` counts edges < value, ``"right"`` those <= value.
    """

    def __init__(self, edges: Floats, side: Literal["left", "right"]) -> None:
        self.edges, self.side = np.ascontiguousarray(edges, np.float64), side

    @cached_property
    def before(self) -> NDArray[np.int32]:
        """How many edges lie in the bins before each eight bins, and in all; a number is compared with those of its own eight bins."""
        bins = bins_of(np.maximum(self.edges, 0.0)) >> _TOGETHER
        return np.append(0, np.cumsum(np.bincount(bins, minlength=N_BINS >> _TOGETHER))).astype(np.int32)

    def count(self, values: Floats, bins: Bins) -> Bins:
        """Return the number of edges below each value; `bins` are the bins of `values`."""
        if values.size < _FEW:
            return np.searchsorted(self.edges, values, self.side)
        together = bins >> _TOGETHER
        counts: Bins = self.before[together].astype(np.intp)
        unsure = np.flatnonzero(counts != self.before[1:][together])
        counts[unsure] = np.searchsorted(self.edges, values[unsure], self.side)
        return counts
