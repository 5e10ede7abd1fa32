from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.certificates.regression_map import RegressionMap
from likewise.certificates.worst_rows import worst_rows


def random_map(seed, penalty=None):
    rng = np.random.default_rng(seed)
    n, d = 30, 4
    return RegressionMap(
        rng.normal(size=(n, d)) * rng.choice([0.2, 1.0, 4.0]), rng.uniform(-0.3, 0.3, size=n), 0.5, penalty
    )


def estimates(regression, rows):
    return [
        regression.offsets + a + regression.noise * regression.regressors @ u
        for u, a in regression.solve(rows)
    ]


def test_one_feature_by_hand():
    """x = 3 alone moves by 9 / 10; nothing else can be observed, and the bound is 3/2."""
    assert worst_rows(RegressionMap(np.array([[3.0]]), np.zeros(1))).ratio == pytest.approx(0.9)


def brute_force(regression):
    """The largest ratio over every feature and every pattern that has it."""
    n, d = regression.shape
    best = 0.0
    for size in range(1, n + 1):
        for pattern in combinations(range(n), size):
            x = regression.regressors[list(pattern)]
            steps = regression.regressors @ np.linalg.solve(np.eye(d) + x.T @ x, x.T)
            best = max(best, np.linalg.norm(steps, axis=0).max())
    return best


def test_another_observation_can_move_a_row_more():
    """A row that says (1, 3) alone moves by 1/11 of it in both directions; where another observation fixes the second, by 1/2 in the first."""
    regression = RegressionMap(np.array([[1.0, 3.0], [0.0, 100.0], [100.0, 0.0]]), np.zeros(3))
    found = worst_rows(regression)
    assert found.rows.nnz == 4
    assert found.ratio == pytest.approx(brute_force(regression), rel=1e-9)
    assert found.ratio == pytest.approx(50.0, rel=1e-2)


@given(seed=st.integers(0, 10**6))
def test_is_near_the_worst_of_all_patterns(seed):
    rng = np.random.default_rng(seed)
    regression = RegressionMap(rng.normal(size=(6, 2)) * rng.choice([0.3, 1.0, 3.0]), np.zeros(6))
    worst = brute_force(regression)
    assert 0.8 * worst <= worst_rows(regression).ratio <= worst * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [None, 0.5, 5.0])
@given(seed=st.integers(0, 10**6))
def test_is_attained_and_never_above_the_bound(penalty, seed):
    regression = random_map(seed, penalty)
    found = worst_rows(regression)
    one, other = estimates(regression, found.rows)
    gap = np.abs(found.rows[[0]].data - found.rows[[1]].data).sum()
    assert np.linalg.norm(one - other) / gap == pytest.approx(found.ratio, rel=1e-9)
    assert found.ratio <= (regression.slopes + regression.offset_slopes).max() * (1 + 1e-9)
    assert np.abs(found.rows.data).max() <= 1
