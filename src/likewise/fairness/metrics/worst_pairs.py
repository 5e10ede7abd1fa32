"""The pairs with the largest ratios: kept while pairs come in, whether all are gone over, drawn or searched, and then named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import PAIR_COLUMNS
from likewise._typing import Floats, Indices

WORST = 10
"""How many pairs with the largest ratios are shown and, as far as they can be, explained."""


class TopPairs:
    """The `count` pairs with the largest ratios, largest first; ties by output distance, then by position.

    `columns` has the ratio, output and reference distance of these pairs, and who is left and right.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.columns: dict[str, NDArray[Any]] = {
            name: np.empty(0, kind) for name, kind in PAIR_COLUMNS.items()
        }

    @property
    def floor(self) -> tuple[float, float]:
        """Ratio and output distance that a pair must reach to come in: more, or the same and an earlier position."""
        ratio, output = self.columns["ratio"], self.columns["output"]
        return (float(ratio[-1]), float(output[-1])) if 0 < self.count == ratio.size else (-np.inf, -np.inf)

    def offer(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Take in what belongs among the largest."""
        joined = {name: np.concatenate([self.columns[name], columns[name]]) for name in PAIR_COLUMNS}
        # The last key is the first to sort by; `left` and `right` break ties the same way whatever the
        # order in which pairs came.
        keys = ("right", "left", "output", "ratio")
        signs = {"output": -1.0, "ratio": -1.0}
        order = np.lexsort([signs.get(name, 1) * joined[name] for name in keys])[: self.count]
        self.columns = {name: column[order] for name, column in joined.items()}


@dataclass(frozen=True)
class WorstPair:
    """A pair with one of the largest ratios.

    Parameters
    ----------
    left, right : object
        Ids of the two individuals.
    reference_distance, output_distance : float
        d and D.
    ratio : float
        D / d; infinite where d = 0 and D > 0.
    """

    left: Any
    right: Any
    reference_distance: float
    output_distance: float
    ratio: float


def name_pairs(
    left: Indices, right: Indices, ids: NDArray[Any], reference: Floats, output: Floats, ratio: Floats
) -> tuple[WorstPair, ...]:
    """Put ids, shape (n_individuals,), to pairs; the other arrays have an entry for each pair."""
    columns = (ids[left], ids[right], reference, output, ratio)
    return tuple(WorstPair(*row) for row in zip(*(column.tolist() for column in columns), strict=True))
