"""Intervals from independent draws: by hand, against slow definitions, and properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from likewise.errors import InputError
from likewise.fairness.sampled.intervals import (
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    quantile_interval,
    share_beyond_maximum,
    student,
)

from . import naive

CONFIDENCES = st.sampled_from([0.51, 0.89, 0.95, 0.999])  # whose errors no simple binomial sum equals
SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=60)


class TestRates:
    def test_by_hand(self):
        # None of n: P(X <= 0) = (1 - p)^n = a. All of n: P(X >= n) = p^n = a. One of two: 1 - (1 - p)^2 = a, 1 - p^2 = a.
        for n, a in [(1, 0.05), (7, 0.01), (299, 0.05)]:
            none, every = clopper_pearson(0, n, 1 - a, "upper"), clopper_pearson(n, n, 1 - a, "lower")
            assert (none.low, none.high) == (0, pytest.approx(1 - a ** (1 / n)))
            assert (every.low, every.high) == (pytest.approx(a ** (1 / n)), 1)
        both = clopper_pearson(1, 2, 0.9)
        assert (both.low, both.high) == pytest.approx((1 - math.sqrt(0.95), math.sqrt(0.95)))

    @pytest.mark.slow
    @given(st.integers(0, 40), st.integers(1, 40), CONFIDENCES)
    def test_against_exact_binomial_sums(self, k, n, confidence):
        k = min(k, n)
        found = clopper_pearson(k, n, confidence)
        assert (found.low, found.high) == pytest.approx(
            naive.clopper_pearson(k, n, (1 - confidence) / 2), abs=1e-9
        )

    @given(st.integers(0, 10**6), st.integers(1, 10**6), CONFIDENCES)
    def test_against_scipy_on_many_draws(self, k, n, confidence):
        k = min(k, n)
        found, known = clopper_pearson(k, n, confidence), binomtest(k, n).proportion_ci(confidence)
        assert (found.low, found.high) == pytest.approx((known.low, known.high), rel=1e-6, abs=1e-12)
        assert found.covers(k / n)


class TestQuantiles:
    def test_by_hand(self):
        # Five draws, median, error 1/16 a side. P(B <= 0) = 1/32, P(B <= 1) = 6/32: r = 1; so too s = 5.
        found = quantile_interval([30.0, 10.0, 50.0, 20.0, 40.0], 0.5, 7 / 8)
        assert (found.low, found.high) == (10, 50)
        # An error of 6/32 a side suffices for r = 2, s = 4; 1/64 for none.
        found = quantile_interval([30.0, 10.0, 50.0, 20.0, 40.0], 0.5, 20 / 32 - 1e-9)
        assert (found.low, found.high) == (20, 40)
        found = quantile_interval([30.0, 10.0, 50.0, 20.0, 40.0], 0.5, 31 / 32)
        assert (found.low, found.high) == (0, math.inf)

    @pytest.mark.slow
    @given(st.integers(1, 60), st.sampled_from([0.0, 0.03, 0.5, 0.9, 0.99, 1.0]), CONFIDENCES)
    def test_against_trying_every_rank(self, n, q, confidence):
        found = quantile_interval(np.arange(1.0, n + 1), q, confidence)
        low, high = naive.quantile_ranks(n, q, (1 - confidence) / 2)
        assert (found.low, found.high) == (low, high if high <= n else math.inf)

    @given(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, math.inf]), min_size=1, max_size=80),
        st.floats(0, 1),
        CONFIDENCES,
    )
    def test_infinite_and_tied_values(self, values, q, confidence):
        found = quantile_interval(values, q, confidence)
        assert found.low <= found.high
        one_sided = [quantile_interval(values, q, confidence, side) for side in ("lower", "upper")]
        assert one_sided[0].low >= found.low
        assert one_sided[1].high <= found.high

    def test_few_draws_say_nothing_of_a_far_quantile(self):
        assert quantile_interval(np.ones(100), 0.99).high == math.inf
        assert quantile_interval(np.ones(368), 0.99).high == 1  # 0.99^368 < 0.025


class TestMaxima:
    @given(st.integers(1, 10**5), CONFIDENCES)
    def test_bound_on_the_share_beyond(self, n, confidence):
        found = share_beyond_maximum(n, confidence)
        assert (1 - found.high) ** n == pytest.approx(1 - confidence)


class TestMeans:
    def test_hoeffding_by_hand(self):
        # Mean 1/2 of n = 100: KL(1/2, t) = -log(4 t (1 - t)) / 2 = log(40) / 100, so (1 - 2 t)^2 = 1 - exp(-log(40) / 50).
        found = hoeffding([0.0, 2.0] * 50, 2.0)
        off = math.sqrt(1 - math.exp(-math.log(40) / 50))
        assert (found.low, found.high) == pytest.approx((1 - off, 1 + off))
        # Mean 0: 1 - t = a^(1/n), the Clopper-Pearson limit.
        assert hoeffding(np.zeros(20), 1.0, side="upper").high == pytest.approx(1 - 0.05 ** (1 / 20))

    @given(SHARES, CONFIDENCES)
    def test_hoeffding_against_search(self, values, confidence):
        found = hoeffding(values, 1.0, confidence)
        low, high = naive.chernoff(float(np.mean(values)), len(values), (1 - confidence) / 2)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-7)

    @given(SHARES, CONFIDENCES)
    def test_hoeffding_is_never_wider_than_its_well_known_form(self, values, confidence):
        found, mean = hoeffding(values, 1.0, confidence), np.mean(values)
        margin = math.sqrt(math.log(2 / (1 - confidence)) / (2 * len(values)))
        assert found.low >= mean - margin - 1e-12
        assert found.high <= mean + margin + 1e-12

    def test_empirical_bernstein_by_hand(self):
        # Values 1, 2, 4, 5 of at most 10: mean 3, sample variance 10/3, log(2 / 0.25) = log 8 at one end.
        found = empirical_bernstein([1.0, 2.0, 4.0, 5.0], 10.0, 0.75, "upper")
        margin = math.sqrt(2 * (10 / 3) * math.log(8) / 4) + 7 * 10 * math.log(8) / 9
        assert found.high == min(10, 3 + margin)
        many = empirical_bernstein(np.tile([1.0, 2.0, 4.0, 5.0], 100), 10.0, 0.75, "upper")
        variance = 2.5 * 400 / 399
        margin = math.sqrt(2 * variance * math.log(8) / 400) + 7 * 10 * math.log(8) / (3 * 399)
        assert many.high == pytest.approx(3 + margin)

    @given(SHARES, st.floats(0.1, 50), CONFIDENCES)
    def test_bounded_intervals_hold_the_mean_and_scale_with_the_values(self, values, scale, confidence):
        for interval in (hoeffding, empirical_bernstein):
            unit, scaled = (
                interval(values, 1.0, confidence),
                interval(np.multiply(values, scale), scale, confidence),
            )
            assert 0 <= unit.low <= np.mean(values) + 1e-12
            assert np.mean(values) - 1e-12 <= unit.high <= 1
            assert (scaled.low, scaled.high) == pytest.approx(
                (scale * unit.low, scale * unit.high), abs=1e-6 * scale
            )

    def test_student_by_hand(self):
        # 1, 2, 3, 6: mean 3, sample variance 14/3; t(0.975, 3) = 3.182446.
        found = student([1.0, 2.0, 3.0, 6.0])
        margin = 3.182446305284263 * math.sqrt(14 / 3 / 4)
        assert (found.low, found.high) == pytest.approx((max(0, 3 - margin), 3 + margin))
        assert "asymptotic" in found.method


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, 95, math.nan])
def test_a_confidence_outside_the_unit_interval_is_refused(confidence):
    calls = [
        lambda: clopper_pearson(1, 2, confidence),
        lambda: quantile_interval([1.0], 0.5, confidence),
        lambda: share_beyond_maximum(3, confidence),
        lambda: hoeffding([0.5], 1.0, confidence),
        lambda: empirical_bernstein([0.5, 0.5], 1.0, confidence),
        lambda: student([0.5, 0.5], confidence),
    ]
    for call in calls:
        with pytest.raises(InputError, match="confidence"):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clopper_pearson(0, 0), "n_draws=0"),
        (lambda: clopper_pearson(3, 2), "n_events=3"),
        (lambda: clopper_pearson(-1, 2), "n_events=-1"),
        (lambda: clopper_pearson(1, 2, side="left"), "side='left'"),
        (lambda: quantile_interval([], 0.5), "number of values=0"),
        (lambda: quantile_interval([[1.0]], 0.5), r"shape \(1, 1\)"),
        (lambda: quantile_interval([math.nan], 0.5), "1 values are NaN"),
        (lambda: quantile_interval([1.0], 1.5), "q=1.5"),
        (lambda: share_beyond_maximum(0), "n_draws=0"),
        (lambda: hoeffding([0.5], 0.0), "bound=0.0"),
        (lambda: hoeffding([0.5], math.inf), "bound=inf"),
        (lambda: hoeffding([0.5, 2.0], 1.0), "values from 0.5 to 2"),
        (lambda: hoeffding([-0.5], 1.0), "values from -0.5"),
        (lambda: empirical_bernstein([0.5], 1.0), "number of values=1"),
        (lambda: student([0.5]), "number of values=1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
