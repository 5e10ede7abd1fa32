"""What is subtracted from observations before they are decomposed, and added back to the estimate: the centre."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.arrays import checked_sparse
from likewise.checks import checked_name
from likewise.estimation.base.bias_equations import solve_biases
from likewise.estimation.base.folding import LinearFolding, row_offsets, shrunk_means
from likewise.estimation.base.weighting import AnyWeighting, checked_weights, kept_weights
from likewise.estimation.propensities import Propensities, PropensityChoice, propensities_of
from likewise.observations import ObservedMatrix
from likewise.observations.table import Values, keep_entries, rows_of_entries, with_data
from likewise.observations.value_range import WorkingRange

Centering = Literal["none", "global", "row", "column", "biases"]
"""What the centre of an entry is: nothing, the mean of all, of its row, of its column, or row and column biases."""


@dataclass(frozen=True, eq=False)
class Centre:
    """``column_offsets_j + row_offsets_i``, on the method's working range: what an entry is thought to be before anything is decomposed.

    Parameters
    ----------
    kind : {"none", "global", "row", "column", "biases"}
    column_offsets : ndarray, shape (n,), or None
        They hold the mean of all observations too. None where nothing is subtracted.
    row_offsets : ndarray, shape (m,), or None
        None where rows have none.
    row_penalty : float or None
        lambda of a row's offset, ``sum_j w_ij (z_ij - column_offset_j) / (sum_j w_ij + lambda)``, also of a row never seen.
    notes : tuple of str
        Rows and columns without an observation and what their centre is; the variance components that the biases rest on.
    """

    kind: Centering
    column_offsets: Floats | None = None
    row_offsets: Floats | None = None
    row_penalty: float | None = None
    notes: tuple[str, ...] = ()

    def residuals(self, values: Values) -> Values:
        """Return what remains of the observations of the fit; an entry that is not stored stays missing.

        Parameters
        ----------
        values : csr_array, shape (m, n)
            On the method's working range.

        Returns
        -------
        csr_array, shape (m, n)
            Float64, the same entries stored.
        """
        data = np.array(values.data, dtype=np.float64)
        if self.column_offsets is not None:
            data -= self.column_offsets[values.indices]
        if self.row_offsets is not None:
            data -= self.row_offsets[rows_of_entries(values)]
        return with_data(values, data)


def centre(
    values: Values,
    centering: Centering,
    weights: Floats | None = None,
    regularization: float | None = None,
) -> Centre:
    """Find the centre of observations.

    Parameters
    ----------
    values : csr_array, shape (m, n)
        On the method's working range; a stored entry is an observation.
    centering : {"none", "global", "row", "column", "biases"}
        - ``"global"``: the mean of all observations.
        - ``"column"``, ``"row"``: the mean of each column or row; the mean of all where nothing is observed of it.
        - ``"biases"``: ``mean + a_i + b_j``, the minimum of ``sum w (z - mean - a_i - b_j)^2 + lambda_row sum a_i^2 + lambda_column sum b_j^2``.
    weights : ndarray, shape (n_observed,), optional
        Of each observation, for example inverse propensities; all 1 by default. Their scale does not matter.
    regularization : float, optional
        Both lambdas of the biases, in observations: with lambda = 5 a row with 5 observations keeps half of its mean deviation. By
        default each is the noise variance over the variance of the biases, as the best linear prediction has it, estimated from the
        data (see `variance_components`).

    Returns
    -------
    Centre

    Raises
    ------
    InputError
        Unknown centering; a regularization that is negative or not a number.

    Examples
    --------
    >>> from scipy import sparse
    >>> seen = sparse.csr_array(np.array([[1.0, 0.5], [0.0, 0.25]]))
    >>> centre(seen, "column").column_offsets
    array([1.   , 0.375])
    """
    checked_name("centering", centering, get_args(Centering))
    checked_sparse(values)
    weights = checked_weights(weights, values)
    if centering == "none":
        return Centre("none")
    notes = _notes_on_empty(values, centering)
    data = np.asarray(values.data, dtype=np.float64)
    relative = np.ones(values.nnz) if weights is None else weights / weights.mean()
    mean = float(np.average(data, weights=relative))
    deviations, offsets = with_data(values, data - mean), np.full(values.shape[1], mean)
    if centering == "biases":
        found = solve_biases(deviations, relative, regularization)
        # A row is folded in with the weights as they are given, so its penalty is on their scale.
        penalty = found.row_penalty * (1.0 if weights is None else float(weights.mean()))
        return Centre(centering, offsets + found.columns, found.rows, penalty, (*notes, *found.notes))
    if centering == "column":
        means = shrunk_means(values.indices, deviations.data * relative, relative, 0.0, offsets.size)
        return Centre(centering, offsets + means, notes=notes)
    if centering == "row":
        return Centre(centering, offsets, row_offsets(deviations, 0.0, relative), 0.0, notes)
    return Centre(centering, offsets, notes=notes)


def _notes_on_empty(values: Values, centering: Centering) -> tuple[str, ...]:
    """Say what the centre is of rows and columns of which nothing is observed."""
    n = values.shape[1]
    empty = {
        "rows": int(np.count_nonzero(np.diff(values.indptr) == 0)),
        "columns": n - int(np.count_nonzero(np.bincount(values.indices, minlength=n))),
    }
    offset = {"rows": centering in ("row", "biases"), "columns": centering in ("column", "biases")}
    return tuple(
        f"{count:,} {axis} without an observation have the mean of all observations in place of their own"
        for axis, count in empty.items()
        if count and offset[axis]
    )


@dataclass(frozen=True, eq=False)
class Recentred:
    """All observations less a centre that knows only some of them, so that the others can test what is made of these."""

    matrix: Values  # (m, n), the differences, times their weights
    centre: Floats  # (n_observed,), that centre at each observation
    # Between which an estimate lies: estimates are clipped when they are read.
    low: float = -np.inf
    high: float = np.inf


@dataclass(frozen=True, eq=False)
class Prepared:
    """Observations as they are decomposed."""

    observed: ObservedMatrix  # in the user's units
    working_range: WorkingRange
    residuals: Values  # (m, n), what remains of the observations after the centre
    centre: Centre
    propensities: Propensities | None = None  # where the weights come from; None where all are 1

    @property
    def weights(self) -> Floats | None:
        """Of the observations, shape (n_observed,): inverse propensities times the observed fraction; None where all are 1."""
        return None if self.propensities is None else self.propensities.weights

    @property
    def weighting(self) -> AnyWeighting | None:
        """The weights of the observations of a row that was not in the fit."""
        return None if self.propensities is None else self.propensities.weighting

    @cached_property
    def matrix(self) -> Values:
        """Residuals times weights, shape (m, n); with missing entries 0 its mean is that of the residuals times the observed fraction."""
        weights = self.weights
        return self.residuals if weights is None else with_data(self.residuals, self.residuals.data * weights)

    def recentred(self, hidden: NDArray[np.bool_]) -> Recentred:
        """Return the observations as they are if those that are `hidden`, a mask of shape (n_observed,), had not been known when the centre was found."""
        values, known, kept = self.observed.scaled(self.working_range).values, self.centre, self
        if self.centre.kind != "none":
            known = centre(
                keep_entries(values, ~hidden), self.centre.kind, kept_weights(self.weights, ~hidden)
            )
            kept = replace(self, residuals=known.residuals(values), centre=known)
        low, high = self.observed.value_range.scale_to(self.working_range).bounds
        return Recentred(kept.matrix, values.data - kept.residuals.data, low, high)

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
    working_range: WorkingRange,
    centering: Centering,
    propensities: PropensityChoice = None,
    random_state: int | np.random.Generator | None = None,
    regularization: float | None = None,
) -> Prepared:
    """Map observations to the method's working range, subtract their centre, and find the inverse propensities that weigh what remains."""
    checked_name("centering", centering, get_args(Centering))
    values = observed.scaled(working_range).values
    if propensities is None and centering == "none":
        return Prepared(observed, working_range, values, Centre("none"))
    scale = observed.value_range.scale_to(working_range)
    found = (
        None
        if propensities is None
        else propensities_of(values, propensities, random_state=random_state, scale=scale)
    )
    middle = centre(values, centering, None if found is None else found.weights, regularization)
    return Prepared(observed, working_range, middle.residuals(values), middle, found)
