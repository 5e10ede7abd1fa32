"""Individuals against individuals, of which every pair counts once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class PairBlock:
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
    def shape(self) -> tuple[int, int]:
        """How many individuals there are on either side."""
        return self.stop - self.start, self.last - self.first

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
