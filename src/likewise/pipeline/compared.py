"""What an audit compares: the outputs of its arms under D, d, and how they are measured; with consistency and accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.checks import checked_whole
from likewise.errors import InputError, ShapeError, option
from likewise.estimation import MatrixEstimator, entry_intervals
from likewise.fairness import (
    CompletionVerdict,
    ExactValue,
    PairwiseDistance,
    TargetAccuracy,
    TargetValue,
    consistency,
    held_out_error,
    judge_completions,
    named_output_distance,
    target_accuracy,
)
from likewise.fairness.metrics.ranking import Ratings, item_places
from likewise.fairness.options import output_distance
from likewise.memory import ensure_fits
from likewise.norms import Norm
from likewise.observations import ObservedMatrix
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.references import ReferenceChoice, is_named
from likewise.pipeline.run import Run
from likewise.progress import Steps


@dataclass(frozen=True, eq=False)
class Case:
    """What ran, what its outputs are held against, and how: what every part of a report is made of."""

    run: Run
    reference: ReferenceChoice  # what d was taken from
    references: Mapping[str, PairwiseDistance]  # d of each arm: one object where the comparison is valid
    measurement: Measurement
    norm: Norm  # of d where it is between zero-filled rows
    steps: Steps  # told what is done

    @cached_property
    def outputs(self) -> dict[str, PairwiseDistance]:
        """D of each arm, made once for all that is measured on it."""
        how = self.measurement.output_distance
        return {
            name: output_distance(name, values, self.references[name], how, self.run.output_ids(name))
            for name, values in self.run.outputs.items()
        }

    def is_from(self, *references: str) -> bool:
        """Return whether d was taken from one of these, by name."""
        return is_named(self.reference, *references)


def compared_outputs(run: Run, how: str | None) -> Mapping[str, Any]:
    """Return the outputs of every arm as they are to be compared: as they are where that is by l2, else as distances."""
    if how is None:
        return run.outputs
    ids = None if run.training is None else run.training.row_ids
    return {
        name: values
        if isinstance(values, PairwiseDistance)
        else named_output_distance(how, values, run.output_ids(name), row_ids=ids)
        for name, values in run.outputs.items()
    }


def consistency_of(outputs: Any, d: PairwiseDistance, n_neighbors: int) -> ExactValue:
    """Return how close everybody's output, one number, is to the mean of their nearest neighbours'."""
    if isinstance(outputs, PairwiseDistance):
        raise InputError(
            f"{option('consistency', str(n_neighbors))} of outputs that are a distance",
            "one number for each individual",
        )
    checked_whole("consistency", n_neighbors, most=d.n_individuals - 1)
    if np.ndim(outputs) > 1 and np.shape(outputs)[1] > 1:
        raise ShapeError(
            f"{option('consistency', str(n_neighbors))} of outputs with {np.shape(outputs)[1]} columns",
            "one number for each individual",
            "the gap of similar pairs says the same of any outputs",
        )
    return consistency(outputs, d, n_neighbors)


_BY_UNSEEN = "fits that had not seen the individual's target (cross-validation)"


def accuracy_of(case: Case, arm: str) -> TargetAccuracy | None:
    """Hold outputs against the target, where there is one: those given; of a model that learns it those of fits that had not seen it."""
    run, target, confidence = case.run, case.measurement.target, case.measurement.confidence
    if run.unseen is not None:
        found = target_accuracy(run.unseen.outputs[arm], run.unseen.target, confidence=confidence)
        return replace(found, predicted_by=_BY_UNSEEN)
    if target is None:
        return None
    outputs = run.outputs[arm]
    if isinstance(outputs, PairwiseDistance):
        raise InputError(
            f"{option('target', '')} for outputs that are lists or a distance", "outputs that are numbers"
        )
    if isinstance(target, ObservedMatrix):
        named = run.output_ids(arm), target, case.references[arm].row_ids
        return _rating_error(np.asarray(outputs), *named, confidence)
    return target_accuracy(outputs, target, confidence=confidence)


def _rating_error(
    outputs: Floats,
    items: NDArray[Any] | None,
    ratings: ObservedMatrix,
    row_ids: NDArray[Any] | None,
    confidence: float,
) -> TargetAccuracy:
    """Hold predictions of all items against the ratings that there are of them."""
    liked = Ratings.of(ratings, len(outputs), row_ids)
    names = np.arange(outputs.shape[1] if outputs.ndim > 1 else 1) if items is None else items
    columns = item_places(liked.item_ids, names)[liked.columns]
    known = columns >= 0
    if outputs.ndim == 1 or not known.any():
        raise InputError(
            f"ratings of items such as {liked.item_ids.tolist()[0]!r} as a target of outputs that are not of these items",
            "a column of outputs for each item, called as it is, or lists of items",
        )
    rows = liked.rows[known]
    told = outputs[rows, columns[known]], liked.values[known]
    error = held_out_error(*told, individuals=rows, confidence=confidence)
    values = {"RMSE": TargetValue(error.rmse, error.rmse_interval), "MAE": TargetValue(error.mae)}
    n_judged = np.unique(rows).size
    n_others = int((~known).sum())
    are = "is" if n_others == 1 else "are"
    others = [f"{n_others:,} of items without outputs {are} left out"] if n_others else []
    notes = (f"{error.n:,} ratings, held against the outputs of their items", *others, *liked.notes)
    return TargetAccuracy(
        n_judged, len(outputs) - n_judged, "RMSE", values, notes, against="the ratings of the target"
    )


_AFFORDABLE = 2e9
"""Entries that are compared, over all pairs, up to which all pairs are judged; else that many are drawn:"""
_DRAWN = 20_000


def judge_missing(case: Case) -> dict[str, CompletionVerdict]:
    """Judge every arm over all values that missing entries may have, in their range or in conformal intervals.

    What is hidden from the algorithm is known of the individuals all the same, and is not missing here.
    """
    run, measurement = case.run, case.measurement
    if run.training is None or measurement.lipschitz is None:
        return {}
    m, n = run.training.shape
    known = run.training if run.hidden is None else run.hidden.whole()
    few = measurement.pairs == "all" and m * (m - 1) / 2 * n <= _AFFORDABLE
    chosen = "all" if few else _DRAWN if measurement.pairs == "all" else measurement.pairs
    intervals, confidence = None, None
    if measurement.missing_entries == "intervals":
        with case.steps.step("intervals of what is missing"):
            confidence = measurement.confidence
            intervals = _intervals(known, run.fitted, measurement)
    found = {}
    for arm, output in case.outputs.items():
        with case.steps.step(f"judge whatever is missing: {arm}") as report:
            found[arm] = judge_completions(
                output,
                known,
                lipschitz=measurement.lipschitz,
                norm=case.norm,
                intervals=intervals,
                pairs=chosen,  # type: ignore[arg-type]  # "all" or a number
                confidence=confidence,
                working_range=run.working_range,
                random_state=measurement.random_state,
                progress=report,
            )
    return found


def _intervals(
    observed: ObservedMatrix, fitted: MatrixEstimator | None, measurement: Measurement
) -> tuple[Floats, Floats]:
    """Return split-conformal intervals of all entries, in the user's units."""
    m, n = observed.shape
    ensure_fits(
        6 * 8 * m * n, f"intervals of {m:,} x {n:,} entries", f"give {option('missing_entries', 'any')}"
    )
    intervals = entry_intervals(
        observed,
        "auto" if fitted is None else fitted,
        confidence=measurement.confidence,
        random_state=measurement.random_state,
    )
    rows, columns = np.divmod(np.arange(m * n), n)
    ends = intervals.entries(rows, columns).reshape(m, n, 2)
    return ends[..., 0], ends[..., 1]
