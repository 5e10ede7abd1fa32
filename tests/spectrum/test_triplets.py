"""Every solver on every structure, held against singular values known from how the matrix was made."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likewise.spectrum import SOLVERS, singular_triplets

from .structures import STRUCTURES, structure

TOLERANCE = {np.float32: 1e-6, np.float64: 1e-10}
# ARPACK must be told a number smaller than the short side: it cannot return a whole spectrum.
BEYOND_ARPACK = {"one row", "one column", "one entry", "all equal", "rank 0"}
PAIRS = [
    (solver, name)
    for solver in SOLVERS
    for name in STRUCTURES
    if not (solver == "arpack" and name in BEYOND_ARPACK)
]


def orthogonality_error(vectors):
    vectors = vectors.astype(np.float64)
    return np.abs(vectors.T @ vectors - np.eye(vectors.shape[1])).max(initial=0.0)


def relative_residuals(matrix, triplets):
    left, right = triplets.left.astype(np.float64), triplets.right.astype(np.float64)
    return np.linalg.norm(matrix.T @ left - right * triplets.values, axis=0) / triplets.values


def test_table_is_whole():
    assert len(PAIRS) == len(SOLVERS) * len(STRUCTURES) - len(BEYOND_ARPACK) == 85


# Which proof runs is chosen by size; here the randomised one has to do it all.
PAIRS_BY_TEST = [(solver, name) for solver, name in PAIRS if solver in {"krylov", "arpack"}]


@pytest.mark.parametrize(("solver", "name"), PAIRS_BY_TEST)
def test_randomised_proof_agrees(solver, name):
    case = structure(name)

    triplets = singular_triplets(
        case.matrix, above=case.threshold, solver=solver, certificate="random", random_state=2
    )

    assert triplets.completeness.proved
    assert 0 < triplets.completeness.failure_probability <= 1e-6
    assert_allclose(triplets.values, case.values, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_finds_all_and_proves_it(solver, name, dtype):
    case = structure(name)
    matrix = case.matrix.astype(dtype).astype(np.float64)

    triplets = singular_triplets(
        case.matrix, above=case.threshold, solver=solver, dtype=dtype, random_state=1
    )

    assert triplets.completeness.proved
    assert triplets.completeness.failure_probability <= 1e-6
    assert triplets.completeness.at_threshold == case.at_threshold
    assert triplets.left.shape == (case.matrix.shape[0], case.values.size)
    assert triplets.right.shape == (case.matrix.shape[1], case.values.size)
    assert triplets.left.dtype == triplets.right.dtype == dtype
    assert_allclose(triplets.values, case.values, rtol=1e-6 if dtype == np.float32 else 1e-10)
    assert np.all(triplets.residuals <= TOLERANCE[dtype])
    assert np.all(relative_residuals(matrix, triplets) <= TOLERANCE[dtype])
    assert orthogonality_error(triplets.left) <= TOLERANCE[dtype]
    assert orthogonality_error(triplets.right) <= TOLERANCE[dtype]
