"""How widely observations lie about their estimate, by row and by column: what intervals are wide or narrow by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, unknown_name
from likewise.estimation.folding import shrunk_means
from likewise.estimation.low_rank_estimate import LowRankEstimate
from likewise.observations.table import Values, rows_of_entries

Floats = NDArray[np.float64]
Scaling = Literal["none", "row", "column", "both"]

SCALINGS: tuple[Scaling, ...] = ("none", "row", "column", "both")

_PRIOR = 10.0
"""Observations of average spread that each row and column is credited with, so that few of its own do not decide."""


@dataclass(frozen=True, eq=False)
class Spread:
    """``rows_i columns_j``: the mean absolute residual that is expected of an entry.

    Parameters
    ----------
    rows : ndarray, shape (m,)
    columns : ndarray, shape (n,)
        All above 0.
    """

    rows: Floats
    columns: Floats

    @classmethod
    def of(cls, values: Values, estimate: LowRankEstimate, scaling: Scaling) -> Spread:
        """Measure the residuals of observations that the estimate was made of.

        Parameters
        ----------
        values : csr_array, shape (m, n)
            On the method's interval.
        estimate : LowRankEstimate
        scaling : {"none", "row", "column", "both"}
            By what the spread may differ; with ``"none"`` it is 1.

        Raises
        ------
        InputError
            Unknown scaling.
        """
        if scaling not in SCALINGS:
            raise InputError(*unknown_name("scaling", scaling, SCALINGS))
        labels, indices = rows_of_entries(values), values.indices
        residuals = np.abs(values.data - estimate.on_interval().entries(labels, indices))
        average = float(residuals.mean())
        rows, columns = (np.ones(size) for size in values.shape)
        if average > 0 and scaling in ("row", "both"):
            rows = _relative(residuals, labels, rows.size)
        if average > 0 and scaling in ("column", "both"):
            columns = _relative(residuals / rows[labels], indices, columns.size)
        return cls(rows, columns)

    def at(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the spread at entries."""
        return np.asarray(self.rows[rows] * self.columns[columns])


def _relative(residuals: Floats, labels: NDArray[np.integer], n_labels: int) -> Floats:
    """Return the mean residual of each label against that of all."""
    average = float(residuals.mean())
    excess = shrunk_means(labels, residuals - average, np.ones_like(residuals), _PRIOR, n_labels)
    return np.asarray(1 + excess / average)
