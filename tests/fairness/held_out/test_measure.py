from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import spearmanr
from scipy.stats import t as student_t

from likewise.errors import DistanceError, InputError
from likewise.fairness import RowDistance
from likewise.fairness.held_out import MeasuredSplit, ReferencePairs, measure_held_out, reference_pairs
from likewise.fairness.held_out.measure import N_GROUPS, combined_correlation, combined_value


def truth_and_noise(seed, m=120, n=60, noise=0.5, share=0.6):
    """A of rank 2, observed with noise."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, 2)) @ rng.normal(size=(2, n))
    seen = rng.random((m, n)) < share
    i, j = np.nonzero(seen)
    Z = A + noise * rng.normal(size=(m, n))
    return A, sparse.csr_array((Z[seen], (i, j)), shape=(m, n)), rng


def measured(A, Z, rng, outputs, **options):
    pairs = reference_pairs(Z, least_shared=10, rng=rng)
    return pairs, measure_held_out([MeasuredSplit(pairs, outputs)], rng=rng, **options)


@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.05, 0.3, 1.0]))
def test_metrics_are_those_of_the_definition(seed, share):
    A, Z, rng = truth_and_noise(seed, m=30)
    y = rng.normal(size=30)
    pairs, found = measured(A, Z, rng, {"outputs": y}, nearest_share=share)
    d, D = pairs.distances, np.abs(y[pairs.left] - y[pairs.right])
    near = d <= np.sort(d)[max(1, round(share * d.size)) - 1]
    metrics = found.arms["outputs"]
    assert metrics.relative_gap.value == pytest.approx(D[near].mean() / D.mean(), rel=1e-9)
    assert metrics.rank_correlation.value == pytest.approx(spearmanr(d, D)[0], abs=1e-9)
    assert metrics.mean_ratio.value == pytest.approx(np.mean(D / d), rel=1e-9)
    table = np.full((30, 60), np.nan)
    table[Z.nonzero()] = Z.data
    squares = (table[pairs.left] - table[pairs.right]) ** 2
    noise = np.nanvar(squares, axis=1, ddof=1) / pairs.counts
    x = np.nanmean(squares, axis=1)
    variance = np.var(x) - noise.mean()
    if variance > 1e-6 * np.var(x):
        corrected = np.cov(D**2, x, ddof=0)[0, 1] / np.sqrt(np.var(D**2) * variance)
        assert metrics.corrected_correlation.value == pytest.approx(corrected, rel=1e-6)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
def test_intervals_are_those_of_a_jackknife_over_groups_of_people(seed):
    """Naively: drop the people of a group with all their pairs and compute the metric again; ranks and who is similar stay."""
    _, Z, rng = truth_and_noise(seed, m=50)
    y = rng.normal(size=50)
    pairs = reference_pairs(Z, least_shared=10, rng=rng)
    groups = np.random.default_rng(7).permutation(np.arange(50) % N_GROUPS)
    found = measure_held_out([MeasuredSplit(pairs, {"outputs": y})], rng=np.random.default_rng(7))
    d, D = pairs.distances, np.abs(y[pairs.left] - y[pairs.right])
    near = d <= np.sort(d)[max(1, round(0.1 * d.size)) - 1]
    without = []
    for group in range(N_GROUPS):
        kept = (groups[pairs.left] != group) & (groups[pairs.right] != group)
        without.append(D[kept & near].mean() / D[kept].mean())
    error = np.sqrt((N_GROUPS - 1) / N_GROUPS * np.sum((without - np.mean(without)) ** 2))
    gap = found.arms["outputs"].relative_gap
    assert (gap.high - gap.low) / 2 == pytest.approx(
        2.0226909200367604 * error, rel=1e-9
    )  # t of 39 degrees at .975


@pytest.mark.slow
def test_the_correction_finds_the_correlation_with_the_truth():
    """D^2 against d^2 on A, with noise as large as the signal in d: raw correlations fall short, corrected ones do not."""
    misses = []
    for seed in range(8):
        A, Z, rng = truth_and_noise(seed, m=300, n=200, noise=2.0, share=0.3)
        outputs = A[:, :40] + rng.normal(size=(300, 40))
        pairs, found = measured(A, Z, rng, {"outputs": outputs})
        D2 = np.sum((outputs[pairs.left] - outputs[pairs.right]) ** 2, axis=1)
        d2 = np.mean((A[pairs.left] - A[pairs.right]) ** 2, axis=1)
        misses.append(found.arms["outputs"].corrected_correlation.value - np.corrcoef(D2, d2)[0, 1])
    assert abs(np.mean(misses)) < 0.03
    assert np.std(misses) < 0.1


@pytest.mark.parametrize("n_splits", [1, 3])
def test_reliability_is_the_rank_correlation_of_two_halves(n_splits):
    A, Z, rng = truth_and_noise(2)
    pairs = [reference_pairs(Z, rng=rng) for _ in range(n_splits)]
    found = measure_held_out([MeasuredSplit(one, {"truth": A}) for one in pairs], rng=rng)
    both = [np.isfinite(one.half_squares).all(axis=0) for one in pairs]
    expected = [
        spearmanr(*(half[known] for half in one.half_squares)).statistic
        for one, known in zip(pairs, both, strict=True)
    ]
    assert found.reliability == pytest.approx(np.mean(expected), abs=1e-12)


def test_reliability_is_unknown_where_no_pair_is_measured_twice():
    """Everybody gave one of two numbers, so pairs have one in common."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=40)
    Z = sparse.csr_array((values, (np.arange(40), np.arange(40) % 2)), shape=(40, 2))
    pairs = reference_pairs(Z, least_shared=1, rng=rng)
    assert np.isnan(measure_held_out([MeasuredSplit(pairs, {"own": values})], rng=rng).reliability)


def test_arms_are_compared_on_the_same_pairs():
    A, Z, rng = truth_and_noise(0)
    _, found = measured(A, Z, rng, {"without": rng.normal(size=(120, 3)), "with": A})
    assert found.change.relative_gap.high < 0
    assert found.change.relative_gap.value == pytest.approx(
        found.arms["with"].relative_gap.value - found.arms["without"].relative_gap.value
    )
    _, back = measured(A, Z, rng, {"without": A, "with": rng.normal(size=(120, 3))})
    assert back.change.relative_gap.low > 0
    same = rng.normal(size=120)
    _, none = measured(A, Z, rng, {"without": same, "with": same})
    assert none.change.relative_gap.low <= 0 <= none.change.relative_gap.high


def test_splits_are_averaged():
    _, Z, rng = truth_and_noise(0)
    y = rng.normal(size=120)
    splits = [
        MeasuredSplit(reference_pairs(Z, least_shared=10, rng=rng), {"outputs": y + k}) for k in range(2)
    ]
    alone = [
        measure_held_out([split], rng=np.random.default_rng(0)).arms["outputs"].mean_ratio.value
        for split in splits
    ]
    both = measure_held_out(splits, rng=np.random.default_rng(0))
    assert both.n_splits == 2
    assert both.arms["outputs"].mean_ratio.value == pytest.approx(np.mean(alone))


def test_distances_between_outputs_are_taken_as_they_are():
    _, Z, rng = truth_and_noise(0)
    y = rng.normal(size=120)
    pairs = reference_pairs(Z, least_shared=10, rng=rng)
    one, other = (
        measure_held_out([MeasuredSplit(pairs, {"outputs": outputs})], rng=np.random.default_rng(0)).arms[
            "outputs"
        ]
        for outputs in (y, RowDistance(y))
    )
    assert one == other


def test_constant_outputs_have_no_correlation_and_no_gap():
    A, Z, rng = truth_and_noise(0)
    _, found = measured(A, Z, rng, {"outputs": np.ones(120)})
    metrics = found.arms["outputs"]
    assert np.isnan(metrics.relative_gap.value)
    assert np.isnan(metrics.rank_correlation.value)
    assert metrics.corrected_correlation is None
    assert metrics.mean_ratio.value == 0


@pytest.mark.slow
def test_intervals_hold_their_confidence_over_people():
    """The gap of outputs that follow A: 400 data sets of 80 people, against the gap over 4,000 people of the same kind."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(2, 60))

    def gap_of(m, rng, **options):
        A = rng.normal(size=(m, 2)) @ features
        Z = sparse.csr_array(A + rng.normal(size=A.shape))
        pairs = reference_pairs(Z, rng=rng, **options)
        outputs = A[:, :5] + 0.5 * rng.normal(size=(m, 5))
        return (
            measure_held_out([MeasuredSplit(pairs, {"outputs": outputs})], rng=rng)
            .arms["outputs"]
            .relative_gap
        )

    target = np.mean([gap_of(1500, np.random.default_rng(seed)).value for seed in range(4)])
    covered = [
        gap.low <= target <= gap.high
        for gap in (gap_of(80, np.random.default_rng(100 + k)) for k in range(400))
    ]
    assert np.mean(covered) >= 0.95 - 3 * (0.95 * 0.05 / 400) ** 0.5


def test_splits_of_others_have_no_average():
    _, Z, rng = truth_and_noise(0)
    pairs = reference_pairs(Z, least_shared=10, rng=rng)
    fewer = reference_pairs(sparse.csr_array(Z[:60]), least_shared=10, rng=rng)
    y = rng.normal(size=120)
    with pytest.raises(InputError, match="no split"):
        measure_held_out([], rng=rng)
    with pytest.raises(InputError, match="splits of 120 and of 60 individuals"):
        measure_held_out([MeasuredSplit(pairs, {"a": y}), MeasuredSplit(fewer, {"a": y[:60]})], rng=rng)
    with pytest.raises(InputError, match=r"splits with arms \['a'\] and \['b'\]"):
        measure_held_out([MeasuredSplit(pairs, {"a": y}), MeasuredSplit(pairs, {"b": y})], rng=rng)


def test_a_distance_that_tells_nobody_from_others_is_refused():
    """All pairs have the same halves, so that no spread is left beyond noise."""
    i, j = np.triu_indices(20, 1)
    counts, squares = np.full(i.size, 2), np.ones(i.size)
    pairs = ReferencePairs(
        i,
        j,
        counts,
        squares,
        np.full(i.size, 0.5),
        (counts // 2, counts // 2),
        (squares - 0.5, squares + 0.5),
        20,
        20,
        i.size,
        20,
        2,
    )
    with pytest.raises(DistanceError, match=r"190 pairs whose differences .* no larger than noise"):
        measure_held_out([MeasuredSplit(pairs, {"a": np.arange(20.0)})], rng=np.random.default_rng(0))


@given(seed=st.integers(0, 10**6), n_splits=st.integers(2, 5))
def test_combined_intervals_are_those_of_the_definition(seed, n_splits):
    """Variance of the average over individuals, plus what splits differ by beyond what individuals explain, over how many they are."""
    rng = np.random.default_rng(seed)
    estimates = rng.normal(size=(n_splits, 1)) * rng.choice([0.0, 0.01, 1.0]) + 0.02 * rng.normal(
        size=(n_splits, 41)
    )
    found = combined_value(estimates, 0.9, 7)

    def jackknife(values):
        return 39 / 40 * np.sum((values[1:] - np.mean(values[1:])) ** 2)

    mean = estimates.mean(axis=0)
    own = jackknife(mean)
    explained = sum(jackknife(one - mean) for one in estimates) / (n_splits - 1)
    beyond = max(0.0, np.var(estimates[:, 0], ddof=1) - explained) / n_splits
    freedom = (own + beyond) ** 2 / (own**2 / 39 + beyond**2 / (n_splits - 1))
    margin = student_t.ppf(0.95, freedom) * np.sqrt(own + beyond)
    assert found.value == pytest.approx(mean[0], rel=1e-9)
    assert (found.low, found.high) == pytest.approx((mean[0] - margin, mean[0] + margin), rel=1e-6)


def test_equal_splits_are_one():
    """The same split twice says no more than once."""
    estimates = np.random.default_rng(0).normal(size=(1, 41))
    once, twice = combined_value(estimates, 0.95, 9), combined_value(np.repeat(estimates, 2, axis=0), 0.95, 9)
    assert (once.low, once.high) == pytest.approx((twice.low, twice.high), rel=1e-9)
    assert once.population != twice.population


@given(seed=st.integers(0, 10**6), n_splits=st.integers(1, 3))
def test_correlations_have_intervals_on_fishers_scale(seed, n_splits):
    rng = np.random.default_rng(seed)
    estimates = rng.uniform(0.5, 0.6, size=(n_splits, 1 + N_GROUPS))
    found, plain = (combine(estimates, 0.9, 7) for combine in (combined_correlation, combined_value))
    scaled = combined_value(np.arctanh(estimates), 0.9, 7)
    assert found.value == plain.value
    assert (found.low, found.high) == pytest.approx((np.tanh(scaled.low), np.tanh(scaled.high)), rel=1e-12)
    assert -1 < found.low <= found.high < 1
    estimates[0, 3] = 1.2  # has no place on that scale
    assert combined_correlation(estimates, 0.9, 7) == combined_value(estimates, 0.9, 7)
