"""Output distances by name: each is the distance it stands for, on outputs of its kind, and no other name is one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness import (
    OUTPUT_DISTANCES,
    RowDistance,
    explain_pair,
    hellinger_distance,
    named_output_distance,
    rank_biased_distance,
    register_distance,
    top_n_distance,
    total_variation_distance,
    wasserstein_distance,
)
from likewise.fairness.distances.registry import DISTANCES

M = 6


def whole(distance):
    return distance.block(0, distance.n_individuals)


def scores(seed, k=12):
    return np.random.default_rng(seed).random((M, k))


def shares(seed, k=4):
    return np.random.default_rng(seed).dirichlet(np.ones(k), M)


def best(table, n):
    return np.argsort(-table, axis=1, kind="stable")[:, :n]


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_each_name_is_the_distance_it_stands_for(seed):
    rows, p = scores(seed), shares(seed)
    expected = {
        "l2": RowDistance(rows),
        "l1": RowDistance(rows, "l1"),
        "linf": RowDistance(rows, "linf"),
        "l3": RowDistance(rows, 3),
        "top-n": top_n_distance(best(rows, 10)),
        "top-5": top_n_distance(best(rows, 5)),
        "rbo": rank_biased_distance(best(rows, 10)),
        "rbo-3": rank_biased_distance(best(rows, 3)),
    }
    for name, distance in expected.items():
        np.testing.assert_allclose(whole(named_output_distance(name, rows)), whole(distance), atol=1e-12)
    of_shares = {"tv": total_variation_distance, "hellinger": hellinger_distance, "w1": wasserstein_distance}
    for name, made in of_shares.items():
        np.testing.assert_allclose(whole(named_output_distance(name, p)), whole(made(p)), atol=1e-12)
    np.testing.assert_array_equal(
        whole(named_output_distance("absolute", rows[:, 0])),
        np.abs(np.subtract.outer(rows[:, 0], rows[:, 0])),
    )
    assert {*expected, *of_shares, "absolute"} >= set(OUTPUT_DISTANCES)


def test_items_have_their_names_and_some_must_be_left_out():
    """What everybody has in common tells nobody from others; nor does the order of one item."""
    table = [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]
    assert whole(named_output_distance("top-2", table))[0, 1] == 0.5
    assert whole(named_output_distance("rbo", table))[0, 1] > 0
    for name in ("top-n", "top-3"):
        with pytest.raises(InputError, match=f"{name} of 3 items, all that there are.*top-1.*rbo"):
            named_output_distance(name, table)
    for name in ("top-n", "rbo", "rbo-1"):
        with pytest.raises(ShapeError, match=f"{name} of outputs with one column"):
            named_output_distance(name, [0.2, 0.4, 0.1])
    D = named_output_distance("top-1", table, np.array(["tea", "milk", "rum"], dtype=object))
    assert whole(D)[0, 1] == 1
    with pytest.raises(InputError, match="top-4; expected at most the 3 items"):
        named_output_distance("top-4", table)


def test_what_a_plug_in_registered_is_known():
    @register_distance("halves")
    def halves(outputs):
        return RowDistance(np.asarray(outputs) / 2)

    try:
        assert whole(named_output_distance("halves", [[0.0], [4.0]]))[0, 1] == 2
    finally:
        DISTANCES.unregister("halves")


@pytest.mark.parametrize(
    "name", ["l0.5", "l", "top", "top-0", "top-x", "rbo-0", "tvv", "", None, 3, "2", ["tv"]]
)
def test_no_other_name_is_one(name):
    with pytest.raises(InputError, match="output distance"):
        named_output_distance(name, scores(0))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Wasserstein", "did you mean 'w1'"),
        ("total_variation", "did you mean 'tv'"),
        ("euclidean", "did you mean 'l2'"),
        ("hellinge", "did you mean 'hellinger'"),
        ("l0.5", "any other norm from l1"),
    ],
)
def test_what_others_call_it_leads_to_the_name(name, hint):
    with pytest.raises(InputError, match=hint):
        named_output_distance(name, scores(0))


def test_outputs_of_another_kind_are_refused():
    for name in ("tv", "hellinger", "w1"):
        with pytest.raises(DistanceError, match="probability distribution"):
            named_output_distance(name, scores(0) + 1)
    with pytest.raises(ShapeError, match="one number for each individual"):
        named_output_distance("absolute", scores(0))


@pytest.mark.parametrize("name", ["tv", "hellinger", "w1", "l1", "l3"])
def test_what_rounding_leaves_is_no_difference(name):
    p = np.array([[0.1, 0.2, 0.7], [0.1 + 1e-17, 0.2, 0.7 - 1e-16], [0.3, 0.3, 0.4]])
    D = whole(named_output_distance(name, p))
    assert D[0, 1] == 0
    assert D[0, 2] > 0.1


# Hellinger and Wasserstein-1


def test_hellinger_by_hand():
    # 1 - H^2 is the sum of sqrt(p q): 0.6 x 0.8 twice is 0.96 for (0.36, 0.64) and (0.64, 0.36).
    assert whole(hellinger_distance([[0.36, 0.64], [0.64, 0.36]]))[0, 1] == pytest.approx(0.2)
    assert whole(hellinger_distance([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))[0, 1] == pytest.approx(1.0)
    assert whole(hellinger_distance([0.64, 0.36]))[0, 1] == pytest.approx(0.2)


@given(st.integers(0, 2**32 - 1))
def test_hellinger_against_its_definition_and_total_variation(seed):
    p = shares(seed)
    H, TV = whole(hellinger_distance(p)), whole(total_variation_distance(p))
    for i in range(M):
        for j in range(M):
            expected = np.sqrt(max(0.0, 1 - sum(np.sqrt(a * b) for a, b in zip(p[i], p[j], strict=True))))
            assert H[i, j] == pytest.approx(expected, abs=1e-7)
    assert (H**2 <= TV + 1e-12).all()
    assert (np.sqrt(2) * H + 1e-12 >= TV).all()


def moved(p, q, places):
    """Move probability from the left to the right, greedily: optimal on a line."""
    p, q, cost, i, j = list(p), list(q), 0.0, 0, 0
    while i < len(p) and j < len(q):
        share = min(p[i], q[j])
        cost += share * abs(places[i] - places[j])
        p[i] -= share
        q[j] -= share
        if p[i] <= q[j]:
            i += 1
        else:
            j += 1
    return cost


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_wasserstein_is_the_least_that_has_to_be_moved(seed, k):
    p = shares(seed, k)
    places = np.cumsum(np.random.default_rng(seed).uniform(0.1, 2, k))
    for positions, lie in ((None, np.arange(k)), (places, places)):
        W = whole(wasserstein_distance(p, positions))
        for i in range(M):
            for j in range(M):
                assert W[i, j] == pytest.approx(moved(p[i], p[j], lie), abs=1e-9)


def test_wasserstein_by_hand():
    # Grades A to D. All from A to D: three classes. Half from A to B, half stays: half a class.
    p = [[1.0, 0, 0, 0], [0, 0, 0, 1.0], [0.5, 0.5, 0, 0]]
    assert whole(wasserstein_distance(p))[0].tolist() == [0.0, 3.0, 0.5]
    assert whole(wasserstein_distance(p, [0, 1, 10, 11]))[0].tolist() == [0.0, 11.0, 0.5]


def test_two_classes_move_as_much_as_they_vary():
    p = np.random.default_rng(0).random(M)
    np.testing.assert_allclose(whole(wasserstein_distance(p)), whole(total_variation_distance(p)), atol=1e-15)


@pytest.mark.parametrize(
    "positions", [[0, 1], [0, 0, 1], [2, 1, 0], [0, 1, np.inf], [0, np.nan, 1], ["a", "b", "c"]]
)
def test_positions_that_do_not_increase_are_refused(positions):
    with pytest.raises(DistanceError):
        wasserstein_distance(shares(0, 3), positions)


# Explanations show probabilities, not what they were made into


@pytest.mark.parametrize("made", [total_variation_distance, hellinger_distance])
def test_an_explanation_shows_probabilities(made):
    p = np.array([[0.1, 0.9, 0.0], [0.6, 0.1, 0.3], [0.3, 0.3, 0.4]])
    told = explain_pair(made(p), RowDistance(p), 0, 1, output_ids=["a", "b", "c"]).output
    assert told.by_feature
    assert {(part.feature, part.left, part.right) for part in told.apart} == {
        ("a", 0.1, 0.6),
        ("b", 0.9, 0.1),
        ("c", 0.0, 0.3),
    }


def test_sums_over_classes_are_not_explained_class_by_class():
    p = shares(0)
    assert not explain_pair(wasserstein_distance(p), RowDistance(p), 0, 1).output.by_feature


@pytest.mark.parametrize(
    ("names", "suggested"),
    [
        (["low", "mid", "high"], None),
        (["high risk", "medium risk", "low risk"], None),
        (["high", "low", "medium"], "low, medium, high"),
        (["1", "2", "10"], None),
        (["grade 3", "grade 2", "grade 1"], None),
        (["1", "10", "2"], "1, 2, 10"),
        (["bronze", "gold", "silver"], None),
        (["low", "gold", "high"], None),
        (["p1 of 2", "p3 of 4", "p2 of 4"], None),
    ],
)
def test_the_order_of_classes_is_told_and_another_one_that_their_names_suggest(names, suggested):
    table = np.full((4, 3), 1 / 3)
    table[0] = [0.5, 0.25, 0.25]
    told = named_output_distance("w1", table, np.array(names, dtype=object)).description.columns
    assert told.startswith(f"classes in this order: {', '.join(names)}")
    also = (
        ""
        if suggested is None
        else f"; their names suggest {suggested} (if so, give the columns in that order)"
    )
    assert told.removeprefix(f"classes in this order: {', '.join(names)}") == also


def test_the_order_of_classes_without_names_and_of_many():
    table = np.full((3, 12), 1 / 12)
    assert (
        named_output_distance("w1", table).description.columns == "classes in this order: that of the columns"
    )
    many = named_output_distance("w1", table, np.arange(12)).description.columns
    assert many == "classes in this order: 0, 1, 2, 3, 4, 5, 6, 7 and 4 more"
    one = named_output_distance("w1", [0.5, 0.25]).description.columns
    assert one == "classes in this order: the other, then the one whose probability is given"
