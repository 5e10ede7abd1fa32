"""Thresholds tau: rules that say, from a few numbers about the observations, where noise ends (Section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import sparse

from likewise.errors import ThresholdError, unknown_name


@dataclass(frozen=True)
class ObservationStatistics:
    """The numbers that a threshold rule may use.

    Parameters
    ----------
    n_individuals, n_features : int
        m and n.
    observed_fraction : float
        ``p_hat = |Omega| / (m n)``.
    mean_square : float
        Mean over all m n entries of the squared value, missing entries as 0, on the method's interval.

    Examples
    --------
    >>> from scipy import sparse
    >>> ObservationStatistics.of(sparse.csr_array([[1.0, 0.5], [0.0, 0.0]]))
    ObservationStatistics(n_individuals=2, n_features=2, observed_fraction=0.5, mean_square=0.3125)
    """

    n_individuals: int
    n_features: int
    observed_fraction: float
    mean_square: float

    @classmethod
    def of(cls, zero_filled: sparse.csr_array) -> ObservationStatistics:
        """Collect the numbers from observations on the method's interval (stored means observed)."""
        m, n = zero_filled.shape
        energy = float(np.dot(zero_filled.data, zero_filled.data))
        return cls(m, n, zero_filled.nnz / (m * n), energy / (m * n))

    @property
    def longer_side(self) -> int:
        """``rho_1 = max(m, n)``."""
        return max(self.n_individuals, self.n_features)

    def noise_fraction(self, variance: float) -> float:
        """``q_hat = p s2 + p (1 - p) (1 - s2)`` for entries of variance at most s2 <= 1 (Section 4.1)."""
        p = self.observed_fraction
        return p * variance + p * (1 - p) * (1 - variance)


ThresholdRule = Callable[[ObservationStatistics], float]


@dataclass(frozen=True)
class Universal:
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

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return (2 + _eta(self.eta)) * sqrt(statistics.longer_side * statistics.observed_fraction)


@dataclass(frozen=True)
class UniversalWithVariance:
    """The universal threshold for entries of variance at most s2: ``sqrt((2 + eta)^2 rho_1 q_hat)`` (Section 4.1).

    The paper writes n for the longer side here, as Chatterjee does, who takes m <= n.

    Parameters
    ----------
    variance : float, in [0, 1]
        s2, on the method's interval. At 1 the rule is `Universal`.
    eta : float, in (0, 1)

    Examples
    --------
    >>> UniversalWithVariance(1.0, eta=0.5)(ObservationStatistics(100, 400, 0.25, 0.1))
    25.0
    """

    variance: float = 1.0
    eta: float = 0.01

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        noise = statistics.noise_fraction(_variance(self.variance))
        return (2 + _eta(self.eta)) * sqrt(statistics.longer_side * noise)


@dataclass(frozen=True)
class PaperSynthetic:
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

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return sqrt(2.01 * statistics.n_features * statistics.noise_fraction(_variance(self.variance)))


@dataclass(frozen=True)
class PaperRatings:
    """The threshold of Experiment 2: ``sqrt(2.01 n p_hat)`` (Section 6); n counts features.

    Examples
    --------
    >>> movielens = ObservationStatistics(6040, 3952, 1_000_209 / (6040 * 3952), 0.02)
    >>> round(PaperRatings()(movielens), 3)
    18.244
    """

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return sqrt(2.01 * statistics.n_features * statistics.observed_fraction)


@dataclass(frozen=True)
class ReleasedCode:
    """The threshold of the authors' released code, ``2.01 sqrt(rho_1 p_hat (1 - p_hat) 0.1)``; not the printed one.

    Examples
    --------
    >>> round(ReleasedCode()(ObservationStatistics(200, 800, 0.2, 0.05)), 4)
    7.1912
    """

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        p = statistics.observed_fraction
        return 2.01 * sqrt(statistics.longer_side * p * (1 - p) * 0.1)


@dataclass(frozen=True)
class NoiseEdge:
    """Largest singular value that noise of the observed strength would have, ``(sqrt(m) + sqrt(n)) sqrt(v)``.

    v is the mean squared zero-filled entry, an upper estimate of the variance of an entry about its mean. The edge is that of
    a matrix of independent entries of one variance (Bai and Yin 1993); where rows or columns differ much in how often
    they are observed the true edge lies higher.

    Examples
    --------
    >>> NoiseEdge()(ObservationStatistics(100, 400, 0.5, 0.25))  # (10 + 20) x 0.5
    15.0
    """

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        sides = sqrt(statistics.n_individuals) + sqrt(statistics.n_features)
        return sides * sqrt(statistics.mean_square)


THRESHOLDS: dict[str, ThresholdRule] = {
    "noise-edge": NoiseEdge(),
    "universal": Universal(),
    "universal-variance": UniversalWithVariance(),
    "paper-synthetic": PaperSynthetic(),
    "paper-ratings": PaperRatings(),
    "released-code": ReleasedCode(),
}
"""Threshold rules by name."""


def resolve_threshold(threshold: float | str | ThresholdRule, statistics: ObservationStatistics) -> float:
    """Turn a name, a rule or a number into the number tau >= 0.

    Parameters
    ----------
    threshold : float, str or callable
        A number; one of `THRESHOLDS`; or a callable that takes `ObservationStatistics`.
    statistics : ObservationStatistics

    Returns
    -------
    float

    Raises
    ------
    ThresholdError
        Unknown name; negative, infinite or NaN value.

    Examples
    --------
    >>> resolve_threshold("noise-edge", ObservationStatistics(100, 400, 0.5, 0.25))
    15.0
    """
    if isinstance(threshold, str):
        if threshold not in THRESHOLDS:
            raise ThresholdError(*unknown_name("threshold", threshold, THRESHOLDS))
        threshold = THRESHOLDS[threshold]
    value = threshold(statistics) if callable(threshold) else threshold
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ThresholdError(
            f"threshold {value!r}", "a finite number >= 0, a known name, or a rule"
        ) from error
    if not 0 <= number < float("inf"):
        raise ThresholdError(f"threshold {number!r}", "a finite number >= 0")
    return number


def threshold_name(threshold: float | str | ThresholdRule) -> str:
    """Return how a threshold was chosen, in words.

    Examples
    --------
    >>> threshold_name("universal"), threshold_name(Universal(eta=0.02)), threshold_name(3.5)
    ('universal', 'Universal(eta=0.02)', 'given')
    """
    if isinstance(threshold, str):
        return threshold
    return repr(threshold) if callable(threshold) else "given"


def _eta(eta: float) -> float:
    if not 0 < eta < 1:
        raise ThresholdError(f"eta = {eta!r}", "a number in (0, 1)", "Section 4.1 takes any eta in (0, 1)")
    return eta


def _variance(variance: float) -> float:
    if not 0 <= variance <= 1:
        raise ThresholdError(f"variance = {variance!r}", "a number in [0, 1], on the interval [-1, 1]")
    return variance
