"""Thresholds of the theory, of the paper's experiments, and of its released code (Sections 4.1 and 6)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from likewise.errors import ThresholdError
from likewise.estimation.thresholding.statistics import ObservationStatistics, ThresholdRule


@dataclass(frozen=True)
class Universal(ThresholdRule):
    """Chatterjee's universal threshold ``sqrt((2 + eta)^2 rho_1 p_hat)`` (Chatterjee 2015; Section 4.1).

    Parameters
    ----------
    eta : float, in (0, 1)

    Examples
    --------
    >>> round(Universal(eta=0.5)(ObservationStatistics(100, 400, 0.25, 0.1)), 6)  # 2.5 sqrt(400 x 0.25)
    25.0
    """

    eta: float = 0.01
    assumes_white_noise: ClassVar[bool] = True
    needs_density: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return (2 + _eta(self.eta)) * sqrt(statistics.longer_side * statistics.observed_fraction)


@dataclass(frozen=True)
class UniversalWithVariance(ThresholdRule):
    """The universal threshold for entries of variance at most s2: ``sqrt((2 + eta)^2 rho_1 q_hat)`` (Section 4.1).

    The paper writes n for the longer side here, as Chatterjee does, who takes m <= n.

    Parameters
    ----------
    variance : float, in [0, 1]
        s2, on the method's working range. At 1 the rule is `Universal`.
    eta : float, in (0, 1)

    Examples
    --------
    >>> UniversalWithVariance(1.0, eta=0.5)(ObservationStatistics(100, 400, 0.25, 0.1))
    25.0
    """

    variance: float = 1.0
    eta: float = 0.01
    assumes_white_noise: ClassVar[bool] = True
    needs_density: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        noise = statistics.noise_fraction(_variance(self.variance))
        return (2 + _eta(self.eta)) * sqrt(statistics.longer_side * noise)


@dataclass(frozen=True)
class PaperSynthetic(ThresholdRule):
    """The threshold of Experiments 1, 3 and 4: ``sqrt(2.01 n q_hat)`` with s2 = 0.01^2 (Section 6); n counts features.

    Its constant 2.01 is less than the (2 + eta)^2 > 4 of the theory.

    Parameters
    ----------
    variance : float, in [0, 1]

    Examples
    --------
    >>> statistics = ObservationStatistics(200, 800, 0.05, 0.01)
    >>> round(PaperSynthetic()(statistics), 1)
    8.7
    """

    variance: float = 0.01**2
    assumes_white_noise: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return sqrt(2.01 * statistics.n_features * statistics.noise_fraction(_variance(self.variance)))


@dataclass(frozen=True)
class PaperRatings(ThresholdRule):
    """The threshold of Experiment 2: ``sqrt(2.01 n p_hat)`` (Section 6); n counts features.

    Examples
    --------
    >>> movielens = ObservationStatistics(6040, 3952, 1_000_209 / (6040 * 3952), 0.02)
    >>> round(PaperRatings()(movielens), 3)
    18.244
    """

    assumes_white_noise: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return sqrt(2.01 * statistics.n_features * statistics.observed_fraction)


@dataclass(frozen=True)
class PaperCorollary(ThresholdRule):
    """The threshold from which the regimes of Section 5 follow, ``sqrt(2 n beta)`` with ``psi(x) = beta x``, ``beta = 1 / p_hat``; n counts features.

    From there on Corollary 4.2 says ``K2 <= beta sqrt(mu_1 r m) / tau <= sqrt(beta mu_1 r m / (2 n))``, of the order of
    ``sqrt(r m / (p_hat n))``, which falls below 1 as n grows beyond ``r m / p_hat``. It is larger than the universal threshold by a factor
    of about ``1 / p_hat``, and keeps nothing of data whose signal does not grow with it.

    Examples
    --------
    >>> PaperCorollary()(ObservationStatistics(200, 800, 0.25, 0.05))  # sqrt(2 x 800 / 0.25)
    80.0
    """

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return sqrt(2 * statistics.n_features / statistics.observed_fraction)


@dataclass(frozen=True)
class ReleasedCode(ThresholdRule):
    """The threshold of the authors' released code, ``2.01 sqrt(rho_1 p_hat (1 - p_hat) 0.1)``; not the printed one.

    Examples
    --------
    >>> round(ReleasedCode()(ObservationStatistics(200, 800, 0.2, 0.05)), 4)
    7.1912
    """

    assumes_white_noise: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        p = statistics.observed_fraction
        return 2.01 * sqrt(statistics.longer_side * p * (1 - p) * 0.1)


def _eta(eta: float) -> float:
    if not 0 < eta < 1:
        raise ThresholdError(f"eta = {eta!r}", "a number in (0, 1)", "Section 4.1 takes any eta in (0, 1)")
    return eta


def _variance(variance: float) -> float:
    if not 0 <= variance <= 1:
        raise ThresholdError(f"variance = {variance!r}", "a number in [0, 1], on the interval [-1, 1]")
    return variance
