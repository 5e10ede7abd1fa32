"""What is added up over pairs, for one set of outputs: from it come all figures but order statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import COUNTS, LARGEST, TOTALS, PairSums, add_pairs
from likewise.fairness.exact.blocks import Block
from likewise.fairness.exact.sums import Array, Sums
from likewise.fairness.exact.thresholds import Thresholds
from likewise.fairness.exact.top_pairs import TopPairs

Floats = NDArray[np.float64]


class Tally(Sums):
    """Counts, sums and maxima over pairs, and those with the largest ratios.

    Infinite ratios are counted, not summed. Sums of a block are added pairwise, blocks one after the other: over B blocks the relative
    error is at most about B times 1.1e-16.

    Parameters
    ----------
    thresholds : Thresholds
        What pairs are held against.
    floor : float, optional
        Pairs with a smaller ratio are not among the worst: enough others are known.

    Attributes
    ----------
    worst : TopPairs
    """

    def __init__(self, thresholds: Thresholds, floor: float = -np.inf) -> None:
        sums = PairSums(thresholds.limits)
        super().__init__(
            {
                **_by_name(COUNTS, sums.counts),
                **_by_name(TOTALS, sums.totals),
                "epsilon": sums.epsilon_counts,
                "histogram": sums.histogram,
                "ratio_bins": sums.ratio_bins,
                "excess_bins": sums.excess_bins,
                "groups": sums.groups,
            },
            {
                **_by_name(LARGEST, sums.largest),
                "epsilon": sums.epsilon_largest,
                "group_ratio": sums.group_largest,
            },
        )
        self.thresholds, self.floor, self.sums = thresholds, floor, sums
        self.worst = TopPairs(thresholds.worst)

    def add(self, block: Block, reference: Floats, output: Floats) -> None:
        """Add the pairs of a block; see `likewise._kernels.add_pairs`.

        Parameters
        ----------
        block : Block
        reference, output : ndarray, of the block's shape or shape (n_pairs,)
            d and D.
        """
        floor = max(self.floor, self.worst.floor[0])
        limits, count = self.thresholds.limits, self.worst.count
        self.worst.offer(add_pairs(self.sums, limits, block, reference, output, count, floor))

    def merge(self, other: Self) -> None:
        """Take in other pairs."""
        super().merge(other)
        self.worst.offer(other.worst.columns)

    def arrays(self) -> dict[str, Array]:
        """Return everything by name, as it is saved."""
        return super().arrays() | {f"worst/{name}": column for name, column in self.worst.columns.items()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `arrays` returned."""
        super().restore(arrays)
        self.worst.offer({name: arrays[f"worst/{name}"] for name in self.worst.columns})


def _by_name(names: tuple[str, ...], numbers: Array) -> dict[str, Array]:
    """Return each number under its name, as a part of the array."""
    return {name: numbers[k, ...] for k, name in enumerate(names)}
