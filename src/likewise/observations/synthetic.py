"""The paper's synthetic data: individuals in clusters, a known truth, sparse and noisy observations of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from likewise.checks import checked_name, checked_non_negative, checked_share, checked_whole
from likewise.errors import ObservationError, ShapeError
from likewise.memory import ensure_fits
from likewise.observations.observed_matrix import ObservedMatrix
from likewise.randomness import generator_of

Sampling = Literal["uniform", "by-cluster"]
"""Whether every entry is observed with the same probability, or each cluster has its own for each feature."""

_CELL = 40
"""Bytes for each cell: the truth, noise, what is observed, and room to work."""

_LARGEST_VARIANCE = 0.1
"""Upper end of the variances of individuals around their cluster's mean (Section 6, Experiment 1)."""


@dataclass(frozen=True, eq=False)
class ClusteredData:
    """Generated observations, with the complete matrix that they were drawn from.

    Parameters
    ----------
    observed : ObservedMatrix
        ``Z``, with value range (-1, 1).
    truth : ndarray, shape (n_individuals, n_features)
        ``A``, in [-1, 1].
    clusters : ndarray of int, shape (n_individuals,)
        Which cluster each individual belongs to.
    """

    observed: ObservedMatrix
    truth: NDArray[np.float64]
    clusters: NDArray[np.intp]


def clustered(
    n_individuals: int = 200,
    n_features: int = 800,
    n_clusters: int = 10,
    *,
    observed_fraction: float = 0.2,
    noise: float = 0.1,
    sampling: Sampling = "uniform",
    random_state: int | np.random.Generator | None = None,
) -> ClusteredData:
    """Generate the data of the paper's Experiments 1, 3 and 4.

    Each cluster has a mean drawn from uniform(-1, 1) and a diagonal covariance with entries from uniform(0, 0.1); its
    individuals are drawn from that normal distribution and clipped to [-1, 1], which gives ``A``. ``Z`` is ``A`` plus
    normal noise, clipped again, where observed.

    Parameters
    ----------
    n_individuals, n_features, n_clusters : int
        ``m``, ``n`` and ``c``; clusters have equal sizes, up to one.
    observed_fraction : float
        ``p``, in (0, 1]: the probability that an entry is observed, under ``"by-cluster"`` its mean over features.
    noise : float
        Standard deviation of the noise. The paper writes N(0, 0.1) without saying which of the two 0.1 is; the authors' released code
        draws noise of standard deviation 0.1. (The 0.1 in the threshold of that code is the largest variance of a cluster's entries, not that
        of the noise.) ``noise=0.1**0.5`` is the other reading.
    sampling : {"uniform", "by-cluster"}
        ``"by-cluster"`` is Experiment 3: each cluster draws a vector of probabilities, uniform and scaled to sum to
        ``p n``.
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    ClusteredData

    Raises
    ------
    ObservationError
        A fraction outside (0, 1], or too large for ``"by-cluster"`` (probabilities above 1); negative noise; nothing observed.
    ShapeError
        Sizes below 1, or more clusters than individuals.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6.

    Examples
    --------
    >>> data = clustered(40, 100, 4, observed_fraction=0.5, random_state=0)
    >>> data.truth.shape, data.observed.value_range
    ((40, 100), ValueRange(-1 to 1))
    """
    _check(n_individuals, n_features, n_clusters, observed_fraction, noise, sampling)
    generator = generator_of(random_state)
    clusters = np.arange(n_individuals) * n_clusters // n_individuals
    # The order of the draws is fixed: truth, noise, probabilities, what is observed; so a seed gives the same data.
    truth = _truth(clusters, n_clusters, n_features, generator)
    noisy = np.clip(truth + generator.normal(0, noise, truth.shape), -1, 1)
    probabilities = _probabilities(n_clusters, n_features, observed_fraction, sampling, generator)
    is_observed = generator.random(truth.shape) < probabilities[clusters]
    observed = ObservedMatrix(np.where(is_observed, noisy, np.nan), value_range=(-1, 1))
    return ClusteredData(observed, truth, clusters)


def _truth(
    clusters: NDArray[np.intp], n_clusters: int, n_features: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    means = generator.uniform(-1, 1, (n_clusters, n_features))
    deviations = np.sqrt(generator.uniform(0, _LARGEST_VARIANCE, (n_clusters, n_features)))
    return np.clip(generator.normal(means[clusters], deviations[clusters]), -1, 1)


def _probabilities(
    n_clusters: int, n_features: int, fraction: float, sampling: Sampling, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return how likely each cluster's individuals are to be observed in each feature."""
    if sampling == "uniform":
        return np.full((n_clusters, n_features), fraction)
    weights = generator.uniform(0, 1, (n_clusters, n_features))
    # Scaled so that each cluster is observed as much as the others, in other features.
    probabilities: NDArray[np.float64] = weights * (fraction / weights.mean(axis=1, keepdims=True))
    if probabilities.max() > 1:
        raise ObservationError(
            f"an observed fraction of {fraction:g} by cluster, which makes a probability {probabilities.max():.2f}",
            "a smaller fraction, below about 0.5",
        )
    return probabilities


def _check(
    n_individuals: int, n_features: int, n_clusters: int, fraction: float, noise: float, sampling: str
) -> None:
    checked_whole("n_individuals", n_individuals, error=ShapeError)
    checked_whole("n_features", n_features, error=ShapeError)
    checked_whole("n_clusters", n_clusters, most=n_individuals, error=ShapeError)
    checked_share("observed_fraction", fraction, one=True, error=ObservationError)
    checked_non_negative("noise", noise, error=ObservationError)
    ensure_fits(
        _CELL * n_individuals * n_features,
        f"data of {n_individuals:,} x {n_features:,} cells",
        "generate fewer",
    )
    checked_name("sampling", sampling, get_args(Sampling), ObservationError)
