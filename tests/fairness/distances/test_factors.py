"""Distances from factors: by hand, against the outputs they stand for, in both precisions, and clipped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fairness import naive

from likewise import ObservedMatrix, svt
from likewise.errors import DistanceError, ShapeError
from likewise.fairness import FactorDistance, RowDistance

EPS = np.finfo(float).eps


def factors(seed, m=9, n=13, r=4, spread=0.0, dtype=float):
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** (-spread * np.arange(r))
    return rng.standard_normal((m, r)).astype(dtype), (rng.standard_normal((n, r)) * sizes).astype(dtype)


def test_by_hand():
    # Outputs: (1, 2, 2), (0, 0, 0), (4, 2, -1): differences (1, 2, 2), (-3, 0, 3), (4, 2, -1).
    left = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 3.0]])
    right = np.array([[1.0, 1.0], [2.0, 0.0], [2.0, -1.0]])
    D = FactorDistance(left, right)
    np.testing.assert_allclose(D.between([0, 0, 1], [1, 2, 2]), [3, 18**0.5, 21**0.5])
    assert D.rows.shape == (3, 2)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12), st.floats(0, 4))
def test_against_the_outputs(seed, n, r, spread):
    left, right = factors(seed, 7, n, r, spread)
    D, outputs = FactorDistance(left, right), left.astype(np.longdouble) @ right.T.astype(np.longdouble)
    sizes = np.linalg.norm(left, axis=1)
    for i, j in naive.pair_table(left, 2):
        expected = float(np.sqrt(((outputs[i] - outputs[j]) ** 2).sum()))
        allowed = 1e-9 * expected + 8 * r * EPS * (sizes[i] + sizes[j]) * np.linalg.norm(right, 2)
        assert D.between([i], [j])[0] == pytest.approx(expected, rel=0, abs=allowed)
        assert D.block(i, i + 1, j, j + 1)[0, 0] == pytest.approx(expected, rel=0, abs=allowed)


@given(st.integers(0, 2**32 - 1))
def test_single_precision_loses_nothing_here(seed):
    left, right = factors(seed, r=12, dtype=np.float32)
    doubled = FactorDistance(left.astype(float), right.astype(float))
    np.testing.assert_array_equal(FactorDistance(left, right).block(0, 9), doubled.block(0, 9))
    # Outputs that were formed in single precision are off by its rounding, and the factors tell so.
    formed = RowDistance(left @ right.T).block(0, 9)
    np.testing.assert_allclose(formed, doubled.block(0, 9), rtol=0, atol=1e-4)
    assert (formed != doubled.block(0, 9)).any()


def test_equal_individuals_are_at_distance_zero_and_the_rest_is_not():
    left, right = factors(0, 6, 20, 11)
    measured = FactorDistance(left[[0, 1, 0, 2, 1, 3]], right).block(0, 6)
    same = np.array([0, 1, 0, 2, 1, 3])
    np.testing.assert_array_equal(measured == 0, same[:, None] == same)


def test_clipping_never_makes_a_distance_larger():
    rng = np.random.default_rng(1)
    table = rng.choice([-1.0, 1.0], (20, 12))
    table[rng.random(table.shape) < 0.3] = np.nan
    estimate = svt(ObservedMatrix(table, value_range=(-1, 1)), threshold=3.0, shrinker="identity")
    unclipped = estimate.left * estimate.shrunk_values @ estimate.right.T
    clipped = np.clip(unclipped, -1, 1)
    assert (clipped != unclipped).any()
    D = FactorDistance(estimate.left * estimate.shrunk_values, estimate.right)
    np.testing.assert_allclose(D.block(0, 20), RowDistance(unclipped).block(0, 20), atol=1e-12)
    assert (RowDistance(clipped).block(0, 20) <= D.block(0, 20) + 1e-12).all()


def test_it_says_what_it_is():
    left, right = factors(2)
    D = FactorDistance(left, right, row_ids=list("abcdefghi"))
    assert (D.is_metric, D.description.columns, list(D.row_ids)[:2]) == (True, "all 13", ["a", "b"])
    assert "not clipped" in D.name
    assert D.relative_spread() == pytest.approx(RowDistance(left @ right.T).relative_spread())
    dependent = FactorDistance(left, right[:, [0, 1, 2, 2]])
    assert dependent.description.axioms == "pseudometric"


def test_unusable_factors():
    left, right = factors(3)
    with pytest.raises(ShapeError, match="as many columns"):
        FactorDistance(left, right[:, :3])
    with pytest.raises(ShapeError, match="two individuals"):
        FactorDistance(left[:1], right)
    with pytest.raises(ShapeError):
        FactorDistance(left, np.zeros((0, 4)))
    with pytest.raises(DistanceError, match="NaN"):
        FactorDistance(left, np.where(right > 0, np.nan, right))
