"""Do intervals hold the true value as often as they promise? And does the test notice one that does not?

A count of covered values among independent simulations is binomial. Below the one-in-a-million quantile of what is promised an interval
is called broken.
"""

import numpy as np
import pytest
from scipy.stats import binom, cauchy

from likewise.fairness.sampled.intervals import (
    betting,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    quantile_interval,
    share_beyond_maximum,
)
from likewise.fairness.sampled.sampling import draw_disjoint_pairs, draw_pairs

SIMULATIONS, CONFIDENCE = 1000, 0.9
LEAST = binom.ppf(1e-6, SIMULATIONS, CONFIDENCE)
M = 40
LEFT, RIGHT = np.triu_indices(M, 1)
RATE = 0.2
LEVEL = cauchy.isf(RATE / 2)  # of |C|, C Cauchy


def people(rng, m=M):
    """Two normal numbers each: the ratio of the differences between two people is Cauchy."""
    return rng.standard_normal((m, 2))


def ratios(who, left, right):
    return np.abs((who[left, 1] - who[right, 1]) / (who[left, 0] - who[right, 0]))


def count(simulate):
    return sum(simulate(np.random.default_rng([7, k])) for k in range(SIMULATIONS))


RATES = {
    "both": lambda events: clopper_pearson(events.sum(), events.size, CONFIDENCE),
    "upper": lambda events: clopper_pearson(events.sum(), events.size, CONFIDENCE, "upper"),
    "lower": lambda events: clopper_pearson(events.sum(), events.size, CONFIDENCE, "lower"),
}
MEANS = {
    "betting": lambda values: betting(values, LEVEL, CONFIDENCE),
    "betting, no bound": lambda values: betting(values, None, CONFIDENCE),
    "Bernstein": lambda values: empirical_bernstein(values, LEVEL, CONFIDENCE),
    "Hoeffding": lambda values: hoeffding(values, LEVEL, CONFIDENCE),
}
CAPPED_MEAN = 2 / np.pi * (np.log1p(LEVEL**2) / 2) + LEVEL * RATE  # E min(|C|, LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("interval", RATES.values(), ids=RATES)
def test_rates_of_a_data_set_and_of_a_population(interval):
    def of_data_set(rng):
        who = people(rng)
        drawn = ratios(who, *draw_pairs(M, 100, rng)) > LEVEL
        return interval(drawn).covers(np.mean(ratios(who, LEFT, RIGHT) > LEVEL))

    def of_population(rng):
        return interval(ratios(people(rng), *draw_disjoint_pairs(M, 20, rng)) > LEVEL).covers(RATE)

    assert count(of_data_set) >= LEAST
    assert count(of_population) >= LEAST


@pytest.mark.slow
@pytest.mark.parametrize("interval", MEANS.values(), ids=MEANS)
def test_means_of_a_data_set_and_of_a_population(interval):
    def of_data_set(rng):
        who = people(rng)
        drawn = np.minimum(ratios(who, *draw_pairs(M, 100, rng)), LEVEL)
        return interval(drawn).covers(np.minimum(ratios(who, LEFT, RIGHT), LEVEL).mean())

    def of_population(rng):
        drawn = np.minimum(ratios(people(rng), *draw_disjoint_pairs(M, 20, rng)), LEVEL)
        return interval(drawn).covers(CAPPED_MEAN)

    assert count(of_data_set) >= LEAST
    assert count(of_population) >= LEAST


@pytest.mark.parametrize("q", [0.5, 0.8])
def test_quantiles(q):
    true = cauchy.isf((1 - q) / 2)
    assert count(
        lambda rng: quantile_interval(
            ratios(people(rng), *draw_disjoint_pairs(M, 20, rng)), q, CONFIDENCE
        ).covers(true)
    ) >= LEAST  # fmt: skip


def test_the_share_beyond_the_largest_drawn():
    def simulate(rng):
        largest = ratios(people(rng), *draw_disjoint_pairs(M, 20, rng)).max()
        return share_beyond_maximum(20, CONFIDENCE).covers(2 * cauchy.sf(largest))

    covered = count(simulate)
    assert covered >= LEAST
    assert covered <= binom.isf(1e-6, SIMULATIONS, CONFIDENCE)  # this one is exact


@pytest.mark.slow
def test_all_pairs_taken_for_independent_ones_are_found_out():
    def naive_rate(rng):
        events = ratios(people(rng), LEFT, RIGHT) > LEVEL
        return clopper_pearson(events.sum(), events.size, CONFIDENCE).covers(RATE)

    def naive_mean(rng):
        return betting(np.minimum(ratios(people(rng), LEFT, RIGHT), LEVEL), LEVEL, CONFIDENCE).covers(
            CAPPED_MEAN
        )

    assert count(naive_rate) < LEAST
    assert count(naive_mean) < LEAST
