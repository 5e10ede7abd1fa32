"""The constant of smoothly weighted neighbours: by hand, attained, and never exceeded by pairs that try."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.certificates import Certificate, Unavailable, model_constant
from likewise.certificates.models.smooth_average import enclosing_ball, smooth_average_constant
from likewise.inference import SmoothNeighbors


def average(bandwidth, radius, half_ranges):
    return SimpleNamespace(bandwidth=bandwidth, radius=radius, half_ranges=np.asarray(half_ranges))


def test_by_hand():
    """R = 3, t = 2, half ranges 1 and 2: 9/2 from l2, 3 * 2 / 2 from l1; to l1 times sqrt(2); from linf times sqrt(2)."""
    given_ = average(2.0, 3.0, [1.0, 2.0])
    for p, q, expected in (
        (2, 2, 4.5),
        (1, 2, 3.0),
        (2, 1, 4.5 * 2**0.5),
        (np.inf, 2, 4.5 * 2**0.5),
        (1, np.inf, 3.0),
    ):
        assert smooth_average_constant(given_, p, q).value == pytest.approx(expected, rel=1e-12)


def test_two_rows_attain_it():
    """Half-way between two rows at distance 2 R the weights are halves, and the output moves by R^2 / t times the step."""
    rows = np.array([[-1.0, 2.0, 0.0], [1.0, 0.0, 1.0]])
    learnt = SmoothNeighbors.of(rows, 1.0)
    step = 1e-4 * (rows[1] - rows[0])
    middle = rows.mean(axis=0)
    moved = learnt([middle + step])[0] - learnt([middle - step])[0]
    ratio = np.linalg.norm(moved) / np.linalg.norm(2 * step)
    assert 0.999 < ratio / model_constant(learnt).value <= 1


def test_one_feature_attains_the_constant_from_l1():
    rows = np.array([[-1.0], [1.0]])
    learnt = SmoothNeighbors.of(rows, 4.0)
    ratio = (learnt([[1e-5]]) - learnt([[-1e-5]])).item() / 2e-5
    proved = model_constant(learnt, from_norm="l1").value
    assert proved <= 4.0
    assert ratio == pytest.approx(proved, rel=1e-6)


def test_the_constant_is_what_was_asked_for():
    rows = np.random.default_rng(0).normal(size=(50, 6))
    for limit in (0.01, 1.0, 32.0):
        proved = model_constant(SmoothNeighbors.of(rows, limit)).value
        assert limit * (1 - 1e-9) < proved <= limit


@given(st.integers(0, 10**6))
def test_no_pair_exceeds_it(seed):
    """Pairs at random, near each other, along single features, and half-way between two rows along their difference."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(2, 15), 5)) * rng.choice([0.3, 1.0, 10.0])
    if rng.random() < 0.5:  # two clusters, between which the output moves fast
        rows = np.sign(rng.normal(size=(len(rows), 1))) * rng.uniform(1, 2, size=5) + 0.01 * rows
    learnt = SmoothNeighbors.of(rows, float(rng.choice([0.2, 1.0, 50.0])))
    left = rng.normal(size=(200, 5)) * np.abs(rows).max()
    left[::3] = (rows[rng.integers(len(rows), size=67)] + rows[rng.integers(len(rows), size=67)]) / 2
    steps = rng.normal(size=(200, 5)) * 10.0 ** rng.uniform(-3, 1, size=(200, 1))
    steps[::3] = (rows[rng.integers(len(rows), size=67)] - rows[0]) * 0.01
    steps[1::3] *= np.eye(5)[rng.integers(5, size=67)]
    moved = learnt(left + steps) - learnt(left)
    slack = 1e-11 * np.abs(rows).max()
    for p in (1, 2):
        d = np.linalg.norm(steps, p, axis=1)
        for q in (1, 2, np.inf):
            proved = model_constant(learnt, from_norm=f"l{p}", to_norm="linf" if q == np.inf else f"l{q}")
            assert isinstance(proved, Certificate)
            assert proved.holds_for(d, np.linalg.norm(moved, q, axis=1), slack=slack).holds


@given(st.integers(0, 10**6))
def test_the_ball_holds_every_row_and_is_hardly_larger_than_it_must_be(seed):
    """No ball is smaller than half the largest distance; the smallest is at most sqrt(2) of it in l2 (Jung), and the search comes near."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(1, 20), rng.integers(1, 5))) + rng.choice([0.0, 100.0])
    centre, radius = enclosing_ball(rows)
    assert np.linalg.norm(rows - centre, axis=1).max() <= radius
    farthest = np.linalg.norm(rows[:, None] - rows, axis=2).max()
    rounding = 1e-6 * np.linalg.norm(rows, axis=1).max()  # the square root of what squares that cancel leave
    assert farthest / 2 * (1 - 1e-9) <= radius <= 1.1 * farthest / 2**0.5 + rounding
    assert enclosing_ball(sparse.csr_array(rows))[1] == pytest.approx(radius, rel=1e-6, abs=rounding)


def test_a_constant_beyond_all_numbers_is_none():
    assert isinstance(smooth_average_constant(average(1e-300, 1e200, [1.0]), 2, 2), Unavailable)


@pytest.mark.parametrize(
    ("bandwidth", "radius", "half_range"),
    [(1.0, 1e-170, 1e-170), (1e170, 1e-170, 1.0), (1e300, 1e-300, 1e-300), (2.0, 5e-324, 5e-324)],
)
def test_a_constant_that_vanishes_is_not_zero(bandwidth, radius, half_range):
    average = SimpleNamespace(bandwidth=bandwidth, radius=radius, half_ranges=np.full(2, half_range))
    for p, q in ((1.0, 1.0), (2.0, 2.0), (np.inf, 1.0)):
        assert 0 < smooth_average_constant(average, p, q).value < 1e-300


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-170, 1e-100, 1e100])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_ball_at_every_scale(scale, kind):
    centre, radius = enclosing_ball(kind(np.array([[scale, 0.0], [0.0, scale]])))
    assert 0.7 * scale <= radius <= 0.75 * scale + 1e-321
    assert 0 <= centre.max() <= scale
