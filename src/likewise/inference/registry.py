"""Models by name, and a model for whatever stands for one: a function, an estimator, an import path."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from likewise.errors import ModelError, unknown_name
from likewise.inference.estimator_model import SupervisedModel, run_estimator
from likewise.inference.model import FunctionModel, Keep, Model, TrainedModel
from likewise.inference.neighbors.nearest_neighbors import NearestNeighborModel
from likewise.inference.neighbors.recommender import KNNRecommender
from likewise.inference.neighbors.smooth_neighbors import SmoothNeighborModel
from likewise.inference.net.dense_net import DenseNetModel
from likewise.inference.net.recommender import DenseNetRecommender
from likewise.registry import Registry


def _itself(matrix: Any, keep: Keep) -> Any:
    keep(TrainedModel("identity", function=lambda rows: rows))
    return matrix


def _checked(model: Any) -> Model:
    if isinstance(model, Model):
        return model
    raise ModelError(f"{model!r} as a model with a name", "a likewise.inference.Model", "as_model makes one")


MODELS: Registry[Model] = Registry(
    "likewise.models",
    "model",
    {
        "knn": NearestNeighborModel(10, "all"),
        # Of ten neighbours hardly one has observed a given item, so this one asks everybody who is similar.
        "knn-co-raters": NearestNeighborModel(None, "co-raters"),
        "smooth-knn": SmoothNeighborModel(),
        "identity": FunctionModel("the matrix itself", _itself),
        "dnn": DenseNetModel(),
    },
    ModelError,
    _checked,
)
"""Models that have a name: Experiment 2, its variant over those who observed the item, neighbours that never jump, no algorithm at all,
and the dense net of the other experiments."""


def register_model(name: str, model: Any) -> Any:
    """Give a model a name, under which every call and the command line find it.

    Parameters
    ----------
    name : str
        Not one of the package's own.
    model : Model, function or scikit-learn estimator
        Whatever `as_model` makes a model of.

    Returns
    -------
    object
        What was given.

    Raises
    ------
    ModelError
        The name is taken, or the thing is not a model.

    Examples
    --------
    >>> import numpy as np
    >>> mean_rating = register_model("mean-rating", lambda B: B.mean(axis=1))
    >>> as_model("mean-rating")(np.eye(2))
    array([0.5, 0.5])
    >>> MODELS.unregister("mean-rating")
    """
    MODELS.register(name, as_model(model))
    return model


def as_model(model: Any, target: ArrayLike | None = None, random_state: int | None = None) -> Model:
    """Return an inference algorithm for whatever stands for one.

    Parameters
    ----------
    model : str, callable or scikit-learn estimator
        - A name of `MODELS`: ``"knn"`` (Experiment 2), ``"knn-co-raters"``, ``"smooth-knn"`` (neighbours with a proved constant),
          ``"identity"``, ``"dnn"`` (the other experiments; needs PyTorch).
        - ``"package.module:name"``: what is imported from there, made with its defaults if it is a class.
        - An estimator: a transformer, clusterer or mixture runs on the matrix alone, a classifier or regressor
          learns `target`. A clone is fitted for each matrix. Clusters and predicted classes become 0/1 columns.
        - A function of the dense (m, n) matrix; one with a parameter ``observed`` is given the `ObservedMatrix` too, and one with a
          parameter ``keep`` a function to call with its `TrainedModel`, whose Lipschitz constant is then proved.
    target : array-like, shape (m,) or (m, t), optional
        What an estimator learns, or what neighbours are averaged over; one row for each individual.
    random_state : int, optional
        For the dense net, and for every part of an estimator, whose own ``random_state`` is None.

    Returns
    -------
    Model
        Raises `ModelError` when called if it fails, or if its outputs are not one finite row for each individual.

    Raises
    ------
    ModelError
        If the name is unknown, nothing can be imported, or the object cannot give outputs.
    MissingDependencyError
        For the dense net, without PyTorch.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> B = np.array([[1.0, 1.0], [1.0, 0.9], [-1.0, -1.0]])
    >>> as_model(KMeans(n_clusters=2), random_state=0)(B).sum(axis=1)
    array([1., 1., 1.])
    >>> as_model(lambda B: B.mean(axis=1))(B)
    array([ 1.  ,  0.95, -1.  ])
    >>> as_model("kmn")
    Traceback (most recent call last):
    ...
    likewise.errors.ModelError: unknown model 'kmn'; expected one of 'knn', 'knn-co-raters', 'smooth-knn', 'identity', 'dnn', 'package.module:name'. Hint: did you mean 'knn'?
    """
    chosen = _of_recommender(_named(model) if isinstance(model, str) else model)
    if isinstance(chosen, NearestNeighborModel):
        return chosen if target is None else replace(chosen, targets=target)
    if isinstance(chosen, Model) and target is None:
        chosen.ensure_usable()
        if isinstance(chosen, DenseNetModel) and chosen.random_state is None:
            return replace(chosen, random_state=random_state)
        return chosen
    if hasattr(chosen, "fit") and hasattr(chosen, "get_params"):
        if target is not None:
            return SupervisedModel(chosen, target, random_state)
        return FunctionModel(str(chosen), run_estimator(chosen, target, random_state), predicts_entries=False)
    if not callable(chosen):
        raise ModelError(
            f"{chosen!r} as a model", "a name, a function of a matrix, or a scikit-learn estimator"
        )
    if target is not None:
        raise ModelError(f"a target for {chosen!r}", "an estimator, which can learn it")
    return FunctionModel(_name_of(chosen), chosen)


def _of_recommender(chosen: Any) -> Any:
    """Return the model with the settings of one of our own recommenders; anything else as it is."""
    if isinstance(chosen, type):
        raise ModelError(f"the class {chosen.__name__} as a model", f"an object of it: {chosen.__name__}()")
    if isinstance(chosen, KNNRecommender):
        return NearestNeighborModel(chosen.n_neighbors, chosen.average)
    if isinstance(chosen, DenseNetRecommender):
        return DenseNetModel(chosen.settings, chosen.random_state)
    return chosen


def _named(name: str) -> Any:
    if ":" in name:
        return import_object(name)
    if name not in MODELS:
        raise ModelError(*unknown_name("model", name, [*MODELS, "package.module:name"]))
    return MODELS.named(name)


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "name", None) or getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def import_object(path: str) -> Any:
    """Import a module and return what it calls by a name; of a class, an instance made with its defaults.

    The path is ``"package.module:name"``, where the name may have dots; modules in the current folder are found as well, after the installed ones.
    Raises `ModelError` if the path is malformed, the module cannot be imported or has no such name, or the class needs arguments.

    >>> import_object("numpy:linalg.norm")([3.0, 4.0])
    np.float64(5.0)
    >>> import_object("numpy:nrm")
    Traceback (most recent call last):
    ...
    likewise.errors.ModelError: model 'numpy:nrm' (module 'numpy' has no attribute 'nrm'); expected package.module:name.
    """
    module_name, _, name = path.partition(":")
    try:
        with _current_folder_searched():
            module = importlib.import_module(module_name)
        found: Any = reduce(getattr, name.split("."), module)
        return found() if isinstance(found, type) else found
    except Exception as error:  # importing runs code of others, which can fail in any way
        raise ModelError(f"model {path!r} ({error})", "package.module:name") from error


@contextmanager
def _current_folder_searched() -> Iterator[None]:
    folder = str(Path.cwd())
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
