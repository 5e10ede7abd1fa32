"""Row and column biases alone: the baseline that any other estimator has to beat."""

from __future__ import annotations

import numpy as np

from likewise.estimation.centering import centre
from likewise.estimation.estimator import MatrixEstimator
from likewise.estimation.folding import LinearFolding
from likewise.estimation.low_rank_estimate import LowRankEstimate
from likewise.observations import ObservedMatrix
from likewise.observations.range_check import RangeChoice
from likewise.observations.value_range import Interval


class Biases(MatrixEstimator):
    """Estimate each entry by the mean of all plus what is known of its row and of its column: ``mean + a_i + b_j``, of rank 0.

    Parameters
    ----------
    regularization : float or None, default None
        Both lambdas, in observations; by default from the variances of rows, columns and noise. See `centre`.
    value_range : (low, high), "per-column" or None, default None
        As in `SVT`.
    interval : {"symmetric", "unit"}, default "symmetric"
        As in `SVT`.
    random_state : int, Generator or None, default None
        Ignored: nothing is random. Every estimator has it.

    Attributes
    ----------
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
        value_range: RangeChoice = None,
        interval: Interval = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.regularization = regularization
        self.value_range = value_range
        self.interval = interval
        self.random_state = random_state

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        found = centre(observed.scaled(self.interval).values, "biases", regularization=self.regularization)
        self.notes_ = found.notes
        m, n = observed.shape
        nothing = (np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
        folding = LinearFolding(row_penalty=found.row_penalty)
        return LowRankEstimate.from_factors(observed, self.interval, nothing, folding, found)
