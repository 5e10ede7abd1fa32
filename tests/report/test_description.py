"""What d = 1 is in the units of the columns: held against the distances themselves."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ObservedMatrix
from likewise.fairness import GowerDistance, ObservedDistance, RowDistance
from likewise.report.description import unit_lines


def told(lines, before):
    """Return the number that stands before a text."""
    return float(lines[0].partition(before)[0].split()[-1].replace(",", ""))


@given(st.floats(-1e3, 1e3), st.floats(0.1, 1e3), st.sampled_from(["l1", "l2", "linf"]))
def test_the_told_unit_makes_d_one(low, width, norm):
    table = ObservedMatrix(np.array([[low], [low + width]]), column_ids=["score"])
    unit = told(unit_lines(table), " of score.")
    pair = ObservedMatrix([[low], [low + unit]], value_range=(low, low + width * 1.001))
    assert ObservedDistance(pair, norm).block(0, 1)[0, 1] == pytest.approx(1, rel=2e-3)


def test_each_column_by_hand():
    rows = np.array([[10.0, 1.0], [30.0, 5.0]])
    own = ObservedMatrix(rows, value_range="per-column", column_ids=["test", "grade"])
    assert unit_lines(own, 0.5) == [
        "One unit of d, where two people differ in that column alone: 10 of test, 2 of grade (half of its value range)."
    ]
    shared = ObservedMatrix(rows, value_range=(0, 50), column_ids=["test", "grade"])
    assert unit_lines(shared, 0.5)[0].startswith(
        "One unit of d: 25 in one column, where two people differ in"
    )
    one = ObservedMatrix(rows[:, :1], value_range=(0, 50), column_ids=["test"])
    assert unit_lines(one, 0.5) == [
        "One unit of d: 25 of test. L = 0.5 is 0.02 for 1 of test; 0.5 for 1 of test is L = 12.5."
    ]
    wide = ObservedMatrix(np.vstack([np.zeros(7), np.arange(2.0, 9.0)]), value_range="per-column")
    assert "3 of 4 and 2 more columns" in unit_lines(wide)[0]


def test_gower_is_told_by_what_each_column_adds():
    people = pl.DataFrame({"age": [20, 30, 60], "town": ["york", "york", "leeds"], "same": [1, 1, 1]})
    d = GowerDistance(people)
    assert unit_lines(d) == [
        "d is from 0 to 1, the mean over 3 columns: each alone adds up to 0.3333, by 40 of age or by another town or same."
    ]
    assert GowerDistance(people.with_columns(town=pl.lit("york"))).block(0, 1)[0, 2] == pytest.approx(1 / 3)


def test_nothing_is_said_of_other_distances():
    assert unit_lines(RowDistance([[0.0], [1.0]]), 0.5) == []
