"""What d leaves of outputs, by hand and against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.fairness import RowDistance
from likewise.fairness.metrics.remainder import (
    Remainder,
    beside_others,
    in_their_units,
    landmarks,
    mean_differences,
    mirrors,
    mutually_defined,
    neighbor_means,
    remainder,
)


def between(people):
    return np.abs(np.subtract.outer(people, people))


def test_landmarks_by_hand():
    """Of 0, 1, 4, 10: 10 is farthest from all, 0 from 10, then 4 from both (4 and 6), then 1; a copy of 1 is none."""
    assert landmarks(between([0.0, 1.0, 4.0, 10.0, 1.0]), 5) == [3, 0, 2, 1]


def test_by_hand_two_columns():
    """Twenty people on a line, two landmarks at its ends: a line is taken away whole, and of a step what twins differ in is left."""
    people = np.repeat(np.arange(10.0), 2)
    left, nearness = remainder(between(people), 1)
    line, twins = 3 - 2 * people, np.tile([1.0, -1.0], 10)
    rest = left.of(np.column_stack([line, twins]))
    assert np.allclose(rest[:, 0], 0, atol=1e-12)
    assert np.allclose(rest[:, 1], 2 * twins)  # 1 less the twin's -1
    assert nearness == 0


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 6), ties=st.booleans())
def test_a_smooth_function_of_d_leaves_nothing_and_the_transposed_is_one(seed, k, ties):
    rng = np.random.default_rng(seed)
    people = rng.integers(8, size=60).astype(float) if ties else rng.normal(size=60)
    d = between(people)
    chosen = landmarks(d, 6)
    left, _ = remainder(d.copy(), k)
    assert np.allclose(left.of(d[:, chosen] @ rng.normal(size=len(chosen)) + 5), 0, atol=1e-9)
    y, g = rng.normal(size=(2, 60))
    assert left.of(y) @ g == pytest.approx(left.transposed(g) @ y, abs=1e-9)


def test_nearest_others_by_hand():
    """Of 0, 1, 3 with one nearest: 0 has 1, 1 has 0, 3 has 1; they are 1, 1 and 2 away where any two are 2 away."""
    means, nearness = neighbor_means(RowDistance([0.0, 1.0, 3.0]).block(0, 3), 1)
    assert means.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    assert nearness == pytest.approx((4 / 3) / 2)


def test_who_stands_beside_whom_by_hand():
    """Of three members one has another nearest, of two others one has a member: the larger share is a half; of a group apart it is 0."""
    means = sparse.csr_array(
        np.array([[0, 1, 0, 0, 0], [0.5, 0, 0.5, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1.0, 0]])
    )
    members = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]]).T
    assert beside_others(members.astype(float), means).tolist() == [1 / 2, 1 / 2]
    assert beside_others(
        np.array([[1.0, 1, 0, 0]]).T, sparse.csr_array(np.eye(4)[[1, 0, 3, 2]])
    ).tolist() == [0]


def test_leaving_out_by_hand():
    """Of 0 nothing is defined but to 1; 3 and 4 are not defined to each other; 0 goes first, then the first of two that tie."""
    undefined = [(0, 2), (0, 3), (0, 4), (3, 4)]
    distances = np.ones((5, 5))
    for i, j in undefined:
        distances[i, j] = distances[j, i] = np.nan
    assert mutually_defined(distances).tolist() == [1, 2, 4]


@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 0.5))
def test_all_distances_among_those_kept_are_defined_and_nobody_is_left_out_for_nothing(seed, share):
    rng = np.random.default_rng(seed)
    undefined = np.triu(rng.random((12, 12)) < share, 1)
    distances = np.where(undefined | undefined.T, np.nan, 1.0)
    kept = mutually_defined(distances)
    assert not np.isnan(distances[np.ix_(kept, kept)]).any()
    assert set(np.flatnonzero(~np.isnan(distances).any(axis=1))) <= set(kept)


def test_units_by_hand_three_columns():
    """From 2 to 6, a constant whose sum would round, and the largest numbers there are."""
    scaled, lengths = in_their_units(np.array([[2.0, 0.7, -1e308], [3.0, 0.7, 1e308], [6.0, 0.7, 0.0]]))
    assert scaled.tolist() == [[0, 0, 0], [0.25, 0, 1], [1, 0, 0.5]]
    assert lengths[:2].tolist() == [4, 0]


@given(values=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20))
def test_mean_difference_as_defined(values):
    n = len(values)
    pairs = [abs(values[i] - values[j]) for i in range(n) for j in range(i)]
    assert mean_differences(np.array(values)[:, None])[0] == pytest.approx(np.mean(pairs), abs=1e-9)


UNTOUCHED = Remainder(np.zeros((8, 8)), np.zeros((8, 1)))
"""Takes nothing away."""


def test_mirrors_by_hand_two_outputs():
    """Of three groups only the first pays: held against others with it among them, the second is above them, and is so no longer beside it."""
    group = np.array([0, 0, 1, 1, 1, 2, 2, 2])
    members = (group[:, None] == np.arange(3)) - np.array([2, 3, 3]) / 8
    noise = 0.01 * np.array([1, -1, 1, -1, 0, 1, 0, -1])
    paid = -1.0 * (group == 0) + noise
    outputs = np.column_stack([paid - paid.mean(), noise])
    assert members[:, 1] @ outputs[:, 0] > 0.3  # as if the second group had more
    assert mirrors([0, 1], outputs, members, UNTOUCHED, 2.0, np.full(2, 0.1)) == [1]


def test_what_a_group_has_of_its_own_is_no_mirror():
    group = np.array([0, 0, 1, 1, 1, 2, 2, 2])
    members = (group[:, None] == np.arange(3)) - np.array([2, 3, 3]) / 8
    paid = -1.0 * (group == 0) + 0.5 * (group == 1) + 0.01 * np.array([1, -1, 1, -1, 0, 1, 0, -1])
    outputs = (paid - paid.mean())[:, None]
    assert mirrors([0, 1], outputs, members, UNTOUCHED, 2.0, np.array([0.1])) == []
    assert mirrors([0, 1], outputs, members, UNTOUCHED, 2.0, np.array([0.6])) == [1]  # 0.5 is too little
    assert mirrors([0, 1, 2], outputs, members, UNTOUCHED, 2.0, np.array([0.1])) == [2]  # all others stand
