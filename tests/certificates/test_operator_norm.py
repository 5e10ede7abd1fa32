"""Operator norms: by hand, against every closed form by brute force, and never below the exact value."""

from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.certificates.operator_norm import largest_norm, operator_norm, spectral_norm
from likewise.norms import conversion, dual_order, norm_order

W = np.array([[3.0, 0.0, -1.0], [4.0, 1.0, 2.0]])
BY_HAND = {
    (1, 1): 7.0,  # column (3, 4)
    (1, 2): 5.0,
    (1, inf): 4.0,
    (2, inf): np.sqrt(21),  # row (4, 1, 2)
    (inf, inf): 7.0,
    (2, 2): np.sqrt((31 + np.sqrt(31**2 - 4 * 110)) / 2),  # W W^T = [[10, 10], [10, 21]]
}


@pytest.mark.parametrize(("p", "q"), BY_HAND)
def test_by_hand(p, q):
    assert operator_norm(W, p, q)[0] == pytest.approx(BY_HAND[p, q], rel=1e-12)


@pytest.mark.parametrize(("p", "q"), [(2, 1), (inf, 2), (inf, 1), (3, 1.5)])
def test_what_has_no_closed_form_is_bounded_from_above(p, q):
    value, words = operator_norm(W, p, q)
    assert "by norm inequalities" in words
    # The largest ratio over corners and many directions is a lower bound on the norm.
    directions = np.vstack(
        [list(product([-1, 1], repeat=3)), np.random.default_rng(0).normal(size=(5000, 3))]
    )
    ratios = np.linalg.norm(directions @ W.T, q, axis=1) / np.linalg.norm(directions, p, axis=1)
    assert ratios.max() <= value <= 3 * ratios.max()


matrices = st.tuples(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12), st.integers(-150, 150))


def drawn(case):
    seed, k, n, exponent = case
    return np.random.default_rng(seed).normal(size=(k, n)) * 10.0**exponent


@given(matrices, st.sampled_from([1.0, 1.5, 2.0, 4.0, inf]), st.sampled_from([1.0, 2.0, 3.0, inf]))
def test_no_vector_is_stretched_more(case, p, q):
    matrix = drawn((*case[:3], case[3] // 10))
    value, _ = operator_norm(matrix, p, q)
    n = matrix.shape[1]
    vectors = np.vstack(
        [np.eye(n), np.sign(matrix), np.linalg.svd(matrix)[2], drawn((case[0] + 1, 20, n, 0))]
    )
    lengths = np.array([np.linalg.norm(vector, p) for vector in vectors])
    stretched = np.array([np.linalg.norm(matrix @ vector, q) for vector in vectors])
    assert (stretched <= value * lengths * (1 + 1e-12)).all()


@given(matrices)
def test_the_spectral_norm_is_never_too_small_and_hardly_too_large(case):
    matrix = drawn(case)
    value, by_svd = spectral_norm(matrix), np.linalg.norm(matrix, 2)
    assert by_svd * (1 - 1e-13) <= value <= by_svd * (1 + 1e-10)


@pytest.mark.parametrize(
    "entries", [[[1, 2], [3, 4]], [[7, -2, 5], [0, 3, 3], [1, 1, 9]], [[1, 1], [1, 1], [1, 1]]]
)
def test_the_spectral_norm_is_proved_in_exact_arithmetic(entries):
    """s^2 I - W^T W is positive semidefinite for the very float that is returned: all its principal minors, in fractions."""
    value = Fraction(spectral_norm(np.array(entries, dtype=float)))
    n = len(entries[0])
    gap = [
        [value**2 * (i == j) - sum(Fraction(row[i]) * row[j] for row in entries) for j in range(n)]
        for i in range(n)
    ]
    for subset in range(1, 2**n):
        rows = [k for k in range(n) if subset >> k & 1]
        assert determinant([[gap[i][j] for j in rows] for i in rows]) >= 0


def determinant(matrix):
    if len(matrix) == 1:
        return matrix[0][0]
    minors = ([row[:k] + row[k + 1 :] for row in matrix[1:]] for k in range(len(matrix)))
    return sum((-1) ** k * matrix[0][k] * determinant(minor) for k, minor in enumerate(minors))


@pytest.mark.slow
def test_large_and_repeated_singular_values_are_proved_too():
    """Orthogonal matrices (all singular values 1) of a size where rounding adds up, and an exactly singular one."""
    orthogonal = np.linalg.qr(np.random.default_rng(0).normal(size=(250, 250)))[0]
    assert 1 <= spectral_norm(orthogonal) <= 1 + 1e-9
    assert spectral_norm(np.ones((300, 200))) == pytest.approx(np.sqrt(300 * 200), rel=1e-9)
    assert spectral_norm(np.zeros((3, 2))) == 0.0


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_squares_neither_overflow_nor_vanish(scale):
    assert spectral_norm(np.diag([3.0, 4.0]) * scale) == pytest.approx(4 * scale, rel=1e-12)
    assert largest_norm(np.array([[3.0, 4.0]]) * scale, 2.0) == pytest.approx(5 * scale, rel=1e-12)


@given(
    st.sampled_from([1.0, 1.5, 2.0, 3.0, inf]), st.sampled_from([1.0, 1.5, 2.0, 3.0, inf]), st.integers(1, 6)
)
def test_norm_inequalities_hold_and_are_attained(p, q, n):
    factor = conversion(p, q, n)
    vectors = [*np.random.default_rng(n).normal(size=(50, n)), np.eye(n)[0], np.ones(n)]
    shares = [np.linalg.norm(vector, q) / np.linalg.norm(vector, p) for vector in vectors]
    assert max(shares) == pytest.approx(factor)


def test_dual_norms_are_attained():
    x = np.array([3.0, -1.0, 2.0])
    for order in (1.0, 1.5, 2.0, 3.0, inf):
        dual = np.linalg.norm(x, dual_order(order))
        y = np.sign(x) * np.abs(x) ** (dual_order(order) - 1) if 1 < order < inf else np.sign(x)
        y = np.eye(3)[0] if order == 1 else y
        assert x @ y / np.linalg.norm(y, order) == pytest.approx(dual)


def test_norms_have_names_or_numbers():
    assert [norm_order(norm) for norm in ("l1", 2, "l1.5", "linf", inf)] == [1, 2, 1.5, inf, inf]
