"""A model as the sequence of its layers, whatever library it comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from math import frexp, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.certificates.operator_norm import SMALLEST, gamma, largest_norm, product_upward, upward
from likewise.errors import ModelError

_SCALING_ROUNDINGS = 8
"""Roundings granted to a factor that was itself computed, such as ``weight / sqrt(variance + epsilon)``."""


class NoBoundError(Exception):
    """A model that has no bound or none that is known; the message says why. It never leaves `model_constant`."""


@dataclass(frozen=True, eq=False)
class Linear:
    """``x -> W x + b``, W of shape (n_outputs, n_inputs); b moves all outputs alike and is not kept."""

    matrix: Floats
    # bound on the Frobenius norm of the error in `matrix`, where it was computed from weights
    rounding: float = 0.0

    @property
    def frobenius(self) -> float:
        """Upper bound on the Frobenius norm, rounding included."""
        return largest_norm(self.matrix.reshape(1, -1), 2.0) + self.rounding


@dataclass(frozen=True, eq=False)
class Scaling:
    """``x -> factors * x``, feature by feature; shape (n,)."""

    factors: Floats


@dataclass(frozen=True)
class Activation:
    """A function of one number, applied to each; its slope is at most `slope` in magnitude, so it is Lipschitz in every lq norm."""

    name: str
    slope: float
    assumption: str = ""  # what is taken for granted; empty if nothing


@dataclass(frozen=True, eq=False)
class Softmax:
    """Softmax of the scores ``W x + b``; without W, of its inputs."""

    scores: Linear | None = None


Layer = Linear | Scaling | Activation | Softmax


def linear(weights: Any, name: str) -> Linear:
    """Make a linear layer of the weights of a model, dense or sparse, one row for each output; ModelError if one is not finite."""
    dense = weights.toarray() if hasattr(weights, "toarray") else weights
    return Linear(np.atleast_2d(finite(dense, name)))


def finite(weights: Any, name: str) -> Floats:
    """Return weights in double precision; ModelError if they are complex, or one is not finite."""
    if np.iscomplexobj(weights):
        raise ModelError(f"{name} with complex weights", "real ones")
    values = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ModelError(f"{name} with weights that are NaN or infinite", "finite weights", "was it trained?")
    return values


def scaling(factors: Any, name: str) -> Scaling:
    """Make a scaling of factors, which must be finite."""
    return Scaling(np.atleast_1d(finite(factors, name)))


def fused(layers: list[Layer]) -> list[Layer]:
    """Multiply linear layers that follow one another, and put each softmax on the scores that it turns into probabilities.

    The norm of a product is at most the product of the norms, and often far smaller.
    """
    return reduce(_append, layers, [])


def _append(done: list[Layer], layer: Layer) -> list[Layer]:
    merged = _merge(done[-1], layer) if done else None
    return [*done, layer] if merged is None else [*done[:-1], merged]


def _merge(first: Layer, second: Layer) -> Layer | None:
    match first, second:
        case Linear(), Linear():
            return _product(second, first)
        case Linear(), Scaling():
            return _scaled(first, second.factors[:, None])
        case Scaling(), Linear():
            return _scaled(second, first.factors)
        case Scaling(), Scaling():
            return Scaling(_without_vanishing(first.factors, second.factors))
        case Linear(), Softmax(scores=None):
            return Softmax(first)
    return None


def _product(after: Linear, before: Linear) -> Linear:
    """Multiply, entries brought near 1 by exact powers of two so that no product of them vanishes."""
    size_after, size_before = after.frobenius, before.frobenius
    first, second = (frexp(size)[1] if isfinite(size) else 0 for size in (size_after, size_before))
    near_one = np.ldexp(after.matrix, -first) @ np.ldexp(before.matrix, -second)
    # Scaling back rounds what is below the normal range: the entries are off by the smallest number at most.
    matrix = np.ldexp(near_one, first + second)
    vanishing = SMALLEST * matrix.size if min(size_after, size_before) > 0 else 0.0
    rounding = product_upward(gamma(after.matrix.shape[1] + 4), size_after, size_before)
    inherited = product_upward(after.rounding, size_before) + product_upward(size_after, before.rounding)
    return Linear(matrix, upward(rounding + inherited + vanishing, 8))


def _scaled(layer: Linear, factors: Floats) -> Linear:
    with np.errstate(under="ignore"):
        product = Linear(layer.matrix * factors)
    vanishing = SMALLEST * layer.matrix.size if factors.any() and layer.matrix.any() else 0.0
    inherited = product_upward(layer.rounding, float(np.abs(factors).max())) + vanishing
    return replace(product, rounding=upward(inherited + gamma(_SCALING_ROUNDINGS) * product.frobenius, 8))


def _without_vanishing(first: Floats, second: Floats) -> Floats:
    """Multiply factors one by one; a product of two that are not 0 is not 0."""
    product = first * second
    vanished = (product == 0) & (first != 0) & (second != 0)
    return np.where(vanished, SMALLEST, product)


def restricted(layer: Layer, inputs: NDArray[np.intp]) -> Layer:
    """Return the layer as a function of some of its inputs, the others held fixed."""
    match layer:
        case Linear():
            return replace(layer, matrix=layer.matrix[:, inputs])
        case Scaling():
            return Scaling(layer.factors[inputs])
        case Softmax(scores=Linear() as scores):
            return Softmax(replace(scores, matrix=scores.matrix[:, inputs]))
    return layer
