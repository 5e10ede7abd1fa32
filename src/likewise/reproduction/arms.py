"""The arms of an experiment: h on the zero-filled observations, and f on what an estimator makes of them.

A new arm is one line in `ARMS`, or ``name=estimator`` where arms are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.checks import checked_names
from likewise.errors import InputError, ModelError, unknown_name
from likewise.estimation import SVT, THRESHOLDS
from likewise.estimation.registry import ESTIMATORS, make_estimator
from likewise.inference.registry import import_object
from likewise.observations.value_range import WorkingRange
from likewise.reproduction.experiments import Experiment

PRINTED = "printed"
"""Stands for the threshold that the paper prints for the experiment at hand."""


TRUTH = "truth"
"""Stands for A itself, which only a simulation has."""


@dataclass(frozen=True)
class Arm:
    """One way to run the algorithm.

    Parameters
    ----------
    name : str
    title : str
        For the reader of a table.
    estimator : str or None
        What makes the features: ``"printed"``, a threshold of SVT by name or as a number, the name of a registered estimator, or
        ``package.module:name``; ``"truth"`` for A itself; None for h, which gets the observations with missing entries as 0.
    algorithm : str
        Of `likewise.reproduction.released.RELEASED`, in place of the model of the run; empty for that model.
    """

    name: str
    title: str
    estimator: str | None
    algorithm: str = ""

    @property
    def is_without(self) -> bool:
        """Whether it stands for h, without pre-processing."""
        return self.estimator is None

    @property
    def needs_truth(self) -> bool:
        """Whether it runs on generated data alone."""
        return bool(self.algorithm) or self.estimator == TRUTH


WITHOUT = "h"
"""The arm without pre-processing."""

ARMS: dict[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm(WITHOUT, "without pre-processing", None),
        Arm("f-literal", "SVT at the threshold that the paper prints", PRINTED),
        Arm("f-released", "SVT at the threshold of the released code", "released-code"),
        Arm("f-noise-edge", "SVT at the noise edge", "noise-edge"),
        Arm("h-truth", "the algorithm on A itself, which nobody has", TRUTH),
        Arm("released-net-h", "the released code's net without pre-processing", None, "released-net"),
        Arm("released-net", "the released code's net with it, as it runs", "released-code", "released-net"),
        Arm("released-knn-h", "the released code's neighbours without pre-processing", None, "released-knn"),
        Arm(
            "released-knn",
            "the released code's neighbours with it, as it runs",
            "released-code",
            "released-knn",
        ),
    )
}
"""The arms that have a name."""

DEFAULT_ARMS = tuple(name for name, arm in ARMS.items() if not arm.needs_truth)
"""Those that run unless told otherwise: one model, and features that can be had."""


def resolve_arm(text: str) -> Arm:
    """Return an arm for its name, or for ``name=estimator``; InputError if it or its estimator is unknown, with the nearest name as the hint.

    >>> resolve_arm("f-released").estimator, resolve_arm("f-7=7.0")
    ('released-code', Arm(name='f-7', title='SVT at the threshold 7.0', estimator='7.0', algorithm=''))
    """
    name, equals, estimator = text.strip().partition("=")
    if not equals:
        if name not in ARMS:
            raise InputError(*unknown_name("arm", name, [*ARMS, "name=estimator"]))
        return ARMS[name]
    if not name or not estimator or name in ARMS:
        raise InputError(f"arm {text!r}", "name=estimator with a name of its own")
    _factory(estimator)
    known = estimator in THRESHOLDS or _as_number(estimator) is not None
    return Arm(name, f"SVT at the threshold {estimator}" if known else f"estimator {estimator}", estimator)


def chosen_arms(arms: str | Iterable[str]) -> tuple[str, ...]:
    """Return arms as they are written in the settings of a run: names or ``name=estimator``, in a str separated by commas.

    InputError for none, an unknown one, or two of one name.
    """
    listed = checked_names("arms", arms)
    names = [resolve_arm(arm).name for arm in listed]
    if not names or len(set(names)) < len(names):
        raise InputError(f"arms {', '.join(listed) or 'none'}", "at least one arm, each name once")
    return listed


def make_preprocessing(
    arm: Arm, experiment: Experiment, working_range: WorkingRange, random_state: int
) -> Any:
    """Make the estimator of an arm, not h, for an experiment, not fitted: with ``fit`` and then ``estimate_``."""
    assert arm.estimator is not None
    estimator = _factory(experiment.threshold if arm.estimator == PRINTED else arm.estimator)()
    parameters = estimator.get_params() if hasattr(estimator, "get_params") else {}
    # An estimator of somebody else may have neither parameter.
    wanted = {"working_range": working_range, "random_state": random_state}
    known = {key: value for key, value in wanted.items() if key in parameters}
    return estimator.set_params(**known) if known else estimator


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


def _factory(estimator: str) -> Callable[[], Any]:
    """Find what makes an estimator, without making it: several names may mean something to a run, in this order."""
    number = _as_number(estimator)
    if number is not None:
        return lambda: SVT(threshold=number)
    if estimator == PRINTED or estimator in THRESHOLDS:
        return lambda: SVT(threshold=estimator)
    if estimator in ESTIMATORS:
        return lambda: make_estimator(estimator)
    if ":" in estimator:
        return lambda: _imported(estimator)
    names = [*THRESHOLDS, *ESTIMATORS, "package.module:name"]
    raise InputError(*unknown_name("estimator", estimator, names))


def _imported(path: str) -> Any:
    try:
        found = import_object(path)
    except ModelError as error:
        raise InputError(error.given.replace("model", "estimator", 1), error.expected, error.hint) from error
    if not hasattr(found, "fit"):
        raise InputError(f"estimator {path!r}, which has no fit", "an estimator")
    return found


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not 0 <= number < inf:
        raise InputError(f"threshold {text} of an arm", "a finite number >= 0")
    return number
