"""Any scikit-learn estimator as a model of the audit: which method gives the outputs, and how labels become numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.utils import get_tags

from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.certificates.models.scikit_learn import replaced_method
from likewise.errors import ModelError, option
from likewise.inference.model import FunctionModel, Keep, Output, TrainedModel
from likewise.observations import ObservedMatrix
from likewise.observations.index_alignment import aligned

Fit = Callable[[Any, NDArray[Any], Any], Any]
"""Fits a fresh estimator to a matrix and a target, None where there is none, and returns the outputs."""


def run_estimator(estimator: Any, target: ArrayLike | None, random_state: int | None) -> Callable[..., Any]:
    """Return a function that fits a clone of `estimator` to a matrix and returns the outputs for its rows.

    With a target, (m,) or (m, t): ``predict_proba`` if it has it, else ``predict``, else ``transform``. Without one: for a
    clusterer the cluster as 0/1 columns (labels are names, and a distance between names means nothing), else
    ``predict_proba``, ``fit_transform`` or ``fit_predict``. Predicted classes become 0/1 columns too. A target is put in the order of the
    individuals by its labels where it has some; `random_state` is given to every part of the estimator whose own is None.

    The function takes the matrix, as ``observed=`` the observations, whose individuals the labels of a target name, and as ``keep=`` what to
    call with the `TrainedModel`. Raises `ModelError` if the estimator needs a target, or has none of these methods.
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
    """Return a target in the order of the individuals, which its labels, if it has any, name; `ShapeError` if they are not their ids."""
    values, _ = aligned("target", target, None if observed is None else observed.row_ids)
    return as_array(values, "the target")


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
        return (lambda fresh, B, y: as_array(fresh.fit(B, y).predict(B))), "auto"
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
    names = as_array(labels)
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


N_FOLDS = 5
"""Parts that individuals are split into; each is predicted by a fit to the others."""


class SupervisedModel(FunctionModel):
    """An estimator that learns a target, (m,) or (m, t); `random_state` is for its parts that have none, and for the folds."""

    def __init__(self, estimator: Any, target: ArrayLike, random_state: int | None) -> None:
        super().__init__(
            str(estimator), run_estimator(estimator, target, random_state), predicts_entries=False
        )
        self.estimator, self.target, self.random_state = estimator, target, random_state

    def unseen(self, matrix: Any, observed: ObservedMatrix | None = None) -> Floats | None:
        """Return outputs for everybody by fits that have not seen their target (cross-validation), (m,) or (m, k).

        They are probabilities or 0/1 columns of the classes in sorted order, or numbers. None where there are several targets, nothing is predicted,
        probabilities do not add up to 1, or a class has too few members for two folds. Raises `ModelError` if a fit fails.
        """
        y = target_of(self.target, observed)
        classifies = is_classifier(self.estimator)
        fewest = np.unique(y, return_counts=True)[1].min() if classifies else y.size
        n_folds = min(N_FOLDS, int(fewest))
        if y.ndim != 1 or n_folds < 2 or not hasattr(self.estimator, "predict"):
            return None
        method = "predict_proba" if hasattr(self.estimator, "predict_proba") else "predict"
        folds = (StratifiedKFold if classifies else KFold)(n_folds, shuffle=True, random_state=self._seed)
        fresh = seeded(clone(self.estimator), self.random_state)
        try:
            told = np.asarray(cross_val_predict(fresh, as_array(matrix), y, cv=folds, method=method))
        except Exception as error:  # a model of others can fail in any way
            reason = f"{type(error).__name__}: {error}"
            raise ModelError(
                f"{self.name} failed on a part of the individuals with {reason}", "a model that runs on it"
            ) from error
        if classifies and method == "predict":
            told = np.equal.outer(told, np.unique(y))
        elif classifies and not np.allclose(told.sum(axis=1), 1):
            return None  # whatever these are, they are no probabilities
        return np.asarray(told, dtype=np.float64)

    @property
    def _seed(self) -> int:
        return 0 if self.random_state is None else self.random_state
