"""What is told of lists of items beside how far apart they are: how they rank, who is envied, what is seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats, Indices
from likewise.errors import InputError, option
from likewise.estimation import Auto
from likewise.estimation.intervals import EntryIntervals, entry_intervals
from likewise.fairness import (
    TargetAccuracy,
    Unavailable,
    envy,
    exposure,
    ranking_accuracy,
    top_items,
)
from likewise.fairness.distances.lists import ListDistance
from likewise.fairness.metrics.ranking import item_places
from likewise.observations import HoldOut, ObservedMatrix
from likewise.observations.table import rows_of_entries
from likewise.pipeline.compared import Case
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.run import Run
from likewise.report.records import ListFigures

_NO_ESTIMATE = Unavailable(
    "envy",
    "it takes an estimate of the ratings; name an estimator, such as biases, for one",
)
_OTHER_FEATURES = Unavailable("envy", "the observations are not of the items that are listed")
_GIVEN = "as they were given"
_UNRATED = "the items with the highest outputs, without those that the individual had rated"


@dataclass(frozen=True, eq=False)
class _NewItems:
    """Estimated ratings of what an individual has not rated: what they know already adds nothing to a list, as if it were rated lowest."""

    training: ObservedMatrix
    intervals: EntryIntervals

    def rows(self, people: Indices) -> Floats:
        """Return the ratings of some individuals for every item."""
        found = self.intervals.estimate.rows(people)
        known = self.training.values[people]
        places = rows_of_entries(known), known.indices
        found[places] = np.broadcast_to(self.training.value_range.low, found.shape)[places]
        return found

    def ends(self, people: Indices, items: Indices) -> Floats:
        """Return an interval for each of some entries."""
        found = self.intervals.entries(people, items)
        if not people.size:  # of which SciPy makes a matrix
            return found
        known = self._pattern[people, items] > 0
        found[known] = np.broadcast_to(self.training.value_range.low, self.training.shape)[people, items][
            known, None
        ]
        return found

    @cached_property
    def _pattern(self) -> sparse.csr_array:
        values = self.training.values
        return sparse.csr_array((np.ones(values.nnz), values.indices, values.indptr), shape=values.shape)


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of one arm, shape (m, length), the best item first, and where they come from."""

    items: NDArray[Any]
    made: str


def lists_of(case: Case) -> dict[str, Lists]:
    """Return the lists of each arm that has some: as they were given, or what a model that ran here would recommend.

    Raises
    ------
    InputError
        Groups of items, and no lists.
    """
    found = {arm: _lists(case.run, arm, D) for arm, D in case.outputs.items() if isinstance(D, ListDistance)}
    if not found and case.measurement.item_groups is not None:
        raise InputError(
            f"{option('item_groups', '')} without lists of items",
            "outputs that are lists, or an output distance of lists, such as 'top-n'",
        )
    return found


def _lists(run: Run, arm: str, output: ListDistance) -> Lists:
    ids = run.output_ids(arm)
    if run.training is None or arm not in run.trained or ids is None:
        return Lists(output.lists, _GIVEN)
    scores = np.array(run.outputs[arm], dtype=np.float64)
    observed = run.training.values
    # What somebody has rated is no news: the smallest of all numbers ranks behind every other.
    scores[rows_of_entries(observed), observed.indices] = np.finfo(np.float64).min
    return Lists(ids[top_items(scores, output.lists.shape[1])], _UNRATED)


def ranked(case: Case, arm: str, lists: Lists) -> TargetAccuracy | None:
    """Hold lists against the ratings that are given, else against hidden ones; None where there are neither."""
    hidden, ratings, confidence = case.run.hidden, case.measurement.target, case.measurement.confidence
    if ratings is None:
        if hidden is None or lists.made != _UNRATED:
            return None
        told = ranking_accuracy(lists.items, _as_ratings(hidden), confidence=confidence)
        return replace(told, predicted_by=f"lists of {lists.made}", against="the hidden observations")
    if not isinstance(ratings, ObservedMatrix):
        raise InputError(
            f"{option('target', '')} with one value for each individual, beside lists of items",
            "ratings of the items: an ObservedMatrix, or a file of user,item,rating",
        )
    ends, row_ids = _range_of_both(case.run.training, ratings), case.references[arm].row_ids
    told = ranking_accuracy(lists.items, ratings, row_ids=row_ids, value_range=ends, confidence=confidence)
    return replace(told, predicted_by="the lists as they were given", against="the ratings of the target")


def list_figures(case: Case, lists: Mapping[str, Lists]) -> dict[str, ListFigures]:
    """Return exposure and envy of every arm that has lists."""
    with case.steps.step("judge the lists"):
        intervals, said = _intervals(case.run, case.measurement)
        return {arm: _figures(case, arm, listed, intervals, said) for arm, listed in lists.items()}


def _intervals(run: Run, measurement: Measurement) -> tuple[EntryIntervals | None, str]:
    """Estimate the ratings with intervals of entries, by the estimator of the run without its search; nothing where there is none."""
    if run.fitted is None or run.training is None:
        return None, ""
    made = run.fitted.best_estimator_ if isinstance(run.fitted, Auto) else run.fitted
    found = entry_intervals(
        run.training, made, confidence=measurement.confidence, random_state=measurement.random_state
    )
    return found, f"{type(made).__name__}, {found}"


def _figures(case: Case, arm: str, lists: Lists, intervals: EntryIntervals | None, said: str) -> ListFigures:
    training, length = case.run.training, lists.items.shape[1]
    items = _catalogue(lists.items, training)
    seen = exposure(lists.items, items=items, item_groups=case.measurement.item_groups)
    if intervals is None or training is None or items is None:
        return ListFigures(length, lists.made, seen, _NO_ESTIMATE if intervals is None else _OTHER_FEATURES)
    new = _NewItems(training, intervals)
    envied = envy(
        lists.items,
        new.rows,
        items=training.column_ids,
        ends=new.ends,
        row_ids=case.references[arm].row_ids,
        random_state=case.measurement.random_state,
    )
    return ListFigures(length, lists.made, seen, envied, said)


def _catalogue(lists: NDArray[Any], training: ObservedMatrix | None) -> NDArray[Any] | None:
    """Return all items that are known: those observed, and others that are listed; None where only the lists tell."""
    if training is None:
        return None
    known = training.column_ids
    new = np.unique(lists[item_places(lists, known) < 0])
    if new.size == np.unique(lists).size:
        return None  # the features are no items
    return np.array([*known.tolist(), *new.tolist()], dtype=object) if new.size else known


def _as_ratings(hidden: HoldOut) -> ObservedMatrix:
    """Return what was hidden as a matrix of its own, of the same individuals, items and range."""
    training = hidden.training
    entries = (hidden.values, (hidden.rows, hidden.columns))
    return ObservedMatrix(
        sparse.csr_array(entries, shape=training.shape),
        value_range=(training.value_range.low, training.value_range.high),
        row_ids=training.row_ids,
        column_ids=training.column_ids,
    )


def _range_of_both(training: ObservedMatrix | None, ratings: ObservedMatrix) -> tuple[float, float] | None:
    """Return the ends that hold the observations and the ratings, which may have been too few to show them; None where either has none."""
    ranges = [one.value_range for one in (training, ratings) if one is not None]
    if any(found.low.ndim for found in ranges):
        return None
    return min(float(found.low) for found in ranges), max(float(found.high) for found in ranges)
