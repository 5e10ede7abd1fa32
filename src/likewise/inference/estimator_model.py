"""Any scikit-learn estimator as a model of the audit: which method gives the outputs, and how labels become numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from likewise.certificates.models.scikit_learn import replaced_method
from likewise.errors import ModelError, option
from likewise.inference.model import Keep, Output, TrainedModel
from likewise.observations import ObservedMatrix
from likewise.observations.labelled import aligned

Fit = Callable[[Any, NDArray[Any], Any], Any]
"""Fits a fresh estimator to a matrix and a target, None where there is none, and returns the outputs."""


def run_estimator(estimator: Any, target: ArrayLike | None, random_state: int | None) -> Callable[..., Any]:
    """Return a function that fits a clone of `estimator` to a matrix and returns the outputs for its rows.

    Parameters
    ----------
    estimator : scikit-learn estimator
        With a target: ``predict_proba`` if it has it, else ``predict``, else ``transform``. Without one: for a
        clusterer the cluster as 0/1 columns (labels are names, and a distance between names means nothing), else
        ``predict_proba``, ``fit_transform`` or ``fit_predict``. Predicted classes become 0/1 columns too.
    target : array-like, shape (m,) or (m, t), optional
        What to learn; one row for each individual, put in their order by its labels where it has some.
    random_state : int, optional
        Given to every part of the estimator whose ``random_state`` is None.

    Returns
    -------
    callable
        Takes the matrix, as ``observed=`` the observations, whose individuals the labels of a target name, and as ``keep=`` what to
        call with the `TrainedModel`.

    Raises
    ------
    ModelError
        If the estimator needs a target, or has none of these methods.
    """
    if method := replaced_method(estimator):
        raise ModelError(
            f"{method} of this {type(estimator).__name__}, replaced by custom code, which a fresh copy of it would not have",
            "an estimator of a class of its own, or a function of a matrix",
        )
    outputs_of, kind = _with_target(estimator) if target is not None else _without_target(estimator)

    def run(matrix: NDArray[Any], observed: ObservedMatrix | None = None, keep: Keep | None = None) -> Any:
        fresh = seeded(clone(estimator), random_state)
        outputs = outputs_of(fresh, matrix, None if target is None else target_of(target, observed))
        if keep is not None:
            keep(TrainedModel(fresh, kind, _function(fresh, kind, learns=target is not None)))
        return outputs

    return run


def target_of(target: ArrayLike, observed: ObservedMatrix | None) -> NDArray[Any]:
    """Return a target in the order of the individuals, which its labels, if it has any, name.

    Raises
    ------
    ShapeError
        Its labels are not the ids of the individuals.
    """
    values, _ = aligned("target", target, None if observed is None else observed.row_ids)
    return np.asarray(values)


def _function(fresh: Any, kind: Output, *, learns: bool) -> Callable[[Any], Any] | None:
    """Return what a fitted estimator does with rows that were not there; None for classes, and where it has no method for them."""
    if kind == "class":
        return None
    if kind == "probability":
        return lambda rows: _side_by_side(fresh.predict_proba(rows))
    return getattr(fresh, "predict" if learns and hasattr(fresh, "predict") else "transform", None)


def _with_target(estimator: Any) -> tuple[Fit, Output]:
    if hasattr(estimator, "predict_proba"):
        return (lambda fresh, B, y: _side_by_side(fresh.fit(B, y).predict_proba(B))), "probability"
    if hasattr(estimator, "predict"):
        if is_classifier(estimator):
            return (lambda fresh, B, y: _one_hot(fresh.fit(B, y).predict(B))), "class"
        return (lambda fresh, B, y: np.asarray(fresh.fit(B, y).predict(B))), "auto"
    if hasattr(estimator, "transform"):
        return (lambda fresh, B, y: fresh.fit(B, y).transform(B)), "auto"
    raise _no_outputs(estimator, "predict_proba, predict or transform")


def _without_target(estimator: Any) -> tuple[Fit, Output]:
    kind = _estimator_type(estimator)
    if kind in ("classifier", "regressor"):
        raise ModelError(
            f"the {kind} {estimator} without a target",
            "a target, one value for each individual",
            f"give {option('target')}: what it learns to tell of each of them",
        )
    if kind == "clusterer":
        return (lambda fresh, B, _: _one_hot(fresh.fit_predict(B))), "class"
    if hasattr(estimator, "predict_proba"):
        return (lambda fresh, B, _: fresh.fit(B).predict_proba(B)), "probability"
    if hasattr(estimator, "fit_transform"):
        return (lambda fresh, B, _: fresh.fit_transform(B)), "auto"
    if hasattr(estimator, "fit_predict"):
        return (lambda fresh, B, _: fresh.fit_predict(B)), "class"
    raise _no_outputs(estimator, "fit_transform, fit_predict or predict_proba, or a target")


def _no_outputs(estimator: Any, expected: str) -> ModelError:
    return ModelError(f"the estimator {estimator}, which gives no outputs", f"one that has {expected}")


def is_classifier(estimator: Any) -> bool:
    """Return whether an estimator says that it predicts classes."""
    return _estimator_type(estimator) == "classifier"


def _estimator_type(estimator: Any) -> str | None:
    try:
        kind = get_tags(estimator).estimator_type
    except AttributeError:  # written without scikit-learn's base class
        kind = getattr(estimator, "_estimator_type", None)
    return None if kind is None else str(kind)


def _one_hot(labels: ArrayLike) -> NDArray[np.bool_]:
    """Return a 0/1 column for each label that occurs; noise (-1) of a clusterer is a label as well."""
    names = np.asarray(labels)
    return np.asarray(np.equal.outer(names, np.unique(names)))


def _side_by_side(probabilities: Any) -> Any:
    """Return the probabilities of several targets, which scikit-learn lists one by one, as columns."""
    return np.hstack(probabilities) if isinstance(probabilities, list) else probabilities


def seeded(estimator: Any, random_state: int | None) -> Any:
    """Give every part of an estimator that has no seed this one."""
    if random_state is None:
        return estimator
    unset = {
        name: random_state
        for name, value in estimator.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return estimator.set_params(**unset)
