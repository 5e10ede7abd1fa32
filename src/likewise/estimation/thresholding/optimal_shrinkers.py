"""The shrinkers that lose least for a low-rank matrix in white noise: Gavish and Donoho 2017, Leeb 2022."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from likewise._typing import Floats
from likewise.checks import checked_name
from likewise.errors import ShrinkerError
from likewise.estimation.thresholding.noise_level import noise_variance
from likewise.estimation.thresholding.statistics import KeptSpectrum, Shrinker, ShrinkerRule

# Below, y are singular values in units of sqrt(longer side) times the standard deviation of the noise, so that noise ends at
# 1 + sqrt(beta); beta is the shorter side over the longer one.


def signal_strength(y: Floats, aspect: float) -> Floats:
    """Return the singular value x that the signal has where y is seen; 0 up to the edge of noise.

    Inverse of ``y = sqrt((x + 1/x) (x + beta/x))`` on x >= beta^(1/4).

    Parameters
    ----------
    y : ndarray, shape (k,)
    aspect : float
        ``beta``, in (0, 1].

    Returns
    -------
    ndarray, shape (k,)

    Examples
    --------
    >>> signal_strength(np.array([1.9, 2.5]), 1.0)  # (2 + 1/2)^2 = 2.5^2
    array([0., 2.])
    """
    root = _discriminant(y, aspect)
    strength: Floats = np.sqrt((np.maximum(y**2 - aspect - 1, 0.0) + root) / 2)
    return np.where(y > 1 + sqrt(aspect), strength, 0.0)


def frobenius_optimal(y: Floats, aspect: float) -> Floats:
    """Return ``sqrt((y^2 - beta - 1)^2 - 4 beta) / y`` above the edge, for the Frobenius norm of the error.

    Examples
    --------
    >>> frobenius_optimal(np.array([2.0, 2.5]), 1.0)  # sqrt(4.25^2 - 4) / 2.5
    array([0. , 1.5])
    """
    return np.where(y > 1 + sqrt(aspect), _discriminant(y, aspect) / np.maximum(y, 1.0), 0.0)


def operator_optimal(y: Floats, aspect: float) -> Floats:
    """Return ``x sqrt((x^2 + beta) / (x^2 + 1))``, for the largest singular value of the error.

    Gavish and Donoho give x itself, which loses least for a square matrix only; this is Leeb's for every shape.

    Examples
    --------
    >>> operator_optimal(np.array([2.0, 2.5]), 1.0)
    array([0., 2.])
    """
    x = signal_strength(y, aspect)
    strength: Floats = x * np.sqrt((x**2 + aspect) / (x**2 + 1))
    return strength


def nuclear_optimal(y: Floats, aspect: float) -> Floats:
    """Return ``(x^4 - beta - sqrt(beta) x y) / (x^2 y)`` where positive, for the sum of the singular values of the error.

    Examples
    --------
    >>> nuclear_optimal(np.array([2.0, 2.5]), 1.0)  # x = 2: (16 - 1 - 5) / 10
    array([0., 1.])
    """
    x = signal_strength(y, aspect)
    gained = np.maximum(x**4 - aspect - sqrt(aspect) * x * y, 0.0)
    return gained / np.where(x > 0, x**2 * y, 1.0)


LOSSES: dict[str, Callable[[Floats, float], Floats]] = {
    "frobenius": frobenius_optimal,
    "operator": operator_optimal,
    "nuclear": nuclear_optimal,
}
"""Optimal shrinkers by the norm of the error that they make least."""


@dataclass(frozen=True)
class OptimalShrinker(ShrinkerRule):
    """The shrinker of least asymptotic loss for a low-rank matrix in white noise, then rescaled by ``1 / p_hat``.

    Zero-filled observations are ``p A`` plus noise, so what it makes of them estimates ``p A``. It is 0 up to the edge of the noise,
    whatever the threshold.

    Parameters
    ----------
    loss : {"frobenius", "operator", "nuclear"}, default "frobenius"
        Norm of the error that is made least.
    noise : float or str, default "kept"
        Standard deviation of an entry of the zero-filled observations about its mean, if it is known; ``"kept"`` for what the kept
        components leave; or another estimate, see `NoiseEdge`.

    Raises
    ------
    ShrinkerError
        An unknown loss.
    ThresholdError
        An unknown or unusable noise level.

    References
    ----------
    Gavish and Donoho, "Optimal shrinkage of singular values", IEEE Transactions on Information Theory 63 (2017). Leeb, "Optimal singular
    value shrinkage for operator norm loss: extending to non-square matrices", Statistics and Probability Letters 186 (2022).

    Examples
    --------
    >>> from likewise.estimation import ObservationStatistics
    >>> kept = KeptSpectrum(ObservationStatistics(100, 100, 0.5, 0.1), 0.0, np.array([2.5]))
    >>> OptimalShrinker(noise=0.1).psi(kept)(np.array([1.9, 2.5]))  # unit sqrt(100) x 0.1 = 1: 1.5 / p_hat
    array([0., 3.])
    """

    loss: str = "frobenius"
    noise: float | str = "kept"
    assumes_white_noise = True

    def psi(self, kept: KeptSpectrum) -> Shrinker:
        """Return the function psi for these data."""
        checked_name("loss", self.loss, LOSSES, ShrinkerError)
        statistics, optimal = kept.statistics, LOSSES[self.loss]
        variance = kept.residual_variance if self.noise == "kept" else noise_variance(self.noise, statistics)
        unit = sqrt(statistics.longer_side * variance)
        if unit == 0:
            return lambda sigma: sigma / statistics.observed_fraction
        return lambda sigma: unit * optimal(sigma / unit, statistics.aspect) / statistics.observed_fraction


def _discriminant(y: Floats, aspect: float) -> Floats:
    """Return ``sqrt((y^2 - beta - 1)^2 - 4 beta)``, by factors so that nothing cancels near the edge."""
    root = sqrt(aspect)
    inner: Floats = np.maximum((y**2 - (1 + root) ** 2) * (y**2 - (1 - root) ** 2), 0.0)
    return np.sqrt(inner)
