"""Labelled outputs and groups whose labels contradict the order of the individuals are refused, not taken as they lie."""

import numpy as np
import polars as pl
import pytest

from likewise import ObservedMatrix, audit
from likewise.errors import InputError, ModelError, ShapeError
from likewise.estimation import MatrixEstimator
from likewise.fairness import ObservedDistance, measure_fairness, measure_sampled
from likewise.observations.index_alignment import check_order

pd = pytest.importorskip("pandas")

IDS = ["ann", "bea", "cy", "dan"]
Z = ObservedMatrix(np.array([[1.0, 5], [2, 4], [5, 1], [3, 2]]), value_range=(1, 5), row_ids=IDS)
SCORES = pd.Series([0.1, 0.2, 0.9, 0.5], index=IDS)
TEAMS = pd.Series(list("aabb"), index=IDS)
D = ObservedDistance(Z, "l1")


def worst(outputs):
    return audit(Z, outputs=outputs).arms["outputs"].fairness.worst


@pytest.mark.parametrize(
    "reordered", [SCORES[::-1], SCORES[::-1].to_frame(), SCORES.sort_values(ascending=False)]
)
def test_outputs_in_another_order_are_refused(reordered):
    with pytest.raises(
        ShapeError, match=r"outputs of 'outputs' whose index .* in another order; .* \.loc\[Z\.row_ids\]"
    ):
        audit(Z, outputs=reordered)
    assert worst(reordered.loc[Z.row_ids]) == worst(SCORES)


def test_groups_in_another_order_are_refused():
    for measured in (measure_fairness, measure_sampled):
        with pytest.raises(ShapeError, match="groups whose index"):
            measured(SCORES, D, groups=TEAMS[::-1])
    assert measure_fairness(SCORES, D, groups=TEAMS).groups.within.n_pairs == 2


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
        (pd.RangeIndex(3, -1, -1), None, "index has the individuals in another order"),
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
        check_order("outputs", SCORES[:3], Z.row_ids)


def test_labels_written_alike_are_the_same():
    check_order("outputs", pd.Series([1.0, 2.0], index=["7", "9"]), np.array([7, 9]))
    check_order("outputs", pd.Series([1.0, 2.0], index=[7, 9]), np.array(["7", "9"], dtype=object))


def test_bad_groups_are_told_before_the_work(monkeypatch):
    monkeypatch.setattr(MatrixEstimator, "fit", lambda *_: pytest.fail("too late"))
    for groups, message in (
        (["a", "b"], "groups of shape"),
        (TEAMS[::-1], "groups whose index"),
        (pd.array(["a", None, "b", "b"], dtype="string"), "1 individuals without a group"),
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
