"""Sweeps over rows and columns in turn, from first factors until the objective has settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.estimation.als.sources import Sources
from likewise.estimation.base.factor_update import (
    Factors,
    FactorUpdate,
    ObservedRows,
    Prior,
    packed_size,
    regress,
)
from likewise.estimation.base.prior_mean import PriorMean
from likewise.estimation.base.weighting import transposed_weights
from likewise.observations.table import Values, with_data

_SMALL = 0.1
"""Standard deviation of the first coordinates, against those whose products would have the observed variance."""


@dataclass(frozen=True, eq=False)
class FactorFit:
    """``z_ij = centre + u_i^T v_j + a_i + b_j``: the factors, and how they were found.

    Parameters
    ----------
    centre : float
        Mean of the observations.
    rows, columns : Factors
        ``(u_i, a_i)`` and ``(v_j, b_j)``. Second moments of rows that lie in blocks stay with them.
    row_prior, column_prior : Prior
        With which the rows were found given the columns, and the columns given the rows.
    objectives : tuple of float
        On the way to this result, after each sweep, never increasing: half of the weighted squared residuals plus penalties; where the
        regularisation is estimated, the free energy (minus the evidence lower bound).
    converged : bool
    n_iter : int
        How many sweeps ran, those included that led elsewhere.
    row_mean, column_mean : PriorMean or None
        How the means of the priors follow from what is known of rows and columns; None where they are 0.
    """

    centre: float
    rows: Factors
    columns: Factors
    row_prior: Prior
    column_prior: Prior
    objectives: tuple[float, ...]
    converged: bool
    n_iter: int
    row_mean: PriorMean | None = None
    column_mean: PriorMean | None = None

    @property
    def rank(self) -> int:
        """Number of components that are left."""
        return int(self.rows.means.shape[1]) - 1


class Sides(Protocol):
    """Deviations of the observations from their mean, and the regressions of either side on the other."""

    @property
    def centre(self) -> float: ...  # noqa: D102  mean of the observations
    @property
    def variance(self) -> float: ...  # noqa: D102  of the observations
    @property
    def weight(self) -> float: ...  # noqa: D102  of all observations
    @property
    def sources(self) -> Sources: ...  # noqa: D102  what is known beside the values

    # How many observations each row has, (m,), or of rows in blocks whether there is one; and each column, (n,).
    @property
    def row_counts(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def column_counts(self) -> NDArray[Any]: ...  # noqa: D102

    # The factors in an update of the rows are these, or what stands for them where they lie in blocks.
    def rows_given(self, columns: Factors, prior: Prior) -> FactorUpdate: ...  # noqa: D102
    def columns_given(self, rows: Any, prior: Prior) -> FactorUpdate: ...  # noqa: D102
    def row_factors(self, state: State) -> Factors: ...  # noqa: D102  the rows themselves

    def bias_misfit(self, columns: Factors) -> float:
        """``sum w E[(z - bias of the column)^2]``."""
        ...


@dataclass(frozen=True, eq=False)
class SidesInMemory:
    """Both sides laid out in memory; see `Sides`."""

    rows: ObservedRows
    columns: ObservedRows
    centre: float
    variance: float
    sources: Sources = field(default_factory=Sources)

    @classmethod
    def of(
        cls, values: Values, weights: Floats | None, rank: int, sources: Sources | None = None
    ) -> SidesInMemory:
        """Subtract the mean of all observations and lay out what is left."""
        data = np.asarray(values.data, dtype=np.float64)
        centre = float(np.average(data, weights=weights))
        deviations = with_data(values, data - centre)
        rows = ObservedRows(deviations, weights, rank)
        variance = rows.energy / float(rows.column_weights.sum())
        columns = ObservedRows(deviations.T.tocsr(), transposed_weights(weights, values), rank)
        return cls(rows, columns, centre, variance or 1.0, sources or Sources())

    @property
    def row_counts(self) -> NDArray[Any]:
        """How many observations each row has."""
        return self.rows.counts

    @property
    def column_counts(self) -> NDArray[Any]:
        """How many observations each column has."""
        return self.columns.counts

    @property
    def weight(self) -> float:
        """Of all observations."""
        return float(self.rows.column_weights.sum())

    def rows_given(self, columns: Factors, prior: Prior) -> FactorUpdate:
        """Regress the rows on the columns."""
        return regress(self.rows, columns, prior)

    def columns_given(self, rows: Factors, prior: Prior) -> FactorUpdate:
        """Regress the columns on the rows."""
        return regress(self.columns, rows, prior)

    def bias_misfit(self, columns: Factors) -> float:
        """``sum w E[(z - bias of the column)^2]``."""
        return self.rows.bias_misfit(columns)

    def row_factors(self, state: State) -> Factors:
        """The rows themselves."""
        return state.rows.factors


@dataclass(frozen=True)
class Limits:
    """When sweeps end."""

    tol: float
    max_iter: int
    stop: Callable[[], bool]


@dataclass(frozen=True, eq=False)
class State:
    """The factors of both sides after a sweep, the priors under which they were found, and the objective there."""

    rows: FactorUpdate
    columns: FactorUpdate
    row_prior: Prior
    column_prior: Prior
    objective: float = inf
    row_mean: PriorMean | None = None
    column_mean: PriorMean | None = None


class Descent:
    """Sweeps over columns and rows under given priors: one for both, or those of the fit that it starts from."""

    def __init__(self, sides: Sides, limits: Limits, prior: Prior) -> None:
        self.sides, self.limits, self.prior = sides, limits, prior
        self.n_sweeps = 0
        self.objectives: list[float] = []

    def run(self, rng: np.random.Generator, start: FactorFit | None) -> FactorFit:
        """Sweep until the objective has settled."""
        state, converged = self._settled(self._begun(rng, start))
        return self._fit(state, converged)

    def _begun(self, rng: np.random.Generator, start: FactorFit | None) -> State:
        """Find the rows given the columns of an earlier fit, or small random ones."""
        means: tuple[PriorMean | None, PriorMean | None] = None, None
        if start is not None:
            columns, row_prior, column_prior = start.columns, start.row_prior, start.column_prior
            means = start.row_mean, start.column_mean
        else:
            n, d = self.sides.column_counts.size, self.prior.precision.shape[0]
            first = np.zeros((n, d))
            # With a standard deviation of (variance / d)^(1/4) on both sides, a sum of d products would have the observed variance; these are a tenth of
            # that, so that the data decide what grows. The last coordinate stays 0 at first: it is the bias.
            first[:, :-1] = rng.normal(0.0, _SMALL * (self.sides.variance / d) ** 0.25, (n, d - 1))
            columns, row_prior, column_prior = Factors.certain(first), self.prior, self.prior
        rows = self.sides.rows_given(columns, row_prior)
        return State(rows, FactorUpdate(columns, 0.0, 0.0), row_prior, column_prior, inf, *means)

    def _settled(self, state: State, tol: float = 0.0) -> tuple[State, bool]:
        """Sweep until the objective falls by less than the tolerance, or a larger one; return whether it came to that."""
        tol = max(tol, self.limits.tol)
        while not self._over:
            before, state = state.objective, self._swept(self._with_new_priors(state))
            self.objectives.append(state.objective)
            if before - state.objective <= tol * self._size(state.objective):
                return state, True
        return state, False

    @property
    def _over(self) -> bool:
        return self.n_sweeps >= self.limits.max_iter or (self.n_sweeps > 0 and self.limits.stop())

    def _swept(self, state: State) -> State:
        """Regress the columns on the rows, then the rows on the columns; so a row that is folded in is treated as those of the fit."""
        columns = self.sides.columns_given(state.rows.factors, state.column_prior)
        rows = self.sides.rows_given(columns.factors, state.row_prior)
        self.n_sweeps += 1
        after = replace(state, rows=rows, columns=columns)
        return replace(after, objective=self._objective(after))

    def _with_new_priors(self, state: State) -> State:
        """Given priors stay."""
        return state

    def _objective(self, state: State) -> float:
        return self._misfit(state) / 2 + state.rows.penalty + state.columns.penalty

    def _size(self, objective: float) -> float:
        """What a decrease of the objective is measured by."""
        return objective

    def _misfit(self, state: State) -> float:
        """``sum w E[(z - estimate)^2]``."""
        # With f the vectors of the columns and x those of the rows, E[(z - bias - f x)^2] = (z - bias)^2 - (2 (z - bias) f x - E[(f x)^2]).
        return self.sides.bias_misfit(state.columns.factors) - state.rows.explained

    def _fit(self, state: State, converged: bool) -> FactorFit:
        return FactorFit(
            self.sides.centre,
            self.sides.row_factors(state),
            state.columns.factors,
            state.row_prior,
            state.column_prior,
            tuple(self.objectives),
            converged,
            self.n_sweeps,
            state.row_mean,
            state.column_mean,
        )


def bytes_of_fit(shape: tuple[int, int], n_observed: int, rank: int) -> float:
    """How much memory a fit takes at most: two generations of factors, observations by rows and by columns, blocks of equations."""
    d = rank + 1
    # A matrix of covariance, packed, and a vector for everybody; six arrays of a block of equations, of up to 64 MiB each.
    vector, longest = 8 * (packed_size(d) + d), max(shape)
    blocks = 6 * min(64 << 20, vector * longest)
    return vector * (2 * sum(shape) + longest) + 120 * n_observed + blocks
