"""What outputs of a simulation are held against, measured once for all arms: d on Z, d on A, the most similar pairs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import LikewiseWarning
from likewise.estimation import SVT
from likewise.fairness import LipschitzCertificates, RowDistance, certify, model_constant
from likewise.fairness.exact.blocks import all_pairs
from likewise.observations import ObservedMatrix
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction.algorithm import Algorithm, Features, Inferred
from likewise.reproduction.arms import Arm, make_preprocessing
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.theory import TheoryCheck, check_theorems, describe_corollary
from likewise.reproduction.yardsticks import Yardsticks

Record = dict[str, Any]
"""Plain dictionaries, lists, strings and numbers, as JSON has them."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the algorithm is given in one arm.

    Parameters
    ----------
    features : ndarray or csr_array, shape (m, n)
    on_input : ndarray, shape (n_pairs,)
        d = l1 between rows of the features.
    figures : dict of str to float or None
        K2, K*, rank, threshold and clipped share.
    certificates : LipschitzCertificates or None
    """

    features: Features
    on_input: Floats
    figures: dict[str, float | None]
    certificates: LipschitzCertificates | None = None


def simulate(
    data: ClusteredData,
    experiment: Experiment,
    arms: list[Arm],
    algorithm: Algorithm,
    model: str,
    targets: sparse.csr_array,
    seed: int,
) -> Record:
    """Run every arm on one data set.

    Parameters
    ----------
    data : ClusteredData
    experiment : Experiment
    arms : list of Arm
    algorithm : callable
    model : str
        Its name.
    targets : csr_array, shape (m, n)
        What it learns from, at the observed entries.
    seed : int
        Of estimators and of the algorithm: the same in every arm.

    Returns
    -------
    dict
        ``observed_fraction``; ``truth``, the figures of A itself as outputs; and a record for each of ``arms``.
    """
    yardsticks = Yardsticks.of(data)
    record: Record = {"observed_fraction": data.observed.observed_fraction}
    record["truth"] = yardsticks.measure(data.truth, yardsticks.truth, yardsticks.observed)
    record["arms"] = {}
    with warnings.catch_warnings():
        # Rank 0, nearly full rank and constant outputs stand in the tables as rank and spread.
        warnings.simplefilter("ignore", LikewiseWarning)
        for arm in arms:
            prepared = prepare(arm, experiment, data.observed, yardsticks, seed)
            inferred = algorithm(prepared.features, targets, seed)
            record["arms"][arm.name] = _measure(prepared, inferred, model, yardsticks)
    return record


def prepare(
    arm: Arm, experiment: Experiment, observed: ObservedMatrix, yardsticks: Yardsticks, seed: int
) -> Prepared:
    """Make the features of an arm: the zero-filled observations, or what its estimator makes of them."""
    if arm.estimator is None:
        nothing = dict.fromkeys(("k2", "k_star", "rank", "threshold", "clipped"))
        return Prepared(observed.scaled().zero_filled(), yardsticks.observed, nothing)
    fitted = make_preprocessing(arm, experiment, "symmetric", seed).fit(observed)
    features = dense_estimate(fitted)
    certificates = (
        certify(fitted.estimate_, observed, threshold=fitted.threshold_) if isinstance(fitted, SVT) else None
    )
    figures = {**_proved(certificates), **described(fitted)}
    return Prepared(features, all_pairs(distance_on_estimate(features)), figures, certificates)


def distance_on_estimate(estimate: Floats) -> RowDistance:
    """Return d = l1 on A_hat, where rows that differ by rounding alone are equal: those of people with no observation."""
    largest = float(np.abs(estimate).sum(axis=1).max())
    return RowDistance(estimate, "l1", resolution=64 * float(np.finfo(np.float64).eps) * largest)


def dense_estimate(fitted: Any) -> Floats:
    """Return A_hat of a fitted estimator on the method's working range, all entries."""
    estimate = fitted.estimate_
    if hasattr(estimate, "on_working_range"):
        estimate = estimate.on_working_range()
    dense = estimate.to_dense() if hasattr(estimate, "to_dense") else estimate
    return np.asarray(dense, dtype=np.float64)


def described(fitted: Any) -> dict[str, float | None]:
    """Return rank, threshold and clipped share of a fitted estimator, None for what it does not tell."""
    estimate = fitted.estimate_
    rank, threshold = getattr(estimate, "rank", None), getattr(fitted, "threshold_", None)
    clipped = estimate.clipped_fraction() if hasattr(estimate, "clipped_fraction") else None
    return {
        "rank": None if rank is None else float(rank),
        "threshold": None if threshold is None else float(threshold),
        "clipped": clipped,
    }


def _proved(certificates: LipschitzCertificates | None) -> dict[str, float | None]:
    if certificates is None:
        return {"k2": None, "k_star": None}
    return {
        "k2": getattr(certificates.k2, "value", None),
        "k_star": getattr(certificates.k_star, "value", None),
    }


def _measure(prepared: Prepared, inferred: Inferred, model: str, yardsticks: Yardsticks) -> Record:
    distance = all_pairs(RowDistance.of_outputs(inferred.outputs))
    figures = yardsticks.measure(inferred.outputs, distance, prepared.on_input) | prepared.figures
    corollary = None if prepared.certificates is None else describe_corollary(prepared.certificates)
    return {
        "figures": figures,
        "checks": [check.to_dict() for check in _checks(prepared, inferred, model, distance, yardsticks)],
        "corollary": corollary,
        "histograms": yardsticks.histograms(distance, prepared.on_input),
    }


def _checks(
    prepared: Prepared, inferred: Inferred, model: str, distance: Floats, yardsticks: Yardsticks
) -> list[TheoryCheck]:
    """Check the theorems for the model, and for no model at all, whose outputs are the features and whose K1 is 1."""
    features = as_dense(prepared.features)
    of_features = all_pairs(RowDistance(features, "l2"))
    cases = {model: (inferred.constant, distance), "identity": (model_constant("identity"), of_features)}
    return [
        check
        for name, (constant, outputs) in cases.items()
        for check in check_theorems(name, constant, features, outputs, yardsticks, prepared.certificates)
    ]


def as_dense(features: Features) -> Floats:
    """Return features as an array; what a sparse one does not store is 0."""
    return features if isinstance(features, np.ndarray) else np.asarray(features.toarray(), dtype=np.float64)
