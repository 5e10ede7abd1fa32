import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import MemoryLimitError, ObservationError, ShapeError
from likewise.observations import ObservedMatrix
from likewise.observations.ids import factorize

PAIRS = st.lists(
    st.tuples(st.integers(-3, 10**12), st.sampled_from(["tea", "milk", "", "ä"]), st.floats(-1, 1)),
    min_size=1,
    unique_by=lambda triplet: triplet[:2],
)


@given(triplets=PAIRS)
def test_triplets_come_back_with_their_ids(triplets):
    rows, columns, values = zip(*triplets, strict=True)
    Z = ObservedMatrix.from_triplets(rows, columns, values, value_range=(-1, 1))
    at_rows, at_columns = Z.positions()
    back = zip(
        Z.row_ids[at_rows].tolist(), Z.column_ids[at_columns].tolist(), Z.values.data.tolist(), strict=True
    )
    assert sorted(back) == sorted(triplets)
    assert Z.row_ids.tolist() == sorted(set(rows))
    assert Z.column_ids.tolist() == sorted(set(columns))


@pytest.mark.parametrize(
    "ids",
    [
        ["b", "a", "c"],
        [3, 1, 2],
        [1.5, 0.5, 2.0],
        [True, False, True],
        [("x", 1), ("x", 0), ("y", 5)],
        ["1", 1, None.__class__],
        [datetime.date(2020, 1, 2), datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
        np.array(["b", "a", "c"]),
        np.array([255, 0, 7], dtype=np.uint8),
        np.array([-128, 127, 0], dtype=np.int8),
        np.array([2**64 - 1, 0, 2**63], dtype=np.uint64),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 2], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array(["2020-01-02", "2020-01-01", "2021-05-05"], dtype="datetime64[D]"),
        pd.Series(["b", "a", "c"]),
        pd.Series(["b", "a", "c"], dtype="category"),
        pl.Series(["b", "a", "c"]),
    ],
    ids=str,
)
def test_ids_of_any_type_are_kept(ids):
    Z = ObservedMatrix.from_triplets(ids, [0, 1, 2], [1, 2, 3])
    at_rows, at_columns = Z.positions()
    original = dict(zip(range(3), list(ids), strict=True))
    assert {column: Z.row_ids[row] for row, column in zip(at_rows, at_columns, strict=True)} == original


@given(ids=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), min_size=1))
def test_codes_lead_back_to_integer_ids(ids):
    unique, codes = factorize(np.array(ids), "row")
    np.testing.assert_array_equal(unique[codes], np.array(ids))
    np.testing.assert_array_equal(unique, np.unique(ids))


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_missing_id_is_named(missing):
    with pytest.raises(ObservationError, match="the row id of observation 1 is missing"):
        ObservedMatrix.from_triplets(["a", missing], ["x", "y"], [1, 2])


def test_ids_that_cannot_be_compared_for_equality_are_refused():
    with pytest.raises(ObservationError, match="row ids that cannot be told apart"):
        ObservedMatrix.from_triplets([[1], [2]], ["x", "y"], [1, 2])


def test_missing_ids_in_other_arrays():
    for ids in (np.array([1.0, np.nan]), np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")):
        with pytest.raises(ObservationError, match="the column id of observation 1 is missing"):
            ObservedMatrix.from_triplets([1, 2], ids, [1, 2])


def test_a_shape_counts_from_one_unless_an_id_is_zero():
    one = ObservedMatrix.from_triplets([1, 3], [2, 4], [1, 2], shape=(3, 5))
    assert (one.shape, one.row_ids.tolist(), one.column_ids.tolist()) == ((3, 5), [1, 2, 3], [1, 2, 3, 4, 5])
    assert one.values[0, 1] == 1
    assert "ids are counted from 1, as no id is 0" in one.notes
    zero = ObservedMatrix.from_triplets([0, 2], [2, 4], [1, 2], shape=(3, 5))
    assert (zero.row_ids.tolist(), zero.values[0, 2], zero.values[2, 4]) == ([0, 1, 2], 1, 2)
    assert "ids are counted from 0, as an id is 0" in zero.notes


@pytest.mark.parametrize(
    ("rows", "columns", "shape", "message"),
    [
        ([1, 4], [1, 1], (3, 5), "row id 4 for 3 rows; expected ids from 1 to 3"),
        ([0, 3], [1, 1], (3, 5), "row id 3 for 3 rows; expected ids from 0 to 2"),
        ([1, 2], [-1, 1], (3, 5), "column id -1 for 5 columns"),
        (["a", "b"], [1, 1], (3, 5), "integer ids where a shape is given"),
        ([1.0, 2.0], [1, 1], (3, 5), "integer ids where a shape is given"),
        ([1, 2], [1, 1], (3,), "two positive integers"),
        ([1, 2], [1, 1], (3, 0), "two positive integers"),
        ([1, 2], [1, 1], (3, 2.5), "two positive integers"),
        ([1, 2], [1, 1], 3, "two positive integers"),
        ([1, 2], [1], None, "2 rows, 1 columns and 2 values"),
    ],
)
def test_ids_that_do_not_fit(rows, columns, shape, message):
    with pytest.raises(ShapeError, match=message):
        ObservedMatrix.from_triplets(rows, columns, [1, 2], shape=shape)


def test_no_triplet_is_refused():
    with pytest.raises(ObservationError, match="no observation"):
        ObservedMatrix.from_triplets([], [], [])


@pytest.mark.parametrize("values", [["1", "x"], ["1", "2"], [1j, 2], [[1], [2]], [object(), 1]])
def test_values_that_are_not_numbers_are_refused(values):
    with pytest.raises(ObservationError, match="values"):
        ObservedMatrix.from_triplets([1, 2], [1, 2], values)


REPEATED = ([1, 2, 1, 2, 1, 2], [7, 7, 7, 8, 7, 7], [5.0, 3.0, 1.0, 0.0, 3.0, 4.0])
"""(1, 7) is 5, 1, 3; (2, 7) is 3, 4; (2, 8) is 0."""


@pytest.mark.parametrize(
    ("rule", "expected"), [("first", [5, 3, 0]), ("last", [3, 4, 0]), ("mean", [3, 3.5, 0])]
)
def test_repeated_pairs_follow_the_rule(rule, expected):
    Z = ObservedMatrix.from_triplets(*REPEATED, value_range=(0, 5), duplicates=rule)
    np.testing.assert_array_equal(Z.values.data, expected)
    assert Z.values.indices.tolist() == [0, 0, 1]
    assert any("2 pairs occurred more than once" in note for note in Z.notes)


def test_repeated_pairs_are_named_by_default():
    with pytest.raises(
        ObservationError, match=r"2 pairs occur more than once, the first being \(1, 7\), \(2, 7\)"
    ):
        ObservedMatrix.from_triplets(*REPEATED)
    with pytest.raises(ObservationError, match=r"unknown rule for duplicates 'lats'.*did you mean 'last'"):
        ObservedMatrix.from_triplets(*REPEATED, duplicates="lats")


@given(
    triplets=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-8, 8)), min_size=1),
    rule=st.sampled_from(["first", "last", "mean"]),
)
def test_merging_equals_a_plain_dictionary(triplets, rule):
    naive = {}
    for row, column, value in triplets:
        naive.setdefault((row, column), []).append(value)
    merge = {"first": lambda v: v[0], "last": lambda v: v[-1], "mean": lambda v: sum(v) / len(v)}[rule]
    rows, columns, values = zip(*triplets, strict=True)
    Z = ObservedMatrix.from_triplets(rows, columns, values, value_range=(-8, 8), duplicates=rule)
    at_rows, at_columns = Z.positions()
    pairs = zip(Z.row_ids[at_rows].tolist(), Z.column_ids[at_columns].tolist(), strict=True)
    result = dict(zip(pairs, Z.values.data.tolist(), strict=True))
    assert result == pytest.approx({pair: merge(found) for pair, found in naive.items()}, abs=1e-12)


def test_float32_values_stay_float32():
    Z = ObservedMatrix.from_triplets(
        *REPEATED[:2], np.array(REPEATED[2], dtype=np.float32), duplicates="mean"
    )
    assert Z.values.dtype == np.float32


def test_a_size_that_cannot_fit_is_refused_before_anything_is_allocated():
    with pytest.raises(MemoryLimitError, match="an axis of 1,000,000,000,000,000 would need"):
        ObservedMatrix.from_triplets([1, 2], [1, 2], [1, 2], shape=(10**15, 2))
