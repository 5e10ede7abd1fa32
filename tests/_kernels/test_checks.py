"""Nothing malformed reaches a kernel."""

import numpy as np
import pytest
from scipy import sparse

from likewise._kernels import (
    CompressedRows,
    PairWalk,
    absolute_differences,
    adjoint_product,
    forward_product,
    gram_product,
)
from likewise.errors import InputError, ShapeError

pytestmark = pytest.mark.usefixtures("kernels")


def broken(**parts):
    """A csr_array of shape (2, 3), some parts of which were replaced after it was made."""
    matrix = sparse.csr_array(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix


FAULTS = {
    "index too large": {"indices": np.array([0, 3, 1])},
    "index negative": {"indices": np.array([0, -1, 1])},
    "indices not whole": {"indices": np.array([0.0, 1.0, 2.0])},
    "too few indices": {"indices": np.array([0, 1])},
    "too few values": {"data": np.array([1.0])},
    "spare values": {"data": np.ones(4)},
    "values in a table": {"data": np.ones((3, 2))},
    "pointers decrease": {"indptr": np.array([0, 4, 3])},
    "pointers negative": {"indptr": np.array([0, -5, 3])},
    "pointers end too late": {"indptr": np.array([0, 2, 4])},
    "pointers start too late": {"indptr": np.array([1, 2, 3])},
    "too few pointers": {"indptr": np.array([0, 3])},
    "pointers not whole": {"indptr": np.array([0.0, 2.0, 3.0])},
    "no pointers": {"indptr": np.array([], dtype=int)},
}


@pytest.mark.parametrize("make", [CompressedRows.from_csr, PairWalk.from_csr])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_refuses_a_malformed_csr(fault, make):
    with pytest.raises(InputError):
        make(broken(**fault))


def test_refuses_a_malformed_csc():
    matrix = sparse.csc_array(np.eye(3)[:2])
    matrix.indices = matrix.indices + 1
    with pytest.raises(InputError, match="indices reach from"):
        CompressedRows.from_csr(matrix)


@pytest.mark.parametrize("coords", [([0, 2], [0, 0]), ([0, -1], [0, 0]), ([0], [0, 0])])
def test_refuses_a_malformed_coo(coords):
    matrix = sparse.coo_array(np.eye(2))
    matrix.coords = tuple(map(np.array, coords))
    with pytest.raises(InputError):
        CompressedRows.from_csr(matrix)


@pytest.mark.parametrize(
    "matrix", [np.eye(2), None, "csr", sparse.dia_array(np.eye(2)), sparse.coo_array(np.ones(3))]
)
def test_refuses_what_is_no_compressed_matrix(matrix):
    with pytest.raises(InputError, match="expected a two-dimensional SciPy sparse array"):
        CompressedRows.from_csr(matrix)


@pytest.mark.parametrize("dtype", [complex, np.float16, np.longdouble, int])
def test_refuses_other_types(dtype):
    with pytest.raises(InputError, match="float32 or float64"):
        CompressedRows.from_csr(sparse.csr_array(np.eye(2)), dtype=dtype if dtype is not int else object)


def test_spare_entries_behind_the_last_row_are_not_read():
    matrix = broken(indices=np.array([0, 2, 1, 99]), data=np.array([1.0, 2.0, 3.0, np.nan]))
    assert forward_product(CompressedRows.from_csr(matrix), np.ones((3, 1))).tolist() == [[3.0], [3.0]]


@pytest.fixture
def rows():
    return CompressedRows.from_csr(broken())


@pytest.mark.parametrize("X", [np.ones(3), np.ones((2, 1)), np.ones((3, 1, 1)), np.float64(1)])
def test_refuses_a_block_of_another_shape(rows, X):
    for product in (gram_product, forward_product):
        with pytest.raises(ShapeError):
            product(rows, X)
    with pytest.raises(ShapeError):
        adjoint_product(rows, np.ones((3, 1)))


def test_refuses_a_block_of_another_type(rows):
    with pytest.raises(InputError, match="complex"):
        gram_product(rows, np.ones((3, 1), dtype=complex))


def test_takes_a_block_in_any_layout(rows):
    X = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    assert np.array_equal(forward_product(rows, X[:, ::2]), forward_product(rows, X)[:, ::2])


@pytest.mark.parametrize("n_threads", [0, -1, 1.5, "two", True])
def test_refuses_a_number_of_threads(rows, n_threads):
    with pytest.raises(InputError, match="n_threads"):
        gram_product(rows, np.ones((3, 1)), n_threads=n_threads)


def test_refuses_low_rank_parts_that_do_not_fit(rows):
    for left, right in (((2, 1), (3, 2)), ((3, 1), (3, 1)), ((2, 1), (2, 1))):
        with pytest.raises(ShapeError):
            rows.plus_low_rank(np.ones(left), np.ones(right))


@pytest.mark.parametrize(("start", "stop"), [(-1, 1), (0, 3), (2, 1)])
def test_refuses_a_range_beyond_the_rows(start, stop):
    with pytest.raises(ShapeError, match="rows"):
        absolute_differences(PairWalk.from_csr(broken()), start, stop)
