"""Alternating least squares with biases, its regularisation given or estimated, as a pure function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.estimation.base.factor_update import FactorUpdate, Prior, regress
from likewise.estimation.base.normal_equations import Factors, ObservedRows
from likewise.estimation.base.weighting import checked_weights, transposed_weights
from likewise.observations.table import Values, with_data
from likewise.spectrum.threaded_blas import one_blas_thread

Regularization = float | Literal["estimated"]

_HELD = 5
"""Sweeps for which the priors are held, so that the factors find the signal before the priors are judged by them."""
_FIRST_NOISE = 0.5
"""Share of the variance of the observations that is taken for noise meanwhile, unless it is given."""
_PSEUDO = 1e-3
"""Weight of the first prior, in vectors, where a prior is estimated: it keeps a component that nothing needs from vanishing."""
_SMALL = 0.1
"""Standard deviation of the first coordinates, against those that the first prior expects."""


@dataclass(frozen=True, eq=False)
class FactorFit:
    """``z_ij = centre + u_i^T v_j + a_i + b_j``: the factors, and how they were found.

    Parameters
    ----------
    centre : float
        Mean of the observations.
    rows, columns : Factors
        ``(u_i, a_i)`` and ``(v_j, b_j)``.
    row_prior : Prior
        With which the rows were found, given the columns.
    objectives : tuple of float
        After each sweep, never increasing: half of the weighted squared residuals plus penalties; where the regularisation is
        estimated, the free energy (minus the evidence lower bound).
    converged : bool
    """

    centre: float
    rows: Factors
    columns: Factors
    row_prior: Prior
    objectives: tuple[float, ...]
    converged: bool

    @property
    def n_iter(self) -> int:
        """How many sweeps ran."""
        return len(self.objectives)


def alternating_least_squares(
    values: Values,
    rank: int,
    *,
    regularization: Regularization = "estimated",
    noise: float | None = None,
    by_count: bool = False,
    weights: Floats | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
    random_state: int | np.random.Generator | None = None,
) -> FactorFit:
    """Fit ``centre + u_i^T v_j + a_i + b_j`` to observations, the rows and the columns in turn.

    With a number lambda this minimises ``1/2 sum w (z - estimate)^2 + lambda/2 (sum |u|^2 + a^2 + sum |v|^2 + b^2)``. With
    ``"estimated"`` each vector is normal about 0 with a covariance that is common to its side, and so is the noise; covariances and
    noise maximise a lower bound of the likelihood (variational Bayes), in which each regression takes into account how uncertain the
    factors are that it regresses on. So nothing has to be tuned: a vector with few observations is drawn towards 0 as far as the
    others say, a component that is not needed is switched off.

    Parameters
    ----------
    values : csr_array, shape (m, n)
        A stored entry is an observation.
    rank : int
        Length of u and v.
    regularization : float or "estimated"
        lambda > 0 in observations, or estimated.
    noise : float, optional
        Share of the variance of the observations, above 0, that is noise; estimated by default. Where observations are few for the rank,
        the estimate takes weak components for noise, and a smaller share finds them; a larger one draws vectors more towards 0. It has a
        meaning only where the regularisation is estimated.
    by_count : bool
        Multiply the lambda of a vector by its number of observations (Zhou et al. 2008).
    weights : ndarray, shape (n_observed,), optional
        >= 0: an observation of weight 2 counts as two. Inverse propensities should be scaled to a mean of 1.
    tol : float
        Relative decrease of the objective from sweep to sweep, below which it has converged.
    max_iter : int
        Sweeps after which the result is returned as it is.
    random_state : int, Generator or None
        For the first columns.

    Returns
    -------
    FactorFit

    Raises
    ------
    InputError
        Weights that are negative or not finite, or all 0.
    ShapeError
        Not one weight for each observation.

    References
    ----------
    Koren, Bell, Volinsky, "Matrix factorization techniques for recommender systems", Computer 42 (2009); Zhou, Wilkinson,
    Schreiber, Pan, "Large-scale parallel collaborative filtering for the Netflix Prize", AAIM (2008); Lim, Teh, "Variational
    Bayesian approach to movie rating prediction", KDD Cup and Workshop (2007); Salakhutdinov, Mnih, "Bayesian probabilistic
    matrix factorization using Markov chain Monte Carlo", ICML (2008), for the covariances.

    Examples
    --------
    >>> from scipy import sparse
    >>> seen = sparse.csr_array(np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0]))
    >>> fit = alternating_least_squares(seen, 1, regularization=1e-3, random_state=0)
    >>> row, column = fit.rows.means[2], fit.columns.means[1]
    >>> estimate = fit.centre + row[0] * column[0] + row[1] + column[1]
    >>> round(float(estimate), 1)
    -3.0
    """
    sides, rng = (
        _Sides.of(values, checked_weights(weights, values), rank),
        np.random.default_rng(random_state),
    )
    with one_blas_thread():
        if regularization == "estimated":
            return _Estimated(sides, rank, rng, noise).run(tol, max_iter)
        prior = Prior(regularization * np.eye(rank + 1), by_count=by_count)
        return _Descent(sides, rng, prior).run(tol, max_iter)


@dataclass(frozen=True, eq=False)
class _Sides:
    """Deviations of the observations from their mean, laid out by rows and by columns."""

    rows: ObservedRows
    columns: ObservedRows
    centre: float
    variance: float

    @classmethod
    def of(cls, values: Values, weights: Floats | None, rank: int) -> _Sides:
        data = np.asarray(values.data, dtype=np.float64)
        centre = float(np.average(data, weights=weights))
        deviations = with_data(values, data - centre)
        rows = ObservedRows(deviations, weights, rank)
        variance = rows.energy / float(rows.column_weights.sum())
        columns = ObservedRows(deviations.T.tocsr(), transposed_weights(weights, values), rank)
        return cls(rows, columns, centre, variance or 1.0)


class _Descent:
    """Sweeps over columns and rows under one prior, the same for both."""

    held = 0

    def __init__(self, sides: _Sides, rng: np.random.Generator, prior: Prior) -> None:
        self.sides, self.row_prior, self.column_prior = sides, prior, prior
        n, d = sides.columns.n_rows, sides.columns.d
        first = np.zeros((n, d))
        first[:, :-1] = rng.normal(0.0, _SMALL * (sides.variance / d) ** 0.25, (n, d - 1))
        self.columns = FactorUpdate(Factors.certain(first), 0.0, 0.0)
        self.rows = regress(sides.rows, self.columns.factors, self.row_prior)

    def run(self, tol: float, max_iter: int) -> FactorFit:
        """Sweep until the objective has settled. The rows come last, so that they are the regression on the columns."""
        objectives: list[float] = []
        converged = False
        while not converged and len(objectives) < max_iter:
            if len(objectives) >= self.held:
                self._judge_priors()
            self.columns = regress(self.sides.columns, self.rows.factors, self.column_prior)
            self.rows = regress(self.sides.rows, self.columns.factors, self.row_prior)
            objectives.append(self._objective())
            decreases = -np.diff(objectives[self.held :])
            converged = decreases.size > 0 and decreases[-1] <= tol * self._size(objectives[-1])
        rows, columns = self.rows.factors, self.columns.factors
        return FactorFit(self.sides.centre, rows, columns, self.row_prior, tuple(objectives), bool(converged))

    def _judge_priors(self) -> None:
        """Given priors stay."""

    def _objective(self) -> float:
        return self._misfit() / 2 + self.rows.penalty + self.columns.penalty

    def _size(self, objective: float) -> float:
        """What a decrease of the objective is measured by."""
        return objective

    def _misfit(self) -> float:
        """``sum w E[(z - estimate)^2]``."""
        return self.sides.rows.bias_misfit(self.columns.factors) - self.rows.explained


class _Estimated(_Descent):
    """Sweeps under priors that are estimated in between."""

    held = _HELD

    def __init__(self, sides: _Sides, rank: int, rng: np.random.Generator, noise: float | None) -> None:
        self.noise = None if noise is None else noise * sides.variance
        # Two sides of this variance make products of the variance that is observed.
        coordinates = np.full(rank, (sides.variance / max(rank, 1)) ** 0.5)
        self.first_covariance = np.diag([*coordinates, sides.variance])
        first_noise = _FIRST_NOISE * sides.variance if self.noise is None else self.noise
        super().__init__(sides, rng, Prior(np.linalg.inv(self.first_covariance), first_noise, uncertain=True))

    def _judge_priors(self) -> None:
        noise = self._misfit() / self._n_observations if self.noise is None else self.noise
        self.row_prior = self._judged(self.rows.factors, self.sides.rows.counts, noise)
        self.column_prior = self._judged(self.columns.factors, self.sides.columns.counts, noise)

    def _judged(self, factors: Factors, counts: NDArray[np.integer], noise: float) -> Prior:
        """The covariance that makes the vectors of those of which something is observed most likely."""
        seen = counts > 0
        total = factors.total_moment(seen) + _PSEUDO * self.first_covariance
        return Prior(np.linalg.inv(total / (seen.sum() + _PSEUDO)), noise, uncertain=True)

    def _objective(self) -> float:
        noise = self.row_prior.noise
        fit = self._n_observations * np.log(2 * np.pi * noise) + self._misfit() / noise
        beliefs = sum(self._belief(prior) for prior in (self.row_prior, self.column_prior))
        return float(fit / 2) + self.rows.penalty + self.columns.penalty + beliefs

    def _belief(self, prior: Prior) -> float:
        """What the pseudo-observations of the first prior cost."""
        trace = float(np.sum(prior.precision * self.first_covariance))
        return _PSEUDO / 2 * (trace - float(np.linalg.slogdet(prior.precision)[1]))

    def _size(self, objective: float) -> float:  # noqa: ARG002
        """Nats an observation."""
        return self._n_observations

    @property
    def _n_observations(self) -> float:
        return float(self.sides.rows.column_weights.sum())
