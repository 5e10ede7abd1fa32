"""Numbers of extreme sizes, outputs that hardly differ, and one output among many of another size: refused, bounded rightly, or said."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import ConstantOutputWarning, DistanceError, ModelError
from likewise.fairness import (
    CallableDistance,
    CoObservedDistance,
    GowerDistance,
    ObservedDistance,
    PrecomputedDistance,
    RowDistance,
    feature_distance,
    mahalanobis_distance,
    measure_fairness,
    measure_sampled,
    top_n_distance,
    total_variation_distance,
    worst_pairs,
)
from likewise.fairness.sampled.sampling import distance_bound
from likewise.observations import ObservedMatrix

ROWS = np.random.default_rng(0).standard_normal((60, 3))
PEOPLE = RowDistance(ROWS)
APART = 1.0 - np.eye(60)


@pytest.mark.parametrize("factor", [1e200, 1e-170])
@pytest.mark.parametrize("norm", ["l1", "l2", 3])
def test_sizes_whose_powers_overflow_or_vanish_are_refused_with_those_that_do_not(factor, norm):
    with pytest.raises(
        DistanceError, match=r"sizes from .* to .*neither vanish nor overflow.*divide all values"
    ):
        RowDistance(ROWS * factor, norm)
    with pytest.raises(DistanceError, match="neither vanish nor overflow"):
        feature_distance(ROWS * factor, norm)
    with pytest.raises(ModelError, match="outputs of 'outputs': rows of sizes up to"):
        measure_fairness(ROWS[:, 0] * factor, PEOPLE)


@pytest.mark.parametrize("measure", [measure_fairness, lambda D, d: measure_sampled(D, d, n_pairs=500)])
@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_so_are_distances_that_were_measured_elsewhere(measure, factor):
    with pytest.raises(DistanceError, match="output distances of sizes up to"):
        measure(PrecomputedDistance(APART * factor), PEOPLE)
    with pytest.raises(DistanceError, match="reference distances of sizes up to"):
        measure(ROWS[:, 0], PrecomputedDistance(APART * factor))


def test_so_are_observations():
    from scipy import sparse

    with pytest.raises(DistanceError, match="observations of sizes"):
        ObservedDistance(sparse.csr_array(ROWS * 1e200))


@given(st.sampled_from([1e-140, 1e-30, 1.0, 1e30, 1e140]), st.sampled_from([1e-140, 1.0, 1e140]))
@settings(max_examples=8)
def test_ratios_of_all_other_sizes_scale(in_units, out_units):
    one = measure_fairness(ROWS[:, 0], PEOPLE)
    other = measure_fairness(ROWS[:, 0] * out_units, RowDistance(ROWS * in_units))
    assert other.max_ratio.value / (out_units / in_units) == pytest.approx(one.max_ratio.value, rel=1e-9)
    assert other.similar.relative_gap.value == pytest.approx(one.similar.relative_gap.value, rel=1e-9)
    assert other.scale_free_ratio.value == pytest.approx(one.scale_free_ratio.value, rel=1e-9)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.floats(1e-15, 1e-12))
def test_nearly_constant_outputs_have_intervals_that_hold(seed, spread):
    """Where rounding was set to 0 the triangle inequality can fail by as much, so a bound through one individual allows for it."""
    rng = np.random.default_rng(seed)
    outputs = 2.5 + spread * rng.choice([-1, 0, 1], 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantOutputWarning)
        exact = measure_fairness(outputs, PEOPLE).mean_output_distance.value
        found = measure_sampled(outputs, PEOPLE, n_pairs=300, random_state=0, confidence=1 - 1e-9)
        assert exact <= distance_bound(RowDistance.of_outputs(outputs))
    gap = found.mean_output_distance
    assert gap.low <= exact <= gap.high


def test_one_output_of_another_size_is_said_to_hide_all_others():
    outputs = np.random.default_rng(1).random(200)
    outputs[7] = 1e17
    people = RowDistance(np.random.default_rng(2).integers(0, 3, (200, 2)).astype(float))
    with pytest.warns(
        ConstantOutputWarning, match=r"outputs up to 1.4e\+03 apart count as equal.*largest output, 1e\+17"
    ):
        found = measure_fairness(outputs, people)
    assert any("look at the largest outputs" in note for note in found.notes)
    with pytest.warns(ConstantOutputWarning, match="count as equal"):
        drawn = measure_sampled(outputs, people, n_pairs=500, random_state=0)
    assert any("look at the largest outputs" in note for note in drawn.notes)


@pytest.mark.parametrize(
    "outputs",
    [
        (np.arange(200) % 40 == 0).astype(float),  # few decisions differ: most outputs are equal, not hidden
        np.random.default_rng(0).random(200) + (np.arange(200) == 3) * 1e6,  # far away, and nothing is hidden
        np.r_[0.1 + 0.2, np.full(99, 0.3), np.full(100, 7.0)],  # what is hidden is rounding
    ],
)
def test_nothing_is_said_of_usual_outputs(outputs):
    assert RowDistance.of_outputs(outputs).notes == ()


BOUNDED = {
    "gower with a missing cell": GowerDistance,
    "total variation": lambda _: total_variation_distance(np.random.default_rng(0).dirichlet([1, 1, 1], 40)),
    "top n": lambda _: top_n_distance(
        np.random.default_rng(0).permuted(np.tile(np.arange(9), (40, 1)), axis=1)[:, :3]
    ),
    "precomputed": lambda _: PrecomputedDistance(1.5 * (1 - np.eye(40))),
    "co-observed": lambda _: CoObservedDistance(
        ObservedMatrix(
            np.where(np.arange(240).reshape(40, 6) % 7 < 3, np.nan, np.arange(240.0).reshape(40, 6) % 5 + 1),
            value_range=(1, 5),
        )
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_what_is_bounded_by_how_it_is_made_has_a_high_end_when_pairs_are_drawn(name):
    import polars as pl

    frame = pl.DataFrame({"age": [None, *range(39)], "job": list("abcd") * 10})
    reference = BOUNDED[name](frame)
    left, right = np.triu_indices(40, 1)
    largest = np.nanmax(reference.between(left, right))
    assert 0 < largest <= distance_bound(reference) <= 12.1  # of co-observed features six times two
    outputs = np.random.default_rng(0).random(40)
    found = measure_sampled(outputs, reference, n_pairs=400, random_state=0).mean_reference_distance
    assert np.isfinite(found.high)
    assert found.low <= np.nanmean(reference.between(left, right)) <= found.high


def test_a_name_is_no_function():
    with pytest.raises(DistanceError, match=r"distance function of type str: 'cosine'.*distance_by_name"):
        CallableDistance("cosine", ROWS)


def test_the_worst_pairs_allow_for_resolution():
    outputs = 2.5 + 2.75e-14 * np.random.default_rng(3).choice([-1, 1], 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantOutputWarning)
        exact = measure_fairness(outputs, PEOPLE, worst=5).worst
    assert [(p.left, p.right) for p in worst_pairs(outputs, PEOPLE, 5).pairs] == [
        (p.left, p.right) for p in exact
    ]


def test_mahalanobis_of_tiny_numbers():
    tiny = mahalanobis_distance(ROWS * 1e-100)  # whitening brings them back
    np.testing.assert_allclose(
        tiny.between([0], [1]), mahalanobis_distance(ROWS).between([0], [1]), rtol=1e-9
    )


@pytest.mark.parametrize(
    "outputs",
    [1e15 + np.random.default_rng(1).random(200), 2.5 + 2e-14 * np.random.default_rng(1).random(200)],
)
@pytest.mark.filterwarnings("ignore::likewise.errors.ConstantOutputWarning")
def test_outputs_that_differ_within_rounding_are_said_to_count_as_equal(outputs):
    people = RowDistance(np.random.default_rng(2).random((200, 2)))
    for found in (
        measure_fairness(outputs, people),
        measure_sampled(outputs, people, n_pairs=500, random_state=0),
    ):
        assert found.mean_output_distance.value == 0
        assert any("count as equal" in note and "last digits are rounding" in note for note in found.notes)
    around = measure_fairness(outputs - outputs.mean(), people)
    assert around.mean_output_distance.value > 0
    assert not any("count as equal" in note for note in around.notes)
