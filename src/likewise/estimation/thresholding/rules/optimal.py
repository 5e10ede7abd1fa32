"""The hard threshold that loses least (Gavish and Donoho 2014), and the edge of noise: the largest singular value that noise alone would have."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.checks import checked_share, checked_whole, is_whole
from likewise.errors import ThresholdError, option
from likewise.estimation.thresholding.noise_level import (
    LONGEST_SHORT_SIDE,
    all_singular_values,
    noise_variance,
)
from likewise.estimation.thresholding.statistics import ObservationStatistics, ThresholdRule
from likewise.spectrum import singular_triplets


def optimal_coefficient(aspect: float) -> float:
    """Return ``lambda*(beta)``: the threshold in units of ``sqrt(longer side)`` times the standard deviation, for beta in (0, 1].

    >>> round(optimal_coefficient(1.0), 4)  # 4 / sqrt(3)
    2.3094
    """
    total = aspect + 1
    return sqrt(2 * total + 8 * aspect / (total + sqrt(aspect**2 + 14 * aspect + 1)))


@dataclass(frozen=True)
class OptimalHard(ThresholdRule):
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
    assumes_white_noise: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        variance = noise_variance(self._noise(statistics), statistics)
        return optimal_coefficient(statistics.aspect) * sqrt(statistics.longer_side * variance)

    def _noise(self, statistics: ObservationStatistics) -> float | str:
        if self.noise is not None:
            return self.noise
        return "median" if statistics.shorter_side <= LONGEST_SHORT_SIDE else "residual"


_OPTIMALITY = -4.0
"""Value of the functional at the threshold of least squared error."""


@dataclass(frozen=True)
class ScreeNOT(ThresholdRule):
    """The hard threshold of least squared error for noise of any spectrum, estimated from the singular values themselves.

    Where noise is white it agrees with `OptimalHard`. It needs all singular values, so the short side is limited.

    Parameters
    ----------
    rank_bound : int, optional
        An upper bound on the number of signal components: so many of the largest singular values are replaced by what the next ones
        suggest. By default a twentieth of the short side, at least 1 and at most 100.

    References
    ----------
    Donoho, Gavish and Romanov, "ScreeNOT: Exact MSE-optimal singular value thresholding in correlated noise", Annals of Statistics 51
    (2023).
    """

    rank_bound: int | None = None

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        values, longer = all_singular_values(statistics)
        bound = max(1, min(values.size // 20, 100)) if self.rank_bound is None else self.rank_bound
        if not is_whole(bound) or bound < 1 or 2 * bound + 1 > values.size:
            raise ThresholdError(
                f"rank_bound = {bound!r} with {values.size} singular values",
                "a whole number from 1 to less than half of them",
            )
        if values[bound] == 0:
            raise ThresholdError(
                f"no singular value above 0 but the largest {bound}",
                "noise to estimate",
                f"use {option('threshold', '0')}",
            )
        return optimal_threshold(pseudo_noise(values, bound), values.size / longer)


def pseudo_noise(values: Floats, rank_bound: int) -> Floats:
    """Replace the k largest singular values by what an edge of square-root decay suggests from the (k+1)th and (2k+1)th.

    >>> pseudo_noise(np.array([9.0, 3.0, 2.0]), 1).round(3)
    array([4.702, 3.   , 2.   ])
    """
    k = rank_bound
    # Where a density ends like a square root, the i-th largest value lies below the edge by a multiple of i^(2/3).
    step = (values[k] - values[2 * k]) / (2 ** (2 / 3) - 1)
    imputed = values[k] + (1 - (np.arange(k) / k) ** (2 / 3)) * step
    return np.concatenate([imputed, values[k:]])


def optimal_threshold(noise_values: Floats, aspect: float) -> float:
    """Solve ``Psi(y) = -4`` above the singular values of the noise, for beta = `aspect` in (0, 1].

    ``Psi(y) = y D'(y) / D(y)`` with ``D = phi phi~``, ``phi(y)`` the mean of ``y / (y^2 - z^2)`` over the singular values z of
    the noise, and ``phi~ = beta phi + (1 - beta) / y``. It rises from minus infinity at the largest z to -2.
    """
    from scipy.optimize import brentq

    edge = float(noise_values.max())
    # In units of the edge, so that squares of any data are numbers.
    squares = (noise_values / edge) ** 2

    def excess(y: float) -> float:
        gaps = y**2 - squares
        phi, slope = float(np.mean(y / gaps)), float(-np.mean((y**2 + squares) / gaps**2))
        other, other_slope = aspect * phi + (1 - aspect) / y, aspect * slope - (1 - aspect) / y**2
        return y * (slope / phi + other_slope / other) - _OPTIMALITY

    return edge * float(brentq(excess, 1 + 1e-12, 100.0, xtol=1e-12))


@dataclass(frozen=True)
class NoiseEdge(ThresholdRule):
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
    assumes_white_noise: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return statistics.noise_edge(noise_variance(self.noise, statistics))


@dataclass(frozen=True)
class SignFlipEdge(ThresholdRule):
    """A quantile of the largest singular value after the sign of every observation is drawn anew.

    Signs destroy low-rank structure and keep every square: which entries are observed, and how large they are. So the edge is
    right for independent noise whose variance differs from entry to entry, as it does where people and items differ in how
    often they are observed. The squares of the signal stay, which makes it too high rather than too low. Noise that is correlated
    between entries loses its correlation with its signs, so the edge is then too low.

    Parameters
    ----------
    quantile : float, default 1.0
        In [0, 1], of the largest singular values over the draws; at 1 the largest of all.
    n_flips : int, default 5
        How many draws.
    random_state : int, default 0
        Seed of the signs.

    References
    ----------
    Hong, Sheng and Dobriban, "Selecting the number of components in PCA via random signflips", arXiv:2012.02985 (upper-edge comparison).

    Examples
    --------
    >>> from scipy import sparse
    >>> SignFlipEdge()(ObservationStatistics.of(sparse.csr_array([[3.0, 4.0]])))  # whatever the signs
    5.0
    """

    quantile: float = 1.0
    n_flips: int = 5
    random_state: int = 0

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        checked_share("quantile", self.quantile, zero=True, one=True, error=ThresholdError)
        checked_whole("n_flips", self.n_flips, error=ThresholdError)
        matrix = statistics.require_matrix("sign flips")
        generator = np.random.default_rng(self.random_state)
        edges = [_flipped_edge(matrix, generator) for _ in range(self.n_flips)]
        return float(np.quantile(edges, self.quantile))


def _flipped_edge(matrix: sparse.csr_array, generator: np.random.Generator) -> float:
    signs = generator.choice(np.array([-1.0, 1.0]), matrix.nnz)
    flipped = sparse.csr_array((matrix.data * signs, matrix.indices, matrix.indptr), shape=matrix.shape)
    largest = singular_triplets(flipped, at_most=1, random_state=generator).values
    return float(largest.max(initial=0.0))
