"""The inference algorithm h: features and targets in, an output for every entry out, and its K1 where it can be proved."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.certificates import Certificate, Unavailable, model_constant
from likewise.checks import checked_instance
from likewise.errors import LikewiseError, ModelError, unknown_name
from likewise.inference import MODELS
from likewise.inference.registry import import_object
from likewise.observations.outputs import checked_outputs

Features = Floats | sparse.csr_array

DENSE_NET = "dnn"
"""The net of Section 6."""


@dataclass(frozen=True, eq=False)
class Inferred:
    """The outputs of the algorithm on one complete matrix.

    Parameters
    ----------
    outputs : ndarray, shape (m, n)
        On the method's working range.
    constant : Certificate or Unavailable
        K1 from l2 to l2, of the algorithm as it was trained.
    printed_error : float or None
        What the released code prints as the error, where that is not the error of the outputs.
    compared : ndarray, shape (m, n), or None
        Rows that the released code measures d on, where they are not the features.
    """

    outputs: Floats
    constant: Certificate | Unavailable
    printed_error: float | None = None
    compared: Floats | None = None


def as_dense(features: Features) -> Floats:
    """Return features as an array; what a sparse one does not store is 0."""
    return features if isinstance(features, np.ndarray) else np.asarray(features.toarray(), dtype=np.float64)


Algorithm = Callable[[Features, sparse.csr_array, int], Inferred]
"""Called with (features, targets, random_state); targets are stored at the entries to learn from, and nowhere else."""


def resolve_algorithm(name: str) -> Algorithm:
    """Return the algorithm that a name stands for: ``"dnn"``; a name of `likewise.inference.MODELS`, which learns from no targets; or ``package.module:name``.

    The last is a function ``(features, targets, *, random_state)`` that returns outputs, or `Inferred`. ModelError for what is unknown or not
    to be imported; MissingDependencyError where the net needs PyTorch, with the command that installs it.
    """
    checked_instance(
        "model", name, str, "a name of likewise.inference.MODELS, or package.module:name", error=ModelError
    )
    if name == DENSE_NET:
        return _dense_net()
    if name in MODELS:
        return lambda features, _, __: Inferred(MODELS[name](features), _constant_of(name))
    if ":" in name:
        return _imported(name)
    raise ModelError(*unknown_name("model", name, [*MODELS, "package.module:name"]))


def _dense_net() -> Algorithm:
    from likewise.inference.net.dense_net import train_dense_net
    from likewise.inference.net.training import NetSettings, import_torch

    # Fails now, not within the first simulation.
    import_torch()
    # Sums of several threads are rounded in an order that depends on the machine.
    settings = NetSettings(n_threads=1)

    def run(features: Features, targets: sparse.csr_array, random_state: int) -> Inferred:
        net = train_dense_net(features, targets, settings=settings, random_state=random_state)
        return Inferred(net.predict_all(features), model_constant(net))

    return run


def _constant_of(name: str) -> Certificate | Unavailable:
    if name == "identity":
        return model_constant("identity")
    return Unavailable("K1", f"none is known for {name}")


def _imported(path: str) -> Algorithm:
    function = import_object(path)
    if not callable(function):
        raise ModelError(f"{path}, which is {type(function).__name__}", "a function of features and targets")
    unknown = Unavailable("K1", f"none is known for {path}")

    def run(features: Features, targets: sparse.csr_array, random_state: int) -> Inferred:
        found = _call(function, path, features, targets, random_state)
        if isinstance(found, Inferred):
            return found
        outputs = checked_outputs(found, features.shape[0], path)
        if outputs.shape != features.shape:
            raise ModelError(f"outputs of shape {outputs.shape} from {path}", f"{features.shape}")
        return Inferred(outputs, unknown)

    return run


def _call(
    function: Callable[..., Any],
    path: str,
    features: Features,
    targets: sparse.csr_array,
    random_state: int,
) -> Any:
    taken = inspect.signature(function).parameters
    extra = {"random_state": random_state} if "random_state" in taken else {}
    try:
        return function(features, targets, **extra)
    except LikewiseError:
        raise
    except Exception as error:  # code of others can fail in any way
        raise ModelError(
            f"{path} failed with {type(error).__name__}: {error}", "a model that runs"
        ) from error
