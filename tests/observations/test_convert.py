"""Arrays, sparse matrices and frames of every kind give the same observations."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from likewise.errors import ObservationError, ShapeError
from likewise.observations import ObservedMatrix

FORMATS = ["csr", "csc", "coo", "lil", "dok"]


def as_sparse(dense, kind):
    """Keep observed zeros as stored entries."""
    rows, columns = np.nonzero(~np.isnan(dense))
    return sparse.coo_array((dense[rows, columns], (rows, columns)), shape=dense.shape).asformat(kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
@given(
    dense=arrays(
        float,
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
        elements=st.sampled_from([np.nan, 0, 1, -2, 3]),
    )
)
def test_every_sparse_format_gives_what_the_nan_array_gives(kind, dense):
    if np.isnan(dense).all():
        return
    from_sparse = ObservedMatrix(as_sparse(dense, kind), value_range=(-2, 3))
    np.testing.assert_array_equal(from_sparse.to_dense(np.nan), dense)
    np.testing.assert_array_equal(ObservedMatrix(dense, value_range=(-2, 3)).to_dense(np.nan), dense)


@pytest.mark.parametrize("kind", [*FORMATS, "bsr"])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, bool])
@pytest.mark.parametrize("container", [sparse.coo_array, sparse.coo_matrix])
def test_sparse_matrices_and_arrays_of_any_type(kind, dtype, container):
    values = container(np.array([[1, 0, 1], [0, 1, 0]], dtype=dtype)).asformat(kind)
    Z = ObservedMatrix(values, value_range=(0, 1))
    np.testing.assert_array_equal(Z.to_dense(np.nan), [[1, np.nan, 1], [np.nan, 1, np.nan]])


def test_a_sparse_matrix_without_its_first_row_and_column_is_not_shifted():
    values = sparse.coo_array(([1.0, 2.0], ([1, 2], [2, 1])), shape=(3, 3))
    assert ObservedMatrix(values).values[1, 2] == 1


@pytest.mark.parametrize("kind", ["bsr", "dia"])
def test_formats_that_pad_with_zeros_are_refused_where_they_store_one(kind):
    ambiguous = sparse.bsr_array(np.array([[1.0, 0], [0, 2]]), blocksize=(2, 2)).asformat(kind)
    if kind == "dia":
        ambiguous = sparse.dia_array((np.array([[1.0, 0, 2]]), [0]), shape=(3, 3))
    with pytest.raises(ObservationError, match=f"a {kind} matrix that stores zeros"):
        ObservedMatrix(ambiguous)


def test_a_diagonal_matrix_without_zeros_is_taken():
    Z = ObservedMatrix(sparse.dia_array((np.array([[1.0, 3, 2]]), [0]), shape=(3, 3)))
    np.testing.assert_array_equal(Z.values.data, [1, 3, 2])


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
def test_duplicates_in_a_sparse_matrix_are_named_not_added_up(kind):
    if kind == "coo":
        values = sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    else:
        values = getattr(sparse, f"{kind}_array")((np.array([1.0, 2, 4]), [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    pair = r"\(0, 1\)" if kind != "csc" else r"\(1, 0\)"
    with pytest.raises(ObservationError, match=f"1 pair occurs more than once, the first being {pair}"):
        ObservedMatrix(values)


def test_unsorted_rows_are_sorted():
    values = sparse.csr_array((np.array([2.0, 1, 4]), [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    Z = ObservedMatrix(values)
    np.testing.assert_array_equal(Z.values.indices, [0, 1, 0])
    np.testing.assert_array_equal(Z.values.data, [1, 2, 4])
    np.testing.assert_array_equal(values.indices, [1, 0, 0])  # the caller's own is left as it was


def test_a_malformed_sparse_matrix_is_refused_before_it_is_used():
    values = sparse.csr_array(np.eye(3))
    values.indices[1] = 7
    with pytest.raises(ObservationError, match="malformed"):
        ObservedMatrix(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (sparse.coo_array(np.eye(2) * 1j), "complex"),
        (sparse.csr_array((2, 2)), "without an observation"),
        (sparse.csr_array(np.array([[np.nan, 1.0]])), r"value nan at \(0, 0\)"),
    ],
)
def test_unusable_sparse_matrices(values, message):
    with pytest.raises(ObservationError, match=message):
        ObservedMatrix(values)


def test_sparse_arrays_of_one_dimension_are_refused():
    with pytest.raises(ShapeError, match="1 dimensions"):
        ObservedMatrix(sparse.coo_array(np.array([1.0, 2.0])))


def test_masked_arrays_are_missing_where_masked():
    masked = np.ma.MaskedArray([[1, 2], [0, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(ObservedMatrix(masked).to_dense(np.nan), [[1, np.nan], [0, 4]])


COLUMNS = {"written": [23.0, None, 0.0], "course": [0, 71, None], "oral": [True, False, True]}
EXPECTED = [[23, 0, 1], [np.nan, 71, 0], [0, np.nan, 1]]
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas pyarrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_any_library_keep_their_columns_names(library):
    Z = ObservedMatrix(FRAMES[library])
    np.testing.assert_array_equal(Z.to_dense(np.nan), EXPECTED)
    assert list(Z.column_ids) == ["written", "course", "oral"]
    assert list(Z.row_ids) == [0, 1, 2]


def test_an_index_names_the_individuals():
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["ann", "bob"])
    assert list(ObservedMatrix(frame).row_ids) == ["ann", "bob"]
    assert list(ObservedMatrix(frame, row_ids=[5, 6]).row_ids) == [5, 6]
    pairs = pd.DataFrame({"a": [1.0, 2.0]}, index=pd.MultiIndex.from_tuples([(1, 2), (1, 3)]))
    assert list(ObservedMatrix(pairs).row_ids) == [(1, 2), (1, 3)]


def test_a_frame_whose_columns_are_numbered_is_read_by_name():
    frame = pd.DataFrame([[1.0, np.nan, 3.0], [0.0, 5.0, 2.0]], columns=[2, 0, 1])
    Z = ObservedMatrix(frame)
    np.testing.assert_array_equal(Z.to_dense(np.nan), frame.to_numpy())
    assert list(Z.column_ids) == [2, 0, 1]


def test_a_frame_of_float32_stays_float32():
    assert (
        ObservedMatrix(pl.DataFrame({"a": [1.0, 2.0]}, schema={"a": pl.Float32})).values.dtype == np.float32
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": [1, 2], "town": ["x", "y"]}), "column 'town' of type String"),
        (pd.DataFrame({"a": [1, 2], "name": ["x", "y"]}), "column 'name', which names or counts"),
        (pl.DataFrame({"a": ["1", "2"]}), "column 'a' of type String"),
        (pl.DataFrame({"a": [1, 2]}).lazy(), "lazy"),
        (pd.DataFrame({"a": [1, 2]}, index=[3, 3]), "row id 3 occurs more than once"),
    ],
)
def test_unusable_frames(frame, message):
    with pytest.raises(ObservationError, match=message):
        ObservedMatrix(frame)


def test_malformed_blocks_and_coordinates_are_refused():
    blocks = sparse.bsr_array(np.ones((4, 4)), blocksize=(2, 2))
    blocks.indices = blocks.indices + 9
    coordinates = sparse.coo_array(np.eye(3))
    coordinates.coords = (np.array([0, 1, -1]), np.array([0, 1, 2]))
    for malformed in (blocks, coordinates):
        with pytest.raises(ObservationError, match="malformed"):
            ObservedMatrix(malformed)


@pytest.mark.parametrize("path", ["ratings.csv", Path("ratings.csv")])
def test_a_path_is_no_observations(path):
    with pytest.raises(
        ObservationError, match=r"'ratings.csv' as observations; .*likewise.read_ratings\('ratings.csv'\)$"
    ):
        ObservedMatrix(path)
