"""The observations by individual, and by feature within tiles of individuals, as the walks over pairs read them."""

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
    exceed a bound, are one range.

    Norms are summed in the order of the walks, one by one, so that what identical rows share cancels exactly.
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
    narrow = by_row.values.astype(np.float32)
    values = narrow if np.array_equal(narrow, by_row.values) else by_row.values
    members, ordered = np.empty(values.size, np.uint16), np.empty_like(values)
    lengths = np.zeros((max(-(-m // tile), 1), n), np.int64)
    for number, start in enumerate(range(0, m, tile)):
        ends = by_row.pointers[start : start + tile + 1]
        span = slice(ends[0], ends[-1])
        columns, within = _narrowed(by_row.members[span], n), values[span]
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
