import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from likewise._kernels import CompressedRows, adjoint_product, forward_product, gram_product
from likewise.errors import InputError

pytestmark = pytest.mark.usefixtures("kernels", "always_in_threads")

FLOATS = (np.float32, np.float64)


def random_matrix(m, n, density, dtype, seed):
    """Rows and columns of very different length, some empty, and stored zeros."""
    rng = np.random.default_rng(seed)
    present = rng.random((m, n)) < density * 2 * rng.random((m, 1)) * 2 * rng.random((1, n))
    rows, columns = np.nonzero(present)
    values = rng.standard_normal(rows.size).astype(dtype) * rng.integers(0, 2, rows.size)
    return sparse.csr_array((values.astype(dtype), (rows, columns)), shape=(m, n))


def block(n_rows, b, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal((n_rows, b)).astype(dtype)


def within_rounding(actual, *factors, dtype):
    """Whether `actual` is the product of `factors` to the error bound of any order of summation.

    Each entry is off by at most gamma_k times the product of the absolute values, k the length of all sums
    (Higham, Accuracy and Stability of Numerical Algorithms, section 3.5).
    """
    expected = size = None
    for factor in reversed(factors):
        exact = np.asarray(factor, dtype=np.float64)
        expected = exact if expected is None else exact @ expected
        size = np.abs(exact) if size is None else np.abs(exact) @ size
    length = sum(factor.shape[1] + 2 for factor in factors[:-1])
    unit = length * np.finfo(dtype).eps
    return actual.dtype == dtype and bool((np.abs(actual - expected) <= unit / (1 - unit) * size).all())


def test_products_by_hand():
    A = sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    rows = CompressedRows.from_csr(A)
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert_array_equal(forward_product(rows, X), [[11.0, 14.0], [9.0, 12.0]])
    assert_array_equal(adjoint_product(rows, X[:2]), [[1.0, 2.0], [9.0, 12.0], [2.0, 4.0]])
    assert_array_equal(gram_product(rows, X), [[11.0, 14.0], [27.0, 36.0], [22.0, 28.0]])


def test_other_values_in_the_same_places_by_hand():
    A = sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]])
    rows = CompressedRows.from_csr(A).plus_low_rank(np.ones((2, 1)), np.ones((3, 1)))
    other = rows.with_values(np.array([5.0, 6.0, 7.0, 8.0]))
    assert_array_equal(forward_product(other, np.eye(3)), [[6.0, 1.0, 7.0], [1.0, 8.0, 9.0]])
    assert_array_equal(forward_product(rows, np.eye(3)), [[2.0, 1.0, 3.0], [1.0, 4.0, 5.0]])


@given(
    m=st.integers(1, 12),
    n=st.integers(1, 12),
    density=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=20)
def test_other_values_are_those_of_a_matrix_laid_out_anew(m, n, density, seed):
    A = random_matrix(m, n, density, np.float64, seed)
    B = sparse.csr_array((np.arange(A.nnz) - 1.5, A.indices, A.indptr), shape=A.shape)
    rows = CompressedRows.from_csr(A).with_values(B.data)
    assert_array_equal(forward_product(rows, np.eye(n)), B.toarray())


@pytest.mark.parametrize("values", [np.ones(3), np.ones(5), np.array(["a", "b"])])
def test_values_that_do_not_fit_the_places_are_refused(values):
    rows = CompressedRows.from_csr(sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]]))
    with pytest.raises(InputError):
        rows.with_values(values)


def test_low_rank_part_by_hand():
    A = sparse.csr_array([[1.0, 0.0], [0.0, 2.0]])
    rows = CompressedRows.from_csr(A).plus_low_rank([[1.0], [2.0]], [[3.0], [4.0]])  # [[4, 4], [6, 10]]
    assert_array_equal(forward_product(rows, np.eye(2)), [[4.0, 4.0], [6.0, 10.0]])
    assert_array_equal(adjoint_product(rows, np.eye(2)), [[4.0, 6.0], [4.0, 10.0]])
    assert_array_equal(gram_product(rows, np.eye(2)), [[52.0, 76.0], [76.0, 116.0]])


@given(
    m=st.integers(0, 40),
    n=st.integers(0, 40),
    b=st.integers(0, 70),
    rank=st.integers(0, 3),
    density=st.floats(0, 1),
    stored=st.sampled_from(FLOATS),
    used=st.sampled_from(FLOATS),
    n_threads=st.integers(1, 4),
    seed=st.integers(0, 2**16),
)
def test_products_are_those_of_the_dense_matrix(m, n, b, rank, density, stored, used, n_threads, seed):
    S = random_matrix(m, n, density, stored, seed)
    L, R = block(m, rank, used, seed + 1), block(n, rank, used, seed + 2)
    rows = CompressedRows.from_csr(S).plus_low_rank(L, R)
    sparse_part = S.toarray().astype(used)  # float64 values are rounded to the type of a float32 block
    A = np.hstack([sparse_part, L])
    E = np.hstack([np.eye(n), R])
    X, Y = block(n, b, used, seed + 3), block(m, b, used, seed + 4)
    assert within_rounding(forward_product(rows, X, n_threads=n_threads), A, E.T, X, dtype=used)
    assert within_rounding(adjoint_product(rows, Y, n_threads=n_threads), E, A.T, Y, dtype=used)
    assert within_rounding(gram_product(rows, X, n_threads=n_threads), E, A.T, A, E.T, X, dtype=used)


@pytest.mark.slow
def test_long_float32_sums_keep_their_digits(kernels, monkeypatch):
    """Sums over 400,000 rows: added up in one go, float32 loses a digit more than in stretches."""
    if kernels == "scipy":
        pytest.skip("SciPy's products add up in one go")
    dense = np.random.default_rng(0).random((400_000, 8)).astype(np.float32)
    exact = dense.astype(np.float64).T @ dense.astype(np.float64)
    rows = CompressedRows.from_csr(sparse.csr_array(dense))

    def error(stretch):
        monkeypatch.setattr("likewise._kernels.native.products._STRETCH", stretch)
        return np.abs(gram_product(rows, np.eye(8, dtype=np.float32), n_threads=1) / exact - 1).max()

    assert error(1 << 16) < 1e-6
    assert error(1 << 16) < error(1 << 30) / 5


@pytest.mark.parametrize("dtype", FLOATS)
def test_same_bits_for_the_same_number_of_threads(dtype):
    A = random_matrix(300, 200, 0.2, dtype, 0)
    rows, X = CompressedRows.from_csr(A), block(200, 40, dtype)
    for n_threads in (1, 2, 3):
        first = gram_product(rows, X, n_threads=n_threads)
        assert_array_equal(gram_product(rows, X, n_threads=n_threads), first)
        assert within_rounding(first, A.toarray().T, A.toarray(), X, dtype=dtype)


@pytest.mark.parametrize("n", [65_535, 65_536, 70_000])
def test_columns_beyond_16_bits(n):
    corner = sparse.csr_array(([1.0, 2.0, 3.0], ([0, 1, 1], [n - 1, 0, n - 1])), shape=(2, n))
    rows = CompressedRows.from_csr(corner)
    gram = gram_product(rows, np.arange(n, dtype=float)[:, None])
    assert_array_equal(np.flatnonzero(gram), [0, n - 1])
    assert_array_equal(gram[[0, n - 1], 0], [6.0 * (n - 1), 10.0 * (n - 1)])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_any_common_format_and_unsorted_duplicates(form):
    entries = ([1.0, 2.0, 4.0, 8.0], ([1, 0, 1, 1], [2, 0, 0, 2]))
    A = sparse.coo_array(entries, shape=(2, 3)).asformat(form)
    assert_array_equal(forward_product(CompressedRows.from_csr(A), np.eye(3)), [[2.0, 0, 0], [4.0, 0, 9.0]])


def test_integers_become_float64():
    rows = CompressedRows.from_csr(sparse.csr_array([[1, 2]]))
    assert rows.dtype == np.float64
    assert forward_product(rows, np.eye(2, dtype=int)).dtype == np.float64


def test_what_the_caller_changes_later_moves_no_index():
    A = sparse.csr_array(np.eye(3))
    rows = CompressedRows.from_csr(A)
    if not hasattr(rows.products, "columns"):
        pytest.skip("SciPy's products read the caller's arrays, with bounds of their own")
    A.indices[:] = 10**6
    A.indptr[:] = 10**6
    assert_array_equal(gram_product(rows, np.eye(3)), np.eye(3))


def test_prepared_matrix_describes_itself():
    A = sparse.csr_array(np.eye(3, dtype=np.float32)[:2])
    rows = CompressedRows.from_csr(A, dtype=np.float64).plus_low_rank(np.ones((2, 1)), np.ones((3, 1)))
    assert (rows.shape, rows.dtype, rows.nnz, rows.rank) == ((2, 3), np.float64, 2, 1)
    assert repr(rows) == "CompressedRows(shape=(2, 3), dtype=float64, nnz=2, rank=1)"
    assert rows.nbytes >= 2 * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_goes_on():
    rows, X = CompressedRows.from_csr(random_matrix(200, 100, 0.3, np.float64, 0)), block(100, 8, np.float64)
    before = gram_product(rows, X, n_threads=2)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(gram_product(rows, X, n_threads=2), before) else 1)
    assert os.waitpid(child, 0)[1] == 0
