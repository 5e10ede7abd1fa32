"""Run an algorithm with and without pre-processing, or take its outputs from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from likewise.errors import InputError, ObservationError, option
from likewise.estimation import LowRankEstimate, MatrixEstimator
from likewise.fairness import ErrorMetrics, PairwiseDistance, held_out_error
from likewise.inference import Model, TrainedModel
from likewise.inference.neighbors.model import NearestNeighborModel
from likewise.inference.neighbors.nearest_neighbors import check_neighbors
from likewise.observations import HoldOut, ObservedMatrix, WorkingRange, hold_out
from likewise.progress import Steps

ARMS = ("without", "with")
"""The paper's h and f: without and with pre-processing."""

ONLY_ARM = "outputs"
"""The arm of outputs that are compared with no others."""

_TITLES = {arm: f"outputs computed elsewhere, {arm} pre-processing" for arm in ARMS}


@dataclass(frozen=True, eq=False)
class Run:
    """What ran and what came out, on the method's working range.

    Parameters
    ----------
    training : ObservedMatrix or None
        The observations that the algorithm saw, in the user's units; None if only a distance between the individuals is known.
    hidden : HoldOut or None
        Those that it did not see.
    fitted : MatrixEstimator or None
        Fitted on `training`; None if outputs from elsewhere came without an estimator.
    outputs : mapping of str to array-like or PairwiseDistance
        For ``"without"``, ``"with"``, both, or ``"outputs"`` if there are no others.
    titles : mapping of str to str
        What each arm is, in words.
    predicts_entries : bool
        Whether outputs of the shape of the observations predict them.
    trained : mapping of str to TrainedModel
        What the algorithm learnt in each arm, where it tells.
    """

    training: ObservedMatrix | None
    hidden: HoldOut | None
    fitted: MatrixEstimator | None
    outputs: Mapping[str, Any]
    titles: Mapping[str, str]
    predicts_entries: bool = False
    trained: Mapping[str, TrainedModel] = field(default_factory=dict)

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
        return "the model's outputs are not values of the same features, which could be held against the hidden ones"

    def error(self, arm: str) -> ErrorMetrics | None:
        """Return an arm's error on the hidden observations; None if nothing is hidden or outputs are no predictions of entries."""
        predictions = np.asarray(self.outputs[arm])
        if (
            self.hidden is None
            or self.training is None
            or not self.predicts_entries
            or predictions.shape != self.training.shape
        ):
            return None
        scale = self.training.value_range.scale_to(self.working_range)
        rows, columns = self.hidden.rows, self.hidden.columns
        actual = scale.forward(self.hidden.values, columns)
        return held_out_error(predictions[rows, columns], actual, scale, columns)


def run_model(
    observed: ObservedMatrix,
    estimator: MatrixEstimator,
    model: Model,
    share: float,
    random_state: int | np.random.Generator | None,
    steps: Steps,
) -> Run:
    """Hide a share of the observations, estimate the matrix from the others, and run the model on both.

    Parameters
    ----------
    observed : ObservedMatrix
    estimator : MatrixEstimator
        Cloned, not fitted in place.
    model : Model
    share : float
        In [0, 1); at 0 nothing is hidden.
    random_state : int, Generator or None
    steps : Steps

    Returns
    -------
    Run
    """
    hidden = hide(observed, share, random_state)
    check_model(model, observed)
    training = observed if hidden is None else hidden.training
    with steps.step("estimate the matrix"):
        fitted = clone(estimator).fit(training)
    scaled = training.scaled(fitted.working_range)
    trained: dict[str, TrainedModel] = {}
    with steps.step("run the model without pre-processing") as report:
        keep = partial(trained.__setitem__, "without")
        without = model(scaled.zero_filled(), scaled, progress=report, keep=keep)
    with steps.step("run the model with pre-processing") as report:
        keep = partial(trained.__setitem__, "with")
        with_ = model(fitted.estimate_.on_working_range().to_dense(), scaled, progress=report, keep=keep)
    for arm in ARMS:
        trained.setdefault(arm, TrainedModel(model))
    titles = {
        "without": f"{model.name}, on zero-filled observations",
        "with": f"{model.name}, on the estimate",
    }
    outputs = {"without": without, "with": with_}
    return Run(training, hidden, fitted, outputs, titles, model.predicts_entries, trained)


def hide(
    observed: ObservedMatrix, share: float, random_state: int | np.random.Generator | None
) -> HoldOut | None:
    """Hide a share of the observations; nothing at 0."""
    if share == 0:
        return None
    try:
        return hold_out(observed, share, random_state)
    except ObservationError as error:
        nothing = f"{option('hold_out', '0')} hides nothing, and measures no error"
        raise ObservationError(error.given, error.expected, nothing) from error


def check_model(model: Model, observed: ObservedMatrix) -> None:
    """Fail before the matrix is estimated, not after it: as many neighbours as are asked for.

    Raises
    ------
    ModelError
    """
    if isinstance(model, NearestNeighborModel):
        check_neighbors(model.n_neighbors, observed.shape[0])


def take_outputs(
    observed: ObservedMatrix | None,
    outputs: ArrayLike | PairwiseDistance | Mapping[str, Any],
    estimator: MatrixEstimator | None,
    steps: Steps,
) -> Run:
    """Take outputs that were computed elsewhere; an estimator, if given, is fitted for its certificates.

    Raises
    ------
    InputError
        If arms are named other than ``"without"`` and ``"with"``, or there is none.
    """
    named: Mapping[str, Any] = outputs if isinstance(outputs, Mapping) else {ONLY_ARM: outputs}
    if set(named) != {ONLY_ARM} and (not named or not set(named) <= set(ARMS)):
        raise InputError(
            f"outputs for {sorted(named)}", "outputs for 'without', 'with', or both; or outputs alone"
        )
    fitted = None
    if estimator is not None and observed is not None:
        with steps.step("estimate the matrix"):
            fitted = clone(estimator).fit(observed)
    titles = {arm: _TITLES.get(arm, "outputs computed elsewhere") for arm in named}
    return Run(observed, None, fitted, {arm: named[arm] for arm in (*ARMS, ONLY_ARM) if arm in named}, titles)
