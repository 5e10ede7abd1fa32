"""The test that is carried along: what it says of random vectors holds for any V, D and polynomial, and it proves or finds what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.spectrum import proof, search, singular_triplets
from likewise.spectrum.carried import CarriedTest
from likewise.spectrum.operators import DenseRows
from likewise.spectrum.orthonormal import measured


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
