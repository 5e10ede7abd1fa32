"""Experiment 2: nearest neighbours on MovieLens 1M with and without pre-processing, ratios over drawn pairs of users."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import FileFormatError, InputError, LikewiseWarning, option
from likewise.fairness import ObservedDistance, PairwiseDistance, SampledFairness, measure_sampled
from likewise.inference import MODELS
from likewise.observations import ObservedMatrix
from likewise.observations.reading import read_ratings
from likewise.reproduction.arms import Arm, dense_estimate, described, make_preprocessing
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.references import BIN_EDGES, up_to_the_last
from likewise.reproduction.simulation import Record, distance_on_estimate
from likewise.writing import PathLike

ALGORITHM = "knn"
"""K = 10 nearest neighbours by adjusted cosine."""

N_PAIRS = 100_000
"""Pairs of users that are drawn; the paper draws some as well, and does not say how many."""

COUNTS = {1: 56_174, 2: 107_557, 3: 261_197, 4: 348_971, 5: 226_310}
"""How many ratings of each value MovieLens 1M has; 1,000,209 in all."""

VARIABLE = "LIKEWISE_DATA"
_PLACES = ("ratings.dat", "ml-1m/ratings.dat")


def find_ratings(path: PathLike | None = None) -> Path:
    """Find the file of ratings: `path`, or in a folder ``ratings.dat`` or ``ml-1m/ratings.dat``; by default in the folder that LIKEWISE_DATA names.

    InputError if there is none.
    """
    named = path if path is not None else os.environ.get(VARIABLE)
    hint = f"give {option('ratings', '')} or set {VARIABLE}; without the data, choose experiments 1,3,4"
    if not named:
        raise InputError("no file of ratings for Experiment 2", "MovieLens 1M", hint)
    place = Path(named)
    candidates = [place / inner for inner in _PLACES] if place.is_dir() else [place]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise InputError(f"no file {' or '.join(map(str, candidates))}", "MovieLens 1M", hint)


def read_movielens(path: PathLike, experiment: Experiment) -> ObservedMatrix:
    """Read MovieLens 1M, and nothing else: r / 5 on the unit interval. The experiment tells the size, 6040 users and 3952 film ids.

    FileFormatError if the file cannot be read, or is not MovieLens 1M by its counts.
    """
    expected = f"MovieLens 1M: {sum(COUNTS.values()):,} ratings of {experiment.n_individuals:,} users"
    shape = (experiment.n_individuals, experiment.n_features)
    try:
        observed = read_ratings(path, shape=shape, value_range=(0, 5))
    except InputError as error:
        raise FileFormatError(f"{path}: {error.given}", expected, error.hint) from error
    values, counts = np.unique(observed.values.data, return_counts=True)
    found = dict(zip(values.tolist(), counts.tolist(), strict=True))
    users = int(np.count_nonzero(np.diff(observed.values.indptr)))
    if found != COUNTS or users != experiment.n_individuals:
        seen = f"{observed.n_observed:,} ratings of {users:,} users"
        raise FileFormatError(f"{path} with {seen}", f"{expected}, each value as often as there")
    return observed


def run_ratings(observed: ObservedMatrix, experiment: Experiment, arms: list[Arm], seed: int) -> Record:
    """Run every arm on the ratings and measure the drawn pairs, the same for all, against both references.

    `seed` is that of the drawn pairs, and of estimators. Returns ``observed_fraction``, ``n_pairs`` and a record for each of ``arms``.
    """
    on_observed = ObservedDistance(observed, "l1", working_range="unit")
    record: Record = {"observed_fraction": observed.observed_fraction, "n_pairs": N_PAIRS, "arms": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)  # rank and spread stand in the table
        for arm in arms:
            record["arms"][arm.name] = _run_arm(observed, experiment, arm, on_observed, seed)
    return record


def _run_arm(
    observed: ObservedMatrix, experiment: Experiment, arm: Arm, on_observed: ObservedDistance, seed: int
) -> Record:
    on_input: PairwiseDistance = on_observed
    features: Any = observed.scaled("unit").zero_filled()
    metrics: dict[str, float | None] = dict.fromkeys(("rank", "threshold", "clipped"))
    if arm.estimator is not None:
        fitted = make_preprocessing(arm, experiment, "unit", seed).fit(observed)
        features, metrics = dense_estimate(fitted), described(fitted)
        on_input = distance_on_estimate(features)
    outputs = MODELS[ALGORITHM](features, observed)
    measured = {"observed": _measure(outputs, on_observed, seed)}
    # h was given Z itself, so both references are one.
    measured["input"] = measured["observed"] if on_input is on_observed else _measure(outputs, on_input, seed)
    metrics["spread"] = measured["observed"].output_spread.value
    return {
        "metrics": metrics,
        "measured": {name: _metrics(found) for name, found in measured.items()},
        "histograms": {name: _histogram(found) for name, found in measured.items()},
    }


def _measure(outputs: Any, reference: PairwiseDistance, seed: int) -> SampledFairness:
    return measure_sampled(
        outputs, reference, n_pairs=N_PAIRS, bins=BIN_EDGES, worst=0, means="asymptotic", random_state=seed
    )


def _metrics(found: SampledFairness) -> Record:
    wanted = {"mean_ratio": found.pair_mean_ratio, "scale_free_ratio": found.scale_free_ratio}
    wanted["similar_ratio"] = found.similar.mean_ratio
    return {name: asdict(metric) for name, metric in wanted.items()}


def _histogram(found: SampledFairness) -> list[int]:
    return up_to_the_last(found.histogram.counts, found.histogram.above + found.histogram.infinite)
