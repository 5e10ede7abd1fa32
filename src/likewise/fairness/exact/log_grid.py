"""Bins for numbers >= 0, of nearly equal relative width: what is counted in them tells order statistics to within a bin.

The bins are the leading bits of floats, read as integers: finding a number's bin takes two operations.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.figure import BracketedFigure, ExactFigure

Floats = NDArray[np.float64]
Bins = NDArray[np.intp]

_FRACTION_BITS = 12
_SHIFT = 52 - _FRACTION_BITS
_OCTAVES = 64
_ORIGIN = (1023 - _OCTAVES) << _FRACTION_BITS
_FEW = 1 << 14

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


def bin_of_rank(counts: NDArray[np.int64], rank: int) -> int:
    """Return the bin of the number with a 0-based rank."""
    return int(np.searchsorted(np.cumsum(counts), rank, side="right"))


def bracket(counts: NDArray[np.int64], rank: int, n_pairs: int) -> ExactFigure | BracketedFigure:
    """Return the number with a 0-based rank as closely as counts tell.

    Parameters
    ----------
    counts : ndarray of int, shape (N_BINS,)
        How many finite numbers lie in each bin.
    rank : int
        Among all numbers; beyond the finite ones stand infinite ones.
    n_pairs : int
        How many numbers there are.
    """
    if rank >= counts.sum():
        return ExactFigure(np.inf, n_pairs)
    smallest, largest = bin_ends()
    place = bin_of_rank(counts, rank)
    if smallest[place] == largest[place]:
        return ExactFigure(float(smallest[place]), n_pairs)
    return BracketedFigure(float(largest[place]), float(smallest[place]), float(largest[place]), n_pairs)


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
        self.edges, self.side = edges, side

    @cached_property
    def _by_bin(self) -> Bins:
        """The count for all of a bin; -1 where an edge lies within."""
        at_least, at_most = (np.searchsorted(self.edges, ends, self.side) for ends in bin_ends())
        return np.where(at_least == at_most, at_least, -1)

    def count(self, values: Floats, bins: Bins) -> Bins:
        """Return the number of edges below each value; `bins` are the bins of `values`."""
        if values.size < _FEW:
            return np.searchsorted(self.edges, values, self.side)
        counts: Bins = self._by_bin[bins]
        unsure = np.flatnonzero(counts < 0)
        counts[unsure] = np.searchsorted(self.edges, values[unsure], self.side)
        return counts
