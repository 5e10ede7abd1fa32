"""Lists of items: top-N overlap and rank-biased overlap, by hand and against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness import RowDistance, explain_pair, rank_biased_distance, top_items, top_n_distance


def pair(distance):
    return distance.between(np.array([0]), np.array([1]))[0]


def test_top_items_break_ties_by_column():
    scores = np.array([[0.5, 0.9, 0.5, 0.9], [0.0, 0.0, 0.0, 0.0], [4, 3, 2, 1]])
    assert top_items(scores, 3).tolist() == [[1, 3, 0], [0, 1, 2], [0, 1, 2]]
    for n in (0, 5):
        with pytest.raises(InputError, match="between 1 and 4"):
            top_items(scores, n)


def test_top_n_by_hand():
    assert pair(top_n_distance([["a", "b", "c", "d"], ["d", "x", "y", "a"]])) == pytest.approx(2 / 4)
    assert pair(top_n_distance([[1, 2], [2, 1]])) == 0
    assert pair(top_n_distance([[1, 2], [3, 4]])) == pytest.approx(1)


def rank_biased_overlap(S, T, p):
    """The formula, depth by depth."""
    n = len(S)
    agreement = [len(set(S[:k]) & set(T[:k])) / k for k in range(1, n + 1)]
    return (1 - p) * sum(p**k * a for k, a in enumerate(agreement)) + p**n * agreement[-1]


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(0.01, 0.99))
def test_overlaps_against_their_definitions(seed, n, persistence):
    rng = np.random.default_rng(seed)
    lists = np.array([rng.permutation(8)[:n] for _ in range(5)])
    overlap = top_n_distance(lists).block(0, 5)
    ranked = rank_biased_distance(lists, persistence).block(0, 5)
    for i in range(5):
        for j in range(5):
            assert overlap[i, j] == pytest.approx(1 - len(set(lists[i]) & set(lists[j])) / n, abs=1e-14)
            assert ranked[i, j] == pytest.approx(
                1 - rank_biased_overlap(lists[i], lists[j], persistence), abs=1e-13
            )
            assert (ranked[i, j] == 0) == (lists[i].tolist() == lists[j].tolist())


def test_rank_biased_by_hand():
    # Depth 1: they agree on nothing; depth 2: on a; depth 3: on a and b of three. RBO = 0.5 (0 + 0.5/2 + 0.25 * 2/3) + 0.125 * 2/3.
    lists = [["a", "b", "c"], ["x", "a", "b"]]
    assert pair(rank_biased_distance(lists, 0.5)) == pytest.approx(1 - (0.5 * (0.25 + 1 / 6) + 1 / 12))


def test_early_ranks_weigh_more():
    base, top_swapped, end_swapped = [1, 2, 3, 4, 5], [2, 1, 3, 4, 5], [1, 2, 3, 5, 4]
    d = rank_biased_distance([base, top_swapped, end_swapped]).block(0, 1)[0]
    assert d[1] > d[2] > 0


def test_bad_lists():
    with pytest.raises(DistanceError, match=r"twice in the list of row 1"):
        top_n_distance([[1, 2], [3, 3]])
    with pytest.raises(ShapeError, match="not an array"):
        top_n_distance([[1, 2], [3]])
    with pytest.raises(ShapeError, match="at least two"):
        rank_biased_distance([[1, 2]])
    for persistence in (0, 1, np.nan):
        with pytest.raises(DistanceError, match="persistence"):
            rank_biased_distance([[1, 2], [2, 1]], persistence)


def test_a_pair_is_explained_by_items_and_their_ranks():
    output = top_n_distance([["tea", "milk", "jam"], ["jam", "tea", "oil"]])
    found = explain_pair(output, RowDistance(np.array([[0.0], [1.0]])), 0, 1).output
    apart = {part.feature: (part.left, part.right) for part in found.apart}
    assert apart.keys() == {"milk", "oil"}
    assert apart["milk"] == ("rank 2", "not listed")
    assert apart["oil"] == ("not listed", "rank 3")
