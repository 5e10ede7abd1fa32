"""K1 of nets that predict entries: by hand, never exceeded, at most the product of the layers."""

from dataclasses import dataclass
from itertools import pairwise
from math import prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from likewise.certificates import Certificate, Unavailable, model_constant
from likewise.certificates.models.network import EntryNet
from likewise.errors import InputError, ModelError

METRICS = {"l1": "cityblock", "l2": "euclidean", "linf": "chebyshev"}


@dataclass
class Net:
    """Layers on the row, and what the columns add to the first of them."""

    row_layers: list
    shape: tuple
    largest_slope: float = 0.5
    from_columns: np.ndarray | None = None

    def outputs(self, rows):
        hidden = rows[:, None, :] @ self.row_layers[0].T + self.from_columns[None]
        for weights in self.row_layers[1:]:
            hidden = np.maximum(hidden, 0) @ weights.T
        return np.tanh(self.largest_slope * hidden[:, :, 0])


def a_net(seed, hidden, n, size=1.0):
    rng = np.random.default_rng(seed)
    sizes = [n, *hidden, 1]
    layers = [size * rng.normal(size=(after, before)) for before, after in pairwise(sizes)]
    return Net(layers, (9, n), 0.5, rng.normal(size=(n, hidden[0])))


def test_by_hand():
    """Norms 4 and sqrt 2 give 4 sqrt 2, the product (3, -4) has norm 5: their mean, slope 1/2, nine outputs that may move together."""
    net = Net([np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([[1.0, -1.0]])], (5, 9))
    assert isinstance(net, EntryNet)
    single = (4 * sqrt(2) + 5) / 2 / 2
    found = model_constant(net)
    assert found.value == pytest.approx(3 * single, rel=1e-12)
    assert (found.n_inputs, found.n_outputs, found.from_norm, found.to_norm) == (2, 9, "l2", "l2")
    assert model_constant(net, to_norm="linf").value == pytest.approx(single, rel=1e-12)
    assert model_constant(net, to_norm="l1").value == pytest.approx(9 * single, rel=1e-12)
    # In l1 the first layer has its largest column, 4, the last its largest entry, 1, and the product 4.
    assert model_constant(net, from_norm="l1").value == pytest.approx(3 * (4 * 1 + 4) / 2 / 2, rel=1e-12)


def test_three_layers_by_hand():
    """Layers 2, (1, 1), each of the 4 ways: all apart, first two together, last two together, all together."""
    first, second, last = np.array([[2.0], [0.0]]), np.array([[1.0, 1.0]]), np.array([[3.0]])
    apart, first_two, last_two, together = 2 * sqrt(2) * 3, 2 * 3, 2 * 3 * sqrt(2), 6
    found = model_constant(Net([first, second, last], (4, 1), 1.0))
    assert found.value == pytest.approx((apart + first_two + last_two + together) / 4, rel=1e-12)
    assert any("4 ways" in step for step in found.proof)


def test_only_some_entries_of_the_row_differ():
    net = Net([np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([[1.0, -1.0]])], (5, 9))
    found = model_constant(net, inputs=[0])
    assert found.value == pytest.approx(3 * (3 * sqrt(2) + 3) / 2 / 2, rel=1e-12)
    assert found.n_inputs == 1
    with pytest.raises(InputError, match="positions among the 2 inputs"):
        model_constant(net, inputs=[2])


@given(
    seed=st.integers(0, 999),
    hidden=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    norms=st.sampled_from([("l2", "l2"), ("l1", "l2"), ("l1", "l1"), ("linf", "linf"), ("l2", "linf")]),
    size=st.sampled_from([0.1, 1.0, 3.0]),
)
def test_no_pair_exceeds_it(seed, hidden, norms, size):
    net = a_net(seed, hidden, 5, size)
    rng = np.random.default_rng(seed)
    base = rng.uniform(-1, 1, (12, 5))
    rows = np.vstack((base, base + 1e-3 * rng.normal(size=base.shape)))
    found = model_constant(net, from_norm=norms[0], to_norm=norms[1])
    assert isinstance(found, Certificate)
    d, D = pdist(rows, METRICS[norms[0]]), pdist(net.outputs(rows), METRICS[norms[1]])
    assert found.holds_for(d, D, slack=1e-12).holds


@given(seed=st.integers(0, 999), hidden=st.lists(st.integers(1, 8), min_size=1, max_size=8))
def test_is_at_most_the_product_of_the_layers(seed, hidden):
    net = a_net(seed, hidden, 4)
    whole = prod(np.linalg.norm(weights, 2) for weights in net.row_layers) * 0.5 * 2
    assert model_constant(net).value <= whole * (1 + 1e-9)


def test_is_reached_where_all_units_work_alike():
    """One unit that stays open, and outputs in the middle of the sigmoid: all n move by the full slope."""
    net = Net([np.array([[1.0, 0.0]]), np.array([[1.0]])], (3, 4), 0.5, np.full((4, 1), 1e-4))
    D = np.linalg.norm(np.diff(net.outputs(np.array([[0.0, 0.0], [1e-4, 0.0]])), axis=0))
    assert model_constant(net).value * 1e-4 == pytest.approx(D, rel=1e-6)


def test_what_is_no_bound_is_said():
    huge = Net([np.full((2, 2), 1e200), np.full((1, 2), 1e200)], (3, 2))
    assert isinstance(model_constant(huge), Unavailable)
    with pytest.raises(ModelError, match="NaN or infinite"):
        model_constant(Net([np.array([[np.nan]])], (3, 1)))
