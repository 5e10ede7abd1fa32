"""Observations made ready to be decomposed: mapped to the method's interval, centred, missing entries 0."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.estimation.centering import Centering, Centre, centre
from likewise.estimation.folding import LinearFolding
from likewise.observations import ObservedMatrix
from likewise.observations.table import Values
from likewise.observations.value_range import Interval


@dataclass(frozen=True, eq=False)
class Prepared:
    """Observations as they are decomposed.

    Parameters
    ----------
    observed : ObservedMatrix
        In the user's units.
    interval : {"symmetric", "unit"}
    matrix : csr_array, shape (m, n)
        What remains of the observations after the centre; missing entries are 0.
    centre : Centre
    """

    observed: ObservedMatrix
    interval: Interval
    matrix: Values
    centre: Centre

    @property
    def folding(self) -> LinearFolding:
        """How a new row is decomposed as the rows of the fit were."""
        return LinearFolding(self.centre.row_penalty)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        return self.centre.notes


def prepare(observed: ObservedMatrix, interval: Interval, centering: Centering) -> Prepared:
    """Map observations to the method's interval and subtract their centre."""
    values = observed.scaled(interval).values
    found = centre(values, centering)
    return Prepared(observed, interval, values if centering == "none" else found.residuals(values), found)
