"""Singular value thresholding as a pure function, step by step as in Section 4.1."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import FullRankWarning, RankZeroWarning, option
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.preparation import Prepared, prepare
from likewise.estimation.thresholding.rules import NoiseEdge
from likewise.estimation.thresholding.shrinkers import (
    KeptSpectrum,
    Shrinker,
    ShrinkerRule,
    check_shrinker,
    resolve_shrinker,
    shrink,
)
from likewise.estimation.thresholding.thresholds import (
    ObservationStatistics,
    ThresholdRule,
    resolve_threshold,
)
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import WorkingRange
from likewise.spectrum import singular_triplets

if TYPE_CHECKING:
    from likewise.spectrum import SingularTriplets

_NEARLY_FULL = 0.9
_SMALLEST_SIDE_TO_WARN = 10


def svt(
    observed: ObservedMatrix | Any,
    threshold: float | str | ThresholdRule = "noise-edge",
    shrinker: str | Shrinker | ShrinkerRule = "rescaled",
    *,
    working_range: WorkingRange = "symmetric",
    solver: str = "auto",
    random_state: int | np.random.Generator | None = None,
) -> LowRankEstimate:
    """Estimate the complete matrix by singular value thresholding, ``SVT(Z, tau, psi)``.

    Parameters
    ----------
    observed : ObservedMatrix, array-like with NaN, or SciPy sparse; shape (m, n)
        Z in the user's units; rows are individuals; a stored entry is an observation, also a stored zero.
    threshold : float, str or callable
        ``tau``, on the method's working range: a number >= 0, a name of `THRESHOLDS`, or a rule.
    shrinker : str or callable
        ``psi``: a name of `SHRINKERS` or a function that never decreases, from [0, inf) to [0, inf).
    working_range : {"symmetric", "unit"}
        Where the value range is mapped to: [-1, 1], the theory's, or [0, 1], used in Experiment 2.
    solver : str
        See `singular_triplets`.
    random_state : int, Generator or None
        For solvers that start from a random block.

    Returns
    -------
    LowRankEstimate
        In the user's units when read. Of rank 0 it is constant: the value that a missing entry stands for.

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
    return threshold_spectrum(prepared, threshold, shrinker, solver, random_state)[0]


def threshold_spectrum(
    prepared: Prepared,
    threshold: float | str | ThresholdRule,
    shrinker: str | Shrinker | ShrinkerRule,
    solver: str,
    random_state: int | np.random.Generator | None,
) -> tuple[LowRankEstimate, SingularTriplets, float]:
    """Run the four steps; the estimate comes with its triplets and tau, for those who report on them."""
    check_shrinker(shrinker)
    # 1. Missing entries are 0, on the method's working range.
    zero_filled = prepared.matrix
    statistics = ObservationStatistics.of(zero_filled, prepared.weights)
    tau = resolve_threshold(threshold, statistics, shrinker)
    # 2. and 3. S = { l : sigma_l > tau }, strictly, and the singular vectors that belong to it.
    triplets = singular_triplets(zero_filled, above=tau, solver=solver, random_state=random_state)
    _warn_of_extreme_rank(triplets, min(zero_filled.shape), tau, threshold)
    # 4. sum over S of psi(sigma_l) u_l v_l^T, plus the centre, clipped when it is read.
    sigma = np.asarray(triplets.values, dtype=np.float64)
    shrunk_values = shrink(resolve_shrinker(shrinker, KeptSpectrum(statistics, tau, sigma)), sigma)
    estimate = LowRankEstimate.from_triplets(
        triplets, shrunk_values, prepared.observed, prepared.working_range, prepared.folding, prepared.centre
    )
    return estimate, triplets, tau


def _warn_of_extreme_rank(triplets: SingularTriplets, full_rank: int, tau: float, threshold: object) -> None:
    at_edge = threshold == "noise-edge" or isinstance(threshold, NoiseEdge)
    noise_edge = "" if at_edge else f"{option('threshold', repr('noise-edge'))} or "
    if triplets.rank == 0:
        warnings.warn(
            f"no singular value exceeds the threshold {tau:g}, so the estimate is constant, or its centre alone. "
            f"Data may be too scarce for this threshold: try {noise_edge}a smaller number, or {option('estimator', repr('auto'))}.",
            RankZeroWarning,
            stacklevel=4,
        )
    elif full_rank >= _SMALLEST_SIDE_TO_WARN and triplets.rank >= _NEARLY_FULL * full_rank:
        warnings.warn(
            f"{triplets.rank} of at most {full_rank} singular values exceed the threshold {tau:g}, so the estimate keeps "
            f"nearly all noise. Try {noise_edge}a larger number.",
            FullRankWarning,
            stacklevel=4,
        )
