"""Singular value thresholding as a scikit-learn transformer: a thin layer on `threshold_spectrum`."""

from __future__ import annotations

import numpy as np

from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.preparation import Centering, prepare
from likewise.estimation.base.statistics import ObservationStatistics
from likewise.estimation.budget.budget import BudgetSolution, check_limit, within_budget
from likewise.estimation.propensities import PropensityChoice
from likewise.estimation.thresholding.assumptions import assumption_notes
from likewise.estimation.thresholding.shrinkers import Shrinker, ShrinkerRule
from likewise.estimation.thresholding.svt import threshold_spectrum
from likewise.estimation.thresholding.thresholds import ThresholdRule
from likewise.observations import ObservedMatrix
from likewise.observations.table import Values
from likewise.observations.value_range import RangeChoice, WorkingRange


class SVT(MatrixEstimator):
    """Complete a sparse, noisy matrix by singular value thresholding, as pre-processing for any model.

    It is fitted to an `ObservedMatrix`, a sparse matrix, or an array with NaN where nothing was observed. Of an `ObservedMatrix` give
    itself, not its ``to_dense()``: there missing entries are 0, and every 0 is taken for an observation.

    Parameters
    ----------
    threshold : float, str or callable, default "noise-edge"
        ``tau``: a number on the method's working range, a name of `THRESHOLDS`, or a rule. The default is the edge of noise of the
        observed strength; the paper's own thresholds keep nothing where data are scarce.
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

    def __init__(
        self,
        threshold: float | str | ThresholdRule = "noise-edge",
        shrinker: str | Shrinker | ShrinkerRule = "rescaled",
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

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        if self.max_lipschitz is not None:
            check_limit(self.max_lipschitz)
        prepared = prepare(observed, self.working_range, self.centering, self.propensities, self.random_state)
        self.notes_, self.propensities_ = prepared.notes, prepared.propensities
        self.converged_ = prepared.converged()
        estimate, triplets, self.threshold_ = threshold_spectrum(
            prepared, self.threshold, self.shrinker, self.solver, self.random_state
        )
        self.completeness_ = triplets.completeness
        statistics = ObservationStatistics.of(prepared.matrix)
        self.notes_ += assumption_notes(statistics, self.threshold, self.shrinker, estimate.singular_values)
        self.budget_: BudgetSolution | None = None
        if self.max_lipschitz is not None:
            estimate, self.budget_ = within_budget(estimate, self.max_lipschitz)
            self.notes_ += (str(self.budget_),)
        return estimate

    def decomposed_matrix(self) -> Values:
        """Return what was decomposed: the observations less their centre, weighted, missing entries 0."""
        return prepare(self.observed_, self.working_range, self.centering, self.propensities_).matrix
