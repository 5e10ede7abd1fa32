"""Intervals over individuals: by hand, against leaving out one by one, and their coverage for the change of an error."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from likewise.fairness import held_out_error
from likewise.fairness.metrics.jackknife import Jackknife, change_between


def test_a_change_by_hand():
    """Gaps of 20 people that move by e_i and 2 e_i without person i: the change moves by their difference, so its variance is that of the first."""
    e = np.array([1.0, -1.0] * 10) / 100
    before, after = Jackknife(0.8, 2 * e), Jackknife(0.5, e)
    change = change_between(before, after, 0.9, 7)
    margin = t.ppf(0.95, 20) * math.sqrt(19 / 20 * 20 * 1e-4)  # all 20 carry the variance alike
    assert (change.value, change.n_pairs, change.confidence) == (pytest.approx(-0.3), 7, 0.9)
    assert (change.low, change.high) == (pytest.approx(-0.3 - margin), pytest.approx(-0.3 + margin))
    assert change.method == "jackknife over individuals (asymptotic)"


def errors_of(predicted, people):
    """Of predictions of zeros."""
    return held_out_error(predicted, np.zeros(predicted.size), individuals=people)


def change_of(before, after):
    return change_between(before.leaving_out, after.leaving_out, 0.95, after.n)


def test_the_change_of_an_error_by_hand():
    """Of twenty people with two observations each, one errs by 3 and 3 before and by 0 and 1 after, all others by 1 and 1."""
    people, others = np.repeat(np.arange(20), 2), np.ones(38)
    before, after = errors_of(np.r_[3, 3, others], people), errors_of(np.r_[0, 1, others], people)
    with_all = math.sqrt(56 / 40), math.sqrt(39 / 40)
    without_one = math.sqrt(38 / 38), math.sqrt(38 / 38)
    without_other = math.sqrt(54 / 38), math.sqrt(37 / 38)
    moved = np.array([without_one[1] - without_one[0]] + 19 * [without_other[1] - without_other[0]])
    e = moved - moved.mean()
    margin = t.ppf(0.975, np.sum(e**2) ** 2 / np.sum(e**4)) * math.sqrt(19 / 20 * np.sum(e**2))
    found = change_of(before, after)
    assert found.value == pytest.approx(with_all[1] - with_all[0])
    assert (found.low, found.high) == pytest.approx((found.value - margin, found.value + margin))
    assert found.n_pairs == 40
    assert before.to_dict().keys() == {"n", "mse_scaled", "mse", "rmse", "mae", "rmse_interval", "unit"}


@given(st.integers(0, 2**32 - 1), st.integers(20, 30))
def test_the_change_of_an_error_leaves_out_individuals_one_by_one(seed, n_people):
    rng = np.random.default_rng(seed)
    people = np.r_[np.arange(n_people), rng.integers(0, n_people, 70)]
    one, other = rng.normal(size=(2, people.size))

    def change(kept):
        return np.subtract(*(np.sqrt(np.mean(errors[kept] ** 2)) for errors in (other, one)))

    e = np.array([change(people != person) for person in range(n_people)])
    e -= e.mean()
    margin = t.ppf(0.975, np.sum(e**2) ** 2 / np.sum(e**4)) * math.sqrt(
        (n_people - 1) / n_people * np.sum(e**2)
    )
    found, back = (change_of(*(errors_of(y, people) for y in pair)) for pair in ((one, other), (other, one)))
    assert found.value == pytest.approx(change(people >= 0), abs=1e-12)
    assert (found.high - found.low) / 2 == pytest.approx(margin, rel=1e-6)
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.9])
@pytest.mark.parametrize("n_people", [20, 200])
def test_the_interval_of_a_change_of_the_error_holds_it(n_people, share):
    """Errors of some people are many times those of others, as by a gamma law: 95%, less what 500 samples allow."""
    rng = np.random.default_rng(0)
    hard = rng.gamma(2.0, size=(500, n_people, 1))
    noise = np.array([1.0, share]).reshape(2, 1, 1, 1) * rng.normal(size=(2, 500, n_people, 6)) * hard
    people = np.repeat(np.arange(n_people), 6)
    true = (share - 1) * np.sqrt(6.0)  # the mean of hard^2 is 2 + 2^2
    held = [
        found.low <= true <= found.high
        for before, after in zip(*noise.reshape(2, 500, -1), strict=True)
        for found in [change_of(errors_of(before, people), errors_of(after, people))]
    ]
    assert np.mean(held) > 0.93


def test_no_change_is_told_where_there_is_none_to_tell():
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(30), 5)
    error = errors_of(rng.normal(size=150), people)
    assert change_of(error, error) is None
    assert change_of(error, held_out_error(np.ones(150), np.zeros(150))) is None
    assert change_of(error, errors_of(rng.normal(size=145), people[:145])) is None  # of 29 people
    few = [errors_of(rng.normal(size=95), people[:95]) for _ in range(2)]
    assert change_of(*few) is None  # 19 people are too few
    alone = [errors_of(rng.normal(size=5), np.zeros(5, int)) for _ in range(2)]
    assert change_of(*alone) is None
