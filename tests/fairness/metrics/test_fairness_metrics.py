"""Violations, epsilon-delta curve, neighbours, consistency and group split: by hand and against naive definitions."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors
from tests.fairness import naive

from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness import (
    CoObservedDistance,
    ObservedDistance,
    PrecomputedDistance,
    RowDistance,
    consistency,
    measure_fairness,
    nearest_neighbors,
)
from likewise.fairness.metrics.curves import EpsilonBins
from likewise.fairness.metrics.metric_value import order_statistics
from likewise.observations import ObservedMatrix

# d: 2, 4, 3, 4, 3, 7 and D: 1, 5, 0, sqrt(18), 1, 5 for the pairs 01, 02, 03, 12, 13, 23.
PEOPLE = RowDistance([[0.0, 0.0], [1.0, 1.0], [0.0, 4.0], [3.0, 0.0]], "l1")
OUTPUTS = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 4.0], [0.0, 0.0]])


def case(seed, m=11):
    rng = np.random.default_rng(seed)
    people, outputs = RowDistance(rng.integers(0, 4, (m, 2)).astype(float), "l1"), rng.random((m, 2))
    d, D = naive.pair_table(people.rows, 1), naive.pair_table(outputs, 2)
    return people, outputs, d, D


# Violations


def test_violations_by_hand():
    found = measure_fairness(OUTPUTS, PEOPLE, lipschitz=1.0).violations
    # Only 02 (5 > 4) and 12 (4.243 > 4) break D <= d.
    assert (found.n_violating, found.rate.value) == (2, 2 / 6)
    assert found.mean_excess.value == pytest.approx((1 + 18**0.5 - 4) / 6)
    assert found.max_excess.value == 1
    # One violation may stay at a tenth of 6 pairs? No: 0.6 pairs means none, so the slack must cover the largest excess.
    assert {share: figure.value for share, figure in found.needed_slack.items()} == {0.01: 1, 0.05: 1, 0.1: 1}
    with_slack = measure_fairness(OUTPUTS, PEOPLE, lipschitz=1.0, slack=0.5).violations
    assert with_slack.n_violating == 1
    assert with_slack.max_excess.value == 0.5
    assert measure_fairness(OUTPUTS, PEOPLE, lipschitz=1.25).violations.n_violating == 0


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 2), st.floats(0, 0.5))
def test_violations_against_the_definition(seed, limit, slack):
    people, outputs, d, D = case(seed)
    found = measure_fairness(outputs, people, lipschitz=limit, slack=slack).violations
    excess = [max(0.0, D[pair] - limit * d[pair] - slack) for pair in d]
    assert found.n_violating == sum(D[pair] - limit * d[pair] > slack for pair in d)
    assert found.mean_excess.value == pytest.approx(sum(excess) / len(d))
    assert found.max_excess.value == pytest.approx(max(excess))
    violating = [D[pair] - limit * d[pair] for pair in d]
    # The needed slack leaves at most the share in violation, and no smaller one does.
    for share, needed in found.needed_slack.items():
        gamma = needed.value
        assert sum(value > gamma * (1 + 1e-9) for value in violating) <= share * len(d) + 1e-9
        if gamma > 0:
            assert sum(value >= gamma * (1 - 1e-9) for value in violating) > share * len(d) - 1e-9


def test_violations_agree_with_the_largest_ratio():
    people, outputs, *_ = case(3)
    distinct = RowDistance(people.rows + np.random.default_rng(0).random(people.rows.shape), "l1")
    largest = measure_fairness(outputs, distinct).max_ratio.value
    assert measure_fairness(outputs, distinct, lipschitz=largest).violations.n_violating == 0
    assert measure_fairness(outputs, distinct, lipschitz=largest * (1 - 1e-8)).violations.n_violating == 1


# Epsilon-delta


def test_epsilon_delta_by_hand():
    curve = measure_fairness(OUTPUTS, PEOPLE).epsilon_delta
    assert curve.epsilon.tolist() == [2, 3, 4, 7]
    assert curve.delta.tolist() == [1, 1, 5, 5]
    assert curve.n_pairs.tolist() == [1, 3, 5, 6]


@given(st.integers(0, 2**32 - 1))
def test_epsilon_delta_against_the_definition(seed):
    _, _, d, D = case(seed, 20)
    curve = EpsilonBins.of(np.array(list(d.values()))).curve(np.array(list(D.values())))
    for epsilon, delta, n_pairs in zip(curve.epsilon, curve.delta, curve.n_pairs, strict=True):
        near = [D[pair] for pair in d if d[pair] <= epsilon]
        assert (delta, n_pairs) == (max(near), len(near))
    assert n_pairs == len(d)


def test_epsilon_delta_draws():
    figures = measure_fairness(OUTPUTS, PEOPLE)
    ax = figures.plot_epsilon_delta(label="with")
    assert figures.plot_epsilon_delta(ax) is ax
    assert len(ax.lines) == 2
    assert ax.lines[0].get_ydata()[-1] == 5


# Neighbours


def neighbors_by_definition(distance, k):
    d = distance.block(0, distance.n_individuals)
    order = [
        sorted((j for j in range(len(d)) if j != i), key=lambda j, i=i: (d[i, j], j)) for i in range(len(d))
    ]
    return [sorted(others[:k]) for others in order]


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("entries", [1, 40, 10**6])
def test_nearest_neighbors_with_ties_and_in_blocks(monkeypatch, k, entries):
    monkeypatch.setattr("likewise.fairness.metrics.similar._BLOCK_ENTRIES", entries)
    people, *_ = case(1)
    assert nearest_neighbors(people, k).tolist() == neighbors_by_definition(people, k)


def test_nearest_neighbors_of_distinct_people_agree_with_scikit_learn():
    rows = np.random.default_rng(0).standard_normal((60, 12))
    expected = NearestNeighbors(n_neighbors=5).fit(rows).kneighbors(return_distance=False)
    assert nearest_neighbors(RowDistance(rows), 5).tolist() == np.sort(expected, axis=1).tolist()


def test_too_few_comparable_others():
    Z = ObservedMatrix(
        np.array([[1, 2, np.nan], [2, 3.0, np.nan], [4, np.nan, 1], [np.nan, np.nan, 4]]), value_range=(1, 5)
    )
    assert nearest_neighbors(CoObservedDistance(Z), 1).tolist() == [[1], [0], [1], [2]]
    with pytest.raises(DistanceError, match="individual 3 with fewer than 2 others"):
        nearest_neighbors(CoObservedDistance(Z), 2)


def test_neighbor_figures_by_hand():
    figures = measure_fairness(OUTPUTS, PEOPLE, n_neighbors=1).neighbors
    # Nearest: 0 -> 1 (d 2, D 1), 1 -> 0, 2 -> 0 (d 4 as 1, lower position; D 5), 3 -> 0 (d 3 as 1; D 0).
    assert figures.mean_ratio.value == pytest.approx((1 / 2 + 1 / 2 + 5 / 4 + 0) / 4)
    assert figures.max_ratio.value == 1.25
    assert figures.output_gap.value == pytest.approx(7 / 4)
    assert figures.max_output_gap.value == 5
    assert figures.mean_ratio.n_pairs == 4


def test_neighbors_under_the_sparse_distance():
    table = np.random.default_rng(2).integers(1, 6, (30, 8)).astype(float)
    table[np.random.default_rng(3).random(table.shape) < 0.5] = np.nan
    distance = ObservedDistance(ObservedMatrix(table, value_range=(1, 5)))
    assert nearest_neighbors(distance, 4).tolist() == neighbors_by_definition(distance, 4)


# Consistency


def test_consistency_by_hand():
    people = RowDistance([0.0, 1.0, 3.0, 7.0])
    # Two nearest others: 12, 02, 01, 12; their means: 0.5, 0.5, 0.5, 0.5.
    assert consistency([0, 1, 0, 1], people, 2).value == pytest.approx(
        1 - (0.5 + 1 + 0.5 + 0.5) / 4, abs=1e-15
    )


def consistency_by_definition(outputs, neighbors):
    return 1 - sum(
        abs(y - np.mean(outputs[list(near)])) for y, near in zip(outputs, neighbors, strict=True)
    ) / len(outputs)


@given(st.integers(0, 2**32 - 1), st.integers(1, 10))
def test_consistency_against_the_definition(seed, k):
    people, outputs, *_ = case(seed)
    expected = consistency_by_definition(outputs[:, 0], neighbors_by_definition(people, k))
    assert consistency(outputs[:, 0], people, k).value == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1))
def test_aif360_convention_is_its_code(seed):
    # AIF360's sklearn.metrics.consistency_score, line by line; ties (few distinct rows) go as its ball tree decides.
    rng = np.random.default_rng(seed)
    rows, y = rng.integers(0, 3, (40, 3)).astype(float), rng.integers(0, 2, 40)
    indices = (
        NearestNeighbors(n_neighbors=5, algorithm="ball_tree")
        .fit(rows)
        .kneighbors(rows, return_distance=False)
    )
    expected = 1 - abs(y - y[indices].mean(axis=1)).mean()
    assert consistency(y, RowDistance(rows), 5, "aif360").value == expected


@pytest.mark.slow
def test_counting_oneself_flatters_random_labels():
    rng = np.random.default_rng(0)
    people, labels = RowDistance(rng.standard_normal((4000, 3))), rng.integers(0, 2, 4000)
    assert consistency(labels, people, 5).value == pytest.approx(0.5, abs=0.02)
    assert consistency(labels, people, 5, "aif360").value == pytest.approx(0.6, abs=0.02)


def test_consistency_bad_input():
    people = RowDistance([0.0, 1.0, 3.0])
    with pytest.raises(ShapeError, match="one number for each of 3"):
        consistency(np.zeros((3, 2)), people, 1)
    with pytest.raises(DistanceError, match="NaN"):
        consistency([0, 1, np.nan], people, 1)
    with pytest.raises(InputError, match=r"unknown convention 'aif'.*did you mean"):
        consistency([0, 1, 1], people, 1, "aif")
    for distance in (RowDistance([[0.0], [1], [2]], "l1"), PrecomputedDistance(1 - np.eye(3))):
        with pytest.raises(DistanceError, match="AIF360"):
            consistency([0, 1, 1], distance, 1, "aif360")
    for k in (0, 4):
        with pytest.raises(InputError, match="n_neighbors"):
            consistency([0, 1, 1], people, k, "aif360")


# Groups


def test_groups_by_hand():
    split = measure_fairness(OUTPUTS, PEOPLE, nearest_share=0.5, groups=["b", "a", "b", "a"]).groups
    # Within: 02 (b), 13 (a). Across: 01, 03, 12, 23. Most similar: 01, 03, 13.
    assert (split.within.n_pairs, split.across.n_pairs) == (2, 4)
    assert split.within.mean_ratio.value == pytest.approx((5 / 4 + 1 / 3) / 2)
    assert split.across.mean_ratio.value == pytest.approx((1 / 2 + 0 + 18**0.5 / 4 + 5 / 7) / 4)
    assert split.across.max_ratio.value == pytest.approx(18**0.5 / 4)
    assert split.across.output_gap.value == pytest.approx((1 + 0 + 18**0.5 + 5) / 4)
    assert split.across.mean_reference_distance.value == (2 + 3 + 4 + 7) / 4
    assert (split.within.n_similar, split.across.n_similar) == (1, 2)
    assert split.within.similar_mean_ratio.value == pytest.approx(1 / 3)
    assert split.across.similar_output_gap.value == 0.5
    assert [kind.name for kind in split.by_groups] == ["a and a", "a and b", "b and b"]
    assert split.by_groups[2].max_ratio.value == 1.25
    assert math.isnan(split.by_groups[2].similar_mean_ratio.value)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_groups_add_up(seed, n_groups):
    people, outputs, d, D = case(seed)
    groups = np.random.default_rng(seed).integers(0, n_groups, len(outputs))
    groups[:2] = [0, 1]
    figures = measure_fairness(outputs, people, groups=groups)
    split = figures.groups
    for kind, chosen in [
        (split.within, [pair for pair in d if groups[pair[0]] == groups[pair[1]]]),
        (split.across, [pair for pair in d if groups[pair[0]] != groups[pair[1]]]),
        (
            split.by_groups[1],
            [pair for pair in d if sorted(groups[list(pair)]) == sorted(np.unique(groups)[:2])],
        ),
    ]:
        assert kind.n_pairs == len(chosen)
        if chosen:
            assert kind.mean_ratio.value == pytest.approx(
                np.mean([naive.ratio(D[pair], d[pair]) for pair in chosen])
            )
            assert kind.max_ratio.value == pytest.approx(
                max(naive.ratio(D[pair], d[pair]) for pair in chosen)
            )
            assert kind.output_gap.value == pytest.approx(np.mean([D[pair] for pair in chosen]))
    assert (
        split.within.n_pairs + split.across.n_pairs == sum(kind.n_pairs for kind in split.by_groups) == len(d)
    )
    assert split.within.n_similar + split.across.n_similar == figures.similar.n_pairs


def test_groups_leave_undefined_pairs_out():
    Z = ObservedMatrix(np.array([[1, np.nan], [2, 3.0], [np.nan, 4], [5, 5]]), value_range=(1, 5))
    groups = np.array(["x", "y", "x", "y"])
    split = measure_fairness(np.arange(4.0), CoObservedDistance(Z), groups=groups).groups
    # 0 and 2 share nothing; left within: 13.
    assert (split.within.n_pairs, split.across.n_pairs) == (1, 4)


def test_too_many_groups():
    people = RowDistance(np.arange(300.0))
    with pytest.raises(InputError, match="300 groups"):
        measure_fairness(np.arange(300.0) % 7, people, groups=np.arange(300))


# Together


def test_every_asked_figure_is_named_exported_and_printed():
    figures = measure_fairness(OUTPUTS, PEOPLE, lipschitz=1.0, n_neighbors=2, groups=[0, 0, 1, 1])
    names = set(figures.metrics())
    assert names >= {
        "violation_rate",
        "slack_for_0.05",
        "neighbor_output_gap",
        "within_mean_ratio",
        "across_max_ratio",
    }
    record = figures.to_dict()
    assert record["violations"]["needed_slack"]["0.05"]["value"] == 1
    assert len(record["groups"]["by_groups"]) == 3
    assert record["epsilon_delta"]["delta"][-1] == 5
    assert "violation rate" in str(figures)
    plain = measure_fairness(OUTPUTS, PEOPLE)
    assert plain.to_dict()["violations"] is plain.violations is plain.neighbors is plain.groups is None


def test_pairs_are_those_of_combinations():
    assert list(naive.pair_table(OUTPUTS, 2)) == list(combinations(range(4), 2))


def test_infinite_pairs_leave_finite_means_beside():
    people = RowDistance([[0.0], [0.0], [1.0], [3.0]], "l1")
    figures = measure_fairness(
        [0.0, 1.0, 2.0, 3.0], people, nearest_share=0.5, n_neighbors=1, groups=["a", "a", "b", "b"]
    )
    # Ratios: 01 infinite, 02: 2, 03: 1, 12: 1, 13: 2/3, 23: 1/2. Most similar: 01, 02, 12.
    assert figures.similar.mean_ratio.value == math.inf
    assert figures.similar.finite_mean_ratio.value == 1.5
    # Neighbours: 0 and 1 each other, 2 -> 0, 3 -> 2.
    assert figures.neighbors.mean_ratio.value == math.inf
    assert figures.neighbors.finite_mean_ratio.value == (2 + 0.5) / 2
    within, across = figures.groups.within, figures.groups.across
    assert (within.n_infinite, within.mean_ratio.value, within.max_ratio.value) == (1, math.inf, math.inf)
    assert within.finite_mean_ratio.value == 0.5
    assert within.similar_mean_ratio.value == math.inf
    assert across.mean_ratio.value == across.finite_mean_ratio.value == pytest.approx((2 + 1 + 1 + 2 / 3) / 4)


# Order statistics


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40))
def test_order_statistics_of_any_numbers(values):
    ranks = list(range(len(values)))
    assert order_statistics(np.array(values), ranks) == sorted(values)
    assert order_statistics(np.array(values), []) == []
