"""Every solver on every structure, held against singular values known from how the matrix was made."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import hadamard
from scipy.sparse import csr_array

from likewise._kernels import CompressedRows
from likewise.errors import LikewiseError, SpectrumError
from likewise.spectrum import SOLVERS, singular_triplets

from .structures import STRUCTURES, planted, structure

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


def test_arpack_finds_all_but_two_and_says_where_it_ends():
    """It doubled what it asked for and gave up at 64 "of 33", or at 32 of the 20 that it could have found."""
    values = np.linspace(3, 1, 20)
    found = singular_triplets(
        planted(values, 30, 20), above=values[-3] - 0.01, solver="arpack", random_state=0
    )
    assert_allclose(found.values, values[:-2])
    for n in (33, 17, 2, 1):
        with pytest.raises(SpectrumError, match=rf"at most {n - 1} triplets of a matrix of {n} columns"):
            singular_triplets(
                planted(np.linspace(3, 1, n), 40, n), above=0.5, solver="arpack", random_state=0
            )


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 40, 200])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.125, 0.5, 1.0])
def test_gram_finds_few_and_many_alike(n, share):
    """Few eigenvectors are computed alone, many by divide and conquer: both are LAPACK's of the whole."""
    values = np.linspace(3, 1, n)
    count = int(share * n)
    level = 0.5 if count == n else 4.0 if count == 0 else (values[count - 1] + values[count]) / 2
    matrix = planted(values, n + 5, n, seed=n)
    found = singular_triplets(matrix, above=level, solver="gram", random_state=0)
    assert_allclose(found.values, values[:count], rtol=1e-12)
    assert_allclose(relative_residuals(matrix, found), 0, atol=1e-12)
    assert orthogonality_error(found.right) < 1e-12
    assert found.completeness.proved
    some = singular_triplets(matrix, above=level, at_most=max(count // 2, 1), solver="gram", random_state=0)
    assert_allclose(some.values, values[: max(count // 2, 1)][:count], rtol=1e-12)


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


@pytest.mark.slow
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


# The same at any scale

SCALES = [1e-300, 1e-160, 1e-19, 1e78, 1e155, 1e300]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_scale_changes_nothing(solver, scale, dtype):
    """Above 1e77 the square of a square overflows, above 1e154 the square: neither is taken."""
    for name in ("decaying, tall", "one sign"):
        case = structure(name)
        for matrix in (case.matrix * scale, (case.matrix * scale).toarray().T):
            triplets = singular_triplets(
                matrix, above=case.threshold * scale, solver=solver, dtype=dtype, random_state=0
            )
            assert triplets.completeness.proved
            assert_allclose(triplets.values / scale, case.values, rtol=1e-6 if dtype == np.float32 else 1e-10)
            assert np.all(triplets.residuals <= TOLERANCE[dtype])
            assert orthogonality_error(triplets.left) <= TOLERANCE[dtype]


@pytest.mark.slow
@given(
    solver=st.sampled_from(SOLVERS),
    name=st.sampled_from(sorted(set(STRUCTURES) - BEYOND_ARPACK)),
    power=st.integers(
        -900, 900
    ),  # beyond, the largest entries of a structure overflow, or the smallest lose digits
    certificate=st.sampled_from(["auto", "random"]),
)
def test_powers_of_two_change_no_digit(solver, name, power, certificate):
    """Multiplied by a power of two, nothing is rounded anew: the proof is the same proof, to the last word."""
    case = structure(name)
    one, other = (
        singular_triplets(
            case.matrix * 2.0**k,
            above=case.threshold * 2.0**k,
            solver=solver,
            certificate=certificate,
            random_state=3,
        )
        for k in (0, power)
    )
    assert str(other.completeness) == str(one.completeness)
    assert_allclose(other.values * 2.0**-power, one.values, rtol=1e-14)
    assert_allclose(other.right, one.right, atol=1e-7)


def sparse_plus_low_rank(matrix):
    m = matrix.shape[0]
    rows = CompressedRows.from_csr(csr_array(matrix - np.outer(np.ones(m), matrix[0])))
    return rows.plus_low_rank(np.ones((m, 1)), matrix[0][:, None])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("wrap", [sparse_plus_low_rank, CompressedRows.from_csr])
def test_scale_of_what_is_laid_out_already(wrap, scale):
    case = structure("decaying, tall")
    operand = wrap(
        case.matrix.toarray() * scale if wrap is sparse_plus_low_rank else csr_array(case.matrix * scale)
    )
    triplets = singular_triplets(operand, above=case.threshold * scale, solver="krylov", random_state=0)
    assert triplets.completeness.proved
    assert_allclose(triplets.values / scale, case.values, rtol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_thresholds_far_from_the_matrix(solver, scale):
    case = structure("decaying, tall")
    nothing = singular_triplets(case.matrix * scale, above=1.7e308, solver=solver, random_state=0)
    assert nothing.rank == 0
    assert nothing.completeness.proved
    assert nothing.threshold == 1.7e308
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            everything = singular_triplets(case.matrix * 1e300, above=1e-300, solver=solver, random_state=0)
    except SpectrumError:  # told to look through A^T A, which loses the threshold
        assert solver in {"gram", "krylov", "arpack"}
    else:
        assert everything.rank == 60
        assert everything.completeness.proved


def test_a_singular_value_beyond_the_largest_number_is_an_error():
    with pytest.raises(SpectrumError, match="largest number"):
        singular_triplets(np.full((40, 40), 1e308), above=1.0)


def test_the_smallest_numbers():
    triplets = singular_triplets(np.diag([5e-324, 2e-323, 0.0]), above=0)
    assert triplets.values.tolist() == [2e-323, 5e-324]


# Spectra that are all alike


def orthogonal(n, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]


EQUAL = {
    **{f"hadamard {n}": lambda n=n: hadamard(n) / np.sqrt(n) for n in (1, 2, 32, 64)},
    "orthogonal 33": lambda: orthogonal(33),
    "identity": lambda: np.eye(90),
    "columns": lambda: orthogonal(90)[:, :50],
}
LARGER = {
    **{f"hadamard {n}": lambda n=n: hadamard(n) / np.sqrt(n) for n in (128, 256)},
    **{f"orthogonal {n}": lambda n=n: orthogonal(n) for n in (100, 180, 400)},
}


@pytest.mark.parametrize("name", [*EQUAL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGER)])
@pytest.mark.parametrize("solver", ["auto", "dense", "gram", "krylov"])
def test_equal_singular_values(solver, name):
    """All are 1: above a threshold below 1, none above one beyond it, and at 1 none, with what was met counted."""
    matrix = (EQUAL | LARGER)[name]()
    n = min(matrix.shape)
    for scale in (0.02, 1e-160, 1e155) if name in EQUAL else (0.02,):
        below, at, beyond = (
            singular_triplets(matrix * scale, above=tau * scale, solver=solver, random_state=0)
            for tau in (0.5, 1.0, 1.001)
        )
        assert (below.rank, at.rank, beyond.rank) == (n, 0, 0)
        assert_allclose(below.values, scale, rtol=1e-12)
        assert orthogonality_error(below.left) < 1e-12
        assert below.completeness.proved
        assert at.completeness.proved
        assert beyond.completeness.proved
        assert 0 < at.completeness.at_threshold <= n


@given(
    solver=st.sampled_from(SOLVERS),
    levels=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 25)), min_size=1, max_size=5),
    spread=st.sampled_from([0.0, 1e-16, 1e-15, 1e-13, 1e-8]),
    tau=st.sampled_from([0.5, 1.0, 2.0, 2.5, 6.0]),
    scale=st.sampled_from([1e-200, 1.0, 1e100]),
    seed=st.integers(0, 2**32 - 1),
)
def test_repeated_singular_values(solver, levels, spread, tau, scale, seed):
    """Whole numbers as often as you like, exactly or nearly equal: the right number is found, or an error says why not."""
    rng = np.random.default_rng(seed)
    values = np.concatenate([np.full(count, float(value)) for value, count in levels])
    values *= 1 + spread * rng.uniform(-1, 1, values.size)
    matrix = planted(values, values.size + 9, values.size, seed) * scale
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            triplets = singular_triplets(matrix, above=tau * scale, solver=solver, random_state=0)
    except LikewiseError:
        assert solver == "arpack"  # which cannot return a whole spectrum
        return
    at = np.abs(values - tau) <= max(2 * spread * tau, 1e-12)
    surely = np.count_nonzero((values > tau) & ~at)
    if solver == "arpack" and not triplets.completeness.proved:  # it says that something may be missing
        assert triplets.rank <= surely + np.count_nonzero(at)
        return
    assert surely <= triplets.rank <= surely + np.count_nonzero(at)
    assert triplets.completeness.proved
    assert_allclose(triplets.values[:surely] / scale, np.sort(values)[::-1][:surely], rtol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_arpack_goes_on_where_the_proof_finds_copies_missing(seed):
    """Lanczos from one vector meets one copy of an equal value; seeds 3 and others found 15 of these 16."""
    values = np.repeat([0.0, 1.0, 2.0], [6, 12, 16])
    matrix = planted(values, values.size + 9, values.size, seed)
    triplets = singular_triplets(matrix, above=1.0, solver="arpack", random_state=0)
    assert triplets.rank == 16
    assert triplets.completeness.proved


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("solver", ["krylov", "gram"])
def test_what_equals_the_threshold_makes_up_for_nothing_that_is_missing(solver, seed):
    """Of 17 threes and a one, 16 and the one were found, and the count of 17 above 1 was taken for the proof of it."""
    values = np.array([0.0, 1.0] + 17 * [3.0])
    triplets = singular_triplets(planted(values, 28, 19, seed), above=1.0, solver=solver, random_state=seed)
    assert triplets.rank == 17
    assert triplets.completeness.proved
    assert triplets.completeness.at_threshold == 1


# What the residuals promise


def graded(smallest, m=160, n=120):
    """Singular values from 1 to 10^smallest, evenly on a logarithmic scale."""
    return planted(np.logspace(0, smallest, n), m, n)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "dense", "gram", "krylov"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("smallest", [-2, -4, -5])
def test_residuals_are_those_of_what_is_returned(solver, dtype, smallest):
    """Rounding of the vectors costs half a unit in the last place times sigma_1 / sigma, which no float32 vector can avoid."""
    matrix = graded(smallest).astype(dtype)
    triplets = singular_triplets(
        matrix, above=0.3 * 10.0**smallest, solver=solver, dtype=dtype, random_state=0
    )
    assert triplets.rank == 120
    measured = relative_residuals(matrix.astype(np.float64), triplets)
    assert_allclose(triplets.residuals, measured, rtol=0.05, atol=2e-15 * 10.0**-smallest)
    rounding = np.finfo(dtype).eps * triplets.values[0] / triplets.values
    assert np.all(measured <= TOLERANCE[dtype] + 2 * rounding)
