"""The pairs with the largest ratios among those seen so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import PAIR_COLUMNS


class TopPairs:
    """The `count` pairs with the largest ratios, largest first; ties by output distance, then by position.

    Parameters
    ----------
    count : int

    Attributes
    ----------
    columns : dict of str to ndarray
        ``ratio``, ``output``, ``reference``, ``left`` and ``right`` of these pairs.
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
        keys = ("right", "left", "output", "ratio")
        signs = {"output": -1.0, "ratio": -1.0}
        order = np.lexsort([signs.get(name, 1) * joined[name] for name in keys])[: self.count]
        self.columns = {name: column[order] for name, column in joined.items()}
