"""Which columns are compared as bits and which are walked: bits cost the same for every pair, a walk what the pair shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.bit_planes import BitPlanes, Levels
from likewise._kernels.pair_lists import Lists, PairLists

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
        levels = Levels.of(lists.by_row.values)
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
