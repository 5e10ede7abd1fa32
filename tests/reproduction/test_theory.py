"""Pairs against theorems: proved bounds are not exceeded, a bound that is too small is."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.estimation import svt
from likewise.fairness import RowDistance, certify, model_constant
from likewise.fairness.exact.blocks import all_pairs
from likewise.observations import ObservedMatrix, clustered
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction import ARMS, EXPERIMENTS, Experiment
from likewise.reproduction.references import ReferenceDistances
from likewise.reproduction.theory import (
    BEST,
    best_answer,
    check_theorems,
    describe_corollary,
    least_favourable,
    proved_rate,
    run_minimax,
    run_rate,
)

pytestmark = [
    pytest.mark.filterwarnings("default::likewise.errors.RankZeroWarning"),
    pytest.mark.filterwarnings("default::likewise.errors.FullRankWarning"),
]

IDENTITY = model_constant("identity")


def checked(data, threshold, constant=IDENTITY):
    estimate = svt(data.observed, threshold)
    features = estimate.on_working_range().to_dense()
    D = all_pairs(RowDistance.of_outputs(features))
    certificates = certify(estimate, data.observed)
    return check_theorems("identity", constant, features, D, ReferenceDistances.of(data), certificates)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 2.0, 4.0]))
def test_no_pair_exceeds_a_proved_bound(seed, threshold):
    data = clustered(20, 30, 3, observed_fraction=0.4, random_state=seed)
    checks = checked(data, threshold)
    assert [check.statement for check in checks] == [
        "Theorem 4.3, K1 of identity",
        "Theorem 4.1 with K2, K1 of identity",
        "Theorem 4.1 with K*, K1 of identity",
    ]
    for check in checks:
        assert (check.n_pairs, check.n_violated) == (190, 0)
        assert 0 <= check.closest <= 1 + 1e-9


def test_a_constant_that_is_too_small_is_found_out():
    data = clustered(20, 30, 3, observed_fraction=0.4, random_state=0)
    checks = checked(data, 1.0, replace(IDENTITY, value=1e-6))
    assert all(check.n_violated > 100 and check.closest > 1 for check in checks)


def test_without_a_constant_no_pair_is_counted_and_the_reason_is_kept():
    data = clustered(20, 30, 3, observed_fraction=0.4, random_state=0)
    for check in checked(data, 1.0, model_constant(print)):
        assert (check.n_pairs, check.n_violated) == (0, 0)
        assert check.reason


def test_the_corollary_is_told_with_value_or_reason():
    data = clustered(20, 30, 3, observed_fraction=0.4, random_state=0)
    for threshold in (1.0, 100.0):
        found = describe_corollary(certify(svt(data.observed, threshold), data.observed))
        for name in ("measured", "printed"):
            assert (found[name] is None) == bool(found[f"{name}_reason"])
    assert found["incoherence"] is None


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(2, 8), st.floats(0.01, 1))
def test_the_rate_follows_its_definition(seed, m, n, fraction):
    A = np.random.default_rng(seed).uniform(-1, 1, (m, n))
    nuclear = np.linalg.norm(A, "nuc")
    first = nuclear / (min(m, n) * np.sqrt(max(m, n) * fraction))
    expected = min(first, nuclear**2 / (m * n), 1)
    assert proved_rate(A, fraction) == pytest.approx(expected)
    assert proved_rate(A.T, fraction) == pytest.approx(expected)


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(2, 8), st.floats(0.01, 1), st.floats(0, 1))
def test_the_rate_with_the_variance_follows_its_definition_and_is_never_larger(seed, m, n, p, s2):
    """Footnote to Proposition 4.4; p (1 - s2)^2 is what q saves, so a smaller variance never costs."""
    A = np.random.default_rng(seed).uniform(-1, 1, (m, n))
    q = p * s2 + p * (1 - p) * (1 - s2)
    nuclear = np.linalg.norm(A, "nuc")
    first = np.sqrt(q) * nuclear / (min(m, n) * np.sqrt(max(m, n)) * p)
    assert proved_rate(A, p, s2) == pytest.approx(min(first, nuclear**2 / (m * n), 1))
    assert proved_rate(A, p, s2) <= proved_rate(A, p) * (1 + 1e-12)
    assert proved_rate(A, p, 1.0) == pytest.approx(proved_rate(A, p))


def test_a_run_of_the_rate_tells_both_rates_and_the_condition():
    experiment = Experiment("x", "x", "rate", "m", (20,), n_clusters=3)
    data = experiment.data(20, 0)
    found = run_rate(data, experiment, [ARMS["h"], ARMS["f-noise-edge"]], 0.2, 0.01, 0)
    assert list(found["arms"]) == ["universal", "f-noise-edge", "universal-variance"]
    assert found["rate"] == proved_rate(data.truth, 0.2)
    assert found["rate_variance"] == proved_rate(data.truth, 0.2, 0.01)
    assert 80 ** (found["exponent"] - 1) == pytest.approx(data.observed.observed_fraction)
    for arm in found["arms"].values():
        metrics = arm["metrics"]
        assert metrics["share_of_rate"] == metrics["mse_all"] / found["rate"]
        assert metrics["share_of_rate_variance"] == metrics["mse_all"] / found["rate_variance"]
    # The footnote's threshold knows the variance: sqrt((2 + eta)^2 rho_1 q).
    p = data.observed.observed_fraction
    q = p * 0.01 + p * (1 - p) * 0.99
    assert found["arms"]["universal-variance"]["metrics"]["threshold"] == pytest.approx(
        2.01 * (80 * q) ** 0.5
    )


HARD = EXPERIMENTS["minimax"]


def posterior_mean(values, clusters, theta):
    """Weigh every truth by how likely the observations are under it: two values for each cluster and feature."""
    m, n = values.shape
    cells = [(c, j) for c in range(max(clusters) + 1) for j in range(n)]
    total, weight = np.zeros((m, n)), 0.0
    for signs in product([-1, 1], repeat=len(cells)):
        sign = dict(zip(cells, signs, strict=True))
        A = np.array([[theta * sign[clusters[i], j] for j in range(n)] for i in range(m)])
        seen = ~np.isnan(values)
        likely = np.prod(((1 + values * A) / 2)[seen])
        total, weight = total + likely * A, weight + likely
    return total / weight


@given(
    st.lists(st.sampled_from([-1.0, 1.0, np.nan]), min_size=12, max_size=12).filter(
        lambda values: not np.isnan(values).all()
    ),
    st.floats(0.05, 0.95),
)
def test_the_best_answer_is_the_posterior_mean(values, size):
    values, clusters = np.reshape(values, (4, 3)), np.array([0, 0, 1, 1])
    data = ClusteredData(ObservedMatrix(values, value_range=(-1, 1)), np.full((4, 3), size**0.5), clusters)
    np.testing.assert_allclose(
        best_answer(data, size), posterior_mean(values, clusters, size**0.5), atol=1e-12
    )


@pytest.mark.parametrize("size", HARD.levels)
def test_what_is_drawn(size):
    data = least_favourable(200, 800, 0.2, size, np.random.default_rng(0))
    assert np.unique(data.clusters).size == round(200 * 0.2 * size)
    assert np.allclose(np.abs(data.truth), size**0.5)
    assert set(np.unique(data.observed.values.data)) == {-1.0, 1.0}
    assert data.observed.observed_fraction == pytest.approx(0.2, abs=0.01)
    # The mean of an observation is its entry: 32,000 of them, to five standard errors.
    rows, columns = data.observed.positions()
    excess = (data.observed.values.data * np.sign(data.truth[rows, columns])).mean() - size**0.5
    assert abs(excess) < 5 / np.sqrt(rows.size)
    # The nuclear norm is about theta sqrt(r m n), so the shape is about theta^2.
    assert proved_rate(data.truth, 0.2) == pytest.approx(size, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("size", HARD.levels)
def test_nobody_is_far_below_the_shape_and_the_universal_threshold_is_not_far_above(size):
    data = least_favourable(200, 800, 0.2, size, np.random.default_rng(1))
    found = run_minimax(data, HARD, [ARMS["h"], ARMS["f-noise-edge"]], 0.2, size, 0)
    assert list(found["arms"]) == [BEST, "universal", "f-noise-edge"]
    shares = {name: arm["metrics"]["share_of_rate"] for name, arm in found["arms"].items()}
    assert 0.3 < shares[BEST] < min(shares["universal"], shares["f-noise-edge"])
    assert shares["universal"] < 1.1
    assert found["rate"] == proved_rate(data.truth, 0.2)
