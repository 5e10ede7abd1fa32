"""Proofs of completeness: hand-computed cases, how often the randomised one errs, and attempts to fool it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.chebyshev import chebvander
from scipy.sparse import csr_array
from scipy.stats import binom, chi2

from likewise.spectrum import proof, search, singular_triplets
from likewise.spectrum.completeness import (
    CarriedTest,
    degree_needed,
    eigenvalues_above,
    gram_matrix,
    random_test,
)
from likewise.spectrum.krylov import ConvergenceTarget
from likewise.spectrum.operators import DenseRows, as_operator
from likewise.spectrum.orthonormal import measured
from likewise.spectrum.proof import Prover
from likewise.spectrum.request import checked_request

NOTHING = np.zeros((60, 0))


def diagonal(squares):
    """An operator whose A^T A is diagonal with these entries."""
    return as_operator(np.diag(np.sqrt(squares)))[0]


def run_test(operator, deflated, cut, level, rng, **options):
    return random_test(operator, deflated, cut, level, rng, silent, **options)


def silent(message, fraction):
    pass


def request(certificate="auto", dtype=np.float64, seed=0, tau=1.0):
    return checked_request(
        above=tau,
        at_most=None,
        dtype=np.dtype(dtype),
        random_state=seed,
        start=None,
        n=1,
        memory_limit=None,
        max_passes=100,
        certificate=certificate,
        progress=None,
    )


def goal(wanted, level):
    return ConvergenceTarget(wanted=wanted, level=level, floor=0.0)


# How often the randomised test errs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("allowed", "width", "gap"), [(0.02, 4, 1.0), (0.2, 1, 1.0), (0.1, 4, 0.1), (0.1, 1, 0.1)]
)
def test_errs_no_more_often_than_stated(allowed, width, gap):
    """An eigenvalue sits at the level itself, the worst place; the observed frequency is held to the stated probability."""
    rng = np.random.default_rng(11)
    level, cut = 1.0 + gap, 1.0
    operator = diagonal(np.concatenate([[level], rng.uniform(0, cut, 59)]))
    trials = 600
    errors = sum(
        run_test(operator, NOTHING, cut, level, rng, failure_probability=allowed, width=width).passed
        for _ in range(trials)
    )
    # One chance in a million that a true probability of `allowed` shows more than this.
    assert errors <= binom.ppf(1 - 1e-6, trials, allowed)
    # And the statement is not idle: once the rest has died away, the test errs about as often as it says.
    assert errors >= binom.ppf(1e-6, trials, allowed / 4)


@pytest.mark.parametrize("cut", [0.05, 0.3, 0.9])
def test_wrong_guess_of_the_cut_costs_work_not_truth(cut):
    rng = np.random.default_rng(12)
    spectrum = rng.uniform(0, 0.9, 58)
    with_missing = diagonal(np.concatenate([[1.0, 0.95], spectrum]))
    without = diagonal(np.concatenate([[0.9, 0.9], spectrum]))
    allowed = 0.1
    errors = sum(
        run_test(with_missing, NOTHING, cut, 1.0, rng, failure_probability=allowed, width=2).passed
        for _ in range(400)
    )
    assert errors <= binom.ppf(1 - 1e-6, 400, allowed)
    assert run_test(without, NOTHING, 0.9, 1.0, rng).passed


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_near_twin_of_a_deflated_vector_is_not_overlooked(dtype):
    """v_1 is deflated, its twin 1e-6 away is not: the start of a search would hardly tell them apart. What grew holds more of the twin than of all else."""
    rng = np.random.default_rng(13)
    operator = diagonal(np.concatenate([[2.0 + 2e-6, 2.0, 1.9999], rng.uniform(0, 1, 57)]))
    deflated = np.eye(60)[:, [0, 2]].astype(dtype)
    for _ in range(100):
        outcome = run_test(operator, deflated, 1.0, 1.5, rng)
        assert not outcome.passed
        weight = np.linalg.norm(outcome.grown[1]) / np.linalg.norm(outcome.grown)
        assert weight**2 > 0.5


def test_whole_eigenspace_cannot_hide():
    """Multiplicity far beyond the width: a test on the starting block itself could not see this."""
    operator = diagonal(np.concatenate([np.full(40, 2.0), np.linspace(0, 1, 20)]))
    deflated = np.eye(60)[:, :39]
    rng = np.random.default_rng(14)
    assert not any(run_test(operator, deflated, 1.0, 1.5, rng).passed for _ in range(50))
    assert run_test(operator, np.eye(60)[:, :40], 1.0, 1.5, rng).passed


def test_passes_by_the_degree_that_is_predicted():
    rng = np.random.default_rng(15)
    for level in (1.001, 1.1, 2.0):
        outcome = run_test(diagonal(np.linspace(0, 1, 60)), NOTHING, 1.0, level, rng)
        assert outcome.passed
        assert outcome.degree <= degree_needed(60, 1.0, level) + 1


def test_polynomial_of_a_step_by_hand():
    """Squares 0, 1, 2 and G all ones, 3 b of them: mean 1, variance 2/3, so p_1(x) = (x - 1) / sqrt(2/3) over the norm of G."""

    class Ones:
        def standard_normal(self, shape):
            return np.ones(shape)

    # p_1(3)^2 = 4 / (2/3) / (3 b) = 2 / b, so the test passes at once if the quantile of chi-squared is above b / 2.
    operator, none = diagonal(np.array([0.0, 1.0, 2.0])), np.zeros((3, 0))
    for slightly, degree in ((1.01, 1), (0.99, 2)):
        found = run_test(operator, none, 2.0, 3.0, Ones(), failure_probability=chi2.cdf(slightly, 2), width=2)
        assert (found.passed, found.degree) == (True, degree)


def test_polynomials_are_orthonormal_in_the_spectrum():
    """The value at the level after q steps, against NumPy: the last entry of the orthonormal basis of 1, x, ..., x^q in the weights of G."""
    squares, level, width = np.linspace(0.0, 1.0, 60), 1.3, 3
    start = np.random.default_rng(16).standard_normal((60, width))
    weights = np.square(start).sum(axis=1)
    for allowed in (1e-3, 1e-6, 1e-9):
        outcome = run_test(
            diagonal(squares),
            NOTHING,
            1.0,
            level,
            np.random.default_rng(16),
            failure_probability=allowed,
            width=width,
        )
        values = [value_at(level, squares, weights, degree) for degree in range(1, outcome.degree + 1)]
        enough = [value**2 * chi2.ppf(allowed, width) > 1 for value in values]
        assert outcome.passed
        assert enough == [False] * (outcome.degree - 1) + [True]


def value_at(level, squares, weights, degree):
    """Value of the orthonormal polynomial of a degree, by QR of Chebyshev's Vandermonde matrix."""
    basis = chebvander(2 * squares - 1, degree) * np.sqrt(weights)[:, None]
    triangle = np.linalg.qr(basis)[1]
    return abs(np.linalg.solve(triangle.T, chebvander([2 * level - 1], degree)[0])[-1])


@given(st.lists(st.floats(0, 1), min_size=3, max_size=30), st.floats(1.01, 3), st.integers(0, 2**32 - 1))
def test_passes_no_later_than_chebyshevs_polynomial(squares, level, seed):
    """Whatever the spectrum below the cut is, by the degree that Chebyshev's polynomial of [0, c] takes for any, and one."""
    n = len(squares)
    outcome = run_test(diagonal(np.array(squares)), np.zeros((n, 0)), 1.0, level, np.random.default_rng(seed))
    assert outcome.passed
    assert outcome.degree <= degree_needed(n, 1.0, level) + 1


def test_degree_by_hand():
    """n b = 8 * 100, x the chi-squared quantile: the degree at which cosh^2(q arccosh(2 mu / c - 1)) = n b / x."""
    x = chi2.ppf(1e-8, 8)
    q = degree_needed(100, 1.0, 1.25, width=8)
    t = np.arccosh(1.5)
    assert np.cosh(q * t) ** 2 >= 800 / x > np.cosh((q - 1) * t) ** 2


# Deterministic proofs


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=12),
    st.integers(0, 12),
    st.integers(0, 2**32 - 1),
)
def test_inertia_counts_eigenvalues(squares, level, seed):
    """Any spectrum of whole numbers, in any basis, counted half-way between them."""
    n = len(squares)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    operator, _ = as_operator(np.diag(np.sqrt(np.array(squares, dtype=float))) @ turn)
    assert eigenvalues_above(operator, level + 0.5) == sum(square > level + 0.5 for square in squares)


def test_gram_matrix_in_pieces():
    matrix = np.random.default_rng(17).standard_normal((70, 11))
    np.testing.assert_allclose(gram_matrix(as_operator(matrix)[0], columns=4), matrix.T @ matrix, atol=1e-12)


@pytest.mark.parametrize(
    ("found", "level", "enough"), [([9.0, 4.0], 1.5, True), ([9.0], 1.5, False), ([9.0, 4.0], 1.0, False)]
)
def test_energy_by_hand(found, level, enough):
    """Squares 9, 4, 1: after 9 and 4, 1 is left, which is below 1.5 but not below 1; after 9 alone, 5 is left."""
    operator = diagonal(np.array([9.0, 4.0, 1.0]))
    assert operator.energy == pytest.approx(14.0, rel=1e-15)
    passes = Prover(operator, request(tau=level**0.5)).passes_needed(
        np.array(found), goal(len(found), level), 1.0
    )
    vectors = np.eye(3)[:, : len(found)]
    outcome = Prover(operator, request("auto")).prove(
        measured(operator, vectors), goal(len(found), level), 1.0
    )
    assert passes == 0
    assert ("energy" in outcome.completeness.reason) == enough


def test_every_test_adds_to_the_failure_probability():
    squares = np.concatenate([[5.0, 4.0, 3.0], np.linspace(0, 1, 57)])
    prover = Prover(diagonal(squares), request("random"))
    partial, whole = (measured(prover.operator, np.eye(60)[:, :count]) for count in (2, 3))
    assert not prover.prove(partial, goal(2, 2.0), 1.0).complete
    assert not prover.prove(partial, goal(2, 2.0), 1.0).complete
    assert prover.prove(whole, goal(3, 2.0), 1.0).completeness.failure_probability == pytest.approx(3e-8)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gap_narrower_than_rounding_is_no_gap(dtype):
    """With a largest eigenvalue of 1e6, float32 moves eigenvalues by about one; a gap of a half proves nothing."""
    squares = np.concatenate([[1e6, 100.0], np.linspace(0, 99.5, 1298)])
    operator = diagonal(squares)
    subspace = measured(operator, np.eye(1300)[:, :2])
    outcome = Prover(operator, request("random", dtype)).prove(subspace, goal(2, 99.99), 99.5)
    assert outcome.complete == (dtype == np.float64)


@pytest.mark.parametrize("certificate", ["auto", "inertia", "random"])
@pytest.mark.parametrize("missing", [0, 1])
def test_proofs_tell_a_whole_subspace_from_one_that_lacks_a_vector(certificate, missing):
    squares = np.concatenate([[5.0, 4.0, 3.0], np.linspace(0, 1, 57)])
    operator = diagonal(squares)
    vectors = np.delete(np.eye(60)[:, :3], np.arange(missing), axis=1)
    outcome = Prover(operator, request(certificate)).prove(
        measured(operator, vectors), goal(3 - missing, 2.0), 1.0
    )
    assert outcome.complete == (missing == 0)


@pytest.mark.slow
def test_blur_covers_what_coupling_moves():
    """A Ritz value just below the level whose residual could lift an eigenvalue above it, counted by eigvalsh."""
    rng = np.random.default_rng(18)
    for _ in range(200):
        inside = np.array([3.0, 1.0 - rng.uniform(0, 2e-4)])
        outside = rng.uniform(0, 0.8, 10)
        coupling = 0.005 * rng.standard_normal((10, 2))
        whole = np.block([[np.diag(inside), coupling.T], [coupling, np.diag(outside)]])
        factor = np.linalg.cholesky(whole + 1e-3 * np.eye(12)).T
        operator, _ = as_operator(factor)
        level = 1.0 + 1e-3
        subspace = measured(operator, np.eye(12)[:, :2])
        outcome = Prover(operator, request("random")).prove(subspace, goal(1, level), 0.8 + 1e-3)
        exact = np.count_nonzero(np.linalg.eigvalsh(factor.T @ factor) > level)
        found = np.count_nonzero(subspace.squares > level)
        near = np.count_nonzero(np.abs(subspace.squares - level) <= outcome.eigenvalue_uncertainty)
        assert outcome.complete
        assert found <= exact <= found + near


def test_no_gap_is_no_proof():
    operator = diagonal(np.array([2.0, 1.0, 1.0, 0.5] * 300))
    outcome = Prover(operator, request("random")).prove(
        measured(operator, np.eye(1200)[:, :1]), goal(1, 1.0), 1.0
    )
    assert not outcome.complete
    assert "gap" in outcome.completeness.reason


def test_inertia_works_on_the_short_side():
    wide = csr_array(np.random.default_rng(19).standard_normal((5, 300)))
    operator, transposed = as_operator(wide)
    assert transposed
    assert eigenvalues_above(operator, 0.0) == 5


class Dear(DenseRows):
    """Rows that are read anew in every pass."""

    rows_fit, width = False, 24


def orthogonal(n, rng):
    return np.linalg.qr(rng.standard_normal((n, n)))[0]


def operator_of(squares, rng):
    """``A^T A`` has these eigenvalues; with their vectors."""
    turn = orthogonal(len(squares), rng)
    return Dear(np.sqrt(squares)[:, None] * turn.T), turn


def test_by_hand():
    """``A^T A = diag(4, 1, 0)``, V = e_1, no D, c = 1: ``S Z_1 = (0, g_2, -g_3)`` and ``T_1(t) = 2 mu - 1``; nothing is lost on the way."""
    carried = CarriedTest(Dear(np.diag([2.0, 1.0, 0.0])), np.zeros((3, 0)), 1.0, np.random.default_rng(0), 4)
    found = measured(carried.operator, np.eye(3, 1), carried.gram)
    g = np.random.default_rng(0).standard_normal((3, 4))
    assert carried.degree == 1
    assert carried.largest_part(found, 1.0, 3.0) == pytest.approx(np.linalg.norm(g[1:]) / 5, rel=1e-12)
    # Of [0, 2] instead: (mu - 1), and (0, 0, -g_3), as the zero of the polynomial is at 1.
    assert carried.largest_part(found, 2.0, 3.0) == pytest.approx(np.linalg.norm(g[2]) / 2, rel=1e-12)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    degree=st.integers(1, 9),
    n_vectors=st.integers(0, 6),
    n_known=st.integers(0, 4),
    errors=st.sampled_from([0.0, 1e-8, 1e-4, 1e-2, 0.3]),
    cuts=st.tuples(st.floats(0.1, 2.0), st.floats(0.05, 0.95)),
)
def test_what_is_said_of_a_missing_eigenvector_holds(seed, degree, n_vectors, n_known, errors, cuts):
    """V and D are anything, good or bad; w is an eigenvector of the deflated operator, and the largest part is never below ``||w^T G||``."""
    rng = np.random.default_rng(seed)
    squares = np.sort(rng.exponential(size=30) ** 2)[::-1]
    operator, turn = operator_of(squares, rng)
    V = turn[:, :n_vectors] + errors * rng.standard_normal((30, n_vectors))
    D = turn[:, :n_known] + errors * rng.standard_normal((30, n_known))
    carried = CarriedTest(operator, D, cuts[0] * squares[8], np.random.default_rng(seed), 5)
    for _ in range(degree - 1):
        carried.gram(np.zeros((30, 1)))
    found = measured(operator, V, carried.gram)
    outside = np.eye(30) - found.vectors @ found.vectors.T
    values, vectors = np.linalg.eigh(outside @ (turn * squares) @ turn.T @ outside)
    level = values[-1] * 0.999
    G = np.random.default_rng(seed).standard_normal((30, 5))
    part = np.linalg.norm(vectors[:, -1] @ G)
    assert carried.degree == degree
    assert part <= carried.largest_part(found, cuts[1] * level, level) * (1 + 1e-9)


PLANTED = np.concatenate([np.linspace(400, 9, 16), [2.2, 2.0, 1.8, 1.6], np.linspace(1, 0.01, 580)])


def triplets_of(operator, dtype, **options):
    asked = {"above": 1.3**0.5, "solver": "krylov", "certificate": "random", "random_state": 0} | options
    return singular_triplets(operator, dtype=dtype, **asked)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_it_proves_without_passes_of_its_own(dtype, seed, monkeypatch):
    """Twenty values above a bulk: a test after the solve would be a failure."""
    monkeypatch.setattr(proof, "random_test", None)
    operator, _ = operator_of(PLANTED, np.random.default_rng(seed))
    found = triplets_of(operator, dtype, random_state=seed)
    assert found.rank == 20
    assert found.completeness.failure_probability == 1e-8
    np.testing.assert_allclose(found.values, np.sqrt(PLANTED[:20]), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("hidden", [[3], [17], [0, 1, 2, 3, 4]])
def test_what_the_space_never_saw_is_not_proved_away(hidden, dtype, monkeypatch):
    """The start is orthogonal to what is wanted, and the matrix diagonal; the carried vectors see it, and the search goes on until it is there."""
    original, parts = search._Search._starting_block, []

    def blind(self):
        block = original(self)
        block[hidden] = 0
        return block

    def watched(*given):
        parts.append(real(*given))
        return parts[-1]

    real = CarriedTest.largest_part
    monkeypatch.setattr(search._Search, "_starting_block", blind)
    monkeypatch.setattr(CarriedTest, "largest_part", watched)
    found = triplets_of(Dear(np.diag(np.sqrt(PLANTED))), dtype)
    assert parts[0] > 0.9  # below 0.887 it would pass
    assert found.completeness.failure_probability >= 2e-8
    np.testing.assert_allclose(found.values, np.sqrt(PLANTED[:20]), rtol=1e-5)


def test_where_a_pass_is_cheap_nothing_is_carried(monkeypatch):
    monkeypatch.setattr(CarriedTest, "__init__", None)
    operator, _ = operator_of(PLANTED, np.random.default_rng(0))
    assert triplets_of(DenseRows(operator.array), np.float64).completeness.proved
