"""One simulation of Experiments 1, 3 and 4: every arm on one data set, measured against the same references."""

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
from likewise.reproduction.algorithm import Algorithm, Features, Inferred, as_dense
from likewise.reproduction.arms import TRUTH, Arm, dense_estimate, described, make_preprocessing
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.references import ReferenceDistances
from likewise.reproduction.released import RELEASED
from likewise.reproduction.settings import Targets
from likewise.reproduction.theory import TheoryCheck, check_theorems, describe_corollary

Record = dict[str, Any]
"""Plain dictionaries, lists, strings and numbers, as JSON has them."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the algorithm is given in one arm."""

    features: Features  # (m, n)
    on_input: Floats  # (n_pairs,), d = l1 between rows of the features
    metrics: dict[str, float | None]  # K2, K*, rank, threshold and clipped share
    certificates: LipschitzCertificates | None = None


def simulate(
    data: ClusteredData,
    experiment: Experiment,
    arms: list[Arm],
    algorithm: Algorithm,
    model: str,
    targets: Targets,
    seed: int,
) -> Record:
    """Run every arm on one data set; `seed` is that of estimators and of the algorithm, the same in every arm.

    Returns ``observed_fraction``; ``truth``, the metrics of A itself as outputs; and a record for each of ``arms``.
    """
    references = ReferenceDistances.of(data)
    record: Record = {"observed_fraction": data.observed.observed_fraction}
    record["truth"] = references.measure(data.truth, references.truth, references.observed)
    record["arms"] = {}
    with warnings.catch_warnings():
        # Rank 0, nearly full rank and constant outputs stand in the tables as rank and spread.
        warnings.simplefilter("ignore", LikewiseWarning)
        for arm in arms:
            prepared = prepare(arm, experiment, data.observed, references, seed)
            if arm.algorithm:
                inferred = RELEASED[arm.algorithm](data, prepared.features, not arm.is_without, seed)
            else:
                inferred = algorithm(prepared.features, targets_of(data, prepared.features, targets), seed)
            record["arms"][arm.name] = _measure(prepared, inferred, arm.algorithm or model, references)
    return record


def targets_of(data: ClusteredData, features: Features, targets: Targets) -> sparse.csr_array:
    """Return what the algorithm learns at the observed entries, and stores nowhere else.

    >>> from likewise.observations import clustered
    >>> data = clustered(4, 5, 2, observed_fraction=0.5, random_state=0)
    >>> targets_of(data, np.full((4, 5), 0.25), "features").data
    array([0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25])
    """
    if targets == "observed":
        return data.observed.values
    source = data.truth if targets == "truth" else as_dense(features)
    return data.observed.with_values(source[data.observed.positions()]).values


def prepare(
    arm: Arm, experiment: Experiment, observed: ObservedMatrix, references: ReferenceDistances, seed: int
) -> Prepared:
    """Make the features of an arm: the zero-filled observations, or what its estimator makes of them."""
    nothing = dict.fromkeys(("k2", "k_star", "rank", "threshold", "clipped"))
    if arm.is_without:
        return Prepared(observed.scaled().zero_filled(), references.observed, nothing)
    if arm.estimator == TRUTH:
        return Prepared(references.matrix, all_pairs(distance_on_estimate(references.matrix)), nothing)
    fitted = make_preprocessing(arm, experiment, "symmetric", seed).fit(observed)
    features = dense_estimate(fitted)
    certificates = (
        certify(fitted.estimate_, observed, threshold=fitted.threshold_) if isinstance(fitted, SVT) else None
    )
    metrics = {**_proved(certificates), **described(fitted)}
    return Prepared(features, all_pairs(distance_on_estimate(features)), metrics, certificates)


def distance_on_estimate(estimate: Floats) -> RowDistance:
    """Return d = l1 on A_hat, where rows that differ by rounding alone are equal: those of people with no observation."""
    largest = float(np.abs(estimate).sum(axis=1).max())
    return RowDistance(estimate, "l1", resolution=64 * float(np.finfo(np.float64).eps) * largest)


def _proved(certificates: LipschitzCertificates | None) -> dict[str, float | None]:
    if certificates is None:
        return {"k2": None, "k_star": None}
    return {
        "k2": getattr(certificates.k2, "value", None),
        "k_star": getattr(certificates.k_star, "value", None),
    }


def _measure(prepared: Prepared, inferred: Inferred, model: str, references: ReferenceDistances) -> Record:
    distance = all_pairs(RowDistance.of_outputs(inferred.outputs))
    on_input = (
        prepared.on_input if inferred.compared is None else all_pairs(distance_on_estimate(inferred.compared))
    )
    metrics = references.measure(inferred.outputs, distance, on_input) | prepared.metrics
    if inferred.printed_error is not None:
        metrics["mse_printed"] = inferred.printed_error
    corollary = None if prepared.certificates is None else describe_corollary(prepared.certificates)
    return {
        "metrics": metrics,
        "checks": [check.to_dict() for check in _checks(prepared, inferred, model, distance, references)],
        "corollary": corollary,
        "histograms": references.histograms(distance, on_input),
    }


def _checks(
    prepared: Prepared, inferred: Inferred, model: str, distance: Floats, references: ReferenceDistances
) -> list[TheoryCheck]:
    """Check the theorems for the model, and for no model at all, whose outputs are the features and whose K1 is 1."""
    features = as_dense(prepared.features)
    of_features = all_pairs(RowDistance(features, "l2"))
    cases = {model: (inferred.constant, distance), "identity": (model_constant("identity"), of_features)}
    return [
        check
        for name, (constant, outputs) in cases.items()
        for check in check_theorems(name, constant, features, outputs, references, prepared.certificates)
    ]
