"""Outputs with a line for each individual and item: by hand, in any order, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import ModelError
from likewise.observations.outputs import OutputLines


def lines(users, items, scores=None):
    return OutputLines(np.array(users), np.array(items), None if scores is None else np.array(scores), "here")


def test_every_score_of_everybody_is_a_matrix():
    found = lines(["bea", "ann", "bea", "ann"], ["x", "x", "y", "y"], [3.0, 1, 4, 2]).arranged(["ann", "bea"])
    assert (found.are_lists, found.names) == (False, ("x", "y"))
    assert found.values.tolist() == [[1, 2], [3, 4]]


def test_as_many_items_for_each_are_lists_the_best_first():
    found = lines(["bea", "ann", "bea", "ann"], ["x", "x", "y", "z"], [3.0, 1, 4, 2]).arranged(["ann", "bea"])
    assert (found.are_lists, found.names) == (True, ("item 1", "item 2"))
    assert found.values.tolist() == [["z", "x"], ["y", "x"]]
    bare = lines(["bea", "ann", "bea", "ann"], ["x", "x", "y", "z"]).arranged(["ann", "bea"])
    assert bare.values.tolist() == [["x", "z"], ["x", "y"]]


def test_lines_of_others_are_left_aside_with_their_items():
    found = lines(["ann", "cy", "ann", "bea", "bea"], [1, 9, 2, 2, 1], [0.1, 7, 0.2, 0.3, 0.4])
    assert found.arranged(["bea", "ann"]).values.tolist() == [[0.4, 0.3], [0.1, 0.2]]


@pytest.mark.parametrize(
    ("users", "items", "said"),
    [
        (["ann", "bea", "bea"], [1, 1, 2], "with 1 to 2 of 2 items for an individual"),
        (["ann", "bea", "bea"], [1, 1, 1], "the same individual and item twice"),
        (["ann"], [1], "none for 'bea'"),
    ],
)
def test_what_is_neither_is_refused(users, items, said):
    with pytest.raises(ModelError, match=said):
        lines(users, items, np.ones(len(users))).arranged(["ann", "bea"])


@given(st.randoms(use_true_random=False), st.integers(1, 5), st.integers(1, 4))
def test_the_order_of_the_lines_says_nothing(random, n_users, n_items):
    expected = np.arange(n_users * n_items, dtype=float).reshape(n_users, n_items)
    told = [(u, i, expected[u, i]) for u in range(n_users) for i in range(n_items)]
    random.shuffle(told)
    users, items, scores = zip(*told, strict=True)
    found = lines(users, items, scores).arranged(range(n_users))
    assert found.values.tolist() == expected.tolist()
