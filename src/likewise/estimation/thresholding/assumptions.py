"""Whether the noise is what a threshold or a shrinker takes it for: of one variance, and white."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import ThresholdError
from likewise.estimation.thresholding.noise_level import median_variance
from likewise.estimation.thresholding.shrinkers import shrinker_rule
from likewise.estimation.thresholding.statistics import ObservationStatistics, ShrinkerChoice, ThresholdChoice
from likewise.estimation.thresholding.thresholds import threshold_name, threshold_rule

_UNEVEN = 0.5
"""Coefficient of variation, beyond what chance explains, from which rows or columns are said to differ."""

_NOT_WHITE = 1.25
"""How many times the variance by the median singular value the residual's may be before noise is said not to be white."""

_CHEAP = 2e8
"""Operations up to which all singular values are computed only to check."""


def assumption_notes(
    statistics: ObservationStatistics,
    threshold: ThresholdChoice,
    shrinker: ShrinkerChoice,
    kept: Floats,
) -> tuple[str, ...]:
    """Check what the threshold and the shrinker assume of the noise, and say where it does not hold.

    Parameters
    ----------
    statistics : ObservationStatistics
        With the matrix.
    threshold, shrinker
        As given to the estimator.
    kept : ndarray, shape (k,)
        Singular values above the threshold.

    Returns
    -------
    tuple of str
        Empty where nothing is assumed or all holds.

    Notes
    -----
    *Degrees.* Noise of one variance makes sums of squares of columns vary by chance only. A coefficient of variation that exceeds
    chance by 0.5 is reported: the largest singular value of such noise lies above its edge for one variance. *Correlation.* White noise has
    a median singular value that goes with its variance. Where all singular values cost little, a variance of the residual of more than
    1.25 times the one that the median suggests is reported: noise is correlated or uneven, or signal is left below the threshold.
    *Density.* The error of the universal thresholds is bounded where ``p >= rho_1^(eps - 1)`` for some eps > 0.
    """
    names = list(_names_of_assuming(threshold, shrinker))
    who = " and ".join(names)
    of_noise = bool(names) and statistics.matrix is not None
    return (
        *_too_sparse(statistics, threshold),
        *(_uneven(statistics, who) if of_noise else ()),
        *(_not_white(statistics, who, kept) if of_noise else ()),
    )


def unevenness(matrix: sparse.csr_array, axis: int) -> tuple[float, float]:
    """Return the coefficient of variation of the sums of squares along an axis, 0 for columns and 1 for rows, and the one that chance would give.

    >>> found, by_chance = unevenness(sparse.csr_array([[1.0, 3.0], [1.0, 1.0]]), axis=0)  # sums of squares 2 and 10
    >>> round(found, 4), round(by_chance, 4)  # squares 1, 9, 1, 1: mean 3, variance 12; sqrt(12 / 2) / 3
    (0.6667, 0.8165)
    """
    squares = matrix.astype(np.float64).power(2)
    sums = np.asarray(squares.sum(axis=axis), dtype=np.float64).ravel()
    size, count = matrix.shape[0] * matrix.shape[1], matrix.shape[axis]
    mean = float(sums.sum()) / size
    # Of the squared entries, those that are missing being 0: a sum of so many independent ones varies by its root.
    variance = float(np.dot(squares.data, squares.data)) / size - mean**2
    if mean == 0:
        return 0.0, 0.0
    return float(sums.std() / sums.mean()), float(np.sqrt(max(variance, 0.0) / count) / mean)


def _names_of_assuming(threshold: ThresholdChoice, shrinker: ShrinkerChoice) -> Iterator[str]:
    """Yield how those of the two are called that take noise to be white."""
    if threshold_rule(threshold).assumes_white_noise:
        yield f"the threshold {threshold_name(threshold)}"
    if shrinker_rule(shrinker).assumes_white_noise:
        yield f"the shrinker {shrinker if isinstance(shrinker, str) else repr(shrinker)}"


def _too_sparse(statistics: ObservationStatistics, threshold: ThresholdChoice) -> Iterator[str]:
    """Say where so little is observed that the proposition on the error has nothing to say (Proposition 4.4)."""
    if threshold_rule(threshold).needs_density and statistics.density_exponent <= 0:
        yield (
            f"the error bound of the threshold {threshold_name(threshold)} (Proposition 4.4) needs p >= rho_1^(eps - 1) with eps > 0, more than one "
            f"observation in a row of {statistics.longer_side:,}; p_hat is {statistics.observed_fraction:.3g}, so it does not speak of these data"
        )


def _uneven(statistics: ObservationStatistics, who: str) -> Iterator[str]:
    matrix = statistics.require_matrix("a check")
    for axis, name in enumerate(("features", "individuals")):
        found, by_chance = unevenness(matrix, axis)
        if found**2 > by_chance**2 + _UNEVEN**2:
            yield (
                f"{name} differ in how much is observed of them (coefficient of variation {found:.2f}, {by_chance:.2f} by chance), "
                f"but {who} takes noise to have one variance: its edge lies higher then. 'sign-flip' does not"
            )


def _not_white(statistics: ObservationStatistics, who: str, kept: Floats) -> Iterator[str]:
    size = statistics.n_individuals * statistics.n_features
    if size * statistics.shorter_side > _CHEAP:
        return
    try:
        by_median = median_variance(statistics)
    except ThresholdError:
        return
    ratio = statistics.remaining_variance(kept) / by_median
    if ratio > _NOT_WHITE:
        yield (
            f"the residual has {ratio:.2f} times the variance that its median singular value suggests: noise is correlated or uneven, or signal "
            f"is left in it, but {who} takes noise to be white. 'screenot' does not"
        )
