"""Alternating least squares with biases, its regularisation given or estimated: a pure function, and the estimator on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, Self

import numpy as np

from likewise._kernels.backend import one_blas_thread
from likewise._typing import Floats
from likewise.arrays import checked_sparse
from likewise.checks import checked_callable, checked_flag, checked_instance, checked_positive, checked_whole
from likewise.errors import EstimatorError, InputError, option
from likewise.estimation.als.descent import Descent, FactorFit, Limits, Sides, SidesInMemory, bytes_of_fit
from likewise.estimation.als.in_blocks import SidesInBlocks
from likewise.estimation.als.sources import ROUNDS, Drift, Sources, checked_sources, refuse_contradictions
from likewise.estimation.als.variational import EstimatedDescent, notes_on_few_observations
from likewise.estimation.base.estimator import MatrixEstimator, warn_unless_converged
from likewise.estimation.base.factor_update import Prior
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.posterior_folding import PosteriorFolding
from likewise.estimation.base.preparation import Centre, Prepared, prepare
from likewise.estimation.base.weighting import AnyWeighting, checked_weights
from likewise.estimation.propensities import PropensityChoice
from likewise.memory import ensure_fits
from likewise.observations import ObservedMatrix, PartitionedMatrix
from likewise.observations.split import checked_times
from likewise.observations.table import Values, with_data
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.randomness import generator_of
from likewise.spectrum.orthonormal import orthogonal_factors

Regularization = float | Literal["estimated"]


_LEAST_NOISE = 1e-15


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
    start: FactorFit | None = None,
    stop: Callable[[], bool] | None = None,
    sources: Sources | None = None,
) -> FactorFit:
    """Fit ``centre + u_i^T v_j + a_i + b_j`` to observations, rows and columns in turn.

    With a number lambda this minimises ``1/2 sum w (z - estimate)^2 + lambda/2 (sum |u|^2 + a^2 + sum |v|^2 + b^2)``. With ``"estimated"``
    the vectors of a side are normal about 0 with one covariance, and the noise is normal too. Covariances and noise maximise a lower bound
    of the likelihood (variational Bayes), in which each regression allows for the uncertainty of the factors. So nothing is tuned: a vector
    with few observations is drawn towards 0 as far as the others say, and a component that is not needed is dropped.

    Parameters
    ----------
    values : csr_array, shape (m, n)
        A stored entry is an observation.
    rank : int
        Length of u and v.
    regularization : float or "estimated"
        lambda > 0 in observations, or estimated.
    noise : float, optional
        Share of the variance of the observations, above 0, that is noise; by default estimated. With few observations for the rank, the
        estimate takes weak components for noise; a smaller share finds them. A larger one draws vectors more towards 0. Only with an
        estimated regularisation.
    by_count : bool
        Multiply a given lambda by the number of observations of the vector (Zhou et al. 2008).
    weights : ndarray, shape (n_observed,), optional
        >= 0: an observation of weight 2 counts as two. Inverse propensities should be scaled to a mean of 1.
    tol : float
        Converged once a sweep lowers the objective by a smaller share.
    max_iter : int
        Sweeps after which the result is returned as it is.
    random_state : int, Generator or None
        For the first columns.
    start : FactorFit, optional
        Begin with the factors of this fit of similar observations in the same places, and stay near them.
    stop : callable, optional
        Asked before each sweep but the first; True ends the fit.
    sources : Sources, optional
        What vectors are regressed on beside the values: the prior of vector i has mean ``s_i W``, with W fitted in each sweep. Only with an
        estimated regularisation.

    Returns
    -------
    FactorFit

    Raises
    ------
    InputError
        Weights that are negative or not finite, or all 0; a lambda or noise that rounding swallows.
    ShapeError
        Not one weight for each observation.
    MemoryLimitError
        If the factors and their second moments do not fit.

    References
    ----------
    Koren, Bell, Volinsky, "Matrix factorization techniques for recommender systems", Computer 42 (2009); Zhou, Wilkinson,
    Schreiber, Pan, "Large-scale parallel collaborative filtering for the Netflix Prize", AAIM (2008); Lim, Teh, "Variational
    Bayesian approach to movie rating prediction", KDD Cup and Workshop (2007); Salakhutdinov, Mnih, "Bayesian probabilistic
    matrix factorization using Markov chain Monte Carlo", ICML (2008), for the covariances; Simm et al., "Macau: scalable Bayesian
    factorization with high-dimensional side information using MCMC", MLSP (2017), for the regression of the vectors on features; Koren,
    "Factorization meets the neighborhood", KDD (2008), and Rendle, Zhang, Koren, "On the difficulty of evaluating baselines" (2019), for who
    observed what as such a feature.

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
    m, n = checked_sparse(values).shape
    checked_whole("rank", rank)
    checked_positive("tol", tol)
    checked_whole("max_iter", max_iter)
    checked_flag("by_count", by_count)
    checked_callable("stop", stop)
    if not (isinstance(regularization, str) and regularization == "estimated"):
        checked_positive("regularization", regularization, "'estimated'")
    if noise is not None:
        _check_noise(noise)
    if start is not None:
        checked_instance("start", start, FactorFit, "a FactorFit, or None")
    if sources is not None:
        checked_instance("sources", sources, Sources, "Sources, or None")
    ensure_fits(
        bytes_of_fit((m, n), values.nnz, rank),
        f"factors of rank {rank} of {m:,} x {n:,} entries with their second moments",
        "take a smaller rank",
    )
    sides = SidesInMemory.of(values, checked_weights(weights, values), rank, sources)
    limits = Limits(tol, max_iter, stop or (lambda: False))
    regularized = regularization, noise, by_count
    return _descended(sides, limits, rank, regularized, generator_of(random_state), start)


def _descended(
    sides: Sides,
    limits: Limits,
    rank: int,
    regularized: tuple[Regularization, float | None, bool],
    rng: np.random.Generator,
    start: FactorFit | None = None,
) -> FactorFit:
    """Sweep under a prior that is given or estimated."""
    regularization, noise, by_count = regularized
    with one_blas_thread():
        if isinstance(regularization, str):
            return EstimatedDescent(sides, limits, rank, noise).run(rng, start)
        prior = Prior(regularization * np.eye(rank + 1), by_count=by_count)
        return Descent(sides, limits, prior).run(rng, start)


def _check_noise(noise: float) -> None:
    if checked_positive("noise", noise, "None") < _LEAST_NOISE:
        raise InputError(
            option("noise", f"{noise:g}"),
            f"a share of at least {_LEAST_NOISE:g}",
            "less is so small that rounding swallows it",
        )


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
    sources : None, "none", "all", or names, default None
        What the factors of rows and columns are regressed on beside the values, so that what is known says where to begin: "row-features",
        "column-features"; "row-pattern", which columns a row observed; "column-pattern", which rows observed a column; "time", how rows and columns drift (see `Drift`), so that the estimate is of the present. By
        default the features that the observations have (see `with_features`); "all" is all that there is. Patterns and time are used only if asked for.
    value_range, working_range
        As in `SVT`.
    random_state : int, Generator or None, default None
        For the first factors.

    Attributes
    ----------
    sources_ : tuple of str
        What was used.
    drift_ : Drift
        Where time is a source.
    propensities_ : Propensities or None
        What the weights rest on; None where there are none.
    factor_fit_ : FactorFit
        Factors, priors, and the objective after each sweep.
    passes_ : int
        Over the blocks, of observations in blocks.
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
        sources: str | Sequence[str] | None = None,
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
        self.sources = sources
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state

    def continuing(self, start: FactorFit | None = None, stop: Callable[[], bool] | None = None) -> Self:
        """Begin the next fit with the factors of an earlier one; end it where `stop` says so. See `alternating_least_squares`."""
        self._start, self._stop = start, stop
        return self

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        self.sources_ = self._checked_sources(observed)
        # Centre and biases are part of the regressions.
        prepared = prepare(observed, self.working_range, "none", self.propensities, self.random_state)
        if prepared.propensities is not None and self._checked_regularization() == "estimated":
            # How sure the factors are is read from the weights, so these may not add up to more than they are worth.
            prepared = replace(prepared, propensities=prepared.propensities.scaled_to_their_worth())
        fit = self._fit_to(prepared, observed, self._start)
        if "time" in self.sources_:
            fit = self._without_drift(prepared, observed, fit)
        self.converged_ = prepared.converged(fit.converged)
        self.propensities_ = prepared.propensities
        self.notes_ = (*prepared.notes, *self._kept(fit, observed.n_observed))
        estimate = self._as_estimate(observed, fit, prepared.weighting)
        return self._held_within(self.max_lipschitz, estimate, observed)

    def _fit_to(self, prepared: Prepared, observed: ObservedMatrix, start: FactorFit | None) -> FactorFit:
        return alternating_least_squares(
            prepared.residuals,
            min(checked_whole("rank", self.rank), *observed.shape),
            regularization=self._checked_regularization(),
            noise=self._checked_noise(),
            by_count=self.by_count,
            weights=prepared.weights,
            tol=checked_positive("tol", self.tol),
            max_iter=checked_whole("max_iter", self.max_iter),
            random_state=self.random_state,
            start=start,
            stop=self._stop,
            sources=Sources.of(observed, prepared.residuals, self.sources_),
        )

    def _without_drift(self, prepared: Prepared, observed: ObservedMatrix, fit: FactorFit) -> FactorFit:
        """Bring the observations to the present by what the fit leaves, and fit again, in turn."""
        times, (rows, columns) = checked_times(observed, "sources"), observed.positions()
        for _ in range(ROUNDS):
            now = self._as_estimate(observed, fit).unclipped().on_working_range().entries(rows, columns)
            left = with_data(prepared.residuals, prepared.residuals.data - now)
            self.drift_ = Drift.of(left, times, fit.row_prior.noise)
            present = self.drift_.to_present(prepared.residuals, times)
            fit = self._fit_to(replace(prepared, residuals=present), observed, fit)
        return fit

    def _kept(self, fit: FactorFit, n_observed: int) -> tuple[str, ...]:
        """Keep what was found; return what has to be said of it."""
        self.factor_fit_, self.n_iter_ = fit, fit.n_iter
        self.noise_ = fit.row_prior.noise**0.5 if fit.row_prior.uncertain else None
        told = warn_unless_converged(
            fit.converged, fit.n_iter, "sweep", "the objective still falls", stacklevel=6
        )
        chosen = self.regularization == "estimated" and self.noise is None
        return (*told, *notes_on_few_observations(self.rank, fit, n_observed)) if chosen else told

    def _estimate_blocks(self, observed: PartitionedMatrix) -> LowRankEstimate:
        sources = None if self.sources == "none" else self.sources
        if any(asked is not None for asked in (self.propensities, self.max_lipschitz, sources)):
            refused = f"propensities, sources or max_lipschitz for {observed!r}"
            raise EstimatorError(refused, "observations in memory, or none of them")
        rank = min(checked_whole("rank", self.rank), *observed.shape)
        regularized = self._checked_regularization(), self._checked_noise(), self.by_count
        tol, max_iter = checked_positive("tol", self.tol), checked_whole("max_iter", self.max_iter)
        limits = Limits(tol, max_iter, self._stop or (lambda: False))
        sides = SidesInBlocks.of(observed, self.working_range, rank)
        fit = _descended(sides, limits, rank, regularized, generator_of(self.random_state))
        self.converged_, self.passes_, self.sources_ = fit.converged, sides.passes, ()
        self.propensities_ = self.budget_ = None
        self.notes_ = self._kept(fit, observed.n_observed)
        return self._as_estimate(observed, fit)

    def _checked_sources(self, observed: ObservedMatrix) -> tuple[str, ...]:
        """Return what is used, or say what contradicts it."""
        names = checked_sources(self.sources, observed)
        if names and self._checked_regularization() != "estimated":
            if self.sources is None:
                return ()
            raise InputError(
                f"{option('sources', repr(self.sources))} beside {option('regularization', str(self.regularization))}",
                "a regularization that is estimated",
            )
        refuse_contradictions(names, self.propensities, self.max_lipschitz, self.sources)
        return names

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

    def _as_estimate(
        self,
        observed: ObservedMatrix | PartitionedMatrix,
        fit: FactorFit,
        weighting: AnyWeighting | None = None,
    ) -> LowRankEstimate:
        factors, turn = orthogonal_factors(fit.rows.coordinates, fit.columns.coordinates)
        folding = PosteriorFolding(
            weighting=weighting,
            columns=fit.columns,
            prior=replace(fit.row_prior, means=None),
            centre=fit.centre,
            turn=turn,
            mean=fit.row_mean,
            is_dated="time" in self.sources_,
        )
        offsets = Centre("biases", fit.centre + fit.columns.biases, fit.rows.biases)
        return LowRankEstimate.from_factors(observed, self.working_range, factors, folding, offsets)
