"""Columns that many observed, as bits: zero-filled rows differ by the bits in which they differ, times what a bit counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.pair_lists import Lists, PairLists
from likewise._typing import AnyFloats, Floats

LANES = 8
"""Rows whose words lie side by side, as in planes.c."""

_MAX_LEVELS = 17
_WORD = 64
_VALUES_AT_A_TIME = 1 << 20
_BITS_AT_A_TIME = 1 << 21


@dataclass(frozen=True, eq=False)
class Quantization:
    """The distinct values, 0 (what is missing) among them.

    Between two neighbours lies a gap, and ``|a - b|`` is the sum of the gaps between a and b. So a value is a bit for each gap: whether it
    lies between the value and 0. Two values differ in the bits of the gaps between them. Gaps of one size share a segment of words.

    Parameters
    ----------
    values : ndarray, shape (n_gaps + 1,)
        Increasing.
    """

    values: Floats

    @classmethod
    def of(cls, values: AnyFloats) -> Self | None:
        """Find the distinct values, unless they are too many to pay."""
        levels = np.zeros(1)
        for start in range(0, values.size, _VALUES_AT_A_TIME):
            part = values[start : start + _VALUES_AT_A_TIME]
            unknown = part[levels[_places(levels, part)] != part]
            levels = np.union1d(levels, unknown)
            if levels.size > _MAX_LEVELS:
                return None
        return cls(levels) if levels.size > 1 else None

    @property
    def gaps(self) -> Floats:
        """Sizes, each rounded once."""
        gaps: Floats = np.diff(self.values)
        return gaps

    def bits(self, values: Floats) -> NDArray[np.bool_]:
        """Return for each gap and value whether it lies between the value and 0: shape (n_gaps, n_values)."""
        gap = np.arange(self.values.size - 1)[:, None]
        zero = np.searchsorted(self.values, 0.0)
        between: NDArray[np.bool_] = (gap < _places(self.values, values)) != (gap < zero)
        return between


def _places(levels: Floats, values: AnyFloats) -> NDArray[np.intp]:
    return np.minimum(np.searchsorted(levels, values), levels.size - 1)


@dataclass(frozen=True, eq=False)
class BitPlanes:
    """Zero-filled rows as bits.

    Parameters
    ----------
    words : ndarray of uint64, shape (n_groups, n_words, LANES)
        Word w of row i is ``words[i // LANES, w, i % LANES]``.
    ends : ndarray of int64, shape (n_segments,)
        Where the words of each segment end.
    gaps : ndarray, shape (n_segments,)
        What a bit of each segment counts.
    """

    words: NDArray[np.uint64]
    ends: NDArray[np.int64]
    gaps: Floats

    @classmethod
    def of(cls, rows: Lists, columns: NDArray[np.intp], levels: Quantization) -> Self:
        """Lay out some columns of a matrix whose values are among `levels`."""
        gaps, segment = np.unique(levels.gaps, return_inverse=True)
        sizes = np.bincount(segment) * columns.size
        ends = np.cumsum(-(-sizes // _WORD))
        starts = np.concatenate([[0], ends[:-1]]) * _WORD
        earlier = np.array([np.count_nonzero(segment[:k] == segment[k]) for k in range(segment.size)])
        origins = starts[segment] + earlier * columns.size
        numbers = np.full(max(int(rows.members.max(initial=0)), int(columns.max())) + 1, -1)
        numbers[columns] = np.arange(columns.size)
        return cls(_words(rows, numbers, levels, origins, int(ends[-1])), ends, gaps)


def _words(
    rows: Lists, numbers: NDArray[np.intp], levels: Quantization, origins: NDArray[np.intp], n_words: int
) -> NDArray[np.uint64]:
    """Set the bits of some rows at a time; bit ``origins[g] + k`` is that of gap g and the column whose number is k."""
    m = rows.pointers.size - 1
    words = np.empty((-(-m // LANES), n_words, LANES), np.uint64)
    step = max(_BITS_AT_A_TIME // (n_words * _WORD) // LANES, 1)
    for group in range(0, words.shape[0], step):
        some = words[group : group + step]
        ends = rows.pointers[group * LANES : (group + some.shape[0]) * LANES + 1]
        owners = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        chosen = numbers[rows.members[ends[0] : ends[-1]]]
        counts = chosen >= 0
        bits = np.zeros((some.shape[0] * LANES, n_words * _WORD), np.bool_)
        gap, entry = np.nonzero(levels.bits(rows.values[ends[0] : ends[-1]][counts]))
        bits[owners[counts][entry], origins[gap] + chosen[counts][entry]] = True
        packed = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
        some[...] = packed.reshape(some.shape[0], LANES, n_words).transpose(0, 2, 1)
    return words


BIT_COST = 2.0**-11
"""What comparing a bit costs, in units of what a walk costs for a feature that a pair shares. Measured: 2^-11 with AVX-512's count of ones, 2^-9
without; the same everywhere, so that rounding is, too."""


@dataclass(frozen=True, eq=False)
class SplitColumns:
    """A matrix in two parts for l1 distances of its zero-filled rows, which add up.

    Parameters
    ----------
    planes : BitPlanes or None
        The columns that so many observed that bits are cheaper; none where values are too many.
    rest : PairLists or None
        The others; none where nothing is left.
    """

    planes: BitPlanes | None
    rest: PairLists | None

    @classmethod
    def of(cls, lists: PairLists) -> Self:
        """Split where it costs least."""
        levels = Quantization.of(lists.by_row.values)
        if levels is None:
            return cls(None, lists)
        shares = np.bincount(lists.by_row.members, minlength=lists.shape[1]) / lists.shape[0]
        popular = shares**2 > levels.gaps.size * BIT_COST
        if not popular.any():
            return cls(None, lists)
        planes = BitPlanes.of(lists.by_row, np.flatnonzero(popular), levels)
        left = ~popular[lists.by_row.members]
        return cls(
            planes, PairLists(lists.shape, lists.tile, _some(lists.by_row, left)) if left.any() else None
        )


def _some(rows: Lists, chosen: NDArray[np.bool_]) -> Lists:
    """Keep chosen entries."""
    pointers = np.concatenate([[0], np.cumsum(chosen)])[rows.pointers]
    return Lists(pointers, rows.members[chosen], rows.values[chosen])
