"""Reference distances counted in bins: how many pairs are at most how far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import N_BINS, count_pairs
from likewise.fairness.exact.blocks import Block
from likewise.fairness.exact.sums import Sums


class ReferenceTally(Sums):
    """Counts of d by bin (``added["bins"]``), and the largest d in each (``largest["bins"]``)."""

    def __init__(self) -> None:
        counts = {"bins": np.zeros(N_BINS, np.int64), "undefined": np.zeros((), np.int64)}
        super().__init__(counts, {"bins": np.zeros(N_BINS)})

    @property
    def n_pairs(self) -> int:
        """How many pairs have a defined distance."""
        return int(self.added["bins"].sum())

    def add(self, block: Block, measured: NDArray[np.float64]) -> None:
        """Count the distances of a block, NaN where one is not defined; see `likewise._kernels.count_pairs`."""
        self.added["undefined"] += count_pairs(self.added["bins"], self.largest["bins"], block, measured)
