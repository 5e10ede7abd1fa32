"""K1 of a net that predicts each entry from its row and its column, such as the dense net of the paper's experiments.

The outputs of individual i are one vector, ``F(x) = (g(x, b_1), ..., g(x, b_n))`` at the row ``x = B_i``. The columns b_j are the same
for all individuals of one matrix, so two individuals of it differ in x alone.

With ReLU between layers and s after the last, ``g(x, b) = s(w . relu(... W_2 relu(W_r x + W_c b + c_1) ...))``. Between two rows,
each ReLU acts as a diagonal matrix D with entries in [0, 1], and ``D = (I + S) / 2`` with entries of S in [-1, 1]. The product
``w D_2 W_2 D_1 W_r`` is therefore the mean, over all ways to put I or S in the place of each D, of products of which each is bounded by the
norms of the stretches between two S. That is at most the product of the norms of all layers, and less where layers oppose each other
(Combettes, Pesquet, 2020). All n outputs share one bound K, each may reach it for the same pair of rows, and
``||F(x) - F(y)||_q <= n^(1/q) K ||x - y||_p``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import isfinite
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from likewise.certificates.certificate import Certificate, Unavailable
from likewise.certificates.models.layers import Activation, Layer, Linear, linear
from likewise.certificates.models.network import Bounded, network_constant
from likewise.certificates.operator_norm import product_upward, upward
from likewise.norms import norm_name

_OPEN = Activation("what a ReLU adds to half the identity", 1.0)
_MOST_MEANS = 6
"""How many ReLUs are split in two; there are 2 to that power ways, and the others count as what bounds them."""
_ROUNDINGS = 64

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
    """Prove the Lipschitz constant K1 of all n outputs of an individual as a function of its row.

    Parameters
    ----------
    net : EntryNet
    p, q : float
        Orders of the norms on the row and on the outputs.
    inputs : slice or array-like of int, optional
        Which entries of the row differ between individuals; all by default.

    Returns
    -------
    Certificate or Unavailable
    """
    layers = [linear(weights, "the net") for weights in net.row_layers]
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not a bound, see below
        single = _one_output(layers, p, inputs)
    n = net.shape[1]
    value = upward(product_upward(single.value, net.largest_slope, n ** (1 / q)), _ROUNDINGS)
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
