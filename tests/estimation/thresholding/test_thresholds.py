"""Thresholds against values computed by hand from the printed formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.errors import ThresholdError
from likewise.estimation import (
    THRESHOLDS,
    NoiseEdge,
    ObservationStatistics,
    PaperSynthetic,
    Universal,
    UniversalWithVariance,
    resolve_threshold,
    threshold_name,
)

# m = 4 individuals, n = 9 features, p_hat = 1/4, mean square 1/16: every root below is one that can be taken by hand.
STATISTICS = ObservationStatistics(n_individuals=4, n_features=9, observed_fraction=0.25, mean_square=0.0625)

BY_HAND = {
    # (2 + 0.01) sqrt(9 / 4) = 2.01 x 1.5
    "universal": 3.015,
    # variance 1: q_hat = p_hat
    "universal-variance": 3.015,
    # q_hat = 0.0001/4 + 3/16 x 0.9999; sqrt(2.01 x 9 x q_hat)
    "paper-synthetic": (2.01 * 9 * (0.000025 + 0.1875 * 0.9999)) ** 0.5,
    # sqrt(2.01 x 9 / 4)
    "paper-ratings": 4.5225**0.5,
    # beta = 1 / p_hat = 4: sqrt(2 x 9 x 4)
    "paper-corollary": 72**0.5,
    # 2.01 sqrt(9 x 3/16 x 0.1)
    "released-code": 2.01 * 0.16875**0.5,
    # (2 + 3) x 1/4
    "noise-edge": 1.25,
    "adaptive": 1.25,  # from numbers alone, with nothing to try it on
}


FROM_MATRIX = {"noise-edge-residual", "sign-flip", "optimal-hard", "screenot", "cross-validated"}
"""Those that need more than a few numbers; see rules/test_rules.py."""


def test_every_named_threshold_is_covered_by_hand():
    assert BY_HAND.keys() | FROM_MATRIX == THRESHOLDS.keys()


@pytest.mark.parametrize("name", sorted(FROM_MATRIX))
def test_numbers_alone_do_not_do_for_rules_that_need_the_matrix(name):
    with pytest.raises(ThresholdError, match="the observations too"):
        resolve_threshold(name, STATISTICS)


@pytest.mark.parametrize("name", BY_HAND)
def test_named_threshold_equals_the_hand_computed_value(name):
    assert resolve_threshold(name, STATISTICS) == pytest.approx(BY_HAND[name], rel=1e-14)


@pytest.mark.parametrize(("p", "expected"), [(0.05, 8.7), (0.1, 12.0)])
def test_paper_synthetic_at_the_sizes_of_experiment_1(p, expected):
    """n = 800 features; sqrt(1608 q_hat) with q_hat close to p (1 - p)."""
    tau = PaperSynthetic()(ObservationStatistics(200, 800, p, 0.0))
    assert tau == pytest.approx(expected, abs=0.05)


def test_universal_uses_the_longer_side_and_the_paper_rules_the_features():
    tall = ObservationStatistics(n_individuals=9, n_features=4, observed_fraction=0.25, mean_square=0.0625)
    assert Universal()(tall) == Universal()(STATISTICS)
    assert THRESHOLDS["paper-ratings"](tall) == pytest.approx((2.01 * 4 * 0.25) ** 0.5)


@pytest.mark.parametrize(
    ("p", "longer", "exponent"),
    [(0.1, 100, 0.5), (0.01, 100, 0.0), (0.001, 100, -0.5), (1.0, 100, 1.0), (1.0, 1, np.inf)],
)
def test_the_density_exponent_by_hand(p, longer, exponent):
    """p = rho_1^(eps - 1)."""
    statistics = ObservationStatistics(1, longer, p, 0.1)
    assert statistics.density_exponent == pytest.approx(exponent, abs=1e-12)


def test_statistics_count_a_stored_zero_as_observed():
    zero_filled = sparse.csr_array((np.array([0.0, 2.0]), ([0, 1], [1, 2])), shape=(2, 3))
    statistics = ObservationStatistics.of(zero_filled)
    assert statistics == ObservationStatistics(2, 3, 2 / 6, 4 / 6)


@given(st.floats(0, 1), st.floats(0.01, 1))
def test_variance_rule_lies_between_both_of_its_extremes(variance, p):
    statistics = ObservationStatistics(50, 80, p, 0.1)
    q = statistics.noise_fraction(variance)
    assert p * (1 - p) * (1 - 1e-12) <= q + p * variance
    assert UniversalWithVariance(variance, 0.5)(statistics) == pytest.approx(2.5 * (80 * q) ** 0.5)
    assert q <= p * (1 + 1e-12)


def test_a_rule_of_ones_own_and_a_number_are_taken():
    assert resolve_threshold(lambda statistics: statistics.n_features / 2, STATISTICS) == 4.5
    assert resolve_threshold(0, STATISTICS) == 0.0
    assert threshold_name(NoiseEdge()) == "NoiseEdge(noise='mean-square')"


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "1.5x", None, lambda _: -2.0])
def test_unusable_thresholds_are_refused(bad):
    with pytest.raises(ThresholdError):
        resolve_threshold(bad, STATISTICS)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ThresholdError, match="did you mean 'noise-edge'"):
        resolve_threshold("noise_edge", STATISTICS)


@pytest.mark.parametrize("rule", [Universal(0), Universal(1), UniversalWithVariance(-0.1), PaperSynthetic(2)])
def test_parameters_outside_their_range_are_refused(rule):
    with pytest.raises(ThresholdError):
        rule(STATISTICS)
