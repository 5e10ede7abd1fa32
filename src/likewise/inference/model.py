"""What an algorithm has learnt from a matrix, handed on so that its Lipschitz constant can be proved."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.errors import LikewiseError, ModelError, unknown_name
from likewise.inference.estimator_model import run_estimator
from likewise.inference.import_path import import_object
from likewise.inference.neighbors.model import NearestNeighborModel
from likewise.inference.neighbors.recommender import KNNRecommender
from likewise.inference.net.model import DenseNetModel
from likewise.inference.net.recommender import DenseNetRecommender
from likewise.inference.trained_model import Keep, TrainedModel
from likewise.observations import ObservedMatrix
from likewise.observations.outputs import checked_outputs, dense
from likewise.progress import Progress


class Model(Protocol):
    """An inference algorithm h: from a complete matrix B to an output for each individual."""

    @property
    def name(self) -> str:
        """What it is called in a report."""

    @property
    def predicts_entries(self) -> bool:
        """Whether outputs of the matrix's own shape are predictions of its entries, so that they have an error."""

    def __call__(
        self,
        matrix: Any,
        observed: ObservedMatrix | None = None,
        *,
        progress: Progress | None = None,
        keep: Keep | None = None,
    ) -> Floats:
        """Return the outputs h(i, B) of every individual.

        Parameters
        ----------
        matrix : ndarray or csr_array, shape (m, n)
            B, on the method's working range; rows are individuals. What a sparse one does not store is 0.
        observed : ObservedMatrix, shape (m, n), optional
            What was observed, on the same working range, for algorithms that learn it or can tell observed entries from filled ones.
        progress : callable, optional
            Called with (done, total) by algorithms that work in steps.
        keep : callable, optional
            Called with the `TrainedModel` by algorithms that have one.

        Returns
        -------
        ndarray, shape (m,) or (m, k)
        """


@dataclass(frozen=True, eq=False)
class FunctionModel:
    """A function of the dense matrix as a model; its outputs are checked, its errors reported as `ModelError`.

    Parameters
    ----------
    name : str
    function : callable
        Called with the matrix, and with ``observed=`` and ``keep=`` if it has parameters of these names.
    predicts_entries : bool, default True
        Whether outputs of the matrix's own shape are predictions of its entries: not where a transformer puts out new features.
    """

    name: str
    function: Callable[..., Any]
    predicts_entries: bool = True

    def __call__(
        self,
        matrix: Any,
        observed: ObservedMatrix | None = None,
        *,
        progress: Progress | None = None,  # noqa: ARG002  a function of ours or of others reports nothing
        keep: Keep | None = None,
    ) -> Floats:
        """Return the function's outputs."""
        offered = {"observed": observed, "keep": keep}
        extra = {name: value for name, value in offered.items() if _takes(self.function, name)}
        try:
            outputs = self.function(dense(matrix), **extra)
        except LikewiseError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ModelError(
                f"{self.name} failed on a matrix of shape {matrix.shape} with {reason}",
                "a model that runs on it",
            ) from error
        return checked_outputs(outputs, matrix.shape[0], self.name)


def _itself(matrix: Any, keep: Keep | None = None) -> Any:
    if keep is not None:
        keep(TrainedModel("identity"))
    return matrix


MODELS: dict[str, Model] = {
    "knn": NearestNeighborModel(10, "all"),
    # Of ten neighbours hardly one has observed a given item, so this one asks everybody who is similar.
    "knn-co-raters": NearestNeighborModel(None, "co-raters"),
    "identity": FunctionModel("the matrix itself", _itself),
    "dnn": DenseNetModel(),
}
"""Models that have a name: Experiment 2, its variant over those who observed the item, no algorithm at all, and the dense net of
the other experiments."""


def as_model(model: Any, target: ArrayLike | None = None, random_state: int | None = None) -> Model:
    """Return an inference algorithm for whatever stands for one.

    Parameters
    ----------
    model : str, callable or scikit-learn estimator
        - A name of `MODELS`: ``"knn"`` (Experiment 2), ``"knn-co-raters"``, ``"identity"``, ``"dnn"`` (the other experiments;
          needs PyTorch).
        - ``"package.module:name"``: what is imported from there, made with its defaults if it is a class.
        - An estimator: a transformer, clusterer or mixture runs on the matrix alone, a classifier or regressor
          learns `target`. A clone is fitted for each matrix. Clusters and predicted classes become 0/1 columns.
        - A function of the dense (m, n) matrix; one with a parameter ``observed`` is given the `ObservedMatrix` too, and one with a
          parameter ``keep`` a function, or None, to call with its `TrainedModel`, whose Lipschitz constant is then proved.
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
    likewise.errors.ModelError: unknown model 'kmn'; expected one of 'knn', 'knn-co-raters', 'identity', 'dnn', 'package.module:name'. Hint: did you mean 'knn'?
    """
    chosen = _named(model) if isinstance(model, str) else model
    if isinstance(chosen, type):
        raise ModelError(f"the class {chosen.__name__} as a model", f"an object of it: {chosen.__name__}()")
    if isinstance(chosen, KNNRecommender):
        chosen = NearestNeighborModel(chosen.n_neighbors, chosen.average)
    if isinstance(chosen, NearestNeighborModel):
        return chosen if target is None else replace(chosen, targets=target)
    if isinstance(chosen, DenseNetRecommender):
        chosen = DenseNetModel(chosen.settings, chosen.random_state)
    if isinstance(chosen, DenseNetModel) and target is None:
        chosen.ensure_usable()
        return chosen if chosen.random_state is not None else replace(chosen, random_state=random_state)
    if hasattr(chosen, "fit") and hasattr(chosen, "get_params"):
        return FunctionModel(str(chosen), run_estimator(chosen, target, random_state), predicts_entries=False)
    if not callable(chosen):
        raise ModelError(
            f"{chosen!r} as a model", "a name, a function of a matrix, or a scikit-learn estimator"
        )
    if target is not None:
        raise ModelError(f"a target for {chosen!r}", "an estimator, which can learn it")
    return chosen if isinstance(chosen, FunctionModel) else FunctionModel(_name_of(chosen), chosen)


def _named(name: str) -> Any:
    if ":" in name:
        return import_object(name)
    if name not in MODELS:
        raise ModelError(*unknown_name("model", name, [*MODELS, "package.module:name"]))
    return MODELS[name]


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "name", None) or getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C
        return False
