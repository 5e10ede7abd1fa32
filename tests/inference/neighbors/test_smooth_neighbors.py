"""Smoothly weighted neighbours against their definition; that they never move two rows further apart than K1 allows is tested beside the proof."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.errors import ModelError, ShapeError
from likewise.inference import SmoothNeighborModel, SmoothNeighbors, as_model, smooth_neighbor_outputs


def naive(rows, x, bandwidth):
    """The definition, one row after another."""
    weights = [np.exp(-np.sum((x - row) ** 2) / (2 * bandwidth)) for row in rows]
    with np.errstate(invalid="ignore"):  # far from all rows every weight is 0
        return sum(w * row for w, row in zip(weights, rows, strict=True)) / sum(weights)


def test_two_rows_by_hand():
    """Rows (-1, 3) and (1, 3), R = 1, K1 = 1/2, so t = 2: the first output is tanh(x / 2), the second always 3."""
    found = smooth_neighbor_outputs([[-1.0, 3.0], [1.0, 3.0]], 0.5, new_rows=[[0.5, 3.0], [-2.0, 7.0]])
    np.testing.assert_allclose(found, [[np.tanh(0.25), 3.0], [np.tanh(-1.0), 3.0]], rtol=1e-9)


def test_three_rows_by_hand():
    """Rows at 0, 2 and 4 with t = 2: squares of 1, 1, 9 over 4 leave weights 1, 1, exp(-2) at x = 1."""
    average = SmoothNeighbors(np.array([[0.0], [2.0], [4.0]]), np.array([2.0]), 2.0, 2.0)
    expected = (2 + 4 * np.exp(-2)) / (2 + np.exp(-2))
    np.testing.assert_allclose(average([[1.0]]), [[expected]], rtol=1e-14)


@given(st.integers(0, 10**6))
def test_naive_reference(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(1, 12), 4)) * rng.choice([0.1, 1.0, 30.0])
    rows[:, 1] = np.where(rng.random(len(rows)) < 0.5, 0.0, rows[:, 1])
    x = rng.normal(size=(5, 4)) * np.abs(rows).max()
    learnt = SmoothNeighbors.of(rows, float(rng.choice([0.1, 1.0, 20.0])))
    expected = [naive(rows - rows[0], one - rows[0], learnt.bandwidth) + rows[0] for one in x]
    size = np.abs(rows).max()
    told = np.isfinite(expected).all(axis=1)
    np.testing.assert_allclose(learnt(x)[told], np.asarray(expected)[told], rtol=1e-7, atol=1e-8 * size)
    np.testing.assert_allclose(
        SmoothNeighbors.of(sparse.csr_array(rows), 1.0)(x),
        SmoothNeighbors.of(rows, 1.0)(x),
        rtol=1e-6,
        atol=1e-7 * size,
    )


def test_everybody_is_among_their_own_neighbours():
    """A large K1 leaves everybody their own row, a small one gives all the mean."""
    rows = np.random.default_rng(0).normal(size=(20, 5))
    np.testing.assert_allclose(smooth_neighbor_outputs(rows, 1e6), rows, atol=1e-9)
    np.testing.assert_allclose(
        smooth_neighbor_outputs(rows, 1e-9), np.tile(rows.mean(axis=0), (20, 1)), atol=1e-6
    )


def test_rows_that_are_all_equal_give_themselves():
    rows = np.tile([0.5, -1.0], (4, 1))
    np.testing.assert_allclose(
        smooth_neighbor_outputs(rows, 3.0, new_rows=[[9.0, 9.0]]), [[0.5, -1.0]], atol=1e-12
    )


def test_the_model_has_a_name_and_tells_what_it_learnt():
    rows = np.random.default_rng(1).uniform(-1, 1, size=(9, 3))
    kept = []
    outputs = as_model("smooth-knn")(rows, keep=kept.append)
    assert isinstance(kept[0].model, SmoothNeighbors)
    np.testing.assert_array_equal(outputs, kept[0].model(rows))
    assert "K1 = 2" in SmoothNeighborModel(2.0).name
    assert as_model(SmoothNeighborModel(2.0)).predicts_entries


def test_progress_ends_with_all_rows():
    seen = []
    smooth_neighbor_outputs(np.eye(7), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (7, 7)


@pytest.mark.parametrize("limit", [0.0, -1.0, np.nan, "x", None])
def test_no_limit_is_refused(limit):
    with pytest.raises(ModelError, match="lipschitz"):
        smooth_neighbor_outputs(np.eye(3), limit)


def test_rows_of_other_columns_are_refused():
    with pytest.raises(ShapeError, match=r"new rows of shape \(1, 2\); expected \(any, 3\)"):
        SmoothNeighbors.of(np.eye(3))([[1.0, 2.0]])


@pytest.mark.parametrize("rows", [[[np.nan, 1.0]], [[np.inf, 1.0]], np.empty((0, 2)), np.empty((2, 0))])
def test_rows_that_are_not_complete_are_refused(rows):
    with pytest.raises(ModelError, match="a matrix"):
        SmoothNeighbors.of(rows)
