"""Intervals from all pairs of individuals: by hand, against loops over people and matchings, and properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from likewise.errors import InputError, ShapeError
from likewise.fairness.sampled.intervals import (
    clopper_pearson,
    hoeffding,
    u_empirical_bernstein,
    u_hoeffding,
    u_jackknife,
    u_quantile,
)
from likewise.fairness.sampled.intervals.u_statistics import disjoint_variance, person_sums

from . import naive

# Pairs (0,1) (0,2) (0,3) (1,2) (1,3) (2,3) of four people.
FOUR = np.array([1.0, 2.0, 3.0, 2.0, 3.0, 4.0])


@st.composite
def people_and_pairs(draw, least=4, most=8):
    m = draw(st.integers(least, most))
    return m, draw(hnp.arrays(float, m * (m - 1) // 2, elements=st.floats(0, 1)))


def test_sums_and_variance_by_hand():
    assert person_sums(FOUR, 4).tolist() == [6, 6, 8, 10]
    # Couples that share nobody: {01, 23}: (1 - 4)^2 = 9, {02, 13}: (2 - 3)^2 = 1, {03, 12}: (3 - 2)^2 = 1; half their mean is 11/6.
    assert disjoint_variance(FOUR, 4) == pytest.approx(11 / 6)


@given(people_and_pairs(4, 6))
@settings(max_examples=30, deadline=None)
def test_variance_is_that_over_four_people_and_over_all_matchings(case):
    m, pairs = case
    found = disjoint_variance(pairs, m)
    assert found == pytest.approx(naive.disjoint_variance(pairs, m), abs=1e-12)
    assert found == pytest.approx(naive.matching_variance(pairs, m), abs=1e-12)


def test_hoeffding_by_hand_and_as_of_half_as_many_draws():
    # No event among ten people is worth five draws.
    assert u_hoeffding(np.zeros(45), 10, side="upper").high == pytest.approx(
        clopper_pearson(0, 5, side="upper").high
    )
    # Eleven people make five couples as well; a third of the pairs shows the event.
    found = u_hoeffding(np.arange(55) % 3 == 0, 11)
    share = 19 / 55
    low, high = naive.chernoff(share, 5, 0.025)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert u_hoeffding(np.full(45, 1.5), 10, 6.0).high == pytest.approx(hoeffding(np.full(5, 1.5), 6.0).high)


def test_empirical_bernstein_by_hand():
    # Four people twelve times over, as classes: a pair of classes 0, 1, 2, 3 has the value in FOUR, two of the same class 0.
    classes = np.tile(np.arange(4), 12)
    table = np.array([[0.0, 1, 2, 3], [1, 0, 2, 3], [2, 2, 0, 4], [3, 3, 4, 0]])
    pairs = table[classes[:, None], classes][np.triu_indices(48, 1)]
    # Of 48 * 47 / 2 = 1128 pairs, 4 * 66 = 264 lie within a class, 144 join each two classes: mean 144 * 15 / 1128.
    mean, variance = 144 * 15 / 1128, disjoint_variance(pairs, 48)
    margin = math.sqrt(2 * variance * math.log(8) / 24) + 7 * 20 * math.log(8) / (3 * 23)
    found = u_empirical_bernstein(pairs, 48, 20.0, 0.75, "upper")
    assert found.high == pytest.approx(mean + margin)
    assert found.low == 0


@given(people_and_pairs(4, 9), st.sampled_from([0.5, 0.95]))
@settings(max_examples=40, deadline=None)
def test_empirical_bernstein_against_loops(case, confidence):
    m, pairs = case
    found, k, log = u_empirical_bernstein(pairs, m, 1.0, confidence), m // 2, math.log(4 / (1 - confidence))
    margin = math.sqrt(2 * naive.disjoint_variance(pairs, m) * log / k) + 7 * log / (3 * (k - 1))
    mean = pairs.mean()
    assert (found.low, found.high) == pytest.approx((max(0, mean - margin), min(1, mean + margin)), abs=1e-9)


def test_jackknife_by_hand():
    # Without each in turn: (2 + 3 + 4) / 3, (2 + 3 + 4) / 3, (1 + 3 + 3) / 3, (1 + 2 + 2) / 3; squares about 5/2 sum to 11/9.
    found = u_jackknife(FOUR, 4)
    margin = 3.182446305284263 * math.sqrt(3 / 4 * 11 / 9)
    assert (found.low, found.high) == pytest.approx((max(0, 2.5 - margin), 2.5 + margin))
    assert "asymptotic" in found.method


@given(people_and_pairs(3, 9))
@settings(max_examples=40, deadline=None)
def test_jackknife_against_loops(case):
    m, pairs = case
    from scipy.stats import t

    found = u_jackknife(pairs, m)
    assert found.high - pairs.mean() == pytest.approx(
        t.ppf(0.975, m - 1) * naive.jackknife_error(pairs, m), abs=1e-9
    )


@given(st.integers(2, 30), st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.sampled_from([0.5, 0.9, 0.95]))
@settings(max_examples=60, deadline=None)
def test_quantile_against_trying_every_rank(m, q, confidence):
    n_pairs = m * (m - 1) // 2
    found = u_quantile(np.arange(1.0, n_pairs + 1), m, q, confidence)
    low, high = naive.u_quantile_ranks(n_pairs, m // 2, q, (1 - confidence) / 2)
    assert (found.low, found.high) == (low, high if high <= n_pairs else math.inf)


def test_quantile_by_hand():
    # Two couples, median, error 1/4 at the low end: KL(a, 1/2) = log(2) / ... reaches log(4) / 2 = log 2 only at a = 0: rank 1.
    assert u_quantile(FOUR, 4, 0.5, 0.75, "lower").low == 1
    # A smaller error is out of reach of two couples.
    assert u_quantile(FOUR, 4, 0.5, 0.76, "lower").low == 0
    assert u_quantile(np.where(FOUR > 3, np.inf, FOUR), 4, 0.5, 0.75, "upper").high == math.inf


@given(people_and_pairs(4, 12), st.sampled_from([0.5, 0.95]))
@settings(deadline=None)
def test_each_holds_its_estimate_whoever_comes_first(case, confidence):
    m, pairs = case
    square = np.zeros((m, m))
    square[np.triu_indices(m, 1)] = pairs
    order = np.random.default_rng(m).permutation(m)
    shuffled = (square + square.T)[np.ix_(order, order)][np.triu_indices(m, 1)]
    for interval in (u_hoeffding, u_empirical_bernstein):
        found, again = (interval(values, m, 1.0, confidence) for values in (pairs, shuffled))
        assert found.low - 1e-12 <= pairs.mean() <= found.high + 1e-12
        assert (found.low, found.high) == pytest.approx((again.low, again.high), abs=1e-7)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: u_hoeffding(FOUR, 5), ShapeError, "for 5 individuals"),
        (lambda: u_hoeffding([], 1), InputError, "n_individuals=1"),
        (lambda: u_hoeffding(FOUR, 4, 2.0), InputError, "values from 1 to 4"),
        (lambda: u_hoeffding(FOUR, 4, 5.0, 1.0), InputError, "confidence=1.0"),
        (lambda: u_empirical_bernstein(FOUR[:3], 3), InputError, "n_individuals=3"),
        (lambda: u_jackknife([1.0], 2), InputError, "n_individuals=2"),
        (lambda: u_quantile(FOUR, 4, -0.5), InputError, "q=-0.5"),
        (lambda: u_quantile(FOUR * np.nan, 4, 0.5), InputError, "6 values are NaN"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
