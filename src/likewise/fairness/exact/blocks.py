"""All pairs i < j in rectangles of individuals against individuals: units of work, and the blocks that they are measured in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import tile_width

Indices = NDArray[np.intp]
T = TypeVar("T", bound=np.generic)

_BLOCK_PAIRS = 1 << 18
_UNITS_A_COLUMN = 16
_LEAST_ROWS = 64


@dataclass(frozen=True)
class Block:
    """Individuals ``start..stop-1`` against ``first..last-1``, of which only pairs i < j count.

    Parameters
    ----------
    start, stop, first, last : int
    """

    start: int
    stop: int
    first: int
    last: int

    @property
    def n_pairs(self) -> int:
        """How many pairs count."""
        earliest = np.maximum(self.first, np.arange(self.start, self.stop) + 1)
        return int(np.maximum(self.last - earliest, 0).sum())

    def pairs_of(self, matrix: NDArray[T]) -> NDArray[T]:
        """Return the entries of a matrix of the block's shape that belong to pairs, row by row."""
        return matrix.ravel() if self._all_count else matrix[self._counting]

    def people(self, chosen: Indices) -> tuple[Indices, Indices]:
        """Return the individuals (i, j) of pairs given by their place in `pairs_of`."""
        if self._all_count:
            rows, columns = np.divmod(chosen, self.last - self.first)
        else:
            rows, columns = (ends[chosen] for ends in np.nonzero(self._counting))
        return rows + self.start, columns + self.first

    @property
    def _all_count(self) -> bool:
        return self.first >= self.stop

    @property
    def _counting(self) -> NDArray[np.bool_]:
        return np.arange(self.first, self.last) > np.arange(self.start, self.stop)[:, None]

    def cut(self, n_pairs: int = _BLOCK_PAIRS) -> Iterator[Block]:
        """Cut into blocks of some rows each, with about `n_pairs` pairs, that stay in cache."""
        step = max(1, n_pairs // (self.last - self.first))
        for start in range(self.start, min(self.stop, self.last - 1), step):
            yield Block(start, min(start + step, self.stop, self.last - 1), self.first, self.last)


def units(n_individuals: int) -> list[Block]:
    """Cut all pairs into units of work: always the same ones, many enough for several threads, few enough to be saved after each.

    On the right a unit has the individuals of one tile of the compiled walks.
    """
    columns = tile_width(n_individuals)
    rows = max(_LEAST_ROWS, min(n_individuals // _UNITS_A_COLUMN, columns))
    found = []
    for first in range(0, n_individuals, columns):
        last = min(first + columns, n_individuals)
        found += [
            Block(start, min(start + rows, last - 1), first, last) for start in range(0, last - 1, rows)
        ]
    return found
