"""Intervals by betting: by hand, against one-at-a-time bets, and what must hold for any values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import InputError
from likewise.fairness.sampled.intervals import betting
from likewise.fairness.sampled.intervals.means import (
    betting_low,
    capital_of_fixed_shares,
    capital_of_stakes,
    learned_stakes,
)

from . import naive

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_bets_by_hand():
    # Draws 2, 4, 0 with error e^-2, so 2 log(1 / error) = 4. Nothing is known before the first draw.
    # After 2: mean 2, spread (0 + 2^2) / 1 = 4, bet sqrt(4 / (3 * 4)). After 2, 4: mean 3, squares 0 + 1, spread (1 + 9) / 2 = 5.
    found = learned_stakes(np.array([2.0, 4.0, 0.0]), math.exp(-2))
    np.testing.assert_allclose(found, [0, math.sqrt(4 / 12), math.sqrt(4 / 15)])


def test_capital_by_hand():
    # Against 1 with bets 0, 1/4, 10: the last is cut to 3/4. Capital 1, 1 (1 + 3/4) = 7/4, 7/4 (1 - 3/4) = 7/16.
    found = capital_of_stakes(np.array([2.0, 4.0, 0.0]), np.array([0, 0.25, 10]), 1.0)
    assert found == pytest.approx(math.log(7 / 4))


def test_capital_of_fixed_shares_by_hand():
    # Two draws, shares 3/4 and 3/32. Against 1: (1 + 3/4) (1 - 3/4) = 7/16 and (1 + 3/32) (1 - 3/32) = 1015/1024; their mean.
    found = capital_of_fixed_shares(np.array([2.0, 0.0]), 1.0)
    assert found == pytest.approx(math.log((7 / 16 + 1015 / 1024) / 2))


@given(VALUES, st.sampled_from([0.01, 0.05, 0.5]))
def test_bets_agree_with_one_at_a_time(values, error):
    np.testing.assert_allclose(
        learned_stakes(np.array(values), error), naive.stakes(values, error), rtol=1e-6
    )


@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.1, 0.05]))
def test_the_low_end_parts_disproved_candidates_from_others(seed, error):
    rng = np.random.default_rng(seed)
    values = rng.beta(2, 3, rng.integers(5, 80))
    low = betting_low(values, error)
    assert low == 0 or naive.is_disproved(values.tolist(), error, low * (1 - 1e-6))
    assert not naive.is_disproved(values.tolist(), error, low * (1 + 1e-6) + 1e-9)


@given(VALUES, st.floats(1e-3, 1e3), st.sampled_from([0.5, 0.95]))
def test_it_holds_the_mean_stays_in_range_and_scales(values, scale, confidence):
    mean = float(np.mean(values))
    found = betting(values, 1.0, confidence)
    assert 0 <= found.low <= mean <= found.high <= 1
    scaled = betting(np.multiply(values, scale), scale, confidence)
    assert (scaled.low, scaled.high) == pytest.approx(
        (found.low * scale, found.high * scale), rel=1e-6, abs=1e-9 * scale
    )


@given(st.lists(st.integers(0, 1000).map(lambda k: k / 1000), min_size=1, max_size=40))
def test_both_ends_mirror_each_other(values):
    found, mirrored = betting(values, 1.0), betting(np.subtract(1, values), 1.0)
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-6)


def test_one_end_alone_gets_the_whole_error():
    values = np.random.default_rng(0).random(200)
    both, low, high = (betting(values, 1.0, 0.9, side) for side in ("both", "lower", "upper"))
    sharper = betting(values, 1.0, 0.8)
    assert (low.low, high.high) == (sharper.low, sharper.high)
    assert (low.high, high.low) == (1, 0)
    assert both.low < low.low
    assert high.high < both.high


def test_without_a_bound_there_is_a_low_end_only():
    values = np.random.default_rng(0).pareto(1.5, 1000)
    found = betting(values)
    assert 0 < found.low < values.mean()
    assert found.high == math.inf
    assert "low end only" in found.method


def test_rare_large_values_among_tiny_ones_are_not_lost():
    # Mean 1: a hundredth of the values is about 100. Whoever learns from the tiny ones alone bets and loses all.
    rng = np.random.default_rng(0)
    values = np.where(rng.random(10_000) < 0.01, 100.0, 1e-4 * rng.random(10_000))
    assert betting(values).low > values.mean() / 2


def test_it_is_narrower_than_other_bounds_on_many_draws_that_vary_little():
    from likewise.fairness.sampled.intervals import empirical_bernstein, hoeffding

    values = np.random.default_rng(0).beta(20, 60, 2000)
    widths = [
        found.high - found.low
        for found in (f(values, 1.0) for f in (betting, empirical_bernstein, hoeffding))
    ]
    assert widths == sorted(widths)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: betting([0.5], 1.0, 1.0), "confidence=1.0"),
        (lambda: betting([0.5], None, 0.0), "confidence=0.0"),
        (lambda: betting([0.5], side="upper"), "a high end without a bound"),
        (lambda: betting([-0.5, 1.0]), "negative or infinite"),
        (lambda: betting([math.inf]), "negative or infinite"),
        (lambda: betting([2.0], 1.0), "values from 2 to 2"),
        (lambda: betting([]), "number of values=0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
