"""Observations from elsewhere, such as ratings of items drawn at random, that predictions are held against beside those that were hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, ObservationError, option
from likewise.fairness import ErrorMetrics
from likewise.observations import ObservedMatrix
from likewise.observations.index_alignment import positions_of
from likewise.pipeline.run import Run


@dataclass(frozen=True, eq=False)
class OutsideTest:
    """Test observations at their places in the matrix that an audit is of; arrays of shape (n_test,)."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: NDArray[np.float64]  # in the user's units
    n_left_out: int  # among the observations too: an algorithm that has seen them is not tested by them

    @classmethod
    def of(cls, test: Any, observed: ObservedMatrix) -> OutsideTest:
        """Find the places of test observations by their ids; what has none is numbered from 0.

        Raises ObservationError for ids that the observations do not have, and where all of it was observed as well.

        >>> nan = np.nan
        >>> Z = ObservedMatrix([[1.0, nan], [2.0, 3.0]], value_range=(1, 5))
        >>> found = OutsideTest.of(ObservedMatrix([[5.0, 4.0], [nan, nan]], value_range=(1, 5)), Z)
        >>> found.rows, found.columns, found.values, found.n_left_out
        (array([0]), array([1]), array([4.]), 1)
        """
        given = test if isinstance(test, ObservedMatrix) else ObservedMatrix(test)
        rows, columns = given.positions()
        rows = positions_of(given.row_ids, observed.row_ids, "row")[rows]
        columns = positions_of(given.column_ids, observed.column_ids, "column")[columns]
        seen_rows, seen_columns = observed.positions()
        n = observed.shape[1]
        new = ~np.isin(rows * n + columns, seen_rows * n + seen_columns)
        if not new.any():
            raise ObservationError(
                f"{option('test', '')} with {new.size:,} entries, all of them observed too",
                "ratings that the algorithm does not learn from",
            )
        values = np.asarray(given.values.data, dtype=np.float64)
        return cls(rows[new], columns[new], values[new], int(np.count_nonzero(~new)))

    @property
    def note(self) -> str:
        """What a reader should know of what was left out; empty where nothing was."""
        if not self.n_left_out:
            return ""
        return (
            f"{self.n_left_out:,} test ratings are among the observations too, and are left out of the test"
        )

    def error(self, run: Run, arm: str, confidence: float) -> ErrorMetrics:
        """Return an arm's error on these, with an interval over individuals; raise InputError for outputs that do not predict entries."""
        found = run.errors_at(arm, self.rows, self.columns, self.values)
        if found is None:
            raise InputError(
                f"{option('test', '')} for outputs that are not values of the features",
                "a model that predicts them",
            )
        return found.metrics(confidence)
