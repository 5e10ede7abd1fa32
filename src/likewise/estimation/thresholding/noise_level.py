"""How strong the noise is: the variance of an entry of the zero-filled observations about its mean, estimated or given; and the law of its singular values."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import cos, pi, sin, sqrt

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.checks import checked_name, is_number
from likewise.errors import ThresholdError, option
from likewise.estimation.thresholding.statistics import ObservationStatistics
from likewise.memory import ensure_fits
from likewise.spectrum import singular_triplets

_RESIDUAL = option("threshold", repr("noise-edge-residual"))


@lru_cache(maxsize=64)
def median_square(aspect: float) -> float:
    """Return the median ``mu_beta`` of the squared singular values of white noise, over the longer side and the variance.

    `aspect` is ``beta``, shorter over longer side, in (0, 1]. Gavish and Donoho, "The optimal hard threshold for singular values is 4/sqrt(3)", IEEE
    Transactions on Information Theory 60 (2014).

    >>> round(median_square(1.0), 4)
    0.6528
    """
    from scipy.optimize import brentq

    angle = brentq(lambda angle: _share_above(angle, aspect) - 0.5, 0.0, pi, xtol=1e-14)
    return 1 + aspect + 2 * sqrt(aspect) * cos(angle)


def _share_above(angle: float, aspect: float) -> float:
    """Return the probability of ``x > 1 + beta + 2 sqrt(beta) cos(angle)`` under the law of Marchenko and Pastur.

    In the angle the density ``sqrt((b - x)(x - a)) / (2 pi beta x)`` on [a, b] = [(1 - sqrt(beta))^2, (1 + sqrt(beta))^2] is smooth.
    """
    from scipy.integrate import quad

    def density(t: float) -> float:
        if aspect == 1:  # sin^2 t / (1 + cos t), whose limit at pi is 2
            return (1 - cos(t)) / pi
        return 2 * sin(t) ** 2 / (pi * (1 + aspect + 2 * sqrt(aspect) * cos(t)))

    return float(quad(density, 0.0, angle, epsabs=1e-13, epsrel=1e-12, limit=200)[0])


LONGEST_SHORT_SIDE = 4_500
"""Short side up to which all singular values are computed: some 4/3 s^3 operations, ten seconds here, and two s x s arrays."""

_ROUNDS = 8
_SETTLED = 0.01
"""Relative change of the variance at which its estimate has settled."""


def mean_square_variance(statistics: ObservationStatistics) -> float:
    """Return the mean square itself: above the variance, since signal counts as noise."""
    return statistics.mean_square


def residual_variance(statistics: ObservationStatistics) -> float:
    """Return what is left beside the components above the edge of just that noise, found by going down from the mean square.

    Each round keeps the singular values above the edge at the present variance and takes the mean square of the rest; it
    can only fall, and settles from above: signal below the edge counts as noise. At most a tenth of the short side (or 20 components) is
    taken for signal: heavy tails, as of ratings, lie above every edge of plain noise.
    """
    matrix = statistics.require_products("noise from the residual")
    variance, kept, most = statistics.mean_square, -1, max(20, statistics.shorter_side // 10)
    for _ in range(_ROUNDS):
        edge = statistics.noise_edge(variance)
        found = singular_triplets(matrix, above=edge, at_most=most, random_state=0)
        values = np.asarray(found.values, dtype=np.float64)
        before, variance = variance, min(variance, statistics.remaining_variance(values))
        if values.size == kept or variance >= (1 - _SETTLED) * before:
            break
        kept = values.size
    return variance


def median_variance(statistics: ObservationStatistics) -> float:
    """Return the variance at which white noise would have the median singular value that is seen.

    Rows and columns without an observation are left out: they are no noise. Needs all singular values of the short side; `ThresholdError` where that
    exceeds `LONGEST_SHORT_SIDE`, or the median is 0. Gavish and Donoho (2014): ``sigma = y_med / sqrt(n mu_beta)``.
    """
    values, longer = all_singular_values(statistics)
    median = float(np.median(values))
    if median <= 1e-6 * values[0]:
        raise ThresholdError(
            "a median singular value of 0",
            "noise in more than half of the dimensions",
            f"{_RESIDUAL} needs none",
        )
    return median**2 / (longer * median_square(values.size / longer))


def all_singular_values(statistics: ObservationStatistics) -> tuple[Floats, int]:
    """Return all singular values, decreasing, of the rows and columns that have an observation; and their longer side."""
    matrix = statistics.require_matrix("a rule from the whole spectrum")
    rows, columns = np.diff(matrix.indptr) > 0, np.bincount(matrix.indices, minlength=matrix.shape[1]) > 0
    occupied = sparse.csr_array(matrix[rows][:, columns]).astype(np.float64)
    shorter, longer = sorted(occupied.shape)
    if shorter > LONGEST_SHORT_SIDE:
        raise ThresholdError(
            f"all {shorter:,} singular values of a matrix of this size",
            f"a short side of at most {LONGEST_SHORT_SIDE:,}",
            f"{_RESIDUAL} and {option('threshold', repr('sign-flip'))} need a few of them only",
        )
    ensure_fits(24 * shorter**2, "all products of rows on the short side", f"{_RESIDUAL} needs none")
    narrow = occupied if occupied.shape[1] == shorter else sparse.csr_array(occupied.T)
    # From the Gram matrix of the short side: squares lose half of the digits, which no rule here needs.
    squares = np.linalg.eigvalsh((narrow.T @ narrow).toarray())
    return np.sqrt(np.maximum(squares[::-1], 0.0)), longer


NOISE_LEVELS: dict[str, Callable[[ObservationStatistics], float]] = {
    "mean-square": mean_square_variance,
    "residual": residual_variance,
    "median": median_variance,
}
"""Estimates of the noise variance by name."""


_LARGEST_DEVIATION = 1e150
"""Of noise: its square is a number still."""


def noise_variance(noise: float | str, statistics: ObservationStatistics) -> float:
    """Turn a standard deviation that is known, or the name of an estimate, into the variance of an entry.

    Parameters
    ----------
    noise : float or str
        Standard deviation of an entry of the zero-filled observations about its mean, on the method's working range; or one of
        `NOISE_LEVELS`.
    statistics : ObservationStatistics

    Returns
    -------
    float

    Raises
    ------
    ThresholdError
        An unknown name, or a number that is negative or not finite.

    Examples
    --------
    >>> noise_variance(0.5, ObservationStatistics(100, 400, 0.5, 0.3)), noise_variance(
    ...     "mean-square", ObservationStatistics(100, 400, 0.5, 0.3)
    ... )
    (0.25, 0.3)
    """
    if isinstance(noise, str):
        checked_name("noise level", noise, NOISE_LEVELS, ThresholdError)
        return NOISE_LEVELS[noise](statistics)
    if not is_number(noise) or not 0 <= noise <= _LARGEST_DEVIATION:
        raise ThresholdError(f"noise = {noise!r}", "a standard deviation >= 0, or the name of an estimate")
    return float(noise) ** 2
