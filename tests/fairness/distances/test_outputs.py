"""Total variation: by hand and against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DistanceError
from likewise.fairness import total_variation_distance


def pair(distance):
    return distance.between(np.array([0]), np.array([1]))[0]


def test_total_variation_by_hand():
    assert pair(total_variation_distance([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]])) == pytest.approx(0.3)
    assert pair(total_variation_distance([[1.0, 0.0], [0.0, 1.0]])) == 1
    assert pair(total_variation_distance([0.25, 0.75])) == 0.5


@given(st.integers(0, 2**32 - 1))
def test_total_variation_is_the_largest_difference_of_any_event(seed):
    p, q = np.random.default_rng(seed).dirichlet(np.ones(6), 2)
    events = (np.arange(64)[:, None] >> np.arange(6)) & 1
    assert pair(total_variation_distance([p, q])) == pytest.approx(np.abs(events @ (p - q)).max())


@pytest.mark.parametrize(
    "rows", [[[0.5, 0.6], [0.5, 0.5]], [[-0.1, 1.1], [0.5, 0.5]], [1.2, 0.5], [[0.0, 0.0], [1.0, 0.0]]]
)
def test_what_is_no_distribution(rows):
    with pytest.raises(DistanceError, match="row 0"):
        total_variation_distance(rows)


def test_single_precision_probabilities_are_taken():
    logits = np.random.default_rng(0).standard_normal((5, 1000)).astype(np.float32)
    softmax = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert softmax.dtype == np.float32
    assert total_variation_distance(softmax).n_individuals == 5
