"""Continued triplets: exact where the subspace is right, never above the singular values, and room to grow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.spectrum.operators import as_operator
from likewise.spectrum.orthonormal import continue_triplets, first_subspace, with_room


@given(seed=st.integers(0, 10**6), m=st.integers(1, 30), n=st.integers(1, 30), b=st.integers(1, 8))
def test_values_never_exceed_the_singular_values_and_factors_are_orthonormal(seed, m, n, b):
    rng = np.random.default_rng(seed)
    m, n = max(m, n), min(m, n)
    matrix = rng.normal(size=(m, n))
    found = continue_triplets(as_operator(matrix)[0], rng.normal(size=(n, min(b, n))))
    exact = np.linalg.svd(matrix, compute_uv=False)
    assert (found.values <= exact[: found.values.size] * (1 + 1e-9)).all()
    for basis in (found.left, found.right):
        np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-8)
    product = found.left.T @ matrix
    np.testing.assert_allclose(product, found.values[:, None] * found.right.T, atol=1e-8)


def test_the_leading_vectors_give_the_leading_triplets():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(30, 12))
    _, exact, right = np.linalg.svd(matrix)
    found = continue_triplets(as_operator(matrix)[0], right[:4].T)
    np.testing.assert_allclose(found.values, exact[:4])


def test_repeated_it_converges_to_what_was_not_in_the_start():
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) + 0.01 * rng.normal(size=(50, 20))
    subspace = first_subspace(20, rng)
    for _ in range(3):
        found = continue_triplets(as_operator(matrix)[0], subspace)
        subspace = with_room(found.right, 3, rng)
    np.testing.assert_allclose(found.values[:3], np.linalg.svd(matrix, compute_uv=False)[:3], rtol=1e-8)


def test_room_is_made_and_taken_away_but_never_beyond_the_space():
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(20, 5))
    assert with_room(vectors, 5, rng).shape == (20, 15)
    assert with_room(vectors, 19, rng).shape == (20, 20)
    np.testing.assert_array_equal(with_room(vectors, 5, rng)[:, :5], vectors)
    wide = rng.normal(size=(20, 18))
    np.testing.assert_array_equal(with_room(wide, 2, rng), wide[:, :11])
    assert first_subspace(3, rng).shape == (3, 3)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e155, 1e300])
def test_scale_changes_nothing(scale):
    """The squares of what is made orthonormal would overflow or vanish."""
    rng = np.random.default_rng(3)
    matrix, start = rng.normal(size=(30, 12)), rng.normal(size=(12, 4))
    one, scaled = (continue_triplets(as_operator(A)[0], start) for A in (matrix, matrix * scale))
    np.testing.assert_allclose(scaled.values / scale, one.values, rtol=1e-12)
    np.testing.assert_allclose(np.abs((scaled.left * one.left).sum(axis=0)), 1, rtol=1e-10)
