"""SoftImpute as a scikit-learn transformer: a thin layer on `soft_impute`, and on its like for observations in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, Literal

import numpy as np

from likewise._typing import Floats
from likewise.checks import checked_positive, checked_whole
from likewise.errors import EstimatorError
from likewise.estimation.base.block_preparation import BlockErrors, BlockPrepared, prepare_blocks
from likewise.estimation.base.estimator import MatrixEstimator, warn_unless_converged
from likewise.estimation.base.folding import RidgeFolding
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.preparation import Centering, Prepared, prepare
from likewise.estimation.nuclear_norm.in_blocks import BlockDescent, BlockFit
from likewise.estimation.nuclear_norm.problem import note_on_rounding
from likewise.estimation.nuclear_norm.soft_impute import (
    HIDDEN,
    LOOSER,
    PATIENCE,
    SMALLEST,
    NuclearNormFit,
    best_of,
    chosen_on_path,
    lambdas_down_to,
    largest_singular_value,
    scaled_up,
    solution_path,
)
from likewise.estimation.propensities import PropensityChoice
from likewise.observations import ObservedMatrix, PartitionedMatrix
from likewise.observations.partitioned.matrix import split_entries
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.randomness import generator_of
from likewise.spectrum import singular_triplets


@dataclass
class BlockPath:
    """Fits of decreasing lambdas, each started from the last; `tol`, `max_iter`, `max_rank` and `rng` as in `soft_impute`."""

    working_range: WorkingRange
    centering: Centering
    tol: float
    max_iter: int
    max_rank: int | None
    rng: np.random.Generator
    passes: int = 0  # so far, but for those of centres
    path: list[tuple[float, int, float]] = field(default_factory=list)  # as in `SoftImpute`

    def prepared(self, observed: PartitionedMatrix) -> BlockPrepared:
        """Subtract the centre."""
        return prepare_blocks(observed, self.working_range, self.centering)

    def largest(self, prepared: BlockPrepared) -> float:
        """Return the largest singular value of what is left, missing entries 0."""
        found = singular_triplets(prepared.operator, at_most=1, random_state=0)
        self.passes += found.passes
        return float(found.values.max(initial=0.0))

    def chosen(self, observed: PartitionedMatrix, n_path: int) -> tuple[float, Floats] | None:
        """Return the lambda that predicts best what is held out, for all entries, with the factor there; None where nothing can be held out."""
        with split_entries(observed, HIDDEN, int(self.rng.integers(2**31))) as (seen, pairs):
            if seen.n_observed == observed.n_observed:
                return None
            prepared = self.prepared(seen)
            largest = self.largest(prepared)
            if not largest:
                return None
            best = 0, 0.0, np.zeros((0, 0))
            for number, (fit, estimate) in enumerate(self._down(prepared, n_path, largest)):
                error = sqrt(BlockErrors.of(seen, pairs, [estimate], self.working_range).means[0])
                self.passes += 1
                self.path.append((fit.regularization, estimate.rank, error))
                if error <= min(point[2] for point in self.path):
                    best = number, fit.regularization, fit.basis
                if number - best[0] >= PATIENCE:
                    break
        return scaled_up(best[1]), best[2]

    def _down(
        self, prepared: BlockPrepared, n_path: int, largest: float
    ) -> Iterator[tuple[BlockFit, LowRankEstimate]]:
        basis: Floats | None = None
        for regularization in lambdas_down_to(SMALLEST * largest, largest, n_path).tolist():
            descent = self._descent(prepared, regularization, basis)
            fit = descent.run(LOOSER * self.tol, self.max_iter, proved=False)
            basis, (values, right) = fit.basis, descent.components
            self.passes += descent.passes
            nobody = np.zeros((0, values.size))
            yield fit, self._estimate(prepared, regularization, (nobody, values, right)).without_rows()

    def fitted(
        self, prepared: BlockPrepared, regularization: float, basis: Floats | None
    ) -> tuple[BlockFit, LowRankEstimate]:
        """Fit one lambda with proof, and make the estimate of all individuals."""
        descent = self._descent(prepared, regularization, basis)
        fit = descent.run(self.tol, self.max_iter)
        factors = descent.factors(fit)
        self.passes += descent.passes
        return fit, self._estimate(prepared, regularization, factors, prepared.row_offsets())

    def _descent(self, prepared: BlockPrepared, regularization: float, basis: Floats | None) -> BlockDescent:
        most = min(self.max_rank or prepared.observed.shape[1], *prepared.observed.shape)
        return BlockDescent(prepared, regularization, most, self.rng, basis)

    def _estimate(
        self, prepared: BlockPrepared, regularization: float, factors: Any, row_offsets: Floats | None = None
    ) -> LowRankEstimate:
        penalties = regularization / factors[1]
        folding = RidgeFolding(prepared.centre.row_penalty, penalties=penalties)
        centre = replace(prepared.centre, row_offsets=row_offsets)
        return LowRankEstimate.from_factors(prepared.observed, self.working_range, factors, folding, centre)


_LONGEST_PATH = 10_000


class SoftImpute(MatrixEstimator):
    """Complete a sparse, noisy matrix by the nearest one of small nuclear norm.

    The estimate minimises ``1/2 sum w (z - a)^2 + lambda ||A||_*`` over what is observed, after centering, a convex problem; how far
    from its minimum the result can be is proved, not assumed. All w are 1 without propensities.

    Parameters
    ----------
    regularization : float, "held-out" or "half", default "held-out"
        lambda > 0, on the method's working range; chosen on one path of solutions by observations held out (a tenth); or half the largest
        singular value of what remains of the observations after centering.
    n_path : int, default 10
        Solutions on the path from large lambdas to small ones, each the start of the next.
    max_rank : int or None, default None
        Keep at most so many singular values; the problem is then not convex.
    tol : float, default 1e-3
        Largest duality gap, relative to the objective.
    max_iter : int, default 500
        Steps for each lambda, after which the result is kept as it is, with a warning.
    centering : {"none", "global", "row", "column", "biases"}, default "biases"
        As in `SVT`.
    max_lipschitz : float or None, default None
        As in `Biases`.
    value_range, working_range
        As in `SVT`.
    random_state : int, Generator or None, default None
        For the first subspace, for what is held out, and for ``"1-bit"`` propensities.
    propensities : None, {"degrees", "1-bit"}, array, pair of arrays or Propensities, default None
        As in `SVT`: squared errors, also those of the observations held out, are weighted by the inverse of how likely each was to be
        observed.

    Attributes
    ----------
    propensities_ : Propensities or None
        What the weights rest on; None where there are none.
    regularization_ : float
        lambda.
    gap_ : float
        Proved: the smallest possible objective is at least ``(1 - gap)`` times that of the result.
    passes_ : int
        Over the blocks, of observations in blocks, but for those of the centre.
    path_ : tuple of (float, int, float)
        Where lambda was chosen: lambda, rank and held-out root mean squared error, on the method's working range, of each solution.
    budget_ : StrongerPrior or None
        What `max_lipschitz` did.
    estimate_, observed_, rank_, singular_values_, threshold_, converged_, n_iter_, notes_, n_features_in_
        As in `MatrixEstimator`.

    References
    ----------
    See `soft_impute`.

    Examples
    --------
    >>> Z = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 1.0], [1.0, 1.0, 5.0]])
    >>> SoftImpute(regularization=0.5, centering="none", value_range=(1, 5), random_state=0).fit_transform(Z).round(1)
    array([[4.7, 4.5, 1.3],
           [4.5, 4.4, 1.5],
           [1.3, 1.5, 4.7]])
    """

    path_: tuple[tuple[float, int, float], ...]

    def __init__(
        self,
        regularization: float | Literal["held-out", "half"] = "held-out",
        n_path: int = 10,
        max_rank: int | None = None,
        tol: float = 1e-3,
        max_iter: int = 500,
        centering: Centering = "biases",
        max_lipschitz: float | None = None,
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        random_state: int | np.random.Generator | None = None,
        propensities: PropensityChoice = None,
    ) -> None:
        self.regularization = regularization
        self.n_path = n_path
        self.max_rank = max_rank
        self.tol = tol
        self.max_iter = max_iter
        self.centering = centering
        self.max_lipschitz = max_lipschitz
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state
        self.propensities = propensities

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        options, n_path = self._checked_options(), checked_whole("n_path", self.n_path, most=_LONGEST_PATH)
        prepared = prepare(observed, self.working_range, self.centering, self.propensities, self.random_state)
        *_, fit = self._solutions(prepared, n_path, options)
        self.regularization_, self.propensities_ = fit.regularization, prepared.propensities
        self.converged_, self.n_iter_, self.gap_ = prepared.converged(fit.converged), fit.n_iter, fit.gap
        state = f"the objective may be {fit.gap:.1%} above its minimum"
        self.notes_ = (
            *prepared.notes,
            *(
                note_on_rounding(self.tol, fit.gap, fit.n_iter)
                if fit.converged and self.max_rank is None
                else ()
            ),
            *warn_unless_converged(fit.converged, fit.n_iter, "step", state),
        )
        # At the solution each row is the ridge regression on V with penalty lambda / d_l, and a new row is treated as these are.
        folding = RidgeFolding(
            prepared.centre.row_penalty,
            prepared.weighting,
            penalties=np.asarray(self.regularization_ / fit.values),
        )
        factors = (fit.left, fit.values, fit.right)
        estimate = LowRankEstimate.from_factors(
            observed, self.working_range, factors, folding, prepared.centre
        )
        return self._held_within(self.max_lipschitz, estimate, observed)

    def _estimate_blocks(self, observed: PartitionedMatrix) -> LowRankEstimate:
        for name in ("propensities", "max_lipschitz"):
            if getattr(self, name) is not None:
                raise EstimatorError(f"{name} for {observed!r}", "observations in memory, or neither")
        options, n_path = self._checked_options(), checked_whole("n_path", self.n_path, most=_LONGEST_PATH)
        rng = options.pop("random_state")
        solutions = BlockPath(self.working_range, self.centering, rng=rng, **options)
        given = isinstance(self.regularization, str)
        chosen = solutions.chosen(observed, n_path) if self.regularization == "held-out" else None
        prepared = solutions.prepared(observed)
        lam, basis = chosen or (self._given(solutions.largest(prepared) if given else 0.0), None)
        fit, estimate = solutions.fitted(prepared, lam, basis)
        self.regularization_, self.gap_, self.passes_ = fit.regularization, fit.gap, solutions.passes
        self.converged_, self.n_iter_ = fit.converged, fit.n_iter
        self.path_ = tuple(solutions.path)
        self.propensities_, self.budget_ = None, None
        state = f"the objective may be {fit.gap:.1%} above its minimum"
        told = warn_unless_converged(fit.converged, fit.n_iter, "step", state)
        self.notes_ = (*prepared.centre.notes, *told)
        return estimate

    def _checked_options(self) -> dict[str, Any]:
        return {
            "max_rank": None if self.max_rank is None else checked_whole("max_rank", self.max_rank),
            "tol": checked_positive("tol", self.tol),
            "max_iter": checked_whole("max_iter", self.max_iter),
            "random_state": generator_of(self.random_state),
        }

    def _solutions(
        self, prepared: Prepared, n_path: int, options: dict[str, Any]
    ) -> Iterator[NuclearNormFit]:
        """Yield solutions up to that of the lambda that was given or chosen."""
        residuals, weights = prepared.residuals, prepared.weights
        points = []
        if isinstance(self.regularization, str) and self.regularization == "held-out":
            points = chosen_on_path(residuals, n_path, options["random_state"], weights, **options)
        self.path_ = tuple(
            (point.fit.regularization, point.fit.rank, point.held_out_error) for point in points
        )
        if points:
            # What was found on most of the observations is near what all of them say.
            best = points[best_of(points)].fit
            lambdas = np.array([scaled_up(best.regularization)])
            return solution_path(residuals, lambdas, weights=weights, start=best, **options)
        largest = largest_singular_value(prepared.matrix)
        lambdas = lambdas_down_to(self._given(largest), largest, n_path)
        return solution_path(residuals, lambdas, weights=weights, **options)

    def _given(self, largest: float) -> float:
        if isinstance(self.regularization, str) and self.regularization in ("held-out", "half"):
            return largest / 2 or 1.0
        return checked_positive("regularization", self.regularization, "'held-out' or 'half'")
