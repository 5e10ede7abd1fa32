"""scikit-learn estimators as layers: linear models, dense nets, scalers, projections, and pipelines of these.

Estimators are recognised by module and class name, exactly: a subclass may compute something else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from likewise.certificates.models.layers import (
    Activation,
    Layer,
    Linear,
    NoBoundError,
    Softmax,
    linear,
    scaling,
)
from likewise.errors import ModelError

Output = Literal["auto", "score", "probability", "class"]

SLOPES = {"relu": 1.0, "tanh": 1.0, "logistic": 0.25}
"""Largest slope of each activation; ``identity`` is none."""

_LINEAR_REGRESSORS = {
    *("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "LassoLars", "LassoLarsCV", "LassoLarsIC"),
    *(
        "ElasticNet",
        "ElasticNetCV",
        "Lars",
        "LarsCV",
        "OrthogonalMatchingPursuit",
        "OrthogonalMatchingPursuitCV",
    ),
    *("MultiTaskLasso", "MultiTaskLassoCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV"),
    *("BayesianRidge", "ARDRegression", "HuberRegressor", "QuantileRegressor", "TheilSenRegressor"),
    *("SGDRegressor", "PassiveAggressiveRegressor", "LinearSVR"),
}
_LINEAR_CLASSIFIERS = {
    *("RidgeClassifier", "RidgeClassifierCV", "SGDClassifier", "Perceptron", "PassiveAggressiveClassifier"),
    *("LinearSVC",),
}
_SOFTMAX_CLASSIFIERS = {"LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis"}
_SEARCHES = {"GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"}


def is_sklearn(model: object) -> bool:
    """Whether the object's own class is scikit-learn's."""
    return type(model).__module__.split(".")[0] == "sklearn"


def sklearn_layers(model: Any, output: Output) -> tuple[list[Layer], str]:
    """Return the layers of a fitted estimator, and the name of the method that they compute.

    NoBoundError if none is known for this estimator; ModelError if it is not fitted.
    """
    name = type(model).__name__
    _ensure_fitted(model)
    _ensure_plain(model, name)
    if name == "Pipeline":
        return _pipeline(model, output)
    if name in _SEARCHES:
        return sklearn_layers(_best(model, name), output)
    if name in _TRANSFORMERS:
        return _TRANSFORMERS[name](model), f"{name}.transform"
    if name in _LINEAR_REGRESSORS or name == "MLPRegressor":
        return _regressor(model, output), f"{name}.predict"
    if name in _LINEAR_CLASSIFIERS | _SOFTMAX_CLASSIFIERS:
        return _classifier(model, output)
    if name == "MLPClassifier":
        return _net_classifier(model, output), f"{name}.predict_proba"
    raise NoBoundError(f"none is known for {name}")


def _ensure_fitted(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ModelError(
            f"{type(model).__name__} that is not fitted", "a fitted model", "call its fit first"
        ) from error


_METHODS = ("predict", "predict_proba", "decision_function", "transform", "fit_predict", "fit_transform")


def replaced_method(model: object) -> str:
    """Return the name of a method of this object that is custom code, not its class's; empty where there is none."""
    own = getattr(model, "__dict__", {})
    replaced = (
        name for name, value in own.items() if callable(value) and callable(getattr(type(model), name, None))
    )
    return next(replaced, next((name for name in _METHODS if name in own), ""))


def _ensure_plain(model: Any, name: str) -> None:
    """Refuse an estimator of which a method was replaced by custom code."""
    if method := replaced_method(model):
        raise NoBoundError(f"{method} of this {name} was replaced by custom code")


def _best(search: Any, name: str) -> Any:
    if not hasattr(search, "best_estimator_"):
        raise ModelError(
            f"{name} with refit=False, which keeps no model", "a fitted model", "fit it with refit=True"
        )
    return search.best_estimator_


def _pipeline(pipeline: Any, output: Output) -> tuple[list[Layer], str]:
    layers: list[Layer] = []
    method = "Pipeline of nothing"
    for _, step in pipeline.steps:
        if step is None or step == "passthrough":
            continue
        if not is_sklearn(step):
            raise NoBoundError(f"none is known for its step {type(step).__name__}")
        added, method = sklearn_layers(step, output)
        layers += added
    return layers, f"Pipeline to {method}"


def _regressor(model: Any, output: Output) -> list[Layer]:
    if output == "probability":
        raise ModelError(
            f"output='probability' of {type(model).__name__}", "'auto' or 'score': a regressor has none"
        )
    return _net_regressor(model) if hasattr(model, "coefs_") else [_coefficients(model)]


def _coefficients(model: Any) -> Linear:
    return linear(model.coef_, type(model).__name__)


def _classifier(model: Any, output: Output) -> tuple[list[Layer], str]:
    name = type(model).__name__
    has_probabilities = name in _SOFTMAX_CLASSIFIERS
    if output == "score" or (output == "auto" and not has_probabilities):
        return [_coefficients(model)], f"{name}.decision_function"
    if not has_probabilities:
        raise NoBoundError(f"none is known for the probabilities of {name}; its scores have one")
    if _is_one_against_rest(model):
        raise NoBoundError(
            "none is known for probabilities of one class against the rest, which are normalised"
        )
    return _probabilities(_coefficients(model)), f"{name}.predict_proba"


def _is_one_against_rest(model: Any) -> bool:
    """Older releases fit one classifier a class, or a softmax over opposite scores, where they were asked to."""
    asked = getattr(model, "multi_class", "deprecated")
    if len(model.classes_) == 2:
        return asked == "multinomial"
    return asked == "ovr" or getattr(model, "solver", "") == "liblinear"


def _probabilities(scores: Linear) -> list[Layer]:
    """Two classes have one score s: their probabilities are the softmax of (0, s)."""
    if len(scores.matrix) == 1:
        scores = replace(scores, matrix=np.vstack([np.zeros_like(scores.matrix), scores.matrix]))
    return [scores, Softmax()]


def _dense_net(model: Any) -> list[Layer]:
    """Return the layers of a net up to its outputs before the last activation."""
    name = type(model).__name__
    layers: list[Layer] = [linear(weights.T, name) for weights in model.coefs_]
    if model.activation == "identity":
        return layers
    between = Activation(model.activation, SLOPES[model.activation])
    return [part for layer in layers[:-1] for part in (layer, between)] + layers[-1:]


def _net_regressor(model: Any) -> list[Layer]:
    if model.out_activation_ != "identity":
        raise NoBoundError(f"its output activation {model.out_activation_} has no largest slope")
    return _dense_net(model)


def _net_classifier(model: Any, output: Output) -> list[Layer]:
    layers = _dense_net(model)
    if output == "score":
        raise ModelError("output='score' of MLPClassifier", "'auto' or 'probability': it gives no scores")
    if model.out_activation_ == "logistic" and model.n_outputs_ > 1:  # several labels, each by itself
        return [*layers, Activation("logistic", SLOPES["logistic"])]
    return [*layers[:-1], *_probabilities(cast(Linear, layers[-1]))]


def _projection(model: Any) -> list[Layer]:
    """PCA and truncated SVD project on their components; with whitening each is divided by its standard deviation."""
    name = type(model).__name__
    layers: list[Layer] = [linear(model.components_, name)]
    if getattr(model, "whiten", False):
        deviations = np.maximum(np.sqrt(model.explained_variance_), np.finfo(np.float64).eps)
        layers.append(scaling(1 / deviations, name))
    return layers


def _divided(model: Any) -> list[Layer]:
    return [] if model.scale_ is None else [scaling(1 / model.scale_, type(model).__name__)]


def _multiplied(model: Any) -> list[Layer]:
    return [scaling(model.scale_, type(model).__name__)]  # clipping, if asked for, does not expand


def _function(model: Any) -> list[Layer]:
    if model.func is not None:
        raise NoBoundError("none is known for the function of FunctionTransformer")
    return []


_TRANSFORMERS: dict[str, Callable[[Any], list[Layer]]] = {
    "PCA": _projection,
    "TruncatedSVD": _projection,
    "StandardScaler": _divided,
    "MaxAbsScaler": _divided,
    "RobustScaler": _divided,
    "MinMaxScaler": _multiplied,
    "FunctionTransformer": _function,
}
