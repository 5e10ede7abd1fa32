"""The minimax remark measured: matrices that nobody can estimate better than the lower bound's shape, and what anybody could do at best.

Individuals form r clusters, known to nobody but the best answer; each cluster and feature has an entry ``+theta`` or ``-theta``, by a coin. An
observation is +1 or -1 with that mean, which is the noisiest that [-1, 1] allows, and each cluster has about ``m p / r`` of them for a feature. With
``theta^2 = r / (m p)`` these do not settle the sign, while the nuclear norm, about ``theta sqrt(r m n)``, makes the shape of the lower bound about
``theta^2``: so no estimator has an error of a smaller order than the shape (Chatterjee 2015, Theorem 2.3, has the bound for all nuclear norms).
"""

from __future__ import annotations

from math import atanh, sqrt
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.observations import ObservedMatrix
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction.arms import Arm, make_preprocessing
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.theory import error_beside, estimating, proved_rate

BEST = "best answer"
"""The posterior mean of whoever knows the clusters and theta: on average over such matrices no estimator has a smaller error."""


def least_favourable(
    n_individuals: int,
    n_features: int,
    observed_fraction: float,
    size: float,
    random_state: np.random.Generator,
) -> ClusteredData:
    """Draw a matrix that is as hard to estimate as any of its nuclear norm, up to a constant.

    Parameters
    ----------
    n_individuals, n_features : int
        m and n, with m <= n.
    observed_fraction : float
        p.
    size : float, in (0, 1)
        theta squared; there are ``r = m p theta^2`` clusters, at least one.
    random_state : Generator

    Returns
    -------
    ClusteredData

    Examples
    --------
    >>> data = least_favourable(40, 60, 0.5, 0.25, np.random.default_rng(0))
    >>> np.unique(data.truth), np.unique(data.clusters).size
    (array([-0.5,  0.5]), 5)
    """
    shape, p = (n_individuals, n_features), observed_fraction
    n_clusters = max(1, round(n_individuals * p * size))
    clusters = np.arange(n_individuals) * n_clusters // n_individuals
    signs = random_state.choice([-1.0, 1.0], (n_clusters, n_features))
    truth = sqrt(size) * signs[clusters]
    answers = np.where(random_state.random(shape) < (1 + truth) / 2, 1.0, -1.0)
    values = np.where(random_state.random(shape) < p, answers, np.nan)
    return ClusteredData(ObservedMatrix(values, value_range=(-1, 1)), truth, clusters)


def best_answer(data: ClusteredData, size: float) -> Floats:
    """Return the posterior mean of the entries, given clusters and theta: ``theta tanh(s artanh theta)``, s the sum of a cluster's observations.

    Examples
    --------
    >>> truth = np.full((2, 2), 0.5)
    >>> Z = ObservedMatrix([[1.0, np.nan], [1.0, np.nan]], value_range=(-1, 1))
    >>> best_answer(ClusteredData(Z, truth, np.array([0, 0])), 0.25).round(6)  # odds 3 to 1, twice: (9 - 1) / (9 + 1) / 2
    array([[0.4, 0. ],
           [0.4, 0. ]])
    """
    theta = sqrt(size)
    totals = np.zeros((int(data.clusters.max()) + 1, data.truth.shape[1]))
    np.add.at(totals, data.clusters, data.observed.values.toarray())
    answer: Floats = theta * np.tanh(totals * atanh(theta))[data.clusters]
    return answer


def run_minimax(
    data: ClusteredData, experiment: Experiment, arms: list[Arm], fraction: float, size: float, seed: int
) -> dict[str, Any]:
    """Measure the error of each estimate, and of the best answer, beside the shape of the lower bound.

    Parameters
    ----------
    data : ClusteredData
        Of `least_favourable`.
    experiment : Experiment
    arms : list of Arm
        h, which estimates nothing, is left out.
    fraction : float
        p.
    size : float
        theta squared.
    seed : int

    Returns
    -------
    dict
    """
    rates = {"rate": proved_rate(data.truth, fraction)}
    error = float(np.mean((best_answer(data, size) - data.truth) ** 2))
    best: dict[str, float | None] = {"mse_all": error, "share_of_rate": error / rates["rate"]}
    found = {BEST: {"metrics": best}}
    for arm in estimating(arms):
        estimator = make_preprocessing(arm, experiment, "symmetric", seed)
        found[arm.name] = {"metrics": error_beside(estimator, data, rates)}
    return {"observed_fraction": data.observed.observed_fraction, **rates, "arms": found}
