"""How far rows and columns drift over time: a level for each period, drawn to 0 as far as they are alike, and what it was when observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats, Indices
from likewise.observations.table import Values, rows_of_entries, with_data

PERIODS = 10
"""Of equally many observations each."""
ROUNDS = 2
"""Of drifts and factors in turn."""
_STEPS = 20
"""Of expectation and maximisation, for the variance of the levels."""


@dataclass(frozen=True, eq=False)
class Drift:
    """Levels of rows and columns in each period, about what they are over all of it.

    Parameters
    ----------
    edges : ndarray, shape (b - 1,)
        The last time of each period but the last one.
    rows, columns : ndarray, shapes (m, b) and (n, b)
        0 where nothing was observed.
    """

    edges: Floats
    rows: Floats
    columns: Floats

    @classmethod
    def of(cls, residuals: Values, times: Floats, noise: float, n_periods: int = PERIODS) -> Self:
        """Fit levels to what an estimate without time leaves, those of the columns first, those of the rows to what is left.

        A level is normal about 0, with a variance that is common to its side and makes the residuals most likely, and so is the residual about it.

        Parameters
        ----------
        residuals : csr_array, shape (m, n)
        times : ndarray, shape (n_observed,)
            In the order of ``residuals.data``; NaN where unknown: such say nothing of drifts.
        noise : float
            Variance of a residual.
        n_periods : int
            At most so many.

        Returns
        -------
        Drift
        """
        edges = np.unique(np.nanquantile(times, np.arange(1, n_periods) / n_periods, method="lower"))
        drift = cls(edges, *(np.zeros((k, edges.size + 1)) for k in residuals.shape))
        known, periods = np.flatnonzero(~np.isnan(times)), drift.periods(times)
        left, row, column = residuals.data[known], rows_of_entries(residuals)[known], residuals.indices[known]
        drift.columns[:] = _levels(left, column, periods[known], drift.columns.shape, noise)
        left = left - drift.columns[column, periods[known]]
        drift.rows[:] = _levels(left, row, periods[known], drift.rows.shape, noise)
        return drift

    def periods(self, times: Floats) -> Indices:
        """Return the period of each time; the last one, which is the present, where that is unknown."""
        return np.searchsorted(self.edges, times, side="left")

    def to_present(self, values: Values, times: Floats) -> Values:
        """Return observations as they would be in the last period: each moved by what its row and column drifted since."""
        periods = self.periods(times)
        since = [
            (levels[:, -1:] - levels)[places, periods]
            for levels, places in ((self.rows, rows_of_entries(values)), (self.columns, values.indices))
        ]
        return with_data(values, values.data + since[0] + since[1])


def _levels(
    residuals: Floats,
    places: NDArray[np.integer],
    periods: Indices,
    shape: tuple[int, int],
    noise: float,
) -> Floats:
    """Return the expected levels, shape (k, b), under the variance that makes the residuals most likely."""
    cells = places * shape[1] + periods
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    sums = np.bincount(cells, residuals, counts.size)
    seen, variance = counts > 0, noise
    for _ in range(_STEPS):
        precision = counts + noise / variance
        variance = max(float(np.mean((sums / precision) ** 2 + noise / precision, where=seen)), _least(noise))
    levels: Floats = (sums / (counts + noise / variance)).reshape(shape)
    return levels


def _least(noise: float) -> float:
    """Smallest variance of levels, so that none is divided by."""
    return 1e-12 * noise
