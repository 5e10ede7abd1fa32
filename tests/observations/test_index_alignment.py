"""Labels that name others than the individuals are refused, wherever they stand; see test_labelled for those in another order."""

from functools import partial

import numpy as np
import polars as pl
import pytest

from likewise import ObservedMatrix, audit
from likewise.errors import InputError, ModelError, ShapeError
from likewise.estimation import MatrixEstimator
from likewise.fairness import (
    CallableDistance,
    CoObservedDistance,
    GowerDistance,
    ObservedDistance,
    PrecomputedDistance,
    RowDistance,
    feature_distance,
    mahalanobis_distance,
    measure_fairness,
    measure_sampled,
    projected_distance,
)
from likewise.fairness.distances.differences import differences
from likewise.fairness.distances.distance import SubsetDistance
from likewise.observations.index_alignment import order_by_labels

pd = pytest.importorskip("pandas")

IDS = ["ann", "bea", "cy", "dan"]
Z = ObservedMatrix(np.array([[1.0, 5], [2, 4], [5, 1], [3, 2]]), value_range=(1, 5), row_ids=IDS)
SCORES = pd.Series([0.1, 0.2, 0.9, 0.5], index=IDS)
TEAMS = pd.Series(list("aabb"), index=IDS)
D = ObservedDistance(Z, "l1")


def worst(outputs):
    return audit(Z, outputs=outputs).arms["outputs"].fairness.worst


@pytest.mark.parametrize(
    "as_given", [pd.Series, pl.Series, np.asarray, list, lambda v: pd.Series(v, index=[0, 1, 2, 3])]
)
def test_what_says_nothing_of_the_individuals_is_taken_as_it_lies(as_given):
    values = SCORES.to_list()
    assert worst(as_given(values)) == worst(values)
    numbered = ObservedMatrix(Z.to_dense(), value_range=(1, 5), row_ids=[3, 2, 1, 0])
    assert (
        audit(numbered, outputs=as_given(values)).arms["outputs"].fairness.mean_ratio
        == audit(numbered, outputs=values).arms["outputs"].fairness.mean_ratio
    )


COUNTED = ObservedMatrix(Z.to_dense(), value_range=(1, 5))


@pytest.mark.parametrize(
    ("index", "ids", "message"),
    [
        (
            [7, 3, 1, 9],
            IDS,
            r"index has '7', '3', '1', '9', not among the individuals; expected the ids .* 'ann', 'bea'",
        ),
        (pd.RangeIndex(1, 5), None, "index has '4', not among the individuals"),
        (pd.RangeIndex(0, 8, 2), None, "index has '4', '6', not among"),
        (["ann", "bea", "cy", "eve"], IDS, "index has 'eve', not among"),
        (["ann", "bea", "cy", "cy"], IDS, "index has 'cy', not among"),
        (IDS, None, "index has 'ann', 'bea', 'cy', 'dan', not among"),
        (pd.MultiIndex.from_product([["x"], IDS]), IDS, "not among"),
    ],
)
def test_labels_of_others_are_refused_wherever_they_stand(index, ids, message):
    """Outputs, groups, in exact and in drawn pairs, by `audit` and below it; only 0 to m - 1 in order is no label."""
    people = COUNTED if ids is None else Z
    outputs, groups = pd.Series(SCORES.to_list(), index=index), pd.Series(TEAMS.to_list(), index=index)
    distance = ObservedDistance(people, "l1")
    for call in (
        lambda: audit(people, outputs=outputs),
        lambda: audit(people, outputs=outputs.to_frame()),
        lambda: audit(people, outputs=SCORES.to_list(), groups=groups),
        lambda: measure_fairness(outputs, distance),
        lambda: measure_sampled(outputs, distance),
        lambda: measure_fairness(SCORES.to_list(), distance, groups=groups),
        lambda: measure_sampled(SCORES.to_list(), distance, groups=groups),
    ):
        with pytest.raises(ShapeError, match=message):
            call()


def test_fewer_labels_than_individuals_are_named():
    with pytest.raises(ShapeError, match=r"outputs whose index lacks 'dan'; expected"):
        order_by_labels("outputs", list(SCORES[:3].index), Z.row_ids)


def test_labels_written_alike_are_the_same():
    assert order_by_labels("outputs", ["7", "9"], np.array([7, 9])) is None
    assert order_by_labels("outputs", [9, 7], np.array(["7", "9"], dtype=object)) == [1, 0]


def test_bad_groups_are_told_before_the_work(monkeypatch):
    monkeypatch.setattr(MatrixEstimator, "fit", lambda *_: pytest.fail("too late"))
    for groups, message in (
        (["a", "b"], "groups of shape"),
        (TEAMS.rename({"ann": "eve"}), "groups whose index has 'eve'"),
    ):
        with pytest.raises(InputError, match=message):
            audit(Z, model="identity", hold_out=0, groups=groups)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (np.ones(4) * 1j, "values that are not numbers"),
        (np.ma.array([1.0, 2, 3, 4], mask=[0, 0, 1, 0]), "NaN or infinite values in 1 rows: 2"),
        (np.array(["2020-01-01"] * 4, "M8[D]"), "values that are not numbers"),
    ],
)
def test_what_is_no_number_is_not_made_one(outputs, message):
    with pytest.raises(ModelError, match=message):
        audit(Z, outputs=outputs)


@pytest.mark.parametrize("name", ["nearest_share", "lipschitz", "tolerance", "confidence"])
def test_a_number_that_is_none_is_named(name):
    with pytest.raises(InputError, match=f"{name}='a'; expected"):
        audit(Z, outputs=SCORES, **{name: "a"})


PEOPLE = pd.DataFrame({"age": [20.0, 30, 40, 50], "income": [3.0, 1, 2, 5]}, index=[14, 2, 7, 9])
"""As after a random split: outputs of these people carry the same index."""


@pytest.mark.parametrize(
    "distance",
    [
        RowDistance,
        GowerDistance,
        feature_distance,
        lambda rows: feature_distance(rows, scaling="standard"),
        mahalanobis_distance,
        lambda rows: projected_distance(rows, directions=np.array([[1.0, 0.0]])),
        lambda rows: CallableDistance(lambda x, y: abs(x[0] - y[0]), rows),
        lambda rows: PrecomputedDistance(pd.DataFrame(1.0 - np.eye(4), index=rows.index, columns=rows.index)),
    ],
)
def test_a_distance_takes_the_names_of_its_frame(distance):
    measured = distance(PEOPLE)
    assert list(measured.row_ids) == [14, 2, 7, 9]
    outputs = pd.Series([0.1, 0.2, 0.9, 0.5], index=PEOPLE.index)
    assert measure_fairness(outputs, measured).worst == measure_fairness(outputs.to_numpy(), measured).worst
    assert measure_fairness(outputs.sort_index(), measured).worst == measure_fairness(outputs, measured).worst
    assert distance(PEOPLE.reset_index(drop=True)).row_ids is None


def test_the_columns_of_a_distance_matrix_are_put_in_order():
    between = np.array([[0.0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]])
    square = pd.DataFrame(between, index=IDS, columns=IDS)
    for given in (square, square[IDS[::-1]]):
        distance = PrecomputedDistance(given)
        assert distance.row_ids.tolist() == IDS
        np.testing.assert_array_equal(distance.block(0, 4), between)
    with pytest.raises(ShapeError, match="columns of a distance matrix whose index has 'a'"):
        PrecomputedDistance(square.set_axis(list("abcd"), axis=1))


@pytest.mark.parametrize("order", [[3, 2, 1, 0], [1, 2, 3, 0]])
def test_a_reference_distance_in_another_order_is_aligned(order):
    """An audit of Z against a distance whose rows are sorted otherwise compared strangers once, and was then refused."""
    features = pd.DataFrame({"age": [20.0, 31, 45, 50]}, index=IDS)
    square = pd.DataFrame(
        np.abs(np.subtract.outer(*[features["age"].to_numpy()] * 2)), index=IDS, columns=IDS
    )
    expected = audit(Z, outputs=SCORES, reference=RowDistance(features)).main_arm.fairness.worst
    for reference in (
        RowDistance(features.iloc[order]),
        PrecomputedDistance(square.iloc[order, order]),
        PrecomputedDistance(square.iloc[order]),
    ):
        found = audit(Z, outputs=SCORES, reference=reference)
        assert [(pair.left, pair.right, pair.ratio) for pair in found.main_arm.fairness.worst] == [
            (pair.left, pair.right, pytest.approx(pair.ratio)) for pair in expected
        ]
        assert "aligned the reference distance, given in another order" in found.details().replace(
            "\n    ", " "
        )


@pytest.mark.parametrize(
    "kind", [GowerDistance, partial(CoObservedDistance, norm="l1"), partial(ObservedDistance, norm="l1")]
)
def test_what_tells_pairs_apart_is_named_in_another_order_too(kind):
    """A distance that was put in order as a subset of itself had lost its features: nothing told the worst pairs apart."""
    people = pd.DataFrame({"age": [20.0, 31, 45, None], "job": [1.0, 2, 2, 1]}, index=IDS)

    def told(order):
        frame = people.loc[order]
        given = kind(frame if kind is GowerDistance else ObservedMatrix(frame, value_range=(0, 50)))
        return [pair.reference for pair in audit(Z, outputs=SCORES, reference=given).main_arm.explained]

    expected = told(IDS)
    assert any(pair.apart and pair.apart[0].feature == "age" for pair in expected)
    assert str(told(IDS[::-1])) == str(expected)  # NaN equals nothing


def test_some_of_the_records_are_what_they_were():
    """Also in a subset of a subset, and of a distance that others wrote."""
    records = pl.DataFrame({"age": [20, 30, None, 60], "job": ["cook", "cook", "nurse", None]})
    whole = GowerDistance(records, row_ids=IDS)
    some = whole.taken(np.array([3, 0, 1])).taken(np.array([2, 0]))
    assert some.row_ids.tolist() == [IDS[1], IDS[3]]
    assert some.values_of(0) == [30.0, "cook"]
    np.testing.assert_array_equal(some.block(0, 2), whole.block(0, 4)[np.ix_([1, 3], [1, 3])])
    other = SubsetDistance(SubsetDistance(whole, np.array([3, 0, 1])), np.array([2, 0]))
    one, same = differences(other, 0, 1), differences(whole, 1, 3)
    assert one.left.tolist() == same.left.tolist() == [30.0]


def test_a_reference_distance_between_others_is_refused():
    features = pd.DataFrame({"age": [20.0, 30, 40, 50]}, index=IDS)
    with pytest.raises(ShapeError, match=r"the reference distance whose index .*has 'a', 'b', 'c', 'd'"):
        audit(Z, outputs=SCORES, reference=RowDistance(features.set_axis(list("abcd"))))
    audit(Z, outputs=SCORES, reference=RowDistance(features))
    audit(Z, outputs=SCORES, reference=RowDistance(features.to_numpy()))


def test_ids_that_are_not_one_for_each_row_are_refused():
    with pytest.raises(ShapeError, match="row_ids of shape"):
        RowDistance([[1.0], [2.0]], row_ids=["ann"])
