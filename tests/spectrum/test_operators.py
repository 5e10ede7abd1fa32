"""Every kind of operand gives the products of the same dense matrix, and the same triplets; rows may live elsewhere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import coo_array, csr_array, csr_matrix, random_array

from likewise._kernels import CompressedRows
from likewise.errors import InputError, ObservationError, ShapeError
from likewise.observations import ObservedMatrix
from likewise.spectrum import RowOperator, singular_triplets
from likewise.spectrum.operators import as_operator, near_one


class RowBlocks(RowOperator):
    """Rows kept in pieces that are fetched one at a time, as from disk: what lives elsewhere needs no more than this."""

    def __init__(self, matrix, rows_of_a_block):
        self.blocks = [
            matrix[start : start + rows_of_a_block] for start in range(0, matrix.shape[0], rows_of_a_block)
        ]
        self.shape, self.dtype = matrix.shape, matrix.dtype

    def _gram(self, X):
        return sum(block.T @ (block @ X) for block in self.blocks)

    def _forward(self, X):
        return np.vstack([block @ X for block in self.blocks])

    def _adjoint(self, Y):
        edges = np.cumsum([block.shape[0] for block in self.blocks])[:-1]
        return sum(block.T @ part for block, part in zip(self.blocks, np.split(Y, edges), strict=True))


def sparse(m, n, seed=0):
    return random_array((m, n), density=0.15, rng=np.random.default_rng(seed), format="csr")


KINDS = {
    "csr_array": lambda A: A,
    "csr_matrix": csr_matrix,
    "coo_array": coo_array,
    "dense": lambda A: A.toarray(),
    "dense, columns first": lambda A: np.asfortranarray(A.toarray()),
    "list of lists": lambda A: A.toarray().tolist(),
    "compressed rows": CompressedRows.from_csr,
    "sparse plus low rank": lambda A: CompressedRows.from_csr(A - csr_array(np.ones(A.shape))).plus_low_rank(
        np.ones((A.shape[0], 1)), np.ones((A.shape[1], 1))
    ),
    "row blocks": lambda A: RowBlocks(A, 17),
    "observed": lambda A: ObservedMatrix(A, value_range=(0, 1)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(90, 50), (50, 90)])
def test_products(kind, shape):
    matrix = sparse(*shape)
    operator, transposed = as_operator(KINDS[kind](matrix))
    dense = matrix.toarray().T if transposed else matrix.toarray()
    X, Y = np.random.default_rng(1).standard_normal((2, 90, 3))
    X, Y = X[: dense.shape[1]], Y[: dense.shape[0]]
    assert transposed == (shape[0] < shape[1])
    assert operator.shape == dense.shape
    assert_allclose(operator.forward(X), dense @ X, atol=1e-12)
    assert_allclose(operator.adjoint(Y), dense.T @ Y, atol=1e-12)
    assert_allclose(operator.gram(X), dense.T @ (dense @ X), atol=1e-12)
    assert operator.passes == 3
    if operator.energy is not None:
        assert operator.energy == pytest.approx((dense**2).sum(), rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["dense", "gram", "krylov"])
@pytest.mark.parametrize("shape", [(90, 50), (50, 90)])
@pytest.mark.parametrize("kind", KINDS)
def test_triplets(kind, shape, solver):
    matrix = sparse(*shape)
    left, values, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
    tau = (values[9] + values[10]) / 2
    triplets = singular_triplets(KINDS[kind](matrix), above=tau, solver=solver, random_state=0)
    assert_allclose(triplets.values, values[:10], rtol=1e-11)
    assert_allclose(np.abs(np.sum(triplets.left * left[:, :10], axis=0)), 1, atol=1e-8)
    assert_allclose(np.abs(np.sum(triplets.right * right[:10].T, axis=0)), 1, atol=1e-8)
    assert triplets.completeness.proved


def test_stored_zeros_and_duplicates_are_what_they_are():
    """A stored zero changes nothing; entries stored twice count as their sum, also in the energy."""
    matrix = coo_array(([1.0, 2.0, 0.0, 4.0], ([0, 0, 1, 1], [0, 0, 1, 0])), shape=(2, 2))
    unsummed = csr_array(
        (np.array([1.0, 2.0, 0.0, 4.0]), np.array([0, 0, 1, 0]), np.array([0, 2, 4])), shape=(2, 2)
    )
    for operand in (matrix, unsummed):
        assert as_operator(operand)[0].energy == 25.0
        assert_allclose(singular_triplets(operand, above=0.1, solver="gram").values, [5.0])
    assert unsummed.nnz == 4  # the caller's matrix is left as it was


@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool, np.float16])
def test_other_numbers_are_taken_as_float64(dtype):
    matrix = (
        csr_array(np.array([[3, 0], [0, 1]], dtype=np.float64)).astype(dtype)
        if dtype is not np.float16
        else None
    )
    operand = np.array([[3, 0], [0, 1]], dtype=dtype) if matrix is None else matrix
    triplets = singular_triplets(operand, above=0.5)
    assert triplets.left.dtype == np.float64
    assert_allclose(triplets.values, [1.0, 1.0] if dtype is bool else [3.0, 1.0])


def test_operand_is_not_changed():
    matrix = sparse(60, 40)
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    dense = matrix.toarray()
    dense.flags.writeable = False
    for operand in (matrix, dense, dense.T):
        for solver in ("dense", "gram", "krylov"):
            singular_triplets(operand, above=2.0, solver=solver, random_state=0)


@pytest.mark.parametrize(
    ("operand", "error", "words"),
    [
        (np.array([[1.0, np.nan]]), ObservationError, "NaN"),
        (np.array([[1.0, np.inf]]), ObservationError, "infinite"),
        (csr_array(np.array([[1.0, np.nan]])), ObservationError, "NaN"),
        (np.zeros((0, 3)), ShapeError, r"\(0, 3\)"),
        (np.zeros((3, 0)), ShapeError, r"\(3, 0\)"),
        (np.zeros(3), ShapeError, r"\(3,\)"),
        (np.zeros((2, 2, 2)), ShapeError, r"\(2, 2, 2\)"),
        (np.eye(2) * 1j, InputError, "complex"),
        (csr_array(np.eye(2) * 1j), InputError, "complex"),
        (np.array([["a", "b"]]), InputError, "entries of the matrix that are not numbers"),
        (object(), InputError, "object"),
        (None, ShapeError, r"\(\)"),
        ([[1.0], [1.0, 2.0]], InputError, "entries of the matrix that are not an array"),
    ],
)
def test_unusable_operand(operand, error, words):
    with pytest.raises(error, match=words):
        singular_triplets(operand, above=1.0)


def test_malformed_csr_is_refused_before_any_product():
    matrix = csr_array(np.eye(3))
    matrix.indices = np.array([0, 1, 7], dtype=matrix.indices.dtype)
    with pytest.raises(InputError, match="indices"):
        singular_triplets(matrix, above=0.5)


@pytest.mark.parametrize("power", [-1000, -300, -40, -9, 9, 40, 300, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kind", ["csr_array", "dense", "row blocks", "compressed rows", "sparse plus low rank"]
)
def test_scaled_products_have_the_same_digits(kind, dtype, power):
    """A matrix far from 1 is seen through a power of two: exactly, whether or not the block could hold its entries."""
    matrix = sparse(60, 40)
    one, _ = as_operator(KINDS[kind](matrix))
    far, _ = as_operator(
        KINDS[kind](matrix * 2.0**power) if kind != "sparse plus low rank" else _low_rank(power)
    )
    scaled, exponent = near_one(far)
    assert abs(exponent - power) <= 10
    X = np.random.default_rng(1).standard_normal((40, 3)).astype(dtype)
    shift = 2.0 ** (power - exponent)
    tolerance = 1e-13 if dtype == np.float64 else 1e-5
    assert_allclose(scaled.forward(X), one.forward(X) * shift, rtol=tolerance, atol=tolerance)
    assert_allclose(scaled.gram(X), one.gram(X) * shift**2, rtol=tolerance, atol=40 * tolerance)
    assert kind == "row blocks" or scaled.forward(X).dtype == dtype
    if scaled.energy is not None:
        assert scaled.energy == pytest.approx(one.energy * shift**2, rel=1e-14)


def _low_rank(power):
    A = sparse(60, 40)
    rows = CompressedRows.from_csr((A - csr_array(np.ones(A.shape))) * 2.0**power)
    return rows.plus_low_rank(np.full((60, 1), 2.0**power), np.ones((40, 1)))


def test_a_matrix_near_one_is_left_alone():
    operator, _ = as_operator(np.diag([5.0, 1e-200]))
    assert near_one(operator) == (operator, 0)
    zero, _ = as_operator(np.zeros((3, 2)))
    assert near_one(zero) == (zero, 0)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e155, 1e300])
def test_rows_that_live_elsewhere_may_be_of_any_size(scale):
    matrix = sparse(90, 50)
    values = np.linalg.svd(matrix.toarray(), compute_uv=False)
    tau = (values[9] + values[10]) / 2 * scale
    for solver in ("dense", "gram", "krylov", "arpack"):
        triplets = singular_triplets(RowBlocks(matrix * scale, 17), above=tau, solver=solver, random_state=0)
        assert triplets.completeness.proved
        assert_allclose(triplets.values / scale, values[:10], rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_products_that_are_no_numbers_prove_nothing(bad):
    broken = sparse(60, 40)
    broken.data[7] = bad
    for operand in (RowBlocks(broken, 17), CompressedRows.from_csr(broken)):
        with pytest.raises(ObservationError, match="NaN or infinite"):
            singular_triplets(operand, above=1.0)


def test_passes_are_those_of_one_call():
    operator = RowBlocks(sparse(90, 50), 17)
    first, second = (singular_triplets(operator, above=2.0, solver="gram").passes for _ in range(2))
    assert first == second


def test_a_matrix_too_large_for_float32_keeps_its_digits():
    """1e78 is infinite in float32 and 1e-160 is 0: narrowed, either would be refused, or proved to be empty."""
    for scale in (1e-160, 1e78):
        triplets = singular_triplets(np.diag([3.0, 2.0, 1.0]) * scale, above=1.5 * scale, dtype=np.float32)
        assert_allclose(triplets.values / scale, [3.0, 2.0], rtol=1e-12)
        assert triplets.left.dtype == np.float32
