"""The metrics of a cell against their definitions, written out in loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.fairness import ObservedDistance, RowDistance
from likewise.fairness.exact.blocks import all_pairs
from likewise.observations import ObservedMatrix, clustered
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction.references import BIN_EDGES, ReferenceDistances, counted


def naive(data, outputs, features):
    Z, A, m = data.observed.to_dense(), data.truth, len(outputs)
    seen = np.zeros(A.shape, dtype=bool)
    seen[data.observed.positions()] = True
    D, dZ, dA, dB = {}, {}, {}, {}
    for i in range(m):
        for j in range(i + 1, m):
            D[i, j] = np.sqrt(((outputs[i] - outputs[j]) ** 2).sum())
            dZ[i, j], dB[i, j] = np.abs(Z[i] - Z[j]).sum(), np.abs(features[i] - features[j]).sum()
            dA[i, j] = np.sqrt(((A[i] - A[j]) ** 2).sum())

    def mean(d):
        return sum(2 * D[pair] / d[pair] for pair in D) / m**2

    radius = sorted(dA.values())[int(np.ceil(0.1 * len(dA))) - 1]
    near = [
        pair for pair in dA if dA[pair] <= radius * (1 + 1e-12)
    ]  # clipped rows can be equal, and pairs tied
    similar = np.mean([D[pair] / dZ[pair] for pair in near])
    scale = np.mean(list(dZ.values())) / np.mean(list(D.values()))
    return {
        "mse": ((outputs - A)[~seen] ** 2).mean(),
        "if1_observed": mean(dZ),
        "if1_input": mean(dB),
        "if2_truth": mean(dA),
        "similar_ratio": similar,
        "scale_free_ratio": np.mean([D[pair] / dZ[pair] for pair in D]) * scale,
        "similar_scale_free_ratio": similar * scale,
        "spread": np.sqrt(((outputs - outputs.mean(axis=0)) ** 2).sum(axis=1).mean()),
    }


def measured(data, outputs, features):
    D = all_pairs(RowDistance.of_outputs(outputs))
    return ReferenceDistances.of(data).measure(outputs, D, all_pairs(RowDistance(features, "l1")))


@given(st.integers(0, 10**6), st.integers(3, 9), st.integers(2, 6))
def test_metrics_follow_their_definitions(seed, m, n):
    data = clustered(m, n, 2, observed_fraction=0.7, random_state=seed)
    generator = np.random.default_rng(seed)
    outputs, features = generator.normal(size=(2, m, n))
    if (all_pairs(ObservedDistance(data.observed, "l1")) == 0).any() or data.observed.n_observed == m * n:
        return
    assert measured(data, outputs, features) == pytest.approx(naive(data, outputs, features), rel=1e-8)


def test_three_people_by_hand():
    Z = ObservedMatrix(np.array([[0.5, np.nan], [-0.5, 0.0], [np.nan, 1.0]]), value_range=(-1, 1))
    A = np.array([[0.5, 0.0], [-0.5, 0.0], [0.5, 1.0]])
    outputs = np.array([[0.0, 0.0], [0.3, 0.4], [0.0, 1.0]])
    # D = .5, 1, sqrt(.09 + .36); l1 on Z (zero-filled) = 1, 1.5, 1.5; l2 on A = 1, 1, sqrt(2)
    metrics = measured(ClusteredData(Z, A, np.zeros(3, dtype=np.intp)), outputs, A)
    third = np.sqrt(0.45)
    assert metrics["mse"] == pytest.approx(((0.0 - 0.0) ** 2 + (0.0 - 0.5) ** 2) / 2)
    assert metrics["if1_observed"] == pytest.approx(2 * (0.5 / 1 + 1 / 1.5 + third / 1.5) / 9)
    assert metrics["if2_truth"] == pytest.approx(2 * (0.5 + 1 + third / np.sqrt(2)) / 9)
    assert metrics["if1_input"] == pytest.approx(2 * (0.5 / 1 + 1 / 1 + third / 2) / 9)
    # one pair in ten of three is one pair; two tie at the smallest distance on A, and both count
    assert metrics["similar_ratio"] == pytest.approx((0.5 / 1 + 1 / 1.5) / 2)


def test_outputs_that_are_all_alike_have_ratio_zero():
    data = clustered(10, 12, 2, observed_fraction=0.5, random_state=0)
    metrics = measured(data, np.ones((10, 12)), data.truth)
    assert (metrics["if1_observed"], metrics["if2_truth"], metrics["spread"]) == (0, 0, 0)
    assert np.isnan(metrics["scale_free_ratio"])


def test_scale_free_metrics_are_free_of_scale_and_others_are_not():
    data = clustered(20, 30, 2, observed_fraction=0.5, random_state=0)
    outputs = np.random.default_rng(0).normal(size=(20, 30))
    whole, half = measured(data, outputs, data.truth), measured(data, outputs / 2, data.truth)
    for name in ("scale_free_ratio", "similar_scale_free_ratio"):
        assert half[name] == pytest.approx(whole[name])
    for name in ("if1_observed", "if2_truth", "similar_ratio", "spread"):
        assert half[name] == pytest.approx(whole[name] / 2)


@given(st.lists(st.floats(0, 3), min_size=1), st.integers(0, 3))
def test_every_ratio_is_counted_once(ratios, n_infinite):
    values = np.array([*ratios, *[np.inf] * n_infinite])
    *inside, beyond = counted(values)
    assert sum(inside) + beyond == values.size
    assert beyond == (values > BIN_EDGES[-1]).sum()
