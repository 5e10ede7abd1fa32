"""The edge of noise: the largest singular value that noise alone would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from likewise.checks import checked_share, checked_whole
from likewise.errors import ThresholdError
from likewise.estimation.thresholding.noise_level import noise_variance
from likewise.estimation.thresholding.statistics import ObservationStatistics, ThresholdRule
from likewise.spectrum import singular_triplets


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
