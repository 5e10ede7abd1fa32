"""Alternating least squares as a scikit-learn transformer: a thin layer on `alternating_least_squares`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Self

import numpy as np
from scipy import linalg

from likewise._typing import Floats
from likewise.checks import checked_flag, checked_positive, checked_whole
from likewise.errors import InputError, option
from likewise.estimation.als.descent import FactorFit
from likewise.estimation.als.solver import Regularization, alternating_least_squares
from likewise.estimation.base.estimator import MatrixEstimator, warn_unless_converged
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.posterior_folding import PosteriorFolding
from likewise.estimation.base.preparation import Centre, Prepared, prepare
from likewise.estimation.propensities import PropensityChoice
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import RangeChoice, WorkingRange

_NOTHING = 1e-10  # of the strongest component: what a weaker one adds is rounding


class AlternatingLeastSquares(MatrixEstimator):
    """Complete a sparse, noisy matrix by factors and biases, each row a regression on the columns and the other way round.

    Parameters
    ----------
    rank : int, default 20
        Number of factors, cut to the shorter side. Where the regularisation is estimated, those that are not needed are dropped.
    regularization : float or "estimated", default "estimated"
        lambda > 0, in observations, of every factor and bias; or estimated together with the noise (variational Bayes), so that
        there is nothing to tune.
    noise : float or None, default None
        Share of the variance of the observations that is noise, above 0, where the regularisation is estimated; estimated too by default.
    by_count : bool, default False
        Multiply a given lambda by the number of observations of the row or column (weighted-lambda regularisation).
    propensities : None, {"degrees", "1-bit"}, array, pair of arrays or Propensities, default None
        As in `SVT`: observations are weighted by the inverse of how likely they were.
    tol : float, default 1e-4
        The objective has settled where a sweep lowers it by less: relative to itself; in nats an observation where the regularisation
        is estimated.
    max_iter : int, default 100
        Sweeps after which the result is kept as it is, with a warning.
    max_lipschitz : float or None, default None
        As in `Biases`.
    value_range, working_range
        As in `SVT`.
    random_state : int, Generator or None, default None
        For the first factors.

    Attributes
    ----------
    propensities_ : Propensities or None
        What the weights rest on; None where there are none.
    factor_fit_ : FactorFit
        Factors, priors, and the objective after each sweep.
    noise_ : float or None
        Standard deviation of an observation about its expectation, on the method's working range; None where the regularisation is given.
    budget_ : StrongerPrior or None
        What `max_lipschitz` did.
    estimate_, observed_, rank_, singular_values_, threshold_, converged_, n_iter_, notes_, n_features_in_
        As in `MatrixEstimator`.

    References
    ----------
    See `alternating_least_squares`.

    Examples
    --------
    >>> Z = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 1.0], [1.0, 1.0, 5.0]])
    >>> als = AlternatingLeastSquares(rank=1, regularization=0.1, value_range=(1, 5), random_state=0)
    >>> als.fit_transform(Z).round(1)
    array([[5. , 4.9, 1.1],
           [4.9, 4.8, 1.1],
           [1.1, 1.1, 4.9]])
    """

    _start: FactorFit | None = None
    _stop: Callable[[], bool] | None = None

    def __init__(
        self,
        rank: int = 20,
        regularization: Regularization = "estimated",
        noise: float | None = None,
        by_count: bool = False,
        propensities: PropensityChoice = None,
        tol: float = 1e-4,
        max_iter: int = 100,
        max_lipschitz: float | None = None,
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.rank = rank
        self.regularization = regularization
        self.noise = noise
        self.by_count = by_count
        self.propensities = propensities
        self.tol = tol
        self.max_iter = max_iter
        self.max_lipschitz = max_lipschitz
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state

    def continuing(self, start: FactorFit | None = None, stop: Callable[[], bool] | None = None) -> Self:
        """Begin the next fit with the factors of an earlier one; end it where `stop` says so. See `alternating_least_squares`."""
        self._start, self._stop = start, stop
        return self

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        # Centre and biases are part of the regressions.
        prepared = prepare(observed, self.working_range, "none", self.propensities, self.random_state)
        if (
            isinstance(self.regularization, str)
            and self.regularization == "estimated"
            and prepared.propensities is not None
        ):
            # How sure the factors are is read from the weights, so these may not add up to more than they are worth.
            prepared = replace(prepared, propensities=prepared.propensities.scaled_to_their_worth())
        fit = alternating_least_squares(
            prepared.residuals,
            min(checked_whole("rank", self.rank), *observed.shape),
            regularization=self._checked_regularization(),
            noise=self._checked_noise(),
            by_count=self.by_count,
            weights=prepared.weights,
            tol=checked_positive("tol", self.tol),
            max_iter=checked_whole("max_iter", self.max_iter),
            random_state=self.random_state,
            start=self._start,
            stop=self._stop,
        )
        self.factor_fit_, self.n_iter_ = fit, fit.n_iter
        self.converged_ = prepared.converged(fit.converged)
        self.noise_ = fit.row_prior.noise**0.5 if fit.row_prior.uncertain else None
        limit = warn_unless_converged(fit.converged, fit.n_iter, "sweep", "the objective still falls")
        self.propensities_, self.notes_ = prepared.propensities, (*prepared.notes, *limit)
        return self._held_within(self.max_lipschitz, self._as_estimate(prepared, fit), observed)

    def _checked_regularization(self) -> Regularization:
        if isinstance(self.regularization, str) and self.regularization == "estimated":
            if checked_flag("by_count", self.by_count):
                raise InputError(
                    f"{option('by_count', 'True')} beside a regularization that is estimated",
                    "a number for it, which is then multiplied by counts",
                    f"set {option('regularization', '0.05')}, or leave out {option('by_count', '')}",
                )
            return "estimated"
        return checked_positive("regularization", self.regularization, or_else="'estimated'")

    def _checked_noise(self) -> float | None:
        if self.noise is None:
            return None
        if self.regularization != "estimated":
            raise InputError(
                f"{option('noise', str(self.noise))} beside {option('regularization', str(self.regularization))}",
                "one of them: a given regularization is relative to the noise already",
            )
        return checked_positive("noise", self.noise)

    def _as_estimate(self, prepared: Prepared, fit: FactorFit) -> LowRankEstimate:
        factors, turn = orthogonal_factors(fit.rows.coordinates, fit.columns.coordinates)
        folding = PosteriorFolding(
            weighting=prepared.weighting,
            columns=fit.columns,
            prior=fit.row_prior,
            centre=fit.centre,
            turn=turn,
        )
        offsets = Centre("biases", fit.centre + fit.columns.biases, fit.rows.biases)
        return LowRankEstimate.from_factors(prepared.observed, self.working_range, factors, folding, offsets)


def orthogonal_factors(rows: Floats, columns: Floats) -> tuple[tuple[Floats, Floats, Floats], Floats]:
    """Return the singular value decomposition of ``rows columns^T`` and what turns a row of `rows` into coefficients of V.

    Parameters
    ----------
    rows : ndarray, shape (m, k)
    columns : ndarray, shape (n, k)

    Returns
    -------
    factors : tuple of ndarray, shapes (m, r), (r,), (n, r)
        U, d and V, orthonormal; components that are mere rounding are left out.
    turn : ndarray, shape (k, r)
        ``rows turn V^T = rows columns^T``.

    Examples
    --------
    >>> (left, values, right), turn = orthogonal_factors(np.array([[1.0], [0.0]]), np.array([[3.0], [4.0]]))
    >>> values, abs(turn)
    (array([5.]), array([[5.]]))
    """
    left, row_triangle = linalg.qr(rows, mode="economic")
    right, column_triangle = linalg.qr(columns, mode="economic")
    turn_left, values, turn_right = linalg.svd(row_triangle @ column_triangle.T, full_matrices=False)
    kept = values > _NOTHING * values.max(initial=0.0)
    across = turn_right[kept].T
    return (left @ turn_left[:, kept], values[kept], right @ across), column_triangle.T @ across
