"""The Lipschitz constant of layers after one another: the product of their exact operator norms and slopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import inf, isfinite
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.certificates.certificate import Certificate, Unavailable
from likewise.certificates.models.layers import (
    Activation,
    Layer,
    Linear,
    NoBoundError,
    Scaling,
    Softmax,
    fused,
    linear,
    restricted,
)
from likewise.certificates.operator_norm import (
    POWER_ROUNDINGS,
    largest_norm,
    operator_norm,
    product_upward,
    upward,
)
from likewise.errors import InputError
from likewise.norms import conversion, dual_order, norm_name

_PRODUCT = "the constant of functions after one another is at most the product of theirs"


@dataclass(frozen=True)
class Bounded:
    """A constant, the steps of its proof, and the dimensions where the layers tell them."""

    value: float
    steps: tuple[str, ...]
    n_inputs: int | None
    n_outputs: int | None


def network_constant(
    layers: list[Layer], p: float, q: float, inputs: slice | ArrayLike | None = None
) -> Bounded:
    """Bound ``||f(x) - f(y)||_q`` by ``||x - y||_p`` for layers that follow one another.

    The first layer that mixes features is taken from lp to l2, the last from l2 to lq, those between from l2 to l2; or all with lp or
    lq in the place of l2, whichever gives least. A single one is taken from lp to lq. `inputs` are those that differ between individuals; the
    others are held fixed. NoBoundError if a bound needs a dimension that the layers do not tell, or the layers do not fit each other.
    """
    n_inputs, n_outputs = _dimensions(layers)
    sequence = fused(layers)
    mixing = [k for k, layer in enumerate(sequence) if not isinstance(layer, Activation)]
    if not mixing:
        return _without_mixing(sequence, p, q)
    if inputs is not None and n_inputs is not None:
        varying = chosen(inputs, n_inputs)
        n_inputs, sequence[mixing[0]] = varying.size, restricted(sequence[mixing[0]], varying)
    # Any norm may stand between two layers, and every choice gives a bound.
    value, steps = min(_through(hub, sequence, len(mixing), p, q) for hub in dict.fromkeys((2.0, p, q)))
    return Bounded(value, (*steps, _PRODUCT), n_inputs, n_outputs)


def _through(
    hub: float, sequence: list[Layer], n_mixing: int, p: float, q: float
) -> tuple[float, tuple[str, ...]]:
    between = [hub] * (n_mixing - 1)
    bounds = list(_bounds(sequence, zip([p, *between], [*between, q], strict=True)))
    value = product_upward(*(factor for factor, _ in bounds))
    return value, tuple(f"{step}: {factor:.4g}" for factor, step in bounds)


def _bounds(sequence: list[Layer], norms: Iterator[tuple[float, float]]) -> Iterator[tuple[float, str]]:
    for layer in sequence:
        match layer:
            case Activation():
                yield layer.slope, f"{layer.name}, largest slope"
            case Linear():
                yield _linear_bound(layer, *next(norms))
            case Scaling():
                yield _scaling_bound(layer.factors, *next(norms))
            case Softmax():
                yield _softmax_bound(layer.scores, *next(norms))


def _linear_bound(layer: Linear, p: float, q: float) -> tuple[float, str]:
    value, words = operator_norm(layer.matrix, p, q)
    k, n = layer.matrix.shape
    # Rounding is known in the Frobenius norm, at least the l2 norm; norm inequalities take it from lp to
    # lq.
    error = layer.rounding * conversion(p, 2, n) * conversion(2, q, k)
    return upward(value + error, POWER_ROUNDINGS), f"linear {n} -> {k}, {words} (l{p:g} to l{q:g})"


def _scaling_bound(factors: Floats, p: float, q: float) -> tuple[float, str]:
    """Bound ``||factors * x||_q`` by ``||x||_p``: the largest factor, or where q < p their lr norm, 1/r = 1/q - 1/p (Hölder)."""
    order = inf if q >= p else 1 / (1 / q - 1 / p)
    value = upward(largest_norm(factors[None, :], order), POWER_ROUNDINGS)
    return value, f"scaling of {factors.size} features, l{order:g} norm of the factors"


def _softmax_bound(scores: Linear | None, p: float, q: float) -> tuple[float, str]:
    """Bound softmax of ``W x + b``: ``2^(1/q) / 4`` times the largest dual norm of a difference of two rows of W.

    With u = W dx and probabilities s, a change moves s by ``v_a = s_a (u_a - mean_s u)``. ``||v||_1`` is the mean absolute deviation of u
    under s, at most half the range of u (Popoviciu). As v sums to zero, its positive and its negative part have l1 norm
    ``||v||_1 / 2`` each, so ``||v||_q <= 2^(1/q) ||v||_1 / 2``. The range of u is the largest ``|(w_b - w_c) . dx|``.
    """
    spread, words = (2 ** (1 / dual_order(p)), "scores") if scores is None else _spread(scores, dual_order(p))
    value = upward(product_upward(2 ** (1 / q) / 4, spread), POWER_ROUNDINGS)
    return value, f"softmax of {words} (l{p:g} to l{q:g}), 2^(1/q)/4 times their largest spread"


def _spread(scores: Linear, order: float) -> tuple[float, str]:
    rows, error = scores.matrix, 2 * scores.rounding * conversion(2, order, scores.matrix.shape[1])
    differences = [largest_norm(rows[k + 1 :] - rows[k], order) for k in range(len(rows) - 1)]
    return max(differences, default=0.0) + error, f"linear {rows.shape[1]} -> {rows.shape[0]}"


def _without_mixing(activations: list[Layer], p: float, q: float) -> Bounded:
    """Bound functions that act on each feature alone; a norm inequality would need the number of features."""
    if q < p:
        raise NoBoundError(f"from l{p:g} to l{q:g} a bound needs the number of features")
    slopes = [layer for layer in activations if isinstance(layer, Activation)]
    value = product_upward(*(layer.slope for layer in slopes)) if slopes else 1.0
    steps = tuple(f"{layer.name}, largest slope: {layer.slope:.4g}" for layer in slopes)
    return Bounded(value, steps or ("the identity moves nothing",), None, None)


def chosen(inputs: slice | ArrayLike, n_inputs: int) -> NDArray[np.intp]:
    """Return the positions of the chosen inputs; InputError if they cannot be chosen from so many, or there is none."""
    try:
        positions = np.arange(n_inputs)[inputs if isinstance(inputs, slice) else np.asarray(inputs)]
    except (IndexError, TypeError) as error:
        raise InputError(
            f"inputs {inputs!r}", f"positions among the {n_inputs} inputs of the model"
        ) from error
    if np.size(positions) == 0:
        raise InputError(f"inputs {inputs!r}", "at least one input that differs")
    return np.atleast_1d(positions)


def _dimensions(layers: list[Layer]) -> tuple[int | None, int | None]:
    """Return the number of inputs and of outputs, where known, of layers that must fit each other."""
    known = [size for size in map(_size, layers) if size is not None]
    for (_, outputs), (inputs, _) in pairwise(known):
        if outputs != inputs:
            raise NoBoundError(f"a layer of {outputs} outputs is followed by one of {inputs} inputs")
    return (known[0][0], known[-1][1]) if known else (None, None)


def _size(layer: Layer) -> tuple[int, int] | None:
    match layer:
        case Linear():
            return layer.matrix.shape[1], layer.matrix.shape[0]
        case Scaling():
            return layer.factors.size, layer.factors.size
    return None


_OPEN = Activation("what a ReLU adds to half the identity", 1.0)
_MOST_MEANS = 6
"""How many ReLUs are split in two; there are 2 to that power ways, and the others count as what bounds them."""

_SAME_COLUMNS = "both individuals belong to one matrix, whose columns are inputs beside their rows"
_SHARED = "every output has this constant, and all may reach it together: times n^(1/q)"


@runtime_checkable
class EntryNet(Protocol):
    """A net that predicts entry (i, j) of a matrix from row i and column j."""

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix: m and n."""

    @property
    def row_layers(self) -> Sequence[Any]:
        """Weights through which the row acts, shape (n_outputs, n_inputs) each: n inputs of the first, one output of the last."""

    @property
    def largest_slope(self) -> float:
        """Of the function after the last layer."""


def entry_net_constant(
    net: EntryNet, p: float, q: float, inputs: slice | ArrayLike | None = None
) -> Certificate | Unavailable:
    """Prove the Lipschitz constant K1, from lp to lq, of all n outputs of an individual as a function of its row.

    `inputs` are the entries of the row that differ between individuals; all by default.
    """
    layers = [linear(weights, "the net") for weights in net.row_layers]
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not a bound, see below
        single = _one_output(layers, p, inputs)
    n = net.shape[1]
    value = upward(product_upward(single.value, net.largest_slope, n ** (1 / q)), POWER_ROUNDINGS)
    if not isfinite(value):
        return Unavailable("K1", "the product of its norms is larger than the largest number")
    return Certificate(
        name="K1",
        value=value,
        from_norm=norm_name(p),
        to_norm=norm_name(q),
        function="from the row of an individual to its predictions for all columns",
        assumptions=(_SAME_COLUMNS,),
        proof=(
            *single.steps,
            f"last function, largest slope: {net.largest_slope:.4g}",
            f"{_SHARED}: {n ** (1 / q):.4g}",
        ),
        n_inputs=single.n_inputs,
        n_outputs=n,
    )


def _one_output(layers: list[Linear], p: float, inputs: slice | ArrayLike | None) -> Bounded:
    """Bound the number that comes out of layers with ReLU between them, per ``||x - y||_p``."""
    # ReLU(x) = (x + |x|) / 2, the mean of the identity and of a contraction. So the net is the mean over
    # all ways to take one of them for each ReLU, its constant at most the mean of theirs; where the
    # identity is taken, two matrices are multiplied, whose norm is at most the product of theirs.
    patterns = list(product((True, False), repeat=min(len(layers) - 1, _MOST_MEANS)))
    bounds = [network_constant(_with_gaps(layers, pattern), p, 2.0, inputs) for pattern in patterns]
    mean = upward(sum(bound.value for bound in bounds) / len(bounds), len(bounds) + 1)
    words = (
        f"mean over {len(bounds)} ways to put the identity or another contraction for each ReLU: {mean:.4g}"
    )
    return replace(bounds[0], value=mean, steps=(*bounds[0].steps, words))


def _with_gaps(layers: list[Linear], pattern: tuple[bool, ...]) -> list[Layer]:
    """Put a function of slope 1 after each layer where the pattern says so, and after those beyond it; others are multiplied."""
    gaps = (*pattern, *(True,) * (len(layers) - 1 - len(pattern)))
    sequence: list[Layer] = [layers[0]]
    for is_open, layer in zip(gaps, layers[1:], strict=True):
        sequence += [_OPEN, layer] if is_open else [layer]
    return sequence
