"""Cai, Candès and Shen's completion as a scikit-learn transformer: a thin layer on `cai_candes_shen`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from likewise.estimation.cai_candes_shen import cai_candes_shen
from likewise.estimation.centering import Centering
from likewise.estimation.convergence import checked_count, checked_positive, warn_unless_converged
from likewise.estimation.estimator import MatrixEstimator
from likewise.estimation.folding import RidgeFolding
from likewise.estimation.low_rank_estimate import LowRankEstimate
from likewise.estimation.preparation import prepare
from likewise.observations import ObservedMatrix
from likewise.observations.range_check import RangeChoice
from likewise.observations.value_range import Interval

_SMALLEST_SLACK = 1e-9
"""The row of least penalty that agrees with the observations is the limit at 0; below this rounding takes over."""


class CaiCandesShen(MatrixEstimator):
    """Complete a sparse matrix by one of small nuclear norm that reproduces what was observed.

    For observations without noise, of a matrix of low rank. Noise would be reproduced too, at a high rank and at length: raise `tol`
    to its relative size, or take `SoftImpute`. There are no propensities: weights of errors do not matter where there are to be none.

    Parameters
    ----------
    threshold : float or None, default None
        tau > 0, on the method's interval; by default ``5 sqrt(m n)`` times the root mean square of the centred observations.
    step : float or None, default None
        delta > 0; by default ``1.2 m n / |Omega|``.
    tol : float, default 1e-3
        Relative residual on what was observed at which to stop.
    max_iter : int, default 500
        Steps after which the result is kept as it is, with a warning.
    centering : {"none", "global", "row", "column", "biases"}, default "none"
        As in `SVT`.
    value_range : (low, high), "per-column" or None, default None
        As in `SVT`.
    interval : {"symmetric", "unit"}, default "symmetric"
        As in `SVT`.
    random_state : int, Generator or None, default None
        For the first subspace.

    Attributes
    ----------
    threshold_ : float
        tau.
    residual_ : float
        Relative residual on what was observed.
    estimate_, observed_, rank_, singular_values_, converged_, n_iter_, notes_, n_features_in_
        As in `MatrixEstimator`.

    References
    ----------
    See `cai_candes_shen`.

    Examples
    --------
    >>> Z = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 1.0], [1.0, 1.0, 5.0]])
    >>> CaiCandesShen(value_range=(1, 5), random_state=0).fit_transform(Z).round(1)
    array([[5., 5., 1.],
           [5., 5., 1.],
           [1., 1., 5.]])
    """

    no_budget: ClassVar[str] = RidgeFolding.not_linear
    refused: ClassVar[dict[str, str]] = {
        "propensities": "an estimator that has errors to weigh, such as soft-impute: what reproduces every observation does so whatever it weighs"
    }

    def __init__(
        self,
        threshold: float | None = None,
        step: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 500,
        centering: Centering = "none",
        value_range: RangeChoice = None,
        interval: Interval = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.threshold = threshold
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self.centering = centering
        self.value_range = value_range
        self.interval = interval
        self.random_state = random_state

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        prepared = prepare(observed, self.interval, self.centering)
        fit = cai_candes_shen(
            prepared.matrix,
            None if self.threshold is None else checked_positive("threshold", self.threshold, "None"),
            step=None if self.step is None else checked_positive("step", self.step, "None"),
            tol=checked_positive("tol", self.tol),
            max_iter=checked_count("max_iter", self.max_iter),
            random_state=self.random_state,
        )
        self.threshold_, self.residual_ = fit.threshold, fit.residual
        self.converged_, self.n_iter_ = fit.converged, fit.n_iter
        state = f"the observations are reproduced up to {fit.residual:.2g} of their size"
        self.notes_ = (*prepared.notes, *warn_unless_converged(fit.converged, fit.n_iter, "step", state))
        penalties = np.asarray(max(fit.slack, _SMALLEST_SLACK) * (1 + fit.threshold / fit.values))
        folding = RidgeFolding(prepared.centre.row_penalty, penalties=penalties)
        factors = (fit.left, fit.values, fit.right)
        return LowRankEstimate.from_factors(observed, self.interval, factors, folding, prepared.centre)
