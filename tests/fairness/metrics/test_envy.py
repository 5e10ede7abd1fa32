"""Envy: by hand, against a naive reference, and what intervals of entries leave of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness import envy

SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed, m=12, n=15, length=4):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(n)[:length] for _ in range(m)]), rng.uniform(1, 5, (m, n))


def utility(row, listed):
    weights = [1 / np.log2(rank + 1) for rank in range(1, len(listed) + 1)]
    return sum(w * row[item] for w, item in zip(weights, listed, strict=True)) / sum(weights)


def test_by_hand():
    """Lists (0, 1), (1, 2), (2, 0) with weights 1 and w. Only the first is worse off, by the list of the third."""
    ratings = np.array([[1.0, 1.0, 4.0], [1.0, 5.0, 5.0], [3.0, 1.0, 5.0]])
    ends = lambda rows, columns: ratings[rows, columns][:, None] + [-0.5, 0.5]  # noqa: E731
    found = envy([[0, 1], [1, 2], [2, 0]], ratings, ends=ends, row_ids=["ann", "bea", "cy"])
    w = 1 / np.log2(3)
    gain = (4 + w * 1) / (1 + w) - 1
    assert (found.n_individuals, found.n_lists, found.drawn) == (3, 3, False)
    assert (found.share, found.mean) == pytest.approx((1 / 3, gain / 3))
    (pair,) = found.largest
    assert (pair.individual, pair.other, pair.difference) == ("ann", "cy", pytest.approx(gain))
    # Weights of (0, 1) less those of (2, 0): item 0 keeps 1 - w of 1, items 1 and 2 all they have.
    slack = 0.5 * ((1 - w) + w + 1) / (1 + w)
    assert (pair.low, pair.high) == pytest.approx((gain - slack, gain + slack))
    assert found.certain == pytest.approx(1 / 3)


@given(SEEDS)
def test_it_is_the_naive_search(seed):
    lists, ratings = drawn(seed)
    utilities = np.array([[utility(row, listed) for listed in lists] for row in ratings])
    gains = utilities.max(axis=1) - np.diag(utilities)
    found = envy(lists, ratings)
    assert found.share == pytest.approx(np.mean(gains > 1e-9))
    assert found.mean == pytest.approx(gains.mean())
    for pair in found.largest:
        assert pair.difference == pytest.approx(gains[pair.individual])
        assert utilities[pair.individual, pair.other] == pytest.approx(utilities[pair.individual].max())
    assert [pair.difference for pair in found.largest] == sorted(
        (p.difference for p in found.largest), reverse=True
    )


@given(SEEDS, st.floats(0, 2))
def test_ratings_within_their_intervals_keep_the_difference_between_its_ends(seed, width):
    lists, ratings = drawn(seed)
    rng = np.random.default_rng(seed + 1)
    halves = rng.uniform(0, width, ratings.shape)
    found = envy(lists, ratings, ends=lambda i, j: ratings[i, j][:, None] + halves[i, j][:, None] * [-1, 1])
    truth = ratings + halves * rng.uniform(-1, 1, ratings.shape)
    for pair in found.largest:
        assert pair.low <= pair.difference <= pair.high
        row = truth[pair.individual]
        true = utility(row, lists[pair.other]) - utility(row, lists[pair.individual])
        assert pair.low - 1e-9 <= true <= pair.high + 1e-9
    assert 0 <= found.certain <= found.share


@given(SEEDS)
def test_nobody_envies_where_all_have_one_list_or_the_best(seed):
    lists, ratings = drawn(seed)
    assert envy(np.repeat(lists[:1], len(lists), axis=0), ratings).share == 0
    best = np.argsort(-ratings, axis=1)[:, :4]
    found = envy(best, ratings)
    assert (found.share, found.mean, found.largest) == (0, 0, ())


def test_lists_that_are_equally_good_are_not_envied_for_rounding():
    ratings = np.full((3, 6), 0.1)
    assert envy([[0, 1, 2], [3, 4, 5], [5, 1, 0]], ratings).share == 0


def test_some_are_drawn_where_there_are_many_and_items_may_be_unknown():
    lists, ratings = drawn(0, m=40)
    found = envy(lists, ratings, most=10, random_state=3)
    assert (found.n_individuals, found.drawn) == (10, True)
    assert found == envy(lists, lambda people: ratings[people], most=10, random_state=3)
    some = envy(lists, ratings[:, :12], items=np.arange(12))
    assert some.n_unknown == np.count_nonzero(lists >= 12)


@pytest.mark.parametrize(
    ("lists", "ratings", "options", "error", "message"),
    [
        ([[0], [1]], np.ones((3, 2)), {}, ShapeError, r"ratings of shape \(3, 2\)"),
        ([[0], [1]], np.ones((2, 2)), {"items": ["a"]}, ShapeError, "ratings of shape"),
        ([["x"], [1]], np.ones((2, 2)), {}, InputError, "row 0, of which no item"),
        ([[0, 0], [0, 1]], np.ones((2, 2)), {}, DistanceError, "twice"),
        ([[0], [1]], np.ones((2, 2)), {"most": 0}, InputError, "most=0"),
    ],
)
def test_what_cannot_be_judged(lists, ratings, options, error, message):
    with pytest.raises(error, match=message):
        envy(lists, ratings, **options)
