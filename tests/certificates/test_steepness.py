from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import eigh

from likewise.certificates.individual_constants import individual_constants
from likewise.certificates.regression import certify_regression
from likewise.certificates.regression_map import RegressionMap
from likewise.certificates.steepness import phi, steepest_images
from likewise.errors import ShapeError

from .test_regression import KINDS, estimate, pattern_distance, random_map, random_rows, row


def problem(seed):
    """X, B of at least the identity, and y."""
    rng = np.random.default_rng(seed)
    d, n = rng.integers(1, 6), rng.integers(1, 9)
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 4.0], size=d)
    Y = rng.normal(size=(rng.integers(0, 4), d))
    return X, np.eye(d) + Y.T @ Y, rng.normal(size=d) * rng.choice([0.3, 1.0, 5.0]), rng


def steepest(X, B, y, added):
    levels, axes = eigh(X.T @ X, B)
    return steepest_images(levels, ((axes.T @ y) ** 2)[None], added)[0]


@given(seed=st.integers(0, 10**6), added=st.booleans())
def test_no_information_exceeds_it(seed, added):
    """Any A of at least B, drawn near and far from it."""
    X, B, y, rng = problem(seed)
    found, least = steepest(X, B, y, added), B + added * np.outer(y, y)
    for _ in range(20):
        Y = rng.normal(size=(rng.integers(1, 4), y.size)) * 10.0 ** rng.uniform(-2, 2)
        assert np.linalg.norm(X @ np.linalg.solve(least + Y.T @ Y, y)) <= found * (1 + 1e-9)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), added=st.booleans())
def test_it_is_attained(seed, added):
    """Climb on the ball: each step goes to where the linear part of the norm is largest, which never lowers it."""
    X, B, y, rng = problem(seed)
    found, least = steepest(X, B, y, added), B + added * np.outer(y, y)
    root = np.linalg.cholesky(least)
    F, z = X @ np.linalg.inv(root).T, np.linalg.solve(root, y)
    radius, best = np.linalg.norm(z) / 2, 0.0
    for _ in range(20):
        v = rng.normal(size=y.size)
        for _ in range(300):
            if not v.any():  # X moves nothing in this direction
                break
            v /= np.linalg.norm(v)
            best = max(best, np.linalg.norm(F @ (z / 2 + radius * v)))
            v = F.T @ (F @ (z / 2 + radius * v))
    assert best <= found * (1 + 1e-9)
    assert best >= found * (1 - 1e-3)


def test_nothing_moves_nothing():
    assert steepest_images(np.zeros(2), np.ones((3, 2)), True).tolist() == [0, 0, 0]
    assert steepest_images(np.array([1.0, 2.0]), np.zeros((1, 2)), False).tolist() == [0]


@given(seed=st.integers(0, 10**6))
def test_slopes_are_below_the_simple_bound(seed):
    regression = random_map(np.random.default_rng(seed), kind="weighted")
    roots = np.sqrt(regression.column_weights)
    simple = regression.norm * roots * phi(roots * np.linalg.norm(regression.regressors, axis=1))
    assert (regression.slopes <= simple).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
def test_constants_of_individuals_hold_for_every_pair_they_are_in(kind, seed):
    rng = np.random.default_rng(seed)
    regression, rows = random_map(rng, kind=kind), random_rows(rng, 8)
    proved = certify_regression(regression, rows)
    own = individual_constants(proved, rows)
    assert (own <= proved.certificate.value).all()
    estimates = [estimate(regression, row(rows, i)) for i in range(8)]
    for i in range(8):
        for j in range(8):
            d = pattern_distance(row(rows, i), row(rows, j), proved.empty)
            assert np.linalg.norm(estimates[i] - estimates[j]) <= own[i] * d + 1e-9


@pytest.mark.parametrize("kind", ["ridge", "offset", "uncertain"])
@given(seed=st.integers(0, 10**6))
def test_one_value_moves_an_individual_by_at_most_his_constant(kind, seed):
    """Pairs of one pattern that differ in one value, or lack it: where constants are nearly attained."""
    rng = np.random.default_rng(seed)
    regression, first = random_map(rng, kind=kind), random_rows(rng, 1)
    others = [first]
    for k in range(first.nnz):
        data = first.data.copy()
        data[k] = -data[k] if data[k] else 0.5
        others.append(sparse.csr_array((data, first.indices, first.indptr), shape=first.shape))
    rows = sparse.vstack(others, format="csr")
    proved = certify_regression(regression, sparse.csr_array(rows))
    own = individual_constants(proved, first)[0]
    for other in others[1:]:
        apart = np.linalg.norm(estimate(regression, first) - estimate(regression, other))
        assert apart <= own * pattern_distance(first, other, proved.empty) + 1e-9


def test_the_constant_falls_as_more_is_observed():
    regression = RegressionMap(np.random.default_rng(0).normal(size=(60, 3)), np.zeros(60))
    dense = np.random.default_rng(1).uniform(-1, 1, size=60)
    counts = [1, 4, 15, 60]
    rows = sparse.csr_array(
        (
            np.concatenate([dense[:k] for k in counts]),
            np.concatenate([np.arange(k) for k in counts]),
            np.cumsum([0, *counts]),
        ),
        shape=(4, 60),
    )
    own = individual_constants(certify_regression(regression, rows), rows)
    assert (np.diff(own) <= 0).all()
    assert own[-1] < 0.5 * own[0]


def test_rows_of_other_features_have_none():
    proved = certify_regression(RegressionMap(np.ones((2, 1)), np.zeros(2)), sparse.csr_array([[1.0, 0.5]]))
    with pytest.raises(ShapeError, match="rows of 3 features"):
        individual_constants(proved, sparse.csr_array((1, 3)))
