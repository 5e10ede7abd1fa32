"""Test observations from elsewhere: where they belong, and which of them test nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ObservedMatrix
from likewise.errors import ObservationError
from likewise.pipeline.outside_test import OutsideTest

nan = np.nan


def matrix(table, rows=None, columns=None):
    return ObservedMatrix(np.array(table), value_range=(1, 5), row_ids=rows, column_ids=columns)


@given(st.integers(0, 2**32 - 1))
def test_each_entry_finds_its_place_by_id(seed):
    rng = np.random.default_rng(seed)
    people, items = np.array(["a", "b", "c", "d"]), np.array([7, 8, 9])
    seen = np.where(rng.random((4, 3)) < 0.4, 3.0, nan)
    seen[0, 0], seen[3, 2] = 3.0, nan
    rows, columns = rng.permutation(4), rng.permutation(3)
    test = np.where(rng.random((4, 3)) < 0.7, rng.integers(1, 6, (4, 3)).astype(float), nan)
    test[3, 2] = 5.0
    given_test = matrix(test[np.ix_(rows, columns)], people[rows], items[columns])
    found = OutsideTest.of(given_test, matrix(seen, people, items))
    expected = {
        (i, j): test[i, j]
        for i in range(4)
        for j in range(3)
        if not np.isnan(test[i, j]) and np.isnan(seen[i, j])
    }
    assert dict(zip(zip(found.rows, found.columns, strict=True), found.values, strict=True)) == expected
    assert found.n_left_out == (~np.isnan(test) & ~np.isnan(seen)).sum()
    assert bool(found.note) == bool(found.n_left_out)


def test_a_stored_zero_counts_as_seen():
    observed = ObservedMatrix(np.array([[0.0, nan], [1.0, -1.0]]), value_range=(-1, 1))
    found = OutsideTest.of(ObservedMatrix(np.array([[1.0, 1.0], [nan, nan]]), value_range=(-1, 1)), observed)
    assert (found.rows.tolist(), found.columns.tolist(), found.n_left_out) == ([0], [1], 1)


def test_what_has_no_place_is_refused():
    observed = matrix([[1.0, nan], [2.0, 3.0]], ["a", "b"], ["x", "y"])
    with pytest.raises(ObservationError, match="'c'"):
        OutsideTest.of(matrix([[1.0, 2.0]], ["c"], ["x", "y"]), observed)
    with pytest.raises(ObservationError, match="'z'"):
        OutsideTest.of(matrix([[1.0, 2.0]], ["a"], ["x", "z"]), observed)
    with pytest.raises(ObservationError, match="all of them observed too"):
        OutsideTest.of(matrix([[1.0, nan]], ["a"], ["x", "y"]), observed)
    with pytest.raises(ObservationError, match="unknown row id"):
        OutsideTest.of(matrix([[1.0, 2.0]] * 3), matrix([[1.0, nan], [2.0, 3.0]]))
