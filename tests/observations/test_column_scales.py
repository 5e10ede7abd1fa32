"""One inferred range for columns of unlike scales is told, by the names of the columns, where a table is read."""

import warnings

import numpy as np
import pytest

from likewise.errors import ValueRangeWarning
from likewise.observations import ObservedMatrix, read_ratings
from likewise.observations.column_scales import warn_of_unlike_columns


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "applicants.csv"
    path.write_text("name,test,gpa,years,age\nann,98,3.5,0,40\nbea,40,1.5,5,18\ncy,50,2,8,30\n")
    return path


def test_columns_too_narrow_for_the_common_range_are_named(table):
    """The widest range is 58 (test): gpa (2) is below a tenth of it; years (8) and age (22) are not."""
    with pytest.warns(ValueRangeWarning) as told:
        read_ratings(table, columns=["test", "gpa", "years", "age"], id_columns="name")
    assert len(told) == 1
    message = str(told[0].message)
    assert message.startswith("one value range, 0 to 98, is inferred for all columns")
    assert "hardly count: gpa (1.5 to 3.5), beside test (40 to 98)." in message
    assert "Give value_range='per-column'" in message
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    "options",
    [
        {"columns": ["test", "years", "age"]},
        {"columns": ["test", "gpa"], "value_range": "per-column"},
        {"columns": ["test", "gpa"], "value_range": (0, 100)},
    ],
)
def test_nothing_is_said_where_ranges_are_alike_or_declared_or_each_columns_own(table, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_ratings(table, id_columns="name", **options)


def test_sparse_ratings_and_constant_columns_are_not_compared():
    films = np.full((4, 3), np.nan)
    films[[0, 1, 2, 3], [0, 0, 1, 1]] = [1, 100, 4, 5]
    constant = np.array([[1.0, 7.0], [100.0, 7.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (films, constant, np.array([[1.0, 2.0]])):
            warn_of_unlike_columns(ObservedMatrix(values), stacklevel=1)


def test_of_many_narrow_columns_five_are_named():
    values = np.vstack([np.zeros(8), [100, *range(1, 8)]])
    with pytest.warns(ValueRangeWarning, match=r"5 \(0 to 5\) and 2 more, beside 0 \(0 to 100\)"):
        warn_of_unlike_columns(ObservedMatrix(values), stacklevel=1)


def test_triplets_are_ratings_on_one_scale(tmp_path):
    (tmp_path / "ratings.csv").write_text("1,1,0\n1,2,1\n2,1,50\n2,2,2\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_ratings(tmp_path / "ratings.csv")
