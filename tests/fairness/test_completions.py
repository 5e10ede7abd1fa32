from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ObservedMatrix
from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness.completions import judge_completions
from likewise.fairness.distances.completion_distance import CompletionDistance

GRID = np.linspace(0.0, 4.0, 5)


def completions(values):
    """Every matrix in which each missing entry is a point of a grid over the range."""
    missing = np.argwhere(np.isnan(values))
    for filling in product(GRID, repeat=len(missing)):
        complete = values.copy()
        complete[tuple(missing.T)] = filling
        yield complete


def distances(values, order):
    scaled = values / 2 - 1
    return (np.abs(scaled[:, None] - scaled) ** order).sum(axis=2) ** (1 / order)


def small(seed, m=3, n=3, most_missing=5):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, size=(m, n)).astype(float)
    hidden = rng.permutation(m * n)[: rng.integers(0, most_missing + 1)]
    values.ravel()[hidden] = np.nan
    return values


def test_by_hand():
    """On [-1, 1] rows are (-1, ?, 0) and (0, .5, ?): 1 for certain; the second differs by 0 to 1.5, the third by 0 to 1."""
    Z = ObservedMatrix(np.array([[0.0, np.nan, 2.0], [2.0, 3.0, np.nan]]), value_range=(0, 4))
    i, j = np.array([0]), np.array([1])
    assert CompletionDistance(Z, "least").between(i, j).item() == pytest.approx(1)
    assert CompletionDistance(Z, "largest").between(i, j).item() == pytest.approx(1 + 1.5 + 1)
    assert CompletionDistance(Z, "largest", "l2").between(i, j).item() == pytest.approx((1 + 2.25 + 1) ** 0.5)
    intervals = np.full((2, 3), 1.0), np.full((2, 3), 2.0)  # -.5 to 0 on [-1, 1]
    assert CompletionDistance(Z, "least", intervals=intervals).between(i, j).item() == pytest.approx(1 + 0.5)
    assert CompletionDistance(Z, "largest", intervals=intervals).between(i, j).item() == pytest.approx(
        1 + 1 + 0.5
    )


@given(seed=st.integers(0, 10**6), order=st.sampled_from([1, 2, 3]))
def test_the_ends_are_those_of_all_completions(seed, order):
    """A grid that has both ends of the range and every observed value has the completions that are extreme."""
    values = small(seed)
    all_of_them = np.array([distances(complete, order) for complete in completions(values)])
    Z = ObservedMatrix(values, value_range=(0, 4))
    for end, expected in (("least", all_of_them.min(axis=0)), ("largest", all_of_them.max(axis=0))):
        distance = CompletionDistance(Z, end, order)
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(distance.block(0, 3)[off], expected[off], atol=1e-12)
        i, j = np.nonzero(off)
        np.testing.assert_allclose(distance.between(i, j), expected[i, j], atol=1e-12)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), lipschitz=st.sampled_from([0.3, 1.0, 2.5]))
def test_verdicts_are_those_of_all_completions(seed, lipschitz):
    values, y = small(seed), np.random.default_rng(seed).normal(size=3)
    fair = [
        np.abs(y[:, None] - y) <= lipschitz * distances(complete, 1) + 1e-11
        for complete in completions(values)
    ]
    i, j = np.triu_indices(3, 1)
    always, never = np.all(fair, axis=0)[i, j], ~np.any(fair, axis=0)[i, j]
    found = judge_completions(y, ObservedMatrix(values, value_range=(0, 4)), lipschitz=lipschitz)
    assert (found.n_fair, found.n_violated) == (always.sum(), never.sum())
    assert found.n_depends == 3 - always.sum() - never.sum() == len(found.undecided)


def test_what_decides_is_named_largest_first():
    values = np.array([[0.0, np.nan, 2.0], [2.0, 3.0, np.nan], [0.0, 0.0, 0.0]])
    Z = ObservedMatrix(values, value_range=(0, 4), row_ids=["ann", "bob", "cy"], column_ids=["x", "y", "z"])
    found = judge_completions([0.0, 2.0, 0.0], Z, lipschitz=1.0)
    pair = found.undecided[0]
    assert (pair.left, pair.right) == ("ann", "bob")
    assert (pair.least_distance, pair.largest_distance) == (1.0, 3.5)
    assert pair.features == (("y", 1.5), ("z", 1.0))
    assert str(pair) == "ann and bob: D = 2, d between 1 and 3.5; it depends on y (up to 1.5), z (up to 1)"
    assert found.status == "depends"


def test_without_blanks_everything_is_decided():
    values = np.random.default_rng(0).uniform(0, 4, size=(40, 3))
    y = np.random.default_rng(1).normal(size=40)
    found = judge_completions(y, ObservedMatrix(values, value_range=(0, 4)), lipschitz=1.0)
    assert found.n_depends == 0
    gaps, allowed = np.abs(y[:, None] - y), distances(values, 1)
    assert found.n_violated == np.triu(gaps > allowed, 1).sum()
    assert found.status == "violated"


def test_drawn_pairs_are_some_of_all():
    values = small(3, m=60, n=4, most_missing=60)
    Z = ObservedMatrix(values, value_range=(0, 4))
    y = np.random.default_rng(1).normal(size=60)
    every, drawn = (
        judge_completions(y, Z, lipschitz=0.5),
        judge_completions(y, Z, lipschitz=0.5, pairs=1_500),
    )
    assert drawn.sampled
    assert drawn.n_pairs == 1_500
    for name in ("n_fair", "n_violated", "n_depends"):  # four standard errors of a share
        assert getattr(drawn, name) / 1_500 == pytest.approx(
            getattr(every, name) / every.n_pairs, abs=4 * 0.5 / 1_500**0.5
        )
    assert "drawn pairs" in str(drawn)


def test_bad_input_is_told():
    Z = ObservedMatrix(np.array([[0.0, np.nan], [1.0, 2.0]]), value_range=(0, 4))
    with pytest.raises(InputError, match="number above 0"):
        judge_completions([0.0, 1.0], Z, lipschitz=0)
    with pytest.raises(InputError, match="a whole number"):
        judge_completions([0.0, 1.0], Z, lipschitz=1.0, pairs="many")
    with pytest.raises(ShapeError, match="outputs of 3 individuals"):
        judge_completions([0.0, 1.0, 2.0], Z, lipschitz=1.0)
    with pytest.raises(ShapeError, match="intervals of shapes"):
        judge_completions([0.0, 1.0], Z, lipschitz=1.0, intervals=(np.zeros(2), np.ones(2)))
    with pytest.raises(DistanceError, match="lower <= upper"):
        judge_completions([0.0, 1.0], Z, lipschitz=1.0, intervals=(np.ones((2, 2)), np.zeros((2, 2))))


def test_intervals_of_observed_entries_are_not_read():
    Z = ObservedMatrix(np.array([[0.0, np.nan], [4.0, 1.0]]), value_range=(0, 4))
    ends = np.full((2, 2), np.nan), np.full((2, 2), np.nan)
    ends[0][0, 1], ends[1][0, 1] = 1.0, 2.0
    ends[0][1], ends[1][1] = 3.0, 2.0
    for end, expected in (("least", 2.0), ("largest", 2.5)):
        d = CompletionDistance(Z, end, intervals=ends)
        assert d.between(np.array([0]), np.array([1])).item() == expected
    ends[1][0, 1] = np.nan
    with pytest.raises(DistanceError, match="before it begins"):
        CompletionDistance(Z, "least", intervals=ends)


def test_a_confidence_is_that_of_intervals():
    Z = ObservedMatrix(np.array([[0.0, np.nan], [4.0, 1.0]]), value_range=(0, 4))
    with pytest.raises(InputError, match=r"confidence=0\.9 without intervals"):
        judge_completions([0.0, 1.0], Z, lipschitz=1.0, confidence=0.9)
