"""Columns on scales of their own: a table has a range for each; one range for all is kept for ratings, and told where it is doubtful."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import SVT, audit
from likewise.errors import ObservationError, ValueRangeWarning
from likewise.observations import ObservedMatrix, read_ratings
from likewise.observations.column_scales import warn_of_unlike_columns

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "applicants.csv"
    path.write_text("name,test,gpa,years,age\nann,98,3.5,0,40\nbea,40,1.5,5,18\ncy,50,2,8,30\n")
    return path


def test_each_column_of_a_table_has_its_own_range(table):
    """A missing grade was 49, the middle of 0 to 98, before: now it is 2.5, the middle of 1.5 to 3.5."""
    Z = read_ratings(table, columns=["test", "gpa", "years", "age"], id_columns="name")
    assert Z.value_range.low.tolist() == [40, 1.5, 0, 18]
    assert Z.value_range.high.tolist() == [98, 3.5, 8, 40]
    assert "value range inferred from the data, for each column its own" in Z.notes
    assert Z.value_range.scale_to("symmetric").backward(0.0).tolist() == [69, 2.5, 4, 29]


LSAT_AND_GPA = {"lsat": [48.0, 11, 30, 25], "gpa": [3.9, 1.2, float("nan"), 2.2]}
MIDDLE = [29.5, 2.55]
"""Of 11 to 48 and of 1.2 to 3.9."""


@pytest.mark.parametrize(
    "as_given",
    [
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_what_is_missing_counts_as_a_value_of_its_own_column(as_given):
    """LSAT 11 to 48 beside GPA 1.2 to 3.9, 14:1; a missing GPA was a 24.6."""
    Z = ObservedMatrix(as_given(LSAT_AND_GPA))
    np.testing.assert_allclose(Z.value_range.scale_to("symmetric").backward(0.0), MIDDLE)


@given(st.integers(0, 2**32 - 1))
def test_what_is_missing_from_a_table_counts_as_a_value_within_the_range_of_its_column(seed):
    generator = np.random.default_rng(seed)
    values = generator.normal(generator.normal(0, 50, 4), 10.0 ** generator.integers(-2, 3, 4), (12, 4))
    values[generator.random(values.shape) < 0.3] = np.nan
    Z = ObservedMatrix(pd.DataFrame(values, columns=list("abcd")))
    if Z.observed_fraction > 0.5:
        filled = np.broadcast_to(Z.value_range.scale_to("symmetric").backward(0.0), 4)
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        assert ((low <= filled) & (filled <= high)).all()


def test_an_array_keeps_one_range_and_an_estimator_warns():
    table = np.column_stack(list(LSAT_AND_GPA.values()))
    assert ObservedMatrix(table).value_range.low.ndim == 0
    with pytest.warns(ValueRangeWarning, match="hardly count: 1 "):
        SVT(0.1).fit(table)
    fitted = SVT(0.1).fit(pd.DataFrame(LSAT_AND_GPA))
    np.testing.assert_allclose(fitted.estimate_.scale.backward(0.0), MIDDLE)


def test_ratings_keep_one_scale():
    """Few rated a film: that its ratings were 4 and 5 does not make 4.5 the middle; nor do numbered columns of a full array."""
    films = pd.DataFrame({"alien": [4, 5, None, None, None], "brazil": [None, None, 1, None, 3]})
    ratings = np.array([[4, 1, 2.0], [5, 5, 3], [4, 3, np.nan], [5, 1, 1]])
    for held in (films, ratings, pd.DataFrame(ratings)):
        assert ObservedMatrix(held).value_range.low.ndim == 0


def test_a_column_of_one_value_is_in_the_middle_of_its_range():
    Z = ObservedMatrix(pd.DataFrame({"mark": [0.0, 10, 4], "year": [2024.0, None, 2024]}))
    assert Z.scaled().values.toarray()[:, 1].tolist() == [0, 0, 0]
    assert Z.scaled().values.toarray()[:, 0].tolist() == pytest.approx([-1, 1, -0.2])
    with pytest.raises(ObservationError, match="observations that all equal 2"):
        ObservedMatrix(pd.DataFrame({"mark": [2.0, 2], "year": [2.0, 2]}))


@pytest.mark.parametrize(
    "options",
    [
        {"columns": ["test", "years", "age"]},
        {"columns": ["test", "gpa"], "value_range": "per-column"},
        {"columns": ["test", "gpa"], "value_range": (0, 100)},
        {"columns": ["test", "gpa"]},
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


def test_columns_seven_times_as_wide_are_told():
    """A complete array of LSAT and GPA says nothing of names, so that one range is kept, with a warning."""
    with pytest.warns(ValueRangeWarning, match=r"hardly count: 1 \(0 to 4\), beside 0 \(20 to 48\)"):
        warn_of_unlike_columns(ObservedMatrix(np.array([[20.0, 0], [48, 4], [30, 3]])), stacklevel=1)


def test_an_audit_of_a_plain_array_warns_as_an_estimator_does():
    marks = np.random.default_rng(0).uniform(0, [48.0, 4.0], (60, 2))
    with pytest.warns(ValueRangeWarning, match=r"hardly count: 1 \(0"):
        audit(marks, outputs=marks[:, 1], progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ValueRangeWarning)
        audit(marks * [1.0, 4.0], outputs=marks[:, 1], progress=False)
        audit(ObservedMatrix(marks, value_range="per-column"), outputs=marks[:, 1], progress=False)
