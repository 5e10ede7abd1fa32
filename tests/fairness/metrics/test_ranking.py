"""nDCG and recall of lists: by hand, against scikit-learn and a naive reference, and what cannot be held against one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from likewise import ObservedMatrix
from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness import ranking_accuracy

nan = np.nan
SEEDS = st.integers(0, 2**32 - 1)


def values(found):
    return {name: one.value for name, one in found.values.items()}


def drawn(seed, m=14, n=20, length=6):
    """Ratings from 1 to 5, of which each has some, and lists that need not hold rated items."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, (m, n)).astype(float)
    ratings[rng.random((m, n)) < 0.5] = nan
    ratings[:, 0] = 5.0
    return ratings, np.array([rng.permutation(n)[:length] for _ in range(m)])


def test_by_hand():
    """Gains of the first 4, 0, 2 (rated 5, 1, 3), of the second none but 4 of item 2. Lists (2, 0) and (0, 1)."""
    ratings = ObservedMatrix(np.array([[5.0, 1.0, 3.0], [nan, nan, 5.0]]), value_range=(1, 5))
    found = ranking_accuracy([[2, 0], [0, 1]], ratings)
    second = 1 / np.log2(3)
    first = (2 + 4 * second) / (4 + 2 * second)
    assert values(found) == pytest.approx({"nDCG": (first + 0) / 2, "recall": (1 + 0) / 2})
    assert (found.n, found.n_unknown, found.measure) == (2, 0, "nDCG")
    assert "relevant is what is rated above 3: 2 ratings of 2 individuals" in found.notes[1]


@given(SEEDS)
def test_it_is_what_scikit_learn_measures(seed):
    ratings, lists = drawn(seed)
    gains, scores = np.nan_to_num(ratings - 1), np.zeros(ratings.shape)
    np.put_along_axis(
        scores, lists, np.arange(lists.shape[1], 0, -1.0)[None, :].repeat(len(lists), 0), axis=1
    )
    found = ranking_accuracy(lists, ObservedMatrix(ratings, value_range=(1, 5)))
    expected = ndcg_score(gains, scores, k=lists.shape[1], ignore_ties=True)
    assert found.values["nDCG"].value == pytest.approx(expected)


@given(SEEDS)
def test_recall_is_the_naive_one_and_order_of_people_and_spelling_of_ids_do_not_matter(seed):
    ratings, lists = drawn(seed)
    Z = ObservedMatrix(ratings, value_range=(1, 5))
    shares = []
    for row, listed in zip(ratings, lists, strict=True):
        relevant = {j for j, value in enumerate(row) if value > 3}
        shares.append(len(relevant & set(listed.tolist())) / len(relevant))
    found = ranking_accuracy(lists, Z)
    assert found.values["recall"].value == pytest.approx(np.mean(shares))
    order = np.random.default_rng(seed).permutation(len(lists))
    again = ranking_accuracy(lists[order].astype(str), Z, row_ids=order.astype(str))
    assert values(again) == pytest.approx(values(found))


@given(SEEDS)
def test_the_best_lists_have_one_and_no_list_has_more(seed):
    ratings, lists = drawn(seed)
    Z = ObservedMatrix(ratings, value_range=(1, 5))
    best = np.argsort(-np.nan_to_num(ratings), axis=1)[:, : lists.shape[1]]
    assert ranking_accuracy(best, Z).values["nDCG"].value == pytest.approx(1)
    found = ranking_accuracy(lists, Z).values["nDCG"]
    assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1


def test_people_and_items_without_ratings_are_counted_not_guessed():
    ratings = ObservedMatrix.from_triplets(["ann", "cy"], ["tea", "tea"], [5, 1], value_range=(1, 5))
    found = ranking_accuracy([["tea"], ["oil"], ["tea"]], ratings, row_ids=["ann", "bea", "cy"])
    assert (values(found), found.n, found.n_unknown) == ({"nDCG": 1.0, "recall": 1.0}, 1, 2)


@pytest.mark.parametrize(
    ("lists", "options", "error", "message"),
    [
        ([[0], [1], [2]], {}, ShapeError, "3 lists without ids, and ratings of 2 individuals"),
        ([[0, 0], [1, 2]], {}, DistanceError, "an item twice"),
        ([[0], [1]], {"row_ids": ["x", "y"]}, InputError, "none of whom has a list"),
        ([[0], [1]], {"value_range": (3, 5)}, InputError, "ratings below 3"),
        ([[0], [1]], {"confidence": 1.0}, InputError, "confidence"),
        ([[0.0], [np.nan]], {}, DistanceError, "a listed item that is missing"),
        ([[7], [8]], {}, InputError, "items such as 7, of which nobody rated any"),
    ],
)
def test_what_cannot_be_held_against_one_another(lists, options, error, message):
    ratings = ObservedMatrix(np.array([[2.0, 4.0], [3.0, 5.0]]), value_range=(1, 5))
    with pytest.raises(error, match=message):
        ranking_accuracy(lists, ratings, **options)


def test_ratings_without_one_range_or_without_a_gain_are_refused():
    table = np.array([[1.0, 10.0], [2.0, 20.0]])
    with pytest.raises(InputError, match="one range for all items"):
        ranking_accuracy([[0], [1]], ObservedMatrix(table, value_range="per-column"))
    with pytest.raises(InputError, match="all at the low end"):
        ranking_accuracy([[0], [1]], ObservedMatrix(np.array([[1.0, nan], [nan, 1.0]]), value_range=(1, 5)))
