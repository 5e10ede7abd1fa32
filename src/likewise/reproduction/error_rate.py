"""Proposition 4.4: the error of an estimate beside the rate that is proved for it, as m and n grow."""

from __future__ import annotations

import warnings
from math import sqrt

import numpy as np

from likewise._typing import Floats
from likewise.errors import LikewiseWarning
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction.arms import Arm, make_preprocessing
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.simulation import Record, dense_estimate, described

THEOREM_ARM = Arm(
    "universal", "SVT at the threshold of the proposition, (2 + eta) sqrt(rho_1 p)", "universal"
)
"""The estimator that the proposition speaks of; the other arms stand beside it."""


def proved_rate(truth: Floats, observed_fraction: float) -> float:
    """Return ``min(||A||_* / (rho_2 sqrt(rho_1 p)), ||A||_*^2 / (rho_1 rho_2), 1)`` (Proposition 4.4).

    Parameters
    ----------
    truth : ndarray, shape (m, n)
        A.
    observed_fraction : float
        p.

    Returns
    -------
    float
        The mean squared error is at most a constant times this, and something exponentially small.

    Examples
    --------
    >>> round(proved_rate(np.ones((4, 16)), 0.25), 6)  # nuclear norm 8: min(8 / (4 x 2), 64 / 64, 1)
    1.0
    >>> round(proved_rate(np.ones((4, 16)) / 4, 0.25), 6)  # nuclear norm 2: min(2 / 8, 4 / 64, 1)
    0.0625
    """
    nuclear = float(np.linalg.svd(truth, compute_uv=False).sum())
    longer, shorter = max(truth.shape), min(truth.shape)
    rate: float = min(
        nuclear / (shorter * sqrt(longer * observed_fraction)), nuclear**2 / (longer * shorter), 1.0
    )
    return rate


def run_rate(
    data: ClusteredData, experiment: Experiment, arms: list[Arm], fraction: float, seed: int
) -> Record:
    """Measure the error of each estimate over all entries, beside the rate.

    Parameters
    ----------
    data : ClusteredData
    experiment : Experiment
    arms : list of Arm
        h, which estimates nothing, is left out.
    fraction : float
        p.
    seed : int

    Returns
    -------
    dict
    """
    rate = proved_rate(data.truth, fraction)
    record: Record = {"observed_fraction": data.observed.observed_fraction, "rate": rate, "arms": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        for arm in (THEOREM_ARM, *(arm for arm in arms if arm.estimator is not None)):
            fitted = make_preprocessing(arm, experiment, "symmetric", seed).fit(data.observed)
            error = float(np.mean((dense_estimate(fitted) - data.truth) ** 2))
            figures = {"mse_all": error, "share_of_rate": error / rate, **described(fitted)}
            record["arms"][arm.name] = {"figures": figures}
    return record
