"""Ratios D / d, excesses D - L d, and the largest of them, of pairs in NumPy; and bins that numbers >= 0 are counted in.

The bins are of nearly equal relative width: what is counted in them tells order statistics to within a bin. They are the leading bits of
floats, read as integers, so that finding a number's bin takes two operations.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats, Indices

PAIR_COLUMNS: dict[str, type] = {
    "ratio": np.float64,
    "output": np.float64,
    "reference": np.float64,
    "left": np.intp,
    "right": np.intp,
}
"""What is kept of a pair that is among those with the largest ratios."""

TIE = 3e-9
"""Two measurements of one distance, each within a share e = 1e-9 of it, differ by a factor of at most ``(1 + e) / (1 - e) < 1 + 3 e``."""


def pair_ratios(output: Floats, reference: Floats) -> Floats:
    """Return D / d of each pair: 0 where both are 0 (no violation), infinite where only d is.

    >>> pair_ratios(np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 0.0]))
    array([0.5, 0. , inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = output / reference
    ratios[(reference == 0) & (output == 0)] = 0.0
    return ratios


def excesses(output: Floats, reference: Floats, lipschitz: float) -> Floats:
    """Return ``max(0, D - L d)``; 0 also where it is no more than rounding, see `beyond_rounding`.

    >>> excesses(np.array([0.1 + 0.2, 3.0]), np.array([0.3, 1.0]), 1.0)
    array([0., 2.])
    """
    with np.errstate(over="ignore"):  # what is beyond the largest number is more than any D
        excess = reference * -lipschitz
    excess += output
    return beyond_rounding(excess, output)


def beyond_rounding(excess: Floats, output: Floats) -> Floats:
    """Set to 0, in place, what is below 0 or may be rounding: both distances can be off by a share of `TIE` / 3, and so D = L d seem a violation."""
    excess[excess <= TIE * output] = 0.0
    return excess


def largest_places(ratios: Floats, output: Floats, count: int) -> Indices:
    """Return the places of the `count` largest ratios, largest first; ties by output distance, then by place.

    >>> largest_places(np.array([1.0, 3.0, 3.0, 2.0]), np.array([5.0, 1.0, 4.0, 9.0]), 3)
    array([2, 1, 3])
    """
    candidates = np.arange(ratios.size)
    if count < ratios.size:
        # First by ratio, then among ties by output distance: neither sorts them all, even where all are tied.
        above, tied = _split(candidates, ratios, count)
        above_tied, last = _split(tied, output, count - above.size)
        candidates = np.concatenate([above, above_tied, last[: count - above.size - above_tied.size]])
    order = np.lexsort((candidates, -output[candidates], -ratios[candidates]))
    return np.asarray(candidates[order])


def _split(places: Indices, values: Floats, count: int) -> tuple[Indices, Indices]:
    """Return which places have a value above the count-th largest of theirs, and which have that value."""
    if not count:
        return places[:0], places[:0]
    mine = values[places]
    threshold = np.partition(mine, mine.size - count)[mine.size - count]
    return places[mine > threshold], places[mine == threshold]


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
    """Return the bin of each number, >= 0 or infinite, none NaN; contiguous.

    >>> bins_of(np.array([0.0, 1e-300, np.inf])).tolist() == [0, 1, N_BINS - 1]
    True
    """
    # Of numbers >= 0 the bits, read as an integer, are in the order of the numbers: exponent first, then the fraction.
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
    """Says how many of some increasing edges lie below numbers: `numpy.searchsorted`, several times faster where bins are at hand.

    On the side ``"left"`` edges < value are counted, on the ``"right"`` those <= value.
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
        # Where no edge lies in the eight bins of a number, all edges before them are below it; only the others are searched for.
        unsure = np.flatnonzero(counts != self.before[1:][together])
        counts[unsure] = np.searchsorted(self.edges, values[unsure], self.side)
        return counts
