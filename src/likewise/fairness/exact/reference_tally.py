"""Reference distances counted in bins: how many pairs are at most how far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.exact.log_grid import N_BINS, bins_of
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

    def add(self, measured: NDArray[np.float64]) -> None:
        """Count distances; NaN where one is not defined."""
        defined = ~np.isnan(measured)
        known = measured if defined.all() else measured[defined]
        bins = bins_of(known)
        np.add.at(self.added["bins"], bins, 1)
        np.maximum.at(self.largest["bins"], bins, known)
        self.added["undefined"] += measured.size - known.size
