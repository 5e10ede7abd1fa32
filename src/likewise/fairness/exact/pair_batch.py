"""The reference side of a block of pairs: what all arms have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.exact.blocks import Block
from likewise.fairness.exact.log_grid import bins_of
from likewise.fairness.exact.thresholds import Thresholds

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Pairs of a block with a defined reference distance.

    Parameters
    ----------
    block : Block
    kept : ndarray of int or None
        Places of these pairs among all of the block; None if they are all.
    reference : ndarray, shape (n_pairs,)
        d.
    n_zero : int
        Pairs with d = 0.
    near : ndarray of int
        Places of the most similar pairs.
    epsilon_index : ndarray of int, shape (n_pairs,)
        Which point of the epsilon-delta curve each pair falls under.
    labels : ndarray of int, shape (n_pairs,), or None
        Which two groups each pair joins.
    """

    block: Block
    kept: Indices | None
    reference: Floats
    n_zero: int
    near: Indices
    epsilon_index: Indices
    labels: Indices | None

    @classmethod
    def of(cls, block: Block, measured: Floats, thresholds: Thresholds) -> PairBatch:
        """Set undefined pairs apart and hold the others against the thresholds."""
        defined = ~np.isnan(measured)
        kept = None if defined.all() else np.flatnonzero(defined)
        reference = measured if kept is None else measured[kept]
        groups = thresholds.groups
        labels = None if groups is None else block.pairs_of(groups.labels(block))
        index = thresholds.epsilon_counter.count(reference, bins_of(reference))
        return cls(
            block,
            kept,
            reference,
            int(np.count_nonzero(reference == 0)),
            thresholds.near(reference),
            np.minimum(index, thresholds.epsilon.size - 1),
            labels if labels is None or kept is None else labels[kept],
        )

    def select(self, measured: Floats) -> Floats:
        """Return the entries of a vector over the block's pairs whose reference distance is defined."""
        return measured if self.kept is None else measured[self.kept]

    def people(self, chosen: Indices) -> tuple[Indices, Indices]:
        """Return the individuals (i, j) of pairs given by their place here."""
        return self.block.people(chosen if self.kept is None else self.kept[chosen])
