"""Every two groups have a row where there are few of them, and are all in the record."""

import numpy as np
import pytest

from likewise import audit
from likewise.fairness import RowDistance
from likewise.observations import clustered
from likewise.report.numbers import number
from likewise.report.rows import comparison, headline

PEOPLE = RowDistance(np.array([0.0, 1.0, 3.0, 7.0, 8.0, 12.0, 13.0, 20.0]))
SCORES = np.array([0.0, 2.0, 3.0, 3.0, 7.0, 8.0, 5.0, 1.0])


def report(groups):
    return audit(PEOPLE, outputs=SCORES, groups=groups, nearest_share=0.5)


def rows_by_title(groups):
    return {
        group.title: group.rows for group in comparison(report(groups)) if group.title.startswith("Every two")
    }


def test_every_two_groups_have_a_row():
    groups = ["f", "f", "m", "m", "f", "m", "f", "m"]
    similar, mean = rows_by_title(groups).values()
    assert [row.label for row in mean] == [row.label for row in similar] == ["f and f", "f and m", "m and m"]
    ratios = [
        abs(SCORES[i] - SCORES[j]) / abs(PEOPLE.rows[i, 0] - PEOPLE.rows[j, 0])
        for i in range(8)
        for j in range(i + 1, 8)
        if groups[i] == groups[j] == "m"
    ]
    assert float(mean[2].values[0]) == pytest.approx(np.mean(ratios), rel=1e-3)
    assert "f and m" in report(groups).details()
    assert "kinds of pairs" not in report(groups).details()


def test_of_many_groups_the_table_has_none_and_the_record_all():
    groups = list("aabcdefg")
    assert rows_by_title(groups) == {}
    assert "every two groups: 28 kinds of pairs; all of them are in report.json" in " ".join(
        report(groups).details().split()
    )
    record = report(groups).arms["outputs"].fairness.to_dict()["groups"]["by_groups"]
    assert len(record) == 7 * 8 // 2


def test_groups_have_a_finite_number_first_and_pairs_at_distance_0_are_counted():
    """Two people at distance 0, one f and one m, with different scores: 1 pair of 28 is infinite, of the kind "f and m"."""
    people = RowDistance(np.array([0.0, 0.0, 3.0, 7.0, 8.0, 12.0, 13.0, 20.0]))
    found = audit(people, outputs=SCORES, groups=["f", "m"] * 4, nearest_share=0.5)
    rows = {group.title: group.rows for group in comparison(found)}
    titles = [title for title in rows if title.startswith("Every two groups")]
    assert titles[-1] == "Every two groups: pairs at distance zero whose outputs differ"
    assert [row.values for row in rows[titles[-1]]] == [("0",), ("1",), ("0",)]
    for title in titles[:-1]:
        assert all("infinite" not in value for row in rows[title] for value in row.values)
    across = {row.label: row.values for row in rows["Pairs of different groups"]}
    assert "mean ratio" not in across
    assert across["pairs left out: d = 0 < D"] == ("1",)
    told = " ".join(str(found).split())
    assert "Equal on paper (d = 0), different outputs: 1 pair. By groups: f and m 1." in told
    assert "within a group" in told


def test_no_row_is_infinite_and_finite_means_count_what_they_leave_out():
    """Of 6 people two pairs are equal: one pair gets the same, one does not; with the second outputs both get the same."""
    people = RowDistance(np.array([0.0, 0.0, 3.0, 3.0, 8.0, 12.0]))
    before, after = np.array([1.0, 1.0, 2.0, 5.0, 6.0, 7.0]), np.array([1.0, 1.0, 2.0, 2.0, 6.0, 7.0])
    found = audit(people, outputs={"without": before, "with": after}, nearest_share=0.5)
    groups = {group.title: {row.label: row.values for row in group.rows} for group in comparison(found)}
    every = groups["All pairs"]
    finite = [np.abs(before[i] - before[j]) / abs(people.rows[i, 0] - people.rows[j, 0])
              for i in range(6) for j in range(i) if people.rows[i, 0] != people.rows[j, 0]]  # fmt: skip
    assert float(every["mean ratio IF, finite pairs"][0]) == pytest.approx(2 * sum(finite) / 34, rel=1e-3)
    assert every["pairs left out: d = 0 < D"] == ("1", "0")
    assert every["largest ratio"][0] == "none"
    assert float(every["largest ratio"][1]) == pytest.approx(4 / 5, rel=1e-3)
    assert groups["The 50% most similar pairs"]["pairs left out: d = 0 < D"] == ("1", "0")
    assert all(
        "infinite" not in value for rows in groups.values() for values in rows.values() for value in values
    )


def test_the_gap_of_groups_in_the_answer_is_that_of_similar_pairs_by_hand():
    found = report(["f", "f", "m", "m", "f", "m", "f", "m"])
    split = found.arms["outputs"].fairness.groups
    told = " ".join(str(found).split())
    assert (
        f"{split.within.similar_output_gap.value:.4g} apart ({split.within.n_similar} pairs) within a group"
        in told
    )
    assert (
        f"{split.across.similar_output_gap.value:.4g} apart ({split.across.n_similar} pairs) across groups"
        in told
    )


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_nobody_is_said_to_be_of_a_group_that_is_not_known(unknown):
    """The worst pair, 4 and 7 apart in 1 and 4 by hand, is of one who is f and one who is of no known group."""
    found = report(["f", "f", "m", unknown, "f", "m", "f", "m"])
    told = str(found) + found.details()
    assert "nan" not in told
    assert "None" not in told
    assert "3: ratio" in told or "3 and" in told or "and 3:" in told


def test_outputs_without_an_error_say_how_far_apart_the_similar_are():
    """Nothing was predicted, so a row of errors would hold no number."""
    people = np.arange(40.0)
    told_of = audit(RowDistance(people), outputs=3 * people)
    told = {row.label: row for row in headline(told_of)}
    assert "error (RMSE)" not in told
    gap = told_of.main_arm.fairness.similar.output_gap.value
    assert told["mean D, similar pairs"].values == (number(gap),)


def test_what_nothing_is_proved_of_has_no_row_of_proofs():
    observed = clustered(30, 20, 2, observed_fraction=0.5, random_state=0).observed
    told_of = audit(observed, estimator="svt", model="knn", random_state=0, reference="observed")
    assert all(arm.sandwich and arm.sandwich.proved is None for arm in told_of.arms.values())
    assert "measured, found, proved" not in {row.label for row in headline(told_of)}
