"""The edge of noise: the largest singular value that noise alone would have."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.estimation.noise_level import noise_variance
from likewise.estimation.statistics import ObservationStatistics


@dataclass(frozen=True)
class NoiseEdge:
    """Largest singular value that noise of the observed strength would have, ``(sqrt(m) + sqrt(n)) sqrt(v)``.

    v is the variance of an entry about its mean. The edge is that of a matrix of independent entries of one variance (Bai and
    Yin 1993); where rows or columns differ much in how often they are observed the true edge lies higher.

    Parameters
    ----------
    noise : float or str, default "mean-square"
        Standard deviation of an entry of the zero-filled observations, or how it is estimated: ``"mean-square"`` counts signal as noise,
        so the edge is too high rather than too low; ``"residual"`` takes what the components above the edge leave; ``"median"`` fits
        the median singular value.

    References
    ----------
    Bai and Yin, "Limit of the smallest eigenvalue of a large dimensional sample covariance matrix", Annals of Probability 21 (1993).

    Examples
    --------
    >>> NoiseEdge()(ObservationStatistics(100, 400, 0.5, 0.25)), NoiseEdge(noise=0.1)(ObservationStatistics(100, 400, 0.5, 0.25))
    (15.0, 3.0)
    """

    noise: float | str = "mean-square"
    assumes_white_noise = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return statistics.noise_edge(noise_variance(self.noise, statistics))
