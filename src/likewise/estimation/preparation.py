"""Observations made ready to be decomposed: mapped to the method's interval, centred, missing entries 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.estimation.centering import Centering, Centre, centre
from likewise.estimation.folding import LinearFolding, with_data
from likewise.estimation.propensities import Propensities, PropensityChoice, propensities_of
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
        What remains of the observations after the centre, times their weights; missing entries are 0.
    centre : Centre
    propensities : Propensities or None
        Where the weights come from; None where all are 1.
    """

    observed: ObservedMatrix
    interval: Interval
    matrix: Values
    centre: Centre
    propensities: Propensities | None = None

    @property
    def folding(self) -> LinearFolding:
        """How a new row is decomposed as the rows of the fit were."""
        weighting = None if self.propensities is None else self.propensities.weighting
        return LinearFolding(self.centre.row_penalty, weighting)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        of_weights = () if self.propensities is None else self.propensities.notes
        return (*self.centre.notes, *of_weights)


def prepare(
    observed: ObservedMatrix,
    interval: Interval,
    centering: Centering,
    propensities: PropensityChoice = None,
    random_state: int | np.random.Generator | None = None,
    regularization: float | None = None,
) -> Prepared:
    """Map observations to the method's interval, subtract their centre, and weigh what remains by inverse propensities."""
    values = observed.scaled(interval).values
    if propensities is None and centering == "none":
        return Prepared(observed, interval, values, centre(values, centering))
    found = None if propensities is None else propensities_of(values, propensities, random_state=random_state)
    weights = None if found is None else found.weights
    middle = centre(values, centering, weights, regularization)
    residuals = middle.residuals(values)
    matrix = residuals if weights is None else with_data(residuals, residuals.data * weights)
    return Prepared(observed, interval, matrix, middle, found)
