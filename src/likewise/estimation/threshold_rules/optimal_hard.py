"""The hard threshold that loses least: Gavish and Donoho 2014."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from likewise.estimation.marchenko_pastur import median_square
from likewise.estimation.noise_level import LONGEST_SHORT_SIDE, noise_variance
from likewise.estimation.statistics import ObservationStatistics


def optimal_coefficient(aspect: float) -> float:
    """Return ``lambda*(beta)``: the threshold in units of ``sqrt(longer side)`` times the standard deviation.

    Parameters
    ----------
    aspect : float
        ``beta``, in (0, 1].

    Returns
    -------
    float

    Examples
    --------
    >>> round(optimal_coefficient(1.0), 4)  # 4 / sqrt(3)
    2.3094
    """
    total = aspect + 1
    return sqrt(2 * total + 8 * aspect / (total + sqrt(aspect**2 + 14 * aspect + 1)))


def median_coefficient(aspect: float) -> float:
    """Return ``omega(beta) = lambda*(beta) / sqrt(mu_beta)``: the threshold in units of the median singular value.

    Examples
    --------
    >>> round(median_coefficient(1.0), 3)
    2.858
    """
    return optimal_coefficient(aspect) / sqrt(median_square(aspect))


@dataclass(frozen=True)
class OptimalHard:
    """The hard threshold of least asymptotic mean squared error for a low-rank matrix in white noise, ``lambda*(beta) sqrt(rho_1) s``.

    For unknown noise it is ``omega(beta)`` times the median singular value. That needs all singular values; where the short
    side is too long for them, the median that white noise of the residual's variance would have stands in for it, which makes the
    threshold ``lambda*(beta) sqrt(rho_1)`` times the residual's standard deviation.

    Parameters
    ----------
    noise : float, str or None, default None
        Standard deviation of an entry of the zero-filled observations, if it is known; the name of an estimate (see `NoiseEdge`); or None
        for the median where it can be had and the residual otherwise.

    References
    ----------
    Gavish and Donoho, "The optimal hard threshold for singular values is 4/sqrt(3)", IEEE Transactions on Information Theory 60
    (2014).

    Examples
    --------
    >>> round(OptimalHard(noise=0.5)(ObservationStatistics(300, 300, 0.5, 0.3)), 6)  # 4/sqrt(3) sqrt(300) / 2
    20.0
    """

    noise: float | str | None = None
    assumes_white_noise = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        variance = noise_variance(self._noise(statistics), statistics)
        return optimal_coefficient(statistics.aspect) * sqrt(statistics.longer_side * variance)

    def _noise(self, statistics: ObservationStatistics) -> float | str:
        if self.noise is not None:
            return self.noise
        return "median" if statistics.shorter_side <= LONGEST_SHORT_SIDE else "residual"
