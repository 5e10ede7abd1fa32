"""The regressions of answers against a naive reference: their costs by loops, their minima by their conditions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.fairness.learned.fit import (
    RIDGE,
    even_penalty,
    fit_free,
    fit_matrix,
    fit_weights,
    matrix_penalty,
    products,
    symmetric,
)


def naive_cost(measured, threshold, labels, intercept, counts):
    return sum(
        c * np.log1p(np.exp(-y * (threshold * t - x)))
        for x, y, t, c in zip(measured, labels, intercept, counts, strict=True)
    )


def naive_cost_of_weights(w, b, design, labels, intercept, counts, penalty):
    loss = naive_cost([sum(w * row) for row in design], b, labels, intercept, counts)
    p = len(w)
    spread = sum((each - np.mean(w)) ** 2 for each in w) + RIDGE * sum(w**2)
    return loss + penalty / 2 * (spread + RIDGE * (1 - 1 / p + RIDGE) * b**2)


def a_problem(seed, k=40, p=3):
    rng = np.random.default_rng(seed)
    design = np.abs(rng.normal(size=(k, p)))
    labels = np.where(rng.random(k) < 0.5, 1.0, -1.0)
    return design, labels, np.ones(k), rng.integers(0, 3, k).astype(float)


@given(st.integers(0, 10**6), st.floats(0.05, 10))
def test_no_other_weights_cost_less(seed, penalty):
    design, labels, intercept, counts = a_problem(seed)
    w, b = fit_weights(design, labels, intercept, penalty, counts)
    best = naive_cost_of_weights(w, b, design, labels, intercept, counts, penalty)
    assert (w >= 0).all()
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 1.0):
        other = np.clip(w + size * rng.normal(size=3), 0, None), b + size * rng.normal()
        cost = naive_cost_of_weights(*other, design, labels, intercept, counts, penalty)
        assert cost >= best - 1e-5 * (1 + abs(best))


@given(st.integers(0, 10**6), st.floats(0.05, 10))
def test_without_the_constraint_no_other_weights_at_all_cost_less(seed, penalty):
    design, labels, intercept, counts = a_problem(seed)
    w, b = fit_free(design, labels, intercept, even_penalty(3, penalty), counts)
    best = naive_cost_of_weights(w, b, design, labels, intercept, counts, penalty)
    held, threshold = fit_weights(design, labels, intercept, penalty, counts)
    assert best <= naive_cost_of_weights(held, threshold, design, labels, intercept, counts, penalty) + 1e-6
    for j in range(4):
        for step in (-1e-3, 1e-3):
            other = np.append(w, b)
            other[j] += step
            cost = naive_cost_of_weights(other[:3], other[3], design, labels, intercept, counts, penalty)
            assert cost >= best - 1e-9 * (1 + abs(best))


@given(st.integers(0, 10**6), st.floats(0.05, 10))
def test_a_free_matrix_is_fitted_by_its_products(seed, penalty):
    """The cost of the upper triangle is that of the matrix."""
    rng = np.random.default_rng(seed)
    upper, delta = rng.normal(size=6), rng.normal(size=(5, 3))
    matrix = symmetric(upper, 3)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(products(delta) @ upper, [d @ matrix @ d for d in delta], atol=1e-9)
    spread = matrix - np.trace(matrix) / 3 * np.eye(3)
    expected = penalty * ((spread**2).sum() + RIDGE * (matrix**2).sum())
    assert upper @ matrix_penalty(3, penalty) @ upper == pytest.approx(expected)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(0.05, 10))
def test_no_other_matrix_costs_less(seed, penalty):
    """The problem is convex in M, so that what no line through M improves is the minimum."""
    rng = np.random.default_rng(seed)
    near, far = rng.normal(size=(2, 30, 2))
    labels, counts = np.where(rng.random(30) < 0.7, 1.0, -1.0), np.ones(30)

    def cost(matrix):
        measured = [n @ matrix @ n - f @ matrix @ f for n, f in zip(near, far, strict=True)]
        spread = matrix - np.trace(matrix) / 2 * np.eye(2)
        loss = naive_cost(measured, 0.0, labels, np.zeros(30), counts)
        return loss + penalty / 2 * ((spread**2).sum() + RIDGE * (matrix**2).sum())

    matrix, _ = fit_matrix([near, far], [1.0, -1.0], labels, np.zeros(30), penalty)
    assert np.linalg.eigvalsh(matrix).min() >= -1e-9
    for size in (1e-2, 0.1, 1.0):
        root = rng.normal(size=(2, 2))
        other = (1 - size) * matrix + size * (root @ root.T)
        assert cost(other) >= cost(matrix) - 1e-4 * (1 + cost(matrix))


def test_the_threshold_lies_between_what_is_similar_and_what_is_not():
    """By hand: differences 0, 1 are similar, 2, 3 are not; by symmetry both are as likely at 1.5."""
    design, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    weights, threshold = fit_weights(design, labels, np.ones(4), 1e-3)
    assert threshold / weights[0] == pytest.approx(1.5, abs=0.02)


def test_what_answers_do_not_tell_apart_counts_alike():
    """Two columns that always differ by as much get one weight."""
    design = np.abs(np.random.default_rng(0).normal(size=(60, 1))) * [1.0, 1.0]
    labels = np.where(design[:, 0] < 0.6, 1.0, -1.0)
    weights, _ = fit_weights(design, labels, np.ones(60), 0.1)
    assert weights[0] == pytest.approx(weights[1], rel=1e-4)
    assert weights[0] > 1


def test_counts_are_repeated_answers():
    design, labels, intercept, counts = a_problem(3)
    times = counts.astype(int)
    counted = fit_weights(design, labels, intercept, 1.0, counts)
    repeated = fit_weights(*(np.repeat(part, times, axis=0) for part in (design, labels, intercept)), 1.0)
    np.testing.assert_allclose(counted[0], repeated[0], atol=1e-3)
