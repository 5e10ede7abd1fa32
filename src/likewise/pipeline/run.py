"""Run an algorithm with and without pre-processing, or take its outputs from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from likewise._typing import Floats
from likewise.checks import checked_share
from likewise.errors import InputError, ObservationError, option
from likewise.estimation import LowRankEstimate, MatrixEstimator
from likewise.fairness import ErrorMetrics, held_out_error
from likewise.inference import Model, NearestNeighborModel, TrainedModel
from likewise.inference.estimator_model import SupervisedModel, target_of
from likewise.inference.neighbors.nearest_neighbors import check_neighbors
from likewise.observations import HoldOut, ObservedMatrix, WorkingRange, hold_out
from likewise.observations.frames import column_names
from likewise.observations.split import SplitRule
from likewise.observations.value_range import AffineScale
from likewise.pipeline.by_individual import are_individuals, in_order
from likewise.progress import Steps
from likewise.report.records import OF_A_CHANGE

ARMS = ("without", "with")
"""The paper's h and f: without and with pre-processing."""

_BEFORE_AND_AFTER = 2
_BLOCK_ENTRIES = 1 << 21

ONLY_ARM = "outputs"
"""The arm of outputs that are compared with no others."""


@dataclass(frozen=True, eq=False)
class HiddenErrors:
    """Predictions of hidden observations beside them, on the working range; all of shape (n_hidden,)."""

    predicted: Floats
    actual: Floats
    rows: NDArray[np.integer]
    columns: NDArray[np.integer]
    scale: AffineScale  # back to the user's units

    @classmethod
    def of_splits(cls, parts: Sequence[HiddenErrors]) -> HiddenErrors:
        """Put those of several splits one after another; an individual's stay together, so that an interval resamples them together."""
        return cls(
            np.concatenate([part.predicted for part in parts]),
            np.concatenate([part.actual for part in parts]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.columns for part in parts]),
            parts[0].scale,
        )

    def metrics(self, confidence: float) -> ErrorMetrics:
        """Return the error, with an interval over individuals."""
        return held_out_error(
            self.predicted,
            self.actual,
            self.scale,
            self.columns,
            individuals=self.rows,
            confidence=confidence,
        )


@dataclass(frozen=True, eq=False)
class UnseenOutputs:
    """Outputs by fits that have not seen the individual's target, and that target."""

    outputs: Mapping[str, Floats]  # by arm
    target: ArrayLike  # (m,)

    @classmethod
    def of(
        cls, model: SupervisedModel, matrices: Mapping[str, Any], observed: ObservedMatrix, steps: Steps
    ) -> UnseenOutputs | None:
        """Predict everybody by cross-validation on the matrix of each arm; None where nothing can be told."""
        with steps.step("predict those whose target was not seen"):
            told = {arm: model.unseen(matrix, observed) for arm, matrix in matrices.items()}
        outputs = {arm: values for arm, values in told.items() if values is not None}
        return cls(outputs, target_of(model.target, observed)) if len(outputs) == len(told) else None


@dataclass(frozen=True, eq=False)
class Run:
    """What ran and what came out, on the method's working range."""

    # What the algorithm saw, in the user's units; None if only a distance between the individuals is known.
    training: ObservedMatrix | None
    hidden: HoldOut | None  # what it did not see
    fitted: MatrixEstimator | None  # on `training`; None if outputs from elsewhere came without an estimator
    outputs: Mapping[str, Any]  # arrays or distances, of "without", "with", both, or "outputs" alone
    titles: Mapping[str, str]  # what each arm is, in words
    predicts_entries: bool = False  # whether outputs of the shape of the observations predict them
    trained: Mapping[str, TrainedModel] = field(default_factory=dict)  # what the algorithm learnt in each arm
    # Share of the entries of the estimate at an end of the working range, counted where the estimate was formed.
    clipped_fraction: float | None = None
    unseen: UnseenOutputs | None = None  # None but for a classifier or regressor
    notes: tuple[str, ...] = ()  # how outputs from elsewhere were put in order
    folded_in: bool = False  # the estimator was fitted on others, and these individuals were folded in

    @property
    def working_range(self) -> WorkingRange:
        """The range that the method works on."""
        return "symmetric" if self.fitted is None else self.fitted.working_range

    @property
    def estimate(self) -> LowRankEstimate | None:
        """``A_hat``, if anything was estimated."""
        return None if self.fitted is None else self.fitted.estimate_

    @property
    def why_no_error(self) -> str:
        """The reason why outputs have no error on hidden observations, where they have none."""
        if not self.trained:
            return "the outputs were computed elsewhere, so no observations were hidden from them"
        if self.hidden is None:
            return "no observations were hidden"
        if self.nothing_to_predict:
            return "all observations have the same value, so there is nothing to predict"
        return "the model's outputs are not values of the same features, which could be compared with the hidden ones"

    def output_ids(self, arm: str) -> NDArray[Any] | None:
        """Return what each output of an arm is called: the features that it predicts, the columns of a frame, or a series."""
        outputs = self.outputs[arm]
        if self.training is not None and self.trained and np.shape(outputs) == self.training.shape:
            return self.training.column_ids if self.predicts_entries else None
        return column_names(outputs)

    @property
    def nothing_to_predict(self) -> bool:
        """Whether all observations, hidden ones included, have one value: then an error tells nothing."""
        if self.hidden is None or self.training is None:
            return False
        value = self.hidden.values[0]
        return bool((self.hidden.values == value).all() and (self.training.values.data == value).all())

    def error(self, arm: str, confidence: float = 0.95) -> ErrorMetrics | None:
        """Return an arm's error on the hidden observations; None where there is none to speak of, see `why_no_error`."""
        found = self.hidden_errors(arm)
        return None if found is None else found.metrics(confidence)

    def hidden_errors(self, arm: str) -> HiddenErrors | None:
        """Return what an arm predicts of the hidden observations, beside them; None where there is none to speak of."""
        if self.hidden is None or self.nothing_to_predict:
            return None
        return self.errors_at(arm, self.hidden.rows, self.hidden.columns, self.hidden.values)

    def errors_at(
        self,
        arm: str,
        rows: NDArray[np.integer],
        columns: NDArray[np.integer],
        values: NDArray[np.floating],
    ) -> HiddenErrors | None:
        """Return what an arm predicts at some entries, beside their values in the user's units; None where it predicts none."""
        predictions = np.asarray(self.outputs[arm])
        if self.training is None or not self.predicts_entries or predictions.shape != self.training.shape:
            return None
        scale = self.training.value_range.scale_to(self.working_range)
        return HiddenErrors(predictions[rows, columns], scale.forward(values, columns), rows, columns, scale)


def run_fitted(
    training: ObservedMatrix, hidden: HoldOut | None, fitted: MatrixEstimator, model: Model, steps: Steps
) -> Run:
    """Run the model on the observations and on the estimate of an estimator that was fitted to them, or that they were folded into."""
    scaled = training.scaled(fitted.working_range)
    trained: dict[str, TrainedModel] = {}
    with steps.step("run the model without pre-processing") as report:
        keep = partial(trained.__setitem__, "without")
        without = model(scaled.zero_filled(), scaled, progress=report, keep=keep)
    with steps.step("run the model with pre-processing") as report:
        keep = partial(trained.__setitem__, "with")
        complete = fitted.estimate_.on_working_range().to_dense()
        clipped_fraction = _at_the_ends(complete, fitted.estimate_.scale.bounds)
        with_ = model(complete, scaled, progress=report, keep=keep)
    unseen = None
    if isinstance(model, SupervisedModel):
        matrices = {"without": scaled.zero_filled(), "with": complete}
        unseen = UnseenOutputs.of(model, matrices, scaled, steps)
    for arm in ARMS:
        trained.setdefault(arm, TrainedModel(model))
    titles = {
        "without": f"{model.name}, on zero-filled observations",
        "with": f"{model.name}, on the estimate",
    }
    outputs = {"without": without, "with": with_}
    told = titles, model.predicts_entries, trained, clipped_fraction, unseen
    return Run(training, hidden, fitted, outputs, *told)


def _at_the_ends(complete: Floats, bounds: tuple[float, float]) -> float:
    """Return the share of entries at an end of the range, in blocks of rows: where clipping put them."""
    low, high = bounds
    step = max(1, _BLOCK_ENTRIES // complete.shape[1])
    blocks = (complete[start : start + step] for start in range(0, len(complete), step))
    return sum(int(np.count_nonzero((block <= low) | (block >= high))) for block in blocks) / complete.size


def hide(
    observed: ObservedMatrix,
    share: float,
    random_state: int | np.random.Generator | None,
    *,
    leave_one: bool = False,
    split: SplitRule = "random",
) -> HoldOut | None:
    """Hide a share of the observations; nothing at 0."""
    if checked_share("hold_out", share, zero=True, error=ObservationError) == 0:
        return None
    try:
        return hold_out(observed, share, random_state, leave_one=leave_one, by=split)
    except ObservationError as error:
        if split == "time":
            raise
        nothing = f"{option('hold_out', '0')} hides nothing, and measures no error"
        raise ObservationError(error.given, error.expected, nothing) from error


def check_model(model: Model, n_individuals: int) -> None:
    """Raise ModelError where there are fewer neighbours than are asked for: before the matrix is estimated, not after it."""
    if isinstance(model, NearestNeighborModel):
        check_neighbors(model.n_neighbors, n_individuals)


def take_outputs(
    observed: ObservedMatrix | None,
    outputs: Any,
    estimator: MatrixEstimator | None,
    steps: Steps,
    ids: NDArray[Any] | None,
) -> Run:
    """Take outputs that were computed elsewhere, in the order of the individuals, who are called `ids`; an estimator is fitted for its certificates.

    Raises InputError if there are none, more than two, or a single one under a name that says nothing.
    """
    arms_given = isinstance(outputs, Mapping) and not are_individuals(outputs, ids)
    named: Mapping[str, Any] = outputs if arms_given else {ONLY_ARM: outputs}
    known = set(named) <= {*ARMS, ONLY_ARM} and named
    if len(named) > _BEFORE_AND_AFTER or (len(named) < _BEFORE_AND_AFTER and not known):
        raise InputError(
            f"outputs for {[str(name) for name in named]}",
            "two sets of outputs, before and after, under any names; or outputs alone",
        )
    order = [arm for arm in ARMS if arm in named] if set(named) <= set(ARMS) else list(named)
    items = None if observed is None else observed.column_ids
    read = {arm: in_order(arm, named[arm], ids, items) for arm in order}
    notes = tuple(note for _, found in read.values() for note in found)
    fitted = None
    if estimator is not None and observed is not None:
        with steps.step("estimate the matrix"):
            fitted = clone(estimator).fit(observed)
    titles = {arm: _title_elsewhere(arm, estimated=fitted is not None) for arm in named}
    arms = {arm: outputs for arm, (outputs, _) in read.items()}
    return Run(observed, None, fitted, arms, titles, notes=notes)


def _title_elsewhere(arm: str, *, estimated: bool) -> str:
    """Say that outputs come from elsewhere, and which ones they are; of pre-processing only where there is an estimate."""
    called = f"{arm} pre-processing" if estimated else OF_A_CHANGE.get(arm)
    return "outputs computed elsewhere" + (f", {called}" if arm in ARMS else "")
