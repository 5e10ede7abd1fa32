"""Row and column biases alone: the baseline that any other estimator has to beat."""

from __future__ import annotations

import numpy as np

from likewise.errors import EstimatorError
from likewise.estimation.base.block_preparation import prepare_blocks, rank_zero
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.preparation import prepare
from likewise.estimation.propensities import Propensities, PropensityChoice
from likewise.observations import ObservedMatrix
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.value_range import RangeChoice, WorkingRange


class Biases(MatrixEstimator):
    """Estimate each entry by the mean of all plus what is known of its row and of its column: ``mean + a_i + b_j``, of rank 0.

    Parameters
    ----------
    regularization : float or None, default None
        Both lambdas, in observations; by default from the variances of rows, columns and noise. See `centre`.
    propensities : None, {"degrees", "1-bit"}, array, pair of arrays or Propensities, default None
        As in `SVT`: observations are weighted by the inverse of how likely they were.
    max_lipschitz : float or None, default None
        L: the prior of the rows is made stronger, if need be, until the proved constant of the regressions is at most L, from l1 with the empty entry as
        a point to l2 (`likewise.certificates.RegressionCertificate`).
    value_range, working_range
        As in `SVT`.
    random_state : int, Generator or None, default None
        For the held-out cells of ``"1-bit"`` propensities.

    Attributes
    ----------
    propensities_ : Propensities or None
        What the weights rest on; None where there are none.
    budget_ : StrongerPrior or None
        What `max_lipschitz` did.
    estimate_, observed_, rank_, singular_values_, threshold_, converged_, n_iter_, notes_, n_features_in_
        As in `MatrixEstimator`.

    References
    ----------
    Koren, "Factorization meets the neighborhood: a multifaceted collaborative filtering model", KDD (2008), Section 2.1.

    Examples
    --------
    >>> Z = np.array([[5.0, np.nan, 3.0], [4.0, 3.0, 2.0]])
    >>> Biases(regularization=0, value_range=(1, 5)).fit_transform(Z).round(6)
    array([[5., 4., 3.],
           [4., 3., 2.]])
    """

    def __init__(
        self,
        regularization: float | None = None,
        propensities: PropensityChoice = None,
        max_lipschitz: float | None = None,
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.regularization = regularization
        self.propensities = propensities
        self.max_lipschitz = max_lipschitz
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state

    def _estimate_blocks(self, observed: PartitionedMatrix) -> LowRankEstimate:
        for name in ("propensities", "max_lipschitz"):
            if getattr(self, name) is not None:
                raise EstimatorError(f"{name} for {observed!r}", "observations in memory, or neither")
        prepared = prepare_blocks(observed, self.working_range, "biases", self.regularization)
        self.notes_, self.budget_ = prepared.centre.notes, None
        self.propensities_: Propensities | None = None
        return rank_zero(prepared)

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        prepared = prepare(
            observed, self.working_range, "biases", self.propensities, self.random_state, self.regularization
        )
        self.notes_, self.propensities_ = prepared.notes, prepared.propensities
        self.converged_ = prepared.converged()
        m, n = observed.shape
        nothing = (np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
        estimate = LowRankEstimate.from_factors(
            observed, self.working_range, nothing, prepared.folding, prepared.centre
        )
        return self._held_within(self.max_lipschitz, estimate, observed)
