"""Pairs that are equally far apart are treated alike, though sums of their differences round differently."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ObservedMatrix, audit
from likewise.errors import ConstantOutputWarning
from likewise.fairness import (
    ObservedDistance,
    PrecomputedDistance,
    RowDistance,
    measure_fairness,
    measure_sampled,
)
from likewise.fairness.distances.cancellation import RELATIVE_ERROR
from likewise.fairness.metrics.curves import EpsilonBins
from likewise.fairness.metrics.similar import nearest_neighbors, reach
from likewise.fairness.sampled.sampling import draw_pairs

SCALE = (0, 5)
"""Steps of this scale are multiples of 0.4 on the symmetric interval, which no binary fraction is."""


@st.composite
def ratings(draw):
    """Whole numbers from 0 to 5, some missing, with another order of the columns."""
    m, n = draw(st.integers(4, 12)), draw(st.integers(2, 9))
    cells = st.one_of(st.just(np.nan), st.integers(*SCALE).map(float))
    values = np.array(draw(st.lists(cells, min_size=m * n, max_size=m * n))).reshape(m, n)
    values[0, 0] = 0.0  # something must be observed
    return values, draw(st.permutations(range(n)))


def similar(values, streaming=False, share=0.3):
    observed = ObservedMatrix(values, value_range=SCALE)
    outputs = np.arange(len(values)) ** 2 % 7.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantOutputWarning)
        figures = measure_fairness(
            outputs, ObservedDistance(observed), nearest_share=share, streaming=streaming, n_neighbors=2
        )
    found = {
        name: figure.value
        for name, figure in figures.metrics().items()
        if name.startswith(("similar", "neighbor"))
    }
    return {**found, "radius": figures.similar.radius}, figures


@pytest.mark.slow
@given(ratings(), st.booleans())
def test_the_order_of_the_columns_changes_no_figure_of_similar_pairs(case, streaming):
    values, order = case
    found, figures = similar(values, streaming)
    permuted, others = similar(values[:, order], streaming)
    assert others.similar.n_pairs == figures.similar.n_pairs
    assert permuted == pytest.approx(found, rel=RELATIVE_ERROR, nan_ok=True)
    assert others.epsilon_delta.n_pairs.tolist() == figures.epsilon_delta.n_pairs.tolist()


@pytest.mark.slow
@given(ratings())
def test_held_and_streamed_agree_on_similar_pairs(case):
    """Distances are multiples of 0.2 and below 20, so no two of them share a bin of relative width 2^-12."""
    held, figures = similar(case[0])
    streamed, others = similar(case[0], streaming=True)
    assert others.similar.n_pairs == figures.similar.n_pairs
    assert streamed == pytest.approx(held, rel=RELATIVE_ERROR, nan_ok=True)


def test_similar_pairs_are_those_of_whole_numbers():
    """In steps of the scale distances are whole numbers, and their ties exact."""
    values = np.random.default_rng(3).integers(0, 6, (40, 15)).astype(float)
    steps = np.abs(values[:, None] - values[None]).sum(axis=2)[np.triu_indices(40, 1)]
    radius = np.sort(steps)[int(np.ceil(0.3 * steps.size)) - 1]
    for streaming in (False, True):
        assert similar(values, streaming)[1].similar.n_pairs == np.count_nonzero(steps <= radius)


@given(
    st.floats(1e-300, 1e300),
    st.floats(-RELATIVE_ERROR, RELATIVE_ERROR),
    st.floats(-RELATIVE_ERROR, RELATIVE_ERROR),
)
def test_two_measurements_of_one_distance_reach_each_other(distance, error, other):
    assert distance * (1 + error) <= reach(distance * (1 + other))


def test_reach_is_no_more_than_rounding():
    assert reach(1.0) < 1 + 4 * RELATIVE_ERROR
    assert reach(0.0) == 0.0


def test_drawn_pairs_at_the_radius_are_similar():
    """Three of the six pairs are 0.6 apart, or 0.4; which of two sums of 0.1, 0.2 and 0.3 is the larger is chance."""
    people = RowDistance(np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0], [0.3, 0.2, 0.1], [9.0, 9.0, 9.0]]), "l1")
    apart = people.between(np.array([0, 1, 0]), np.array([1, 2, 2]))
    assert apart[0] != apart[1]
    found = measure_sampled(
        [0.0, 1.0, 2.0, 3.0], people, n_pairs=6, nearest_radius=float(apart[:2].min()), random_state=0
    )
    near = {(pair.left, pair.right) for pair in found.worst if pair.reference_distance < 1}
    assert {(0, 1), (1, 2)} <= near
    assert found.similar.n_pairs == 6 - sum(3 in pair for pair in drawn_pairs())


def drawn_pairs():
    left, right = draw_pairs(4, 6, np.random.default_rng(0))
    return list(zip(left.tolist(), right.tolist(), strict=True))


def test_points_of_the_curve_that_differ_by_rounding_are_one():
    bins = EpsilonBins.of(np.array([0.3, 0.1 + 0.2, 0.5]))
    assert bins.epsilon.tolist() == [0.1 + 0.2, 0.5]
    assert bins.curve(np.array([1.0, 2.0, 3.0])).n_pairs.tolist() == [2, 3]


def test_neighbours_at_one_distance_are_taken_by_position():
    people = RowDistance(np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]), "l1")
    others = RowDistance(np.array([[0.0, 0.0, 0.0], [0.3, 0.2, 0.1], [0.1, 0.2, 0.3]]), "l1")
    assert nearest_neighbors(people, 1)[0] == nearest_neighbors(others, 1)[0] == [1]


@pytest.mark.parametrize("pairs", ["all", 1000])
@pytest.mark.parametrize("kernels", ["native", "numpy"])
def test_a_pair_on_the_limit_is_no_violation_however_it_is_rounded(monkeypatch, pairs, kernels):
    """The matrix itself has D = d for l2 in every pair; D and d are added up in different orders."""
    if kernels == "numpy":
        monkeypatch.setattr("likewise._kernels.pairs.use_native", lambda: False)
    people = ObservedMatrix(np.random.default_rng(0).normal(size=(60, 200)))
    outputs = people.scaled("symmetric").to_dense()
    report = audit(people, outputs=outputs, norm="l2", lipschitz=1.0, tolerance=0.01, pairs=pairs)
    arm = report.arms["outputs"]
    assert arm.verdict.status == "holds"
    assert (arm.fairness.violations.n_violating, arm.fairness.violations.max_excess.value) == (0, 0)
    tighter = audit(people, outputs=outputs, norm="l2", lipschitz=1 - 1e-8, pairs=pairs).arms["outputs"]
    assert tighter.fairness.violations.n_violating == tighter.fairness.n_pairs
    assert tighter.verdict.status == "violated"


def apart(distance):
    return PrecomputedDistance([[0.0, distance], [distance, 0.0]])


@given(st.floats(1e-6, 1e6), st.floats(1e-3, 1e3), st.floats(0, 1e3))
def test_a_limit_met_exactly_is_met(reference, lipschitz, slack):
    def violations(output):
        measured = measure_fairness(apart(output), apart(reference), lipschitz=lipschitz, slack=slack)
        return measured.violations

    output = lipschitz * reference + slack
    for nudged in (output, np.nextafter(output, np.inf)):
        found = violations(nudged)
        assert (found.n_violating, found.mean_excess.value) == (0, 0)
    assert violations(output * (1 + 1e-8)).n_violating == 1
