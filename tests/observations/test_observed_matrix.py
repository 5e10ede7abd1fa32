import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import memory
from likewise.errors import MemoryLimitError, ObservationError, ShapeError
from likewise.observations import ObservedMatrix, ValueRange

MARKS = np.array([[1.0, np.nan, 10.0], [np.nan, np.nan, 0.0], [5.0, 2.0, 5.0]])
"""Three individuals, three features; (1, 2) is an observed zero."""


@pytest.fixture
def marks():
    return ObservedMatrix(MARKS, value_range=(0, 10), row_ids=["ann", "bob", 7], column_ids=["x", "y", "z"])


def test_what_is_stored_is_what_was_observed(marks):
    assert marks.shape == (3, 3)
    assert marks.n_observed == 6
    assert marks.observed_fraction == 6 / 9
    np.testing.assert_array_equal(marks.values.indptr, [0, 2, 3, 6])
    np.testing.assert_array_equal(marks.values.indices, [0, 2, 2, 0, 1, 2])
    np.testing.assert_array_equal(marks.values.data, [1, 10, 0, 5, 2, 5])
    rows, columns = marks.positions()
    np.testing.assert_array_equal(rows, [0, 0, 1, 2, 2, 2])
    np.testing.assert_array_equal(columns, [0, 2, 2, 0, 1, 2])


def test_ids_of_mixed_type_come_back_as_they_were(marks):
    assert list(marks.row_ids) == ["ann", "bob", 7]
    assert list(ObservedMatrix([[0, 1]]).column_ids) == [0, 1]


def test_scaling_maps_observed_values_and_leaves_the_missing_missing(marks):
    scaled = marks.scaled("symmetric")
    np.testing.assert_array_equal(scaled.values.data, [-0.8, 1, -1, 0, -0.6, 0])
    assert repr(scaled.value_range) == "ValueRange(-1 to 1)"
    np.testing.assert_array_equal(scaled.values.indices, marks.values.indices)
    assert list(scaled.row_ids) == list(marks.row_ids)
    np.testing.assert_array_equal(scaled.zero_filled().toarray(), [[-0.8, 0, 1], [0, 0, -1], [0, -0.6, 0]])
    np.testing.assert_array_equal(marks.scaled("unit").values.data, [0.1, 1, 0, 0.5, 0.2, 0.5])


def test_scaling_twice_is_scaling_once(marks):
    np.testing.assert_array_equal(marks.scaled().scaled().values.data, marks.scaled().values.data)


def test_each_column_has_its_own_range_where_asked():
    Z = ObservedMatrix([[1, 100], [3, 200], [2, np.nan]], value_range="per-column")
    np.testing.assert_array_equal(Z.value_range.low, [1, 100])
    np.testing.assert_array_equal(Z.value_range.high, [3, 200])
    np.testing.assert_array_equal(Z.scaled().values.data, [-1, -1, 1, 1, 0])
    assert "for each column its own" in Z.notes[0]


def test_a_column_without_observation_gets_the_range_of_all():
    Z = ObservedMatrix([[1, np.nan, 7], [3, np.nan, 9]], value_range="per-column")
    np.testing.assert_array_equal(Z.value_range.low, [1, 1, 7])
    np.testing.assert_array_equal(Z.value_range.high, [3, 9, 9])


@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=20),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_scaled_values_never_leave_the_interval(low, width, shares, kind):
    data = np.array([[low, low + width, *(low + np.array(shares) * width)]]).astype(kind)
    if data.min() == data.max():
        return
    scaled = ObservedMatrix(data).scaled()
    assert scaled.values.dtype == kind
    assert np.abs(scaled.values.data).max() <= 1


def test_float32_is_kept_and_everything_else_becomes_float64():
    single = ObservedMatrix(np.array([[0.1, 0.7]], dtype=np.float32), value_range=(0.1, 0.7))
    assert single.values.dtype == single.scaled().values.dtype == single.to_dense().dtype == np.float32
    for kind in (np.int8, np.uint64, np.float16, np.longdouble, bool):
        assert ObservedMatrix(np.array([[0, 1]], dtype=kind)).values.dtype == np.float64


def test_dense_arrays_show_what_is_missing(marks):
    np.testing.assert_array_equal(marks.to_dense(), np.nan_to_num(MARKS))
    np.testing.assert_array_equal(marks.to_dense(missing=np.nan), MARKS)


def test_a_dense_array_that_cannot_fit_is_refused_before_it_is_made(marks, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8.0 * 9 - 1)
    with pytest.raises(
        MemoryLimitError, match=r"a dense 3 x 3 array would need 72\.0 B, 71\.0 B may be used"
    ):
        marks.to_dense()


def test_nothing_can_be_changed(marks):
    with pytest.raises(AttributeError, match="cannot be changed"):
        marks.value_range = ValueRange.declared((0, 1))
    with pytest.raises(AttributeError, match="cannot be changed"):
        del marks.values
    for array in (
        marks.values.data,
        marks.values.indices,
        marks.values.indptr,
        marks.row_ids,
        marks.column_ids,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array, sparse.coo_array, sparse.csr_matrix])
def test_what_was_given_stays_independent(convert):
    given_values = convert(np.array([[1.0, 2.0], [3.0, 4.0]]))
    names = np.array([3, 4])
    Z = ObservedMatrix(given_values, row_ids=names)
    (given_values if isinstance(given_values, np.ndarray) else given_values.data).fill(9)
    names[0] = 9
    np.testing.assert_array_equal(Z.values.data, [1, 2, 3, 4])
    assert Z.row_ids[0] == 3


@pytest.mark.parametrize("through", [lambda Z: pickle.loads(pickle.dumps(Z)), copy.copy, copy.deepcopy])
def test_copies_are_equal_and_frozen_too(marks, through):
    twin = through(marks)
    np.testing.assert_array_equal(twin.to_dense(np.nan), marks.to_dense(np.nan))
    assert (list(twin.row_ids), twin.notes, repr(twin)) == (list(marks.row_ids), marks.notes, repr(marks))
    assert not twin.values.data.flags.writeable


def test_it_prints_its_size_and_what_to_know(marks):
    assert (
        repr(marks) == "ObservedMatrix(3 individuals x 3 features, 6 observed (66.667%), ValueRange(0 to 10))"
    )
    lines = repr(ObservedMatrix([[1, np.nan], [2, np.nan], [np.nan, np.nan]])).splitlines()
    assert lines[1:] == [
        "  note: value range inferred from the data: 1 to 2",
        "  note: 1 of 3 rows have no observation",
        "  note: 1 of 2 columns have no observation",
    ]


def test_one_individual_or_one_feature_is_allowed_and_reported():
    assert "there is one individual only" in ObservedMatrix([[1, 2]]).notes
    assert "there is one feature only" in ObservedMatrix([[1], [2]]).notes


def test_other_values_on_the_same_entries(marks):
    doubled = marks.with_values(marks.values.data * 2, value_range=(0, 20))
    np.testing.assert_array_equal(doubled.to_dense(np.nan), MARKS * 2)
    assert marks.with_values(marks.values.data).value_range is marks.value_range
    with pytest.raises(ObservationError, match=r"20 at \(ann, z\)"):
        marks.with_values(marks.values.data * 2)
    with pytest.raises(ShapeError, match="one for each of 6"):
        marks.with_values([1.0])


def test_keeping_some_observations(marks):
    kept = marks.keep(np.array([True, False, True, False, False, True]))
    np.testing.assert_array_equal(
        kept.to_dense(np.nan), [[1, np.nan, np.nan], [np.nan, np.nan, 0], [np.nan, np.nan, 5]]
    )
    with pytest.raises(ObservationError, match="no observation to keep"):
        marks.keep(np.zeros(6, dtype=bool))


@pytest.mark.parametrize(("rows", "positions"), [([2, 0], [2, 0]), ([True, False, True], [0, 2]), (1, [1])])
def test_taking_rows(marks, rows, positions):
    taken = marks.take_rows(rows)
    np.testing.assert_array_equal(taken.to_dense(np.nan), MARKS[positions])
    assert list(taken.row_ids) == [marks.row_ids[i] for i in positions]
    assert taken.value_range is marks.value_range


def test_taking_rows_where_nothing_was_observed_is_refused():
    Z = ObservedMatrix([[np.nan, np.nan], [1, 2]])
    with pytest.raises(ObservationError, match="1 individuals without an observation"):
        Z.take_rows([0])


def test_indices_are_short():
    values = sparse.random_array((50, 60), density=0.2, rng=0).tocsr()
    values.indices, values.indptr = values.indices.astype(np.int64), values.indptr.astype(np.int64)
    Z = ObservedMatrix(values)
    assert Z.values.indices.dtype == Z.values.indptr.dtype == np.int32
    assert Z.keep(Z.values.data > 0.5).values.indptr.dtype == np.int32


@pytest.mark.parametrize(
    ("values", "options", "error", "message"),
    [
        ([[np.nan, np.nan]], {}, ObservationError, "without an observation"),
        (np.empty((0, 3)), {}, ObservationError, "a 0 x 3 matrix without an observation"),
        ([[1, np.inf]], {}, ObservationError, r"value inf at \(0, 1\)"),
        ([[1, -1]], {"value_range": (0, 1)}, ObservationError, r"1 values outside .* -1 at \(0, 1\)"),
        ([[2, 2]], {}, ObservationError, "all equal 2"),
        ([[2, 1], [2, 0]], {"value_range": "per-column"}, ObservationError, "column 0 without spread"),
        ([[2, 1]], {"value_range": "per-row"}, ObservationError, "value range 'per-row'"),
        ([[2, 1]], {"value_range": ([0, 0, 0], [3, 3, 3])}, ShapeError, "3 value ranges for 2 columns"),
        ([1, 2], {}, ShapeError, r"shape \(2,\)"),
        (np.zeros((1, 1, 1)), {}, ShapeError, r"shape \(1, 1, 1\)"),
        (3.0, {}, ShapeError, r"shape \(\)"),
        ([[1, 2], [3]], {}, ObservationError, "not an array"),
        ([["1", "2"]], {}, ObservationError, "type <U1"),
        ([[1j, 2]], {}, ObservationError, "type complex128"),
        ([[{}, 2]], {}, ObservationError, "not numbers"),
        (None, {}, ShapeError, r"shape \(\)"),
        ([[1, 2]], {"row_ids": [1, 2]}, ShapeError, "2 row ids for 1 rows"),
        ([[1, 2]], {"column_ids": ["a", "a"]}, ObservationError, "column id 'a' occurs more than once"),
        ([[1, 2]], {"column_ids": ["a", None]}, ObservationError, "column id of observation 1 is missing"),
        ([[1, 2]], {"column_ids": np.array([[1, 2]])}, ShapeError, r"ids of shape \(1, 2\)"),
    ],
)
def test_bad_input_gets_one_clear_error(values, options, error, message):
    with pytest.raises(error, match=message):
        ObservedMatrix(values, **options)


def test_a_float32_value_at_a_bound_that_float32_cannot_represent_is_inside():
    assert float(np.float32(0.1)) > 0.1
    ObservedMatrix(np.array([[0.0, 0.1]], dtype=np.float32), value_range=(0, 0.1))


def test_each_working_range_is_made_once():
    """An audit asks for the same scaled observations at every step."""
    Z = ObservedMatrix(np.array([[1.0, np.nan], [3.0, 5.0]]), value_range=(1, 5))
    assert Z.scaled() is Z.scaled("symmetric")
    assert Z.scaled("unit") is Z.scaled("unit")
    assert Z.scaled("unit").values.data.tolist() == [0.0, 0.5, 1.0]
    assert Z.scaled().values.data.tolist() == [-1.0, 0.0, 1.0]
    assert Z.keep(np.array([True, False, True])).scaled().values.data.tolist() == [-1.0, 1.0]
    assert Z.take_rows([1]).scaled().values.data.tolist() == [0.0, 1.0]
    copy = pickle.loads(pickle.dumps(Z))
    assert copy.scaled() is not Z.scaled()
    assert copy.scaled().values.data.tolist() == [-1.0, 0.0, 1.0]
