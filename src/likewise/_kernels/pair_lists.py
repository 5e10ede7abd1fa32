"""The observations as walks over pairs read them: by individual, by feature within tiles of individuals, and as bits where many observed.

Zero-filled rows differ by the bits in which they differ, times what a bit counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import AnyFloats, Floats
from likewise.errors import InputError

_WIDEST_TILE = 1 << 14
_NARROWEST_TILE = 1 << 11
_LEAST_TILES = 8


class Walk(IntEnum):
    """What a walk computes for each pair; the numbers are those of pairs.c."""

    ABSOLUTE = 0
    SQUARED = 1
    SHARED = 2


@dataclass(frozen=True, eq=False)
class Lists:
    """Members and values of list k: positions ``pointers[k]`` to ``pointers[k + 1]``."""

    pointers: NDArray[np.int64]
    members: NDArray[Any]
    values: AnyFloats


@dataclass(frozen=True, eq=False)
class PairLists:
    """A matrix sorted by row, without duplicates, and again by tile and column.

    A tile is a range of `tile` individuals: few enough that what a walk adds up for them stays in cache, and that 16 bits
    number them. Its lists, one a column, are in increasing order of their values, ties by member: those that share a sign, or
    exceed a bound, are one range. Norms are summed in the order of the walks, one by one, so that what identical rows share cancels exactly.
    """

    shape: tuple[int, int]
    tile: int
    by_row: Lists

    @classmethod
    def of(cls, matrix: sparse.csr_array, tile: int | None = None) -> Self:
        """Lay a sound matrix out both ways."""
        rows = matrix.copy()
        rows.has_canonical_format = False  # a flag that a caller may have set wrongly
        rows.sum_duplicates()
        if not np.isfinite(rows.data).all():
            raise InputError("the matrix holds a NaN or infinity", "finite values")
        pointers, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)
        by_row = Lists(pointers, columns, rows.data)
        return cls(rows.shape, tile or tile_width(rows.shape[0]), by_row)

    @cached_property
    def by_tile(self) -> Lists:
        """The lists of each tile, one a column."""
        return _by_tile(self.by_row, self.shape, self.tile)

    @cached_property
    def norms(self) -> dict[Walk, Floats]:
        """Of the rows: l1 norms and squared l2 norms."""
        m, values = self.shape[0], self.by_row.values
        owners = np.repeat(np.arange(m), np.diff(self.by_row.pointers))
        sizes = {Walk.ABSOLUTE: np.abs(values), Walk.SQUARED: values**2}
        return {walk: sums_in_order(owners, size, m) for walk, size in sizes.items()}

    @cached_property
    def work(self) -> NDArray[np.int64]:
        """Entries that walks from the individuals before i read, for i = 0 to m."""
        lengths = np.bincount(self.by_row.members, minlength=self.shape[1])
        # A walk from i reads the list of every column that i observed, and writes a line for everybody.
        read = np.concatenate([[0], np.cumsum(lengths[self.by_row.members])])
        every_pair = self.shape[0] * np.arange(self.shape[0] + 1)
        return np.asarray(read[self.by_row.pointers] + every_pair)


def tile_width(n_rows: int) -> int:
    """Return how many individuals a tile has: a power of two that leaves some tiles to skip."""
    wanted = max(n_rows // _LEAST_TILES, 1)
    return min(max(1 << (wanted - 1).bit_length(), _NARROWEST_TILE), _WIDEST_TILE)


def _by_tile(by_row: Lists, shape: tuple[int, int], tile: int) -> Lists:
    """Sort the observations by tile, column, value and row."""
    m, n = shape
    # In float32 where that loses nothing: half the memory that a walk reads.
    narrow = by_row.values.astype(np.float32)
    values = narrow if np.array_equal(narrow, by_row.values) else by_row.values
    members, ordered = np.empty(values.size, np.uint16), np.empty_like(values)
    lengths = np.zeros((max(-(-m // tile), 1), n), np.int64)
    for number, start in enumerate(range(0, m, tile)):
        ends = by_row.pointers[start : start + tile + 1]
        span = slice(ends[0], ends[-1])
        columns, within = _narrowed(by_row.members[span], n), values[span]
        # Two stable sorts, by value and then by column, leave ties in the order of the rows.
        by_value = np.argsort(within, kind="stable")
        order = by_value[np.argsort(columns[by_value], kind="stable")]
        members[span] = np.repeat(np.arange(ends.size - 1, dtype=np.uint16), np.diff(ends))[order]
        ordered[span], lengths[number] = within[order], np.bincount(columns, minlength=n)
    return Lists(np.concatenate([[0], np.cumsum(lengths)]), members, ordered)


def _narrowed(columns: NDArray[np.int32], n_columns: int) -> NDArray[Any]:
    """Return the columns in 16 bits where these hold them: NumPy then sorts in linear time."""
    return columns.astype(np.uint16) if n_columns <= 1 << 16 else columns


def sums_in_order(keys: NDArray[Any], weights: Floats, size: int) -> Floats:
    """Sum weights by key one by one, in order, as the compiled walk does: hence the same bits."""
    return np.bincount(keys, weights=weights, minlength=size).astype(np.float64, copy=False)


LANES = 8
"""Rows whose words lie side by side, as in planes.c."""

_MAX_LEVELS = 17
_WORD = 64
_VALUES_AT_A_TIME = 1 << 20
_BITS_AT_A_TIME = 1 << 21


@dataclass(frozen=True, eq=False)
class Quantization:
    """The distinct values, 0 (what is missing) among them, increasing.

    Between two neighbours lies a gap, and ``|a - b|`` is the sum of the gaps between a and b. So a value is a bit for each gap: whether it
    lies between the value and 0. Two values differ in the bits of the gaps between them. Gaps of one size share a segment of words.
    """

    values: Floats  # (n_gaps + 1,)

    @classmethod
    def of(cls, values: AnyFloats) -> Self | None:
        """Find the distinct values, unless they are too many to pay."""
        levels = np.zeros(1)
        for start in range(0, values.size, _VALUES_AT_A_TIME):
            part = values[start : start + _VALUES_AT_A_TIME]
            # Only values that are no level yet are sorted: after the first part there are hardly any.
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
        # A gap is between a value and 0 where it lies below one of the two and not below the other.
        between: NDArray[np.bool_] = (gap < _places(self.values, values)) != (gap < zero)
        return between


def _places(levels: Floats, values: AnyFloats) -> NDArray[np.intp]:
    return np.minimum(np.searchsorted(levels, values), levels.size - 1)


@dataclass(frozen=True, eq=False)
class BitPlanes:
    """Zero-filled rows as bits."""

    words: NDArray[
        np.uint64
    ]  # (n_groups, n_words, LANES), word w of row i is words[i // LANES, w, i % LANES]
    ends: NDArray[np.int64]  # (n_segments,), where the words of each segment end
    gaps: Floats  # (n_segments,), what a bit of each segment counts

    @classmethod
    def of(cls, rows: Lists, columns: NDArray[np.intp], levels: Quantization) -> Self:
        """Lay out some columns of a matrix whose values are among `levels`."""
        gaps, segment = np.unique(levels.gaps, return_inverse=True)
        # A segment begins with a new word, so that a word counts one gap alone.
        sizes = np.bincount(segment) * columns.size
        ends = np.cumsum(-(-sizes // _WORD))
        starts = np.concatenate([[0], ends[:-1]]) * _WORD
        # In a segment the gaps of its size follow each other, a bit for each column.
        earlier = np.array([np.count_nonzero(segment[:k] == segment[k]) for k in range(segment.size)])
        origins = starts[segment] + earlier * columns.size
        # The number of each column among those that are bits; -1 of the others.
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
        # A byte for each bit first, for a few rows at a time; then they are packed.
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
    """A matrix in two parts for l1 distances of its zero-filled rows, which add up."""

    planes: (
        BitPlanes | None
    )  # the columns that so many observed that bits are cheaper; none where values are too many
    rest: PairLists | None  # the others; none where nothing is left

    @classmethod
    def of(cls, lists: PairLists) -> Self:
        """Split where it costs least."""
        levels = Quantization.of(lists.by_row.values)
        if levels is None:
            return cls(None, lists)
        # A column that a share p observed is shared by a share p^2 of the pairs, which a walk visits; as bits every pair costs the same.
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
