"""Observations made ready to be decomposed: mapped to the method's interval, centred, missing entries 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.estimation.centering import Centering, Centre, centre
from likewise.estimation.folding import LinearFolding
from likewise.estimation.propensities import Propensities, PropensityChoice, propensities_of
from likewise.estimation.weighting import Weighting
from likewise.observations import ObservedMatrix
from likewise.observations.table import Values, with_data
from likewise.observations.value_range import Interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Observations as they are decomposed.

    Parameters
    ----------
    observed : ObservedMatrix
        In the user's units.
    interval : {"symmetric", "unit"}
    residuals : csr_array, shape (m, n)
        What remains of the observations after the centre.
    centre : Centre
    propensities : Propensities or None
        Where the weights come from; None where all are 1.
    """

    observed: ObservedMatrix
    interval: Interval
    residuals: Values
    centre: Centre
    propensities: Propensities | None = None

    @property
    def weights(self) -> Floats | None:
        """Of the observations, shape (n_observed,): inverse propensities times the observed fraction; None where all are 1."""
        return None if self.propensities is None else self.propensities.weights

    @property
    def weighting(self) -> Weighting | None:
        """The weights of the observations of a row that was not in the fit."""
        return None if self.propensities is None else self.propensities.weighting

    @property
    def matrix(self) -> Values:
        """Residuals times weights, shape (m, n); with missing entries 0 its mean is that of the residuals times the observed fraction."""
        weights = self.weights
        return self.residuals if weights is None else with_data(self.residuals, self.residuals.data * weights)

    @property
    def folding(self) -> LinearFolding:
        """How a new row is decomposed as the rows of the fit were."""
        return LinearFolding(self.centre.row_penalty, self.weighting)

    def converged(self, iterations: bool | None = None) -> bool | None:
        """Whether what iterates came to its end, the propensities and the iterations that they weigh; None where nothing does."""
        told = (iterations, None if self.propensities is None else self.propensities.converged)
        ends = [end for end in told if end is not None]
        return all(ends) if ends else None

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
    """Map observations to the method's interval, subtract their centre, and find the inverse propensities that weigh what remains."""
    values = observed.scaled(interval).values
    if propensities is None and centering == "none":
        return Prepared(observed, interval, values, centre(values, centering))
    found = None if propensities is None else propensities_of(values, propensities, random_state=random_state)
    middle = centre(values, centering, None if found is None else found.weights, regularization)
    return Prepared(observed, interval, middle.residuals(values), middle, found)
