"""torch modules as layers, recognised by module and class name: torch itself is not imported.

A net has a bound where it is a `Sequential` of layers whose constants are known, in evaluation mode. The forward pass of any other
module is code that nobody can bound from outside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import erf, exp, inf, isfinite, log1p, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.certificates.models.layers import (
    Activation,
    Layer,
    NoBoundError,
    Softmax,
    finite,
    linear,
    scaling,
)

_GELU_SLOPE = (1 + erf(1)) / 2 + exp(-1) / sqrt(pi)
"""``Phi(x) + x phi(x)`` is largest at x = sqrt 2, where its derivative ``(2 - x^2) phi(x)`` vanishes; below that of -0.13."""

_SOFTPLUS_THRESHOLD = 20
"""torch's own: the step there is 2e-9 of beta x = 20, a five-hundredth of what single precision resolves."""

_MODULE_BASE = "torch.nn.modules.module"

_SLOPES: dict[str, Callable[[Any], float]] = {
    "ReLU": lambda _: 1.0,
    "ReLU6": lambda _: 1.0,
    "Tanh": lambda _: 1.0,
    "Hardtanh": lambda _: 1.0,
    "Softsign": lambda _: 1.0,
    "LogSigmoid": lambda _: 1.0,
    "Sigmoid": lambda _: 0.25,
    "LeakyReLU": lambda layer: max(1.0, abs(layer.negative_slope)),
    "ELU": lambda layer: max(1.0, abs(layer.alpha)),
    "PReLU": lambda layer: max(1.0, float(np.abs(_weights(layer.weight, "PReLU")).max())),
    "SiLU": lambda _: 1.1,  # 1.0998... at x = 2.3994...
    "GELU": lambda layer: _gelu_slope(layer.approximate),
}


def is_torch(model: object) -> bool:
    """Whether the object is a torch module, of torch's own class or of one derived from it."""
    return any(base.__module__.startswith("torch.nn.modules") for base in type(model).__mro__)


def torch_layers(module: Any) -> list[Layer]:
    """Return the layers of a net in the order in which they run.

    NoBoundError names the layer that has no known bound; ModelError if a weight is not finite.
    """
    name = type(module).__name__
    _ensure_plain(module, name)
    if name == "Sequential":
        return [layer for part in module for layer in torch_layers(part)]
    if name in _SLOPES:
        return [Activation(name, _SLOPES[name](module))]
    if name in _READERS:
        return _READERS[name](module)
    raise NoBoundError(f"none is known for the layer {name}")


_OVERRIDING = ("forward", "_call_impl", "_wrapped_call_impl")
"""Attributes which, set on one module, run in the place of what its class says."""

_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks")


def _ensure_plain(module: Any, name: str) -> None:
    """Refuse what computes something else than its class says."""
    kind = type(module)
    if not kind.__module__.startswith("torch.nn.modules"):
        raise NoBoundError(f"none is known for the layer {name}, whose forward pass is custom code")
    if not kind.forward.__module__.startswith("torch.nn.modules"):
        raise NoBoundError(f"the forward pass of {name} was replaced by custom code")
    if (
        module._forward_hooks
        or module._forward_pre_hooks
        or any(part in vars(module) for part in _OVERRIDING)
    ):
        raise NoBoundError(f"the layer {name} has hooks, which can change what it computes")
    every_module = sys.modules[_MODULE_BASE]
    if any(getattr(every_module, hooks, None) for hooks in _GLOBAL_HOOKS):
        raise NoBoundError("torch has global hooks, which can change what every layer computes")


def _softplus(module: Any) -> list[Layer]:
    """Softplus is ``log(1 + exp(beta x)) / beta``, of slope 1 at most, up to its threshold and x beyond it: a jump by ``log(1 + exp(-threshold)) / beta``."""
    jump = log1p(exp(-module.threshold)) / abs(module.beta) if module.beta else inf
    if not module.threshold >= _SOFTPLUS_THRESHOLD or not isfinite(jump):
        raise NoBoundError(
            f"Softplus(beta={module.beta:g}, threshold={module.threshold:g}) jumps by {jump:.2g} at its threshold"
        )
    return [
        Activation("Softplus", 1.0, f"a step of {jump:.1g} of Softplus at its threshold counts as rounding")
    ]


def _linear(module: Any) -> list[Layer]:
    return [linear(_weights(module.weight, "Linear"), "Linear")]


def _dropout(module: Any) -> list[Layer]:
    _ensure_evaluation(module)
    return []


def _flatten(module: Any) -> list[Layer]:
    if module.start_dim != 1:
        raise NoBoundError(
            f"Flatten from dim={module.start_dim}: only dim=1, within an individual, has a bound"
        )
    return []


def _batch_norm(module: Any) -> list[Layer]:
    _ensure_evaluation(module)
    if module.running_var is None:
        raise NoBoundError("BatchNorm1d without running statistics depends on who else is in the batch")
    factors = 1 / np.sqrt(_weights(module.running_var, "BatchNorm1d") + module.eps)
    gain = 1.0 if module.weight is None else _weights(module.weight, "BatchNorm1d")
    return [scaling(factors * gain, "BatchNorm1d")]


def _ensure_evaluation(module: Any) -> None:
    if module.training:
        raise NoBoundError(
            f"the layer {type(module).__name__} is in training mode; call eval() on the net first"
        )


def _softmax(module: Any) -> list[Layer]:
    if module.dim not in (1, -1):
        raise NoBoundError(
            f"Softmax over dim={module.dim}: only dim=1 or -1, the outputs of one individual, have a bound"
        )
    return [Softmax()]


def _gelu_slope(approximate: str) -> float:
    if approximate != "none":
        raise NoBoundError(f"none is known for GELU(approximate={approximate!r})")
    return _GELU_SLOPE


def _weights(tensor: Any, name: str) -> NDArray[np.float64]:
    values = tensor.detach().cpu()
    return finite((values if values.is_complex() else values.double()).numpy(), name)


_READERS: dict[str, Callable[[Any], list[Layer]]] = {
    "Softplus": _softplus,
    "Linear": _linear,
    "BatchNorm1d": _batch_norm,
    "Softmax": _softmax,
    "Flatten": _flatten,
    "Identity": lambda _: [],
    **dict.fromkeys(("Dropout", "AlphaDropout", "FeatureAlphaDropout"), _dropout),
}
