"""Singular value thresholding: a pure function, step by step as in Section 4.1, and the thin transformer on it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from likewise._typing import Floats
from likewise.errors import EstimatorError, FullRankWarning, RankZeroWarning, option
from likewise.estimation.base.block_preparation import estimate_of_blocks, prepare_blocks
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.preparation import Centering, Prepared, prepare
from likewise.estimation.budget.budget import BudgetSolution, check_limit, within_budget
from likewise.estimation.propensities import PropensityChoice
from likewise.estimation.thresholding.assumptions import assumption_notes
from likewise.estimation.thresholding.shrinkers import resolve_shrinker, shrink, shrinker_rule
from likewise.estimation.thresholding.statistics import (
    KeptSpectrum,
    ObservationStatistics,
    ShrinkerChoice,
    ThresholdChoice,
)
from likewise.estimation.thresholding.thresholds import resolve_threshold, threshold_rule
from likewise.observations import ObservedMatrix
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.table import Values
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.spectrum import singular_triplets

if TYPE_CHECKING:
    from likewise.spectrum import SingularTriplets

_STATE = 512
"""Columns of n numbers that a Krylov space takes at the least."""
_NEARLY_FULL = 0.9
_SMALLEST_SIDE_TO_WARN = 10


def svt(
    observed: ObservedMatrix | Any,
    threshold: ThresholdChoice = "adaptive",
    shrinker: ShrinkerChoice = "rescaled",
    *,
    working_range: WorkingRange = "symmetric",
    solver: str = "auto",
    random_state: int | np.random.Generator | None = None,
) -> LowRankEstimate:
    """Estimate the complete matrix by singular value thresholding, ``SVT(Z, tau, psi)``.

    Parameters
    ----------
    observed : ObservedMatrix, array-like with NaN, or SciPy sparse; shape (m, n)
        Z in the user's units, with individuals as rows. A stored entry is an observation, also a stored zero.
    threshold : float, str or callable
        ``tau``, on the method's working range: a number >= 0, a name of `THRESHOLDS`, or a rule.
    shrinker : str or callable
        ``psi``: a name of `SHRINKERS`, or a function from [0, inf) to [0, inf) that never decreases.
    working_range : {"symmetric", "unit"}
        Where the value range is mapped to: [-1, 1], the theory's, or [0, 1], used in Experiment 2.
    solver : str
        See `singular_triplets`.
    random_state : int, Generator or None
        For solvers that start from a random block.

    Returns
    -------
    LowRankEstimate
        In the user's units when read. At rank 0 it is constant: the value that a missing entry stands for.

    Raises
    ------
    ThresholdError, ShrinkerError, ObservationError

    Warns
    -----
    RankZeroWarning
        No singular value exceeds the threshold.
    FullRankWarning
        Nearly all exceed it.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 4.1; Chatterjee, "Matrix estimation by
    universal singular value thresholding", Annals of Statistics 43 (2015).

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 1.0], [1.0, 1.0, 5.0]])
    >>> estimate = svt(ObservedMatrix(Z, value_range=(1, 5)), threshold=1.5)
    >>> estimate.rank, estimate.to_dense().round(1)
    (1, array([[5. , 4.8, 1. ],
           [4.8, 4.3, 1.2],
           [1. , 1.2, 5. ]]))
    """
    if not isinstance(observed, ObservedMatrix):
        observed = ObservedMatrix(observed)
    prepared = prepare(observed, working_range, "none")
    statistics = ObservationStatistics.of(prepared.matrix, recentred=prepared.recentred)
    return threshold_spectrum(prepared, statistics, threshold, shrinker, solver, random_state)[0]


def threshold_spectrum(
    prepared: Prepared,
    statistics: ObservationStatistics,
    threshold: ThresholdChoice,
    shrinker: ShrinkerChoice,
    solver: str,
    random_state: int | np.random.Generator | None,
    memory_limit: float | None = None,
) -> tuple[LowRankEstimate, SingularTriplets, float]:
    """Run the four steps; the estimate comes with its triplets and tau, for those who report on them."""
    # 1. Missing entries are 0, on the method's working range.
    kept = Thresholded.of(
        statistics, prepared.matrix, threshold, shrinker, solver, random_state, memory_limit
    )
    triplets = kept.triplets
    estimate = LowRankEstimate.from_factors(
        prepared.observed,
        prepared.working_range,
        (triplets.left, kept.shrunk_values, triplets.right),
        prepared.folding,
        prepared.centre,
        triplets.values,
    )
    return estimate, triplets, kept.threshold


@dataclass(frozen=True, eq=False)
class Thresholded:
    """Steps 2 to 4 of Section 4.1: what is above tau, and what becomes of it."""

    triplets: SingularTriplets
    shrunk_values: Floats
    threshold: float

    @classmethod
    def of(
        cls,
        statistics: ObservationStatistics,
        operand: Any,
        threshold: ThresholdChoice,
        shrinker: ShrinkerChoice,
        solver: str,
        random_state: int | np.random.Generator | None,
        memory_limit: float | None,
    ) -> Self:
        """Decompose the zero-filled observations, in memory or in blocks."""
        shrinker_rule(shrinker)  # an unknown name is told before the work
        tau = resolve_threshold(threshold, statistics, shrinker)
        # 2. and 3. S = { l : sigma_l > tau }, strictly, and the singular vectors that belong to it.
        triplets = singular_triplets(
            operand, above=tau, solver=solver, random_state=random_state, memory_limit=memory_limit
        )
        _warn_of_extreme_rank(triplets, statistics.shorter_side, tau, threshold)
        # 4. sum over S of psi(sigma_l) u_l v_l^T, plus the centre, clipped when it is read.
        sigma = np.asarray(triplets.values, dtype=np.float64)
        shrunk = shrink(resolve_shrinker(shrinker, KeptSpectrum(statistics, tau, sigma)), sigma)
        return cls(triplets, shrunk, tau)


def _warn_of_extreme_rank(
    triplets: SingularTriplets, full_rank: int, tau: float, threshold: ThresholdChoice
) -> None:
    rule = threshold_rule(threshold)
    other = "" if rule.is_adaptive else f"{option('threshold', repr('adaptive'))} or "
    if triplets.rank == 0:
        warnings.warn(
            f"no singular value exceeds the threshold {tau:g}, so the estimate is constant, or its centre alone: "
            f"{rule.when_nothing_is_kept}. Try {other}a smaller number, {option('shrinker', repr('identity'))} or {option('estimator', repr('auto'))}.",
            RankZeroWarning,
            stacklevel=5,
        )
    elif full_rank >= _SMALLEST_SIDE_TO_WARN and triplets.rank >= _NEARLY_FULL * full_rank:
        warnings.warn(
            f"{triplets.rank} of at most {full_rank} singular values exceed the threshold {tau:g}, so the estimate keeps "
            f"nearly all noise. Try {other}a larger number.",
            FullRankWarning,
            stacklevel=5,
        )


class SVT(MatrixEstimator):
    """Complete a sparse, noisy matrix by singular value thresholding.

    It is the paper's method, with its proved constant. Its defaults predict no worse than the centre alone, which on ratings is often all that they keep, as ``x / p_hat`` scales
    components up as if entries were missing at random; for prediction take `Auto`. It is fitted to an `ObservedMatrix`, a sparse matrix, or an array with NaN where nothing was observed. Of an `ObservedMatrix` give
    itself, not its ``to_dense()``: there missing entries are 0, and every 0 is taken for an observation.

    Parameters
    ----------
    threshold : float, str or callable, default "adaptive"
        ``tau``: a number on the method's working range, a name of `THRESHOLDS`, or a rule. The default is the edge of noise of the
        observed strength where that predicts hidden observations, and what predicts them best where it does not; see `Adaptive`.
    shrinker : str or callable, default "rescaled"
        ``psi``: a name of `SHRINKERS` (the default is the paper's ``x / p_hat``) or a function that never decreases.
    value_range : (low, high), "per-column" or None, default None
        The range that values can take, in the user's units. None infers one range from the data of the fit. Ignored
        where an `ObservedMatrix` is fitted, which has its own.
    working_range : {"symmetric", "unit"}, default "symmetric"
        Where that range is mapped to: [-1, 1] or [0, 1].
    solver : str, default "auto"
        See `singular_triplets`.
    random_state : int, Generator or None, default None
        For solvers that start from a random block.
    centering : {"none", "global", "row", "column", "biases"}, default "none"
        What is subtracted from the observations before and added to the estimate after, on the method's working range; see `centre`. The
        paper's method subtracts nothing, so a missing entry is the middle (or the low end) of the range; otherwise it is its centre.
    max_lipschitz : float or None, default None
        A fairness budget L > 0: the kept singular values are shrunk further, as little as possible, until the estimate of a row depends on
        its observations with a constant K* of at most L; see `shrink_to_budget`.
    propensities : None, {"degrees", "1-bit"}, array, pair of arrays or Propensities, default None
        How likely each entry was to be observed, for data missing not at random: each observation is weighted by the inverse, so with
        the shrinker "rescaled" ``Z_ij / p_ij`` is decomposed, whose mean is A. See `propensities_of`.

    Attributes
    ----------
    threshold_ : float
        ``tau``.
    rank_ : int
        How many singular values exceed it.
    singular_values_ : ndarray, shape (r,)
        Those singular values, decreasing.
    estimate_ : LowRankEstimate
        ``A_hat`` for the individuals of the fit.
    observed_ : ObservedMatrix
        The observations of the fit.
    completeness_ : Completeness
        Whether any singular value above the threshold may have been missed.
    notes_ : tuple of str
        What the reader of a result should know of the fit.
    budget_ : BudgetSolution or None
        What the fairness budget changed; None where there is none.
    propensities_ : Propensities or None
        What the weights rest on; None where there are none.
    converged_ : bool or None
        Whether the 1-bit propensities came to their end; None without. For the solver `completeness_` speaks.
    n_iter_ : None
    n_features_in_ : int

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 1.0], [1.0, 1.0, 5.0]])
    >>> SVT(threshold=1.5, value_range=(1, 5)).fit_transform(Z).round(1)
    array([[5. , 4.8, 1. ],
           [4.8, 4.3, 1.2],
           [1. , 1.2, 5. ]])
    """

    _memory_limit: float | None = None

    def __init__(
        self,
        threshold: ThresholdChoice = "adaptive",
        shrinker: ShrinkerChoice = "rescaled",
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        solver: str = "auto",
        random_state: int | np.random.Generator | None = None,
        centering: Centering = "none",
        max_lipschitz: float | None = None,
        propensities: PropensityChoice = None,
    ) -> None:
        self.threshold = threshold
        self.shrinker = shrinker
        self.value_range = value_range
        self.working_range = working_range
        self.solver = solver
        self.random_state = random_state
        self.centering = centering
        self.max_lipschitz = max_lipschitz
        self.propensities = propensities

    def bounded(self, memory_limit: float) -> Self:
        """Let the next fits take so many bytes for singular vectors, and fail where more of them lie above the threshold."""
        self._memory_limit = memory_limit
        return self

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        if self.max_lipschitz is not None:
            check_limit(self.max_lipschitz)
        prepared = prepare(observed, self.working_range, self.centering, self.propensities, self.random_state)
        self.notes_, self.propensities_ = prepared.notes, prepared.propensities
        self.converged_ = prepared.converged()
        statistics = ObservationStatistics.of(prepared.matrix, prepared.weights, prepared.recentred)
        estimate, triplets, self.threshold_ = threshold_spectrum(
            prepared,
            statistics,
            self.threshold,
            self.shrinker,
            self.solver,
            self.random_state,
            self._memory_limit,
        )
        self.completeness_ = triplets.completeness
        self.notes_ += threshold_rule(self.threshold).notes(statistics, self.threshold_)
        self.notes_ += assumption_notes(statistics, self.threshold, self.shrinker, estimate.singular_values)
        return self._within_budget(estimate)

    def _estimate_blocks(self, observed: PartitionedMatrix) -> LowRankEstimate:
        if self.max_lipschitz is not None:
            check_limit(self.max_lipschitz)
        if self.propensities is not None:
            raise EstimatorError(
                f"propensities for {observed!r}", "observations in memory, or no propensities"
            )
        prepared = prepare_blocks(observed, self.working_range, self.centering)
        self.notes_, self.propensities_ = prepared.centre.notes, None
        statistics = ObservationStatistics.of_blocks(prepared.operator, observed.observed_fraction)
        room = observed.room(_STATE * 4 * observed.shape[1], "singular vectors")
        kept = Thresholded.of(
            statistics,
            prepared.operator,
            self.threshold,
            self.shrinker,
            self.solver,
            self.random_state,
            room,
        )
        self.completeness_, self.threshold_ = kept.triplets.completeness, kept.threshold
        self.passes_ = kept.triplets.passes
        self.notes_ += threshold_rule(self.threshold).notes(statistics, self.threshold_)
        return self._within_budget(estimate_of_blocks(prepared, kept.triplets, kept.shrunk_values))

    def _within_budget(self, estimate: LowRankEstimate) -> LowRankEstimate:
        self.budget_: BudgetSolution | None = None
        if self.max_lipschitz is None:
            return estimate
        held, self.budget_ = within_budget(estimate, self.max_lipschitz)
        self.notes_ += (str(self.budget_),)
        return held

    def decomposed_matrix(self) -> Values:
        """Return what was decomposed: the observations less their centre, weighted, missing entries 0."""
        return prepare(self.observed_, self.working_range, self.centering, self.propensities_).matrix
