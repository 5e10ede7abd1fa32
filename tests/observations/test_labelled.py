"""Outputs and groups that say whose they are come out in the order of the individuals, whatever holds them, and a note says so."""

from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from likewise import KNNRecommender, ObservedMatrix, audit, compare
from likewise.errors import InputError, ObservationError, ShapeError
from likewise.fairness import (
    ObservedDistance,
    RowDistance,
    measure_fairness,
    measure_sampled,
    target_accuracy,
)
from likewise.inference import NearestNeighborModel
from likewise.observations.index_alignment import aligned

pd = pytest.importorskip("pandas")

IDS = np.array(["ann", "bea", "cy", "dan"])
Z = ObservedMatrix(np.array([[1.0, 5], [2, 4], [5, 1], [3, 2]]), value_range=(1, 5), row_ids=IDS)
SCORES = pd.Series([0.1, 0.2, 0.9, 0.5], index=IDS)
TEAMS = pd.Series(list("aabb"), index=IDS)
SHUFFLED = ["cy", "ann", "dan", "bea"]
NOTE = "given in another order, with the individuals by"


def by_column(series, library, **others):
    """Return shuffled values as a frame of a library, with ids in a column."""
    return library({"applicant": SHUFFLED, "value": series.loc[SHUFFLED].tolist(), **others})


@pytest.mark.parametrize(
    ("outputs", "where"),
    [
        (SCORES.loc[SHUFFLED], "index"),
        (SCORES.loc[SHUFFLED].to_frame(), "index"),
        (by_column(SCORES, pl.DataFrame), "column 'applicant'"),
        (by_column(SCORES, pd.DataFrame), "column 'applicant'"),
        (by_column(SCORES, lambda columns: pl.DataFrame(columns).to_arrow()), "column 'applicant'"),
    ],
)
def test_outputs_in_another_order_are_aligned_and_a_note_says_so(outputs, where):
    report = audit(Z, outputs=outputs)
    assert report.arms["outputs"].fairness.worst == audit(Z, outputs=SCORES).arms["outputs"].fairness.worst
    assert f"aligned the outputs of 'outputs', {NOTE} {where}" in report.data.notes
    assert NOTE in " ".join(str(report.details()).split())
    assert not audit(Z, outputs=SCORES).data.notes


def _worst_groups(report):
    return [(pair.left, pair.left_group, pair.right_group) for pair in report.arms["outputs"].explained]


@pytest.mark.parametrize(
    "groups",
    [
        TEAMS.loc[SHUFFLED],
        TEAMS.loc[SHUFFLED].to_dict(),
        by_column(TEAMS, pl.DataFrame),
        by_column(TEAMS, pd.DataFrame),
    ],
)
def test_groups_in_another_order_are_aligned_and_a_note_says_so(groups):
    """The same split as of groups in order; `aabb` taken as it lies would have other pairs within."""
    report = audit(Z, outputs=SCORES, groups=groups)
    in_order = audit(Z, outputs=SCORES, groups=TEAMS)
    assert (
        report.arms["outputs"].fairness.groups.within.mean_ratio
        == in_order.arms["outputs"].fairness.groups.within.mean_ratio
    )
    assert _worst_groups(report) == _worst_groups(in_order)
    assert any(note.startswith(f"aligned the groups, {NOTE}") for note in report.data.notes)


@pytest.mark.parametrize(
    "groups",
    [TEAMS.loc[SHUFFLED].to_frame("team"), pl.DataFrame({"team": list("aabb")})],
    ids=["index", "lies"],
)
def test_a_frame_with_one_column_is_that_column(groups):
    """It was refused for its two axes before, where the ids stood in the index."""
    assert audit(Z, outputs=SCORES, groups=groups).to_dict() is not None
    values, _ = aligned("groups", groups, IDS)
    assert list(values) == list("aabb")


def test_both_arms_are_aligned_each_by_its_own_labels():
    arms = {"old": SCORES.loc[SHUFFLED], "new": SCORES[::-1] * 2}
    reference = ObservedDistance(Z, "l1")
    aligned_here = compare({name: arm.loc[IDS].to_numpy() for name, arm in arms.items()}, reference)
    report = compare(arms, reference, groups=TEAMS[::-1])
    for name in arms:
        assert report.arms[name].fairness.mean_ratio == aligned_here.arms[name].fairness.mean_ratio
    assert sum(NOTE in note for note in report.data.notes) == 3


def test_below_the_audit_labels_are_aligned_too():
    d = ObservedDistance(Z, "l1")
    for measured in (measure_fairness, partial(measure_sampled, random_state=0)):
        found = measured(SCORES[::-1], d, groups=TEAMS.loc[SHUFFLED])
        expected = measured(SCORES, d, groups=TEAMS)
        assert found.mean_ratio.value == expected.mean_ratio.value
        assert found.groups.within.mean_ratio.value == expected.groups.within.mean_ratio.value


def test_a_reversed_count_is_an_order():
    counted = ObservedMatrix(Z.to_dense(), value_range=(1, 5))
    numbered = pd.Series(SCORES.to_numpy())
    assert (
        audit(counted, outputs=numbered[::-1]).arms["outputs"].fairness.worst
        == audit(counted, outputs=numbered).arms["outputs"].fairness.worst
    )


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_a_column_of_ids_of_others_is_refused_with_the_first_that_differ(library):
    frame = library({"applicant": ["ann", "bea", "eve", "flo"], "value": [1.0, 2, 3, 4]})
    message = "whose column 'applicant' has 'eve', 'flo', not among the individuals; .* 'ann', 'bea', 'cy'"
    for call in (
        lambda: audit(Z, outputs=frame),
        lambda: audit(Z, outputs=SCORES, groups=frame),
        lambda: measure_fairness(frame, ObservedDistance(Z, "l1")),
    ):
        with pytest.raises(ShapeError, match=message):
            call()


@pytest.mark.parametrize("key", ["bea", 7])
def test_keys_of_others_are_refused(key):
    with pytest.raises(ShapeError, match=r"groups whose keys (lacks|has)"):
        audit(Z, outputs=SCORES, groups={"ann": 1, key: 2, "cy": 1})


def test_what_repeats_or_is_a_fraction_names_nobody():
    """A column called like an id that cannot be one is an output, as before."""
    frame = pl.DataFrame({"group_id": [1, 1, 2, 2], "value": [1.0, 2, 3, 4]})
    assert aligned("outputs", frame, IDS)[0] is frame
    fractions = pl.DataFrame({"person": [0.5, 0.2, 0.1, 0.9], "value": [1.0, 2, 3, 4]})
    assert aligned("outputs", fractions, IDS)[0] is fractions


def test_ids_written_alike_are_refused_where_the_order_depends_on_them():
    ids = np.array([7, "7"], dtype=object)
    assert aligned("outputs", {7: 1.0, "7": 2.0}, ids) == ([1.0, 2.0], ())
    with pytest.raises(ObservationError, match="written alike"):
        aligned("groups", {"8": 0, "7": 1.0, 7: 2.0}, np.array([7, "7", 8], dtype=object))


def test_an_output_distance_in_another_order_is_aligned_and_one_between_others_is_refused():
    """What was measured between strangers cannot be told from the numbers."""
    reference = ObservedDistance(Z, "l1")
    shuffled = RowDistance(SCORES.loc[SHUFFLED].to_numpy(), row_ids=SHUFFLED)
    in_order = RowDistance(SCORES.loc[reference.row_ids].to_numpy())
    assert measure_fairness(shuffled, reference).worst == measure_fairness(in_order, reference).worst
    strangers = RowDistance(SCORES.to_numpy(), row_ids=["a", "b", "c", "d"])
    with pytest.raises(InputError, match="outputs of 'outputs' whose index has 'a'"):
        measure_fairness(strangers, reference)


@given(order=st.permutations(range(6)), as_text=st.booleans())
def test_any_permutation_comes_back(order, as_text):
    ids, values = np.arange(10, 16), np.arange(6) ** 2
    labels = [str(ids[place]) if as_text else int(ids[place]) for place in order]
    series = pd.Series(values[order], index=labels)
    frames = (
        series,
        pd.DataFrame({"userId": labels, "y": values[order]}),
        pl.DataFrame({"userId": labels, "y": values[order]}),
        dict(zip(labels, values[order].tolist(), strict=True)),
    )
    for held in frames:
        found, notes = aligned("outputs", held, ids)
        np.testing.assert_array_equal(np.asarray(found), values)
        assert len(notes) == (list(order) != sorted(order))


def test_a_target_that_outputs_are_held_against_is_aligned():
    truth = pd.Series([0.0, 0.0, 1.0, 1.0], index=IDS)
    report, in_order = (audit(Z, outputs=SCORES, target=target) for target in (truth.loc[SHUFFLED], truth))
    assert report.arms["outputs"].accuracy == in_order.arms["outputs"].accuracy
    assert any(note.startswith(f"aligned the target, {NOTE}") for note in report.data.notes)


def in_other_orders(target):
    """Return a target that says in four ways whose it is."""
    return {
        "index": target.loc[SHUFFLED],
        "keys": target.loc[SHUFFLED].to_dict(),
        "column 'applicant'": by_column(target, pl.DataFrame),
    }.items()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")
@pytest.mark.parametrize("model", [NearestNeighborModel(1), LinearRegression()])
def test_a_target_that_a_model_learns_goes_to_whom_it_names(model):
    """Learnt as it lies, it would be another one, and so would the outputs."""
    learn = partial(audit, Z, model=model, estimator="svt", hold_out=0, random_state=0)
    expected = learn(target=SCORES.to_numpy()).arms["without"]
    as_it_lies = learn(target=SCORES.loc[SHUFFLED].to_numpy()).arms["without"]
    assert as_it_lies.fairness.mean_ratio != expected.fairness.mean_ratio
    for where, target in in_other_orders(SCORES):
        report = learn(target=target)
        assert report.arms["without"].fairness.mean_ratio == expected.fairness.mean_ratio
        assert report.arms["without"].accuracy == expected.accuracy
        assert f"aligned the target, {NOTE} {where}" in report.data.notes


def test_a_target_that_outputs_are_held_against_goes_to_whom_it_names():
    expected = audit(Z, outputs=SCORES, target=[0, 0, 1, 1]).arms["outputs"].accuracy
    for where, target in in_other_orders(pd.Series([0, 0, 1, 1], index=IDS)):
        report = audit(Z, outputs=SCORES, target=target)
        assert report.arms["outputs"].accuracy == expected
        assert f"aligned the target, {NOTE} {where}" in report.data.notes
    frame = pd.DataFrame({"hired": [1, 0, 0, 1]}, index=["dan", "bea", "ann", "cy"])
    assert audit(Z, outputs=SCORES, target=frame).arms["outputs"].accuracy == expected


def test_outputs_and_target_of_two_orders_are_matched():
    """Also where the labels are only a count that was turned round; without any on one side both are taken as they lie."""
    target = pd.Series(["no", "no", "yes", "no"], index=IDS)
    expected = target_accuracy(SCORES.to_numpy(), target.to_numpy())
    assert expected.first.value == 1
    for first, second in ((SCORES, target[::-1]), (SCORES[::-1], target), (SCORES, target[::-1].to_dict())):
        assert target_accuracy(first, second) == expected
    counted = SCORES.reset_index(drop=True), target.reset_index(drop=True)[::-1]
    assert target_accuracy(*counted) == expected
    assert target_accuracy(SCORES.to_numpy(), counted[1]).first.value < 1
    with pytest.raises(ShapeError, match="target whose index has 'eve'"):
        target_accuracy(SCORES, target.rename({"ann": "eve"}))


def test_what_neighbours_are_to_tell_is_matched_with_the_rows():
    rows = pd.DataFrame({"a": [0.0, 0.1, 5, 5.2], "b": [1.0, 1, 0, 0]}, index=IDS)
    expected = KNNRecommender(1).fit(rows, SCORES).predict()
    np.testing.assert_allclose(expected, [0.2, 0.1, 0.5, 0.9], rtol=1e-12)
    for y in (SCORES[::-1], SCORES.loc[SHUFFLED].to_dict()):
        np.testing.assert_array_equal(KNNRecommender(1).fit(rows, y).predict(), expected)
    with pytest.raises(ShapeError, match="y whose index lacks 'dan'"):
        KNNRecommender(1).fit(rows, SCORES[:3])


@pytest.mark.parametrize(
    "outputs",
    [
        SCORES.rename("score"),
        SCORES.to_frame("score"),
        by_column(SCORES, pl.DataFrame).rename({"value": "score"}),
    ],
    ids=["series", "frame", "ids beside"],
)
def test_outputs_keep_their_name(outputs):
    told = audit(Z, outputs=outputs).main_arm.explained[0].output
    assert [part.feature for part in told.apart] == ["score"]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_rows_of_others_are_left_out_and_counted(library):
    names = ["eve", *SHUFFLED, "fay"]
    teams = library({"applicant": names, "value": ["z", *TEAMS.loc[SHUFFLED], "z"]})
    kept, notes = aligned("groups", teams, IDS)
    assert list(kept) == TEAMS.tolist()
    assert "groups: 2 of 6 ids are not in the data and are left out" in notes
    scores = dict.fromkeys(names, 1.0) | SCORES.to_dict()
    assert aligned("outputs", scores, IDS)[0] == SCORES.tolist()
    notes = audit(Z, outputs=SCORES, groups=teams).data.notes
    assert "groups: 2 of 6 ids are not in the data and are left out" in notes


def test_others_do_not_make_up_for_somebody_who_is_not_there():
    with pytest.raises(ShapeError, match="not among the individuals"):
        aligned("groups", dict.fromkeys(["ann", "bea", "cy", "eve", "fay"], "a"), IDS)
