"""Every kind of operand gives the products of the same dense matrix, and the same triplets; rows may live elsewhere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import coo_array, csr_array, csr_matrix, random_array

from likewise._kernels import CompressedRows
from likewise.errors import InputError, ObservationError, ShapeError
from likewise.observations import ObservedMatrix
from likewise.spectrum import RowOperator, singular_triplets
from likewise.spectrum.operators import as_operator


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
        (np.array([["a", "b"]]), InputError, "ndarray"),
        (object(), InputError, "object"),
        (None, ShapeError, r"\(\)"),
        ([[1.0], [1.0, 2.0]], InputError, "list"),
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
