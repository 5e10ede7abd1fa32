"""Outputs as mappings of individuals: what is read as what, in any order, and what is refused."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise
from likewise.errors import InputError, ModelError, ShapeError
from likewise.fairness import GowerDistance, top_n_distance
from likewise.observations import ObservedMatrix

PEOPLE = ["ann", "bea", "cy"]
Z = ObservedMatrix(
    np.array([[1.0, 5, np.nan], [1, np.nan, 4], [5, 1, 2]]),
    value_range=(1, 5),
    row_ids=PEOPLE,
    column_ids=[10, 20, 30],
)
LISTS = {"cy": ["tea", "rum"], "ann": ["tea", "gin"], "bea": ["gin", "rye"]}


def of(outputs, individuals=Z):
    return likewise.audit(individuals, outputs=outputs, reference="observed")


def same(first, second):
    return {name: str(value) for name, value in first.arms["outputs"].fairness.metrics().items()} == {
        name: str(value) for name, value in second.arms["outputs"].fairness.metrics().items()
    }


def test_lists_of_items():
    report = of(LISTS)
    assert same(report, of(top_n_distance([LISTS[name] for name in PEOPLE])))
    assert any("lists of 2 items for each individual, the best first" in note for note in report.data.notes)


def test_whole_numbers_are_items_where_they_are_features():
    items = {"ann": [10, 20], "bea": [20, 30], "cy": [10, 20]}
    assert same(of(items), of(top_n_distance([items[name] for name in PEOPLE])))
    numbers = {"ann": [1, 2], "bea": [2, 3], "cy": [1, 2]}
    assert same(of(numbers), of(np.array([numbers[name] for name in PEOPLE])))


def test_scores_by_item():
    scores = {"cy": {"b": 5.0, "a": 6.0}, "ann": {"a": 1.0, "b": 2.0}, "bea": {"a": 3.0, "b": 4.0}}
    report = of(scores)
    assert same(report, of(np.array([[1.0, 2], [3, 4], [6, 5]])))
    assert any("as scores of 2 items, by name" in note for note in report.data.notes)
    assert {part.feature for pair in report.arms["outputs"].explained for part in pair.output.apart} == {
        "a",
        "b",
    }


def test_one_number_each_and_both_arms():
    for number in (float, np.float32, np.array):
        assert same(of({"cy": number(3.0), "ann": number(1.0), "bea": number(2.0)}), of([1.0, 2.0, 3.0]))
    new = {"bea": ["tea", "gin"], "ann": ["tea", "gin"], "cy": ["rum", "rye"]}
    both = likewise.audit(Z, outputs={"old": LISTS, "new": new})
    assert list(both.arms) == ["old", "new"]
    alone = likewise.audit(Z, outputs=new, reference="observed").arms["outputs"]
    assert str(both.arms["new"].fairness.mean_ratio) == str(alone.fairness.mean_ratio)


def test_two_people_are_told_from_two_arms_by_their_ids():
    two = ObservedMatrix(np.array([[1.0, 5], [5, 1]]), value_range=(1, 5), row_ids=["with", "without"])
    assert list(of({"with": 1.0, "without": 3.0}, two).arms) == ["outputs"]


@pytest.mark.parametrize(
    ("outputs", "error", "says"),
    [
        (LISTS | {"ann": ["tea"]}, InputError, "lists of 1 to 2 items"),
        ({"ann": {"a": 1.0}, "bea": {"a": 1.0, "b": 2.0}, "cy": {"a": 2.0}}, InputError, "no score for item 'b'"),
        ({"ann": {1: 1.0, "1": 2.0}, "bea": {1: 1.0, "1": 2.0}, "cy": {1: 1.0, "1": 2.0}}, InputError, "alike"),
        ({"ann": 1.0, "bea": 2.0, "dan": 3.0}, ShapeError, "dan"),
        ({"before": [1, 2, 3.0], "after": [1, 2, 3.0], "later": [1, 2, 3.0]}, InputError, "two sets of outputs"),
    ],
)  # fmt: skip
def test_what_is_refused(outputs, error, says):
    with pytest.raises(error, match=says):
        of(outputs)


@pytest.mark.slow
@given(order=st.permutations(PEOPLE), seed=st.integers(0, 2**32 - 1))
def test_any_order_gives_the_same(order, seed):
    scores = np.random.default_rng(seed).normal(size=(3, 4))
    keyed = {name: dict(enumerate(scores[PEOPLE.index(name)])) for name in order}
    assert same(of(keyed), of(scores))


def test_a_frame_with_a_line_for_each_individual_and_item():
    lines = [
        ("cy", "b", 6.0),
        ("ann", "a", 1),
        ("bea", "b", 4),
        ("cy", "a", 5),
        ("ann", "b", 2),
        ("bea", "a", 3),
    ]
    frame = pl.DataFrame(lines, schema=["user", "item", "score"], orient="row")
    report = of(frame)
    assert same(report, of(np.array([[1.0, 2], [3, 4], [5, 6]])))
    assert "read the outputs of 'outputs' as scores of 2 items, by name" in report.data.notes
    listed = pl.DataFrame(
        [(name, item) for name, items in LISTS.items() for item in items], ["user", "item"], orient="row"
    )
    assert same(of(listed), of(LISTS))


def test_a_frame_of_lines_that_cannot_be_used_is_refused():
    frame = pl.DataFrame({"user": PEOPLE, "item": ["a"] * 3, "score": [1.0, 2.0, None]})
    with pytest.raises(ModelError, match="NaN or infinite outputs in 1 of 3 rows: 2"):
        of(frame)
    with pytest.raises(ModelError, match="none for 'cy'"):
        of(frame[:2])


def test_a_path_says_how_to_read_it():
    with pytest.raises(ModelError, match=r"likewise\.inference\.read_outputs\('scores\.csv', Z\.row_ids\)"):
        of("scores.csv")


def test_a_frame_of_people_by_numbers_and_text():
    people = pl.DataFrame({"name": PEOPLE, "test": [150, None, 160], "school": ["day", "day", None]})
    decisions = pl.DataFrame({"name": PEOPLE[::-1], "score": [0.1, 0.2, 0.9]})
    report = likewise.audit(people, outputs=decisions, reference="gower")
    by_hand = likewise.audit(GowerDistance(people.drop("name"), row_ids=PEOPLE), outputs=[0.9, 0.2, 0.1])
    assert same(report, by_hand)
    assert "individuals are called as in column 'name'" in report.data.notes


def test_what_a_console_shows_of_a_report_is_its_answer():
    report = of(LISTS)
    assert repr(report) == str(report)
    assert len(repr(report).splitlines()) <= 25
