from __future__ import annotations

import importlib
import warnings
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog, minimize, nnls

from likewise.errors import ConstantOutputWarning, DistanceError, InputError, LikewiseError, ShapeError
from likewise.fairness import CallableDistance, ObservedDistance, PrecomputedDistance, RowDistance
from likewise.fairness.repair import repair
from likewise.fairness.repair.projection import nearest_distributions
from likewise.fairness.repair.repair import broken_triangle

pytestmark = pytest.mark.filterwarnings("ignore:repaired outputs are nearly constant")
"""Limits are drawn at random here, and tight ones leave hardly any spread."""

OBJECTIVES = ["largest-change", "least-squares"]


def people(seed, m=30, n_features=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n_features)), rng.normal(size=m)


def distances(left, right):
    return np.linalg.norm(left[:, None] - right, axis=2)


def worst_excess(outputs, d, lipschitz):
    outputs = outputs.reshape(len(outputs), -1)
    return float((distances(outputs, outputs) - lipschitz * d).max())


def least_largest_change(y, d, lipschitz):
    """The same by linear programming: minimise t subject to |g - y| <= t and all pairs fair."""
    m = len(y)
    rows, bounds = [], []
    for i in range(m):
        for sign in (1, -1):
            row = np.zeros(m + 1)
            row[i], row[m] = sign, -1
            rows.append(row)
            bounds.append(sign * y[i])
        for j in range(m):
            if i != j:
                row = np.zeros(m + 1)
                row[i], row[j] = 1, -1
                rows.append(row)
                bounds.append(lipschitz * d[i, j])
    found = linprog(
        np.eye(m + 1)[m], np.array(rows), np.array(bounds), bounds=[(None, None)] * m + [(0, None)]
    )
    return found.fun


def test_by_hand():
    """Two alike at 0.9 and 0.1, d = 1, L = 0.2: each moves by (0.8 - 0.2) / 2 = 0.3; the third is far from both."""
    fair = repair([0.9, 0.1, 0.5], RowDistance([[0.0], [1.0], [9.0]]), lipschitz=0.2)
    np.testing.assert_allclose(fair.outputs, [0.6, 0.4, 0.5], atol=1e-15)
    assert fair.largest_change == pytest.approx(0.3)
    assert fair.least_possible == pytest.approx(0.3)
    assert fair.n_changed == 2


def test_two_outputs_by_hand():
    """Spreads 1 and 2 share L = sqrt(5) as 1 and 2: the first output has an excess of 2 - 1, the second of 4 - 2."""
    fair = repair([[-1.0, 2.0], [1.0, -2.0]], RowDistance([[0.0], [1.0]]), lipschitz=5**0.5)
    np.testing.assert_allclose(fair.budgets, [1, 2], rtol=1e-14)
    np.testing.assert_allclose(fair.outputs, [[-0.5, 1.0], [0.5, -1.0]], atol=1e-14)
    np.testing.assert_allclose(fair.changes, [1.25**0.5] * 2)


def test_least_squares_by_hand():
    """Three in a row, one step apart: (a, a + 1, a) with 2 a^2 + (2 - a)^2 least is a = 2/3, and changes by 4/9 + 16/9 + 4/9."""
    fair = repair(
        [0.0, 3.0, 0.0], RowDistance([[0.0], [1.0], [2.0]]), lipschitz=1.0, objective="least-squares"
    )
    np.testing.assert_allclose(fair.outputs, [2 / 3, 5 / 3, 2 / 3], atol=1e-7)
    assert fair.least_possible == pytest.approx((24 / 9 / 3) ** 0.5, rel=1e-8)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lipschitz", [0.05, 0.5, 2.0])
def test_no_repair_changes_anybody_less(seed, lipschitz):
    X, y = people(seed)
    fair = repair(y, RowDistance(X), lipschitz=lipschitz)
    assert fair.largest_change == pytest.approx(least_largest_change(y, distances(X, X), lipschitz), abs=1e-9)
    assert fair.least_possible == pytest.approx(fair.largest_change, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_no_repair_has_smaller_squares(seed):
    """Against a general solver, which is slow and less exact: it must not find anything better."""
    X, y = people(seed, m=9)
    d = distances(X, X)
    fair = repair(y, RowDistance(X), lipschitz=0.3, objective="least-squares")
    i, j = np.triu_indices(9, 1)
    slack = {
        "type": "ineq",
        "fun": lambda g: np.concatenate([0.3 * d[i, j] - (g[i] - g[j]), 0.3 * d[i, j] + (g[i] - g[j])]),
    }
    other = minimize(
        lambda g: np.sum((g - y) ** 2),
        np.full(9, y.mean()),
        constraints=slack,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert np.sum(fair.changes**2) <= other.fun * (1 + 1e-6)
    np.testing.assert_allclose(fair.outputs, other.x, atol=1e-4)
    assert fair.least_possible <= fair.root_mean_square_change <= fair.least_possible * (1 + 1e-6)


def closest_by_least_distance(y, limits):
    """The same by Lawson and Hanson's least distance programming: ``min ||x||, C x >= c`` is one non-negative least squares problem."""
    m = len(y)
    i, j = np.nonzero(~np.eye(m, dtype=bool))
    C = np.zeros((i.size, m))
    C[np.arange(i.size), i], C[np.arange(i.size), j] = -1, 1
    c = y[i] - y[j] - limits[i, j]
    E = np.vstack([C.T, c])
    target = np.eye(m + 1)[m]
    residual = E @ nnls(E, target, maxiter=10_000)[0] - target
    return y - residual[:m] / residual[m]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lipschitz", [0.02, 0.3, 1.0])
def test_least_squares_of_thirty_people_as_by_another_method(seed, lipschitz):
    X, y = people(seed)
    fair = repair(y, RowDistance(X), lipschitz=lipschitz, objective="least-squares")
    np.testing.assert_allclose(
        fair.outputs, closest_by_least_distance(y, lipschitz * distances(X, X)), atol=1e-8
    )


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("n_features", [1, 2, 20])
@given(seed=st.integers(0, 10**6), spread=st.sampled_from([1e-6, 0.1, 1.0]), offset=st.floats(-100, 100))
def test_the_gap_of_least_squares_is_proved_small(scale, n_features, seed, spread, offset):
    """Also for outputs of two values, people with the same features, outputs far from 0, and people so alike that all get the same."""
    rng = np.random.default_rng(seed)
    X = spread * rng.integers(0, 3, size=(25, n_features)) + spread * rng.choice([0, 1]) * rng.normal(
        size=(25, n_features)
    )
    y = scale * (offset + rng.choice([rng.integers(0, 2, 25), rng.normal(size=25)]))
    fair = repair(
        y, RowDistance(X), lipschitz=scale * rng.choice([0.01, 0.3, 1.0]), objective="least-squares"
    )
    change = fair.root_mean_square_change
    assert fair.least_possible <= change <= fair.least_possible * (1 + 1e-8) + 1e-12 * np.abs(y).max()


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("n_outputs", [1, 3])
@given(seed=st.integers(0, 10**6), lipschitz=st.floats(0.01, 3.0))
def test_everybody_is_treated_fairly_seen_or_not(objective, n_outputs, seed, lipschitz):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(12, 2)), rng.normal(size=(7, 2))
    y = rng.normal(size=(12, n_outputs)) if n_outputs > 1 else rng.normal(size=12)
    fair = repair(y, RowDistance(X), lipschitz=lipschitz, objective=objective)
    everybody = np.vstack([X, new])
    outputs = np.concatenate([fair.outputs, fair.predict(distances(new, X))])
    size = np.abs(y).max()
    assert worst_excess(outputs, distances(everybody, everybody), lipschitz) <= 1e-12 * size
    np.testing.assert_allclose(fair.predict(distances(X, X)), fair.outputs, atol=1e-12 * size)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_fair_outputs_stay_as_they_are(objective):
    X, _ = people(0)
    y = 0.5 * X[:, 0]
    fair = repair(y, RowDistance(X), lipschitz=0.5, objective=objective)
    np.testing.assert_allclose(fair.outputs, y, atol=1e-14)
    assert fair.n_changed == 0


def test_equal_people_get_equal_outputs():
    fair = repair([1.0, 3.0, 10.0], RowDistance([[0.0], [0.0], [5.0]]), lipschitz=1.0)
    assert fair.outputs[0] == fair.outputs[1]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_undefined_distances_are_refused(objective):
    """Two people without a distance are still bound through a third: nothing could be promised of them."""
    d = np.array([[0, np.nan, 1], [np.nan, 0, 1], [1, 1, 0.0]])
    with pytest.raises(DistanceError, match="of which it is not defined"):
        repair([0, 10, 2.0], PrecomputedDistance(d), lipschitz=1.0, objective=objective)


def test_outputs_too_large_to_square_are_refused():
    with pytest.raises(DistanceError, match="smaller units"):
        repair([[1e300, 1.0], [-1e300, 2.0]], RowDistance([[0.0], [1.0]]), lipschitz=0.2)


@pytest.mark.parametrize("distances", [[["a", "b"]], [[np.nan, 1.0]], [[np.inf, 1.0]], [[1.0], [1.0, 2.0]]])
def test_distances_of_new_people_are_numbers(distances):
    fair = repair([0.0, 1.0], RowDistance([[0.0], [1.0]]), lipschitz=1.0)
    with pytest.raises(LikewiseError):
        fair.predict(distances)


@pytest.mark.parametrize("distance", [None, np.eye(2)])
def test_a_distance_is_one(distance):
    with pytest.raises(DistanceError, match="a PairwiseDistance"):
        repair([0.0, 1.0], distance, lipschitz=1.0)


def test_a_distance_whose_triangles_do_not_close_is_refused():
    d = PrecomputedDistance([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    assert broken_triangle(d) == (0, 1, 2, 5.0, 2.0)
    with pytest.raises(DistanceError, match=r"d\(0, 2\) = 5 exceeds d\(0, 1\) \+ d\(1, 2\) = 2"):
        repair([0.0, 1.0, 2.0], d, lipschitz=1.0)


def test_a_function_of_unknown_axioms_is_checked():
    X, y = people(1, m=12)
    squared = CallableDistance(lambda a, b: float(np.sum((a - b) ** 2)), X)
    with pytest.raises(DistanceError, match="for which the triangle inequality holds"):
        repair(y, squared, lipschitz=1.0)
    euclidean = CallableDistance(lambda a, b: float(np.linalg.norm(a - b)), X)
    expected = repair(y, RowDistance(X), lipschitz=0.5)
    np.testing.assert_allclose(repair(y, euclidean, lipschitz=0.5).outputs, expected.outputs, atol=1e-12)


@pytest.mark.parametrize("lipschitz", [0.0, -1.0, np.nan, np.inf, True, "1", None])
def test_a_budget_is_a_number_above_0(lipschitz):
    with pytest.raises(InputError, match="number above 0"):
        repair([0.0, 1.0], RowDistance([[0.0], [1.0]]), lipschitz=lipschitz)


def test_bad_input_is_told():
    d = RowDistance([[0.0], [1.0]])
    with pytest.raises(ShapeError, match="outputs of 3 individuals"):
        repair([0.0, 1.0, 2.0], d, lipschitz=1.0)
    with pytest.raises(InputError, match="unknown objective 'least-change'"):
        repair([0.0, 1.0], d, lipschitz=1.0, objective="least-change")
    with pytest.raises(DistanceError, match="one-hot encode classes"):
        repair(["admit", "reject"], d, lipschitz=1.0)
    fair = repair([0.0, 1.0], d, lipschitz=1.0)
    with pytest.raises(ShapeError, match="a distance to each individual"):
        fair.predict([[1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match="distances >= 0"):
        fair.predict([[-1.0, 2.0]])


class CountedBlocks(RowDistance):
    """Remembers how many rows of distances were asked for at once, one number for each time."""

    asked: ClassVar[list[int]] = []

    def block(self, start, stop, *columns):
        self.asked.append(stop - start)
        return super().block(start, stop, *columns)


def test_least_squares_holds_a_few_rows_of_distances(monkeypatch):
    X, y = people(4, m=200)
    expected = repair(y, RowDistance(X), lipschitz=0.4, objective="least-squares")
    projection = importlib.import_module("likewise.fairness.repair.projection")
    monkeypatch.setattr(projection, "_BLOCK_BYTES", 8 * 200 * 7)
    monkeypatch.setattr(projection, "_CACHE_BYTES", 8 * 200 * 2)
    monkeypatch.setattr(CountedBlocks, "asked", [])
    fair = repair(y, CountedBlocks(X), lipschitz=0.4, objective="least-squares")
    assert max(CountedBlocks.asked) == 7
    assert sum(CountedBlocks.asked) % 200 == 0  # whole passes over everybody
    np.testing.assert_allclose(fair.outputs, expected.outputs, atol=1e-12)


def test_distances_that_fit_are_measured_once(monkeypatch):
    X, _ = people(4, m=40)
    monkeypatch.setattr(CountedBlocks, "asked", [])
    repair(
        np.random.default_rng(0).normal(size=(40, 3)),
        CountedBlocks(X),
        lipschitz=0.4,
        objective="least-squares",
    )
    assert CountedBlocks.asked == [40]


def test_progress_ends_at_everybody():
    seen = []
    repair(
        [0.0, 1.0, 5.0],
        RowDistance([[0.0], [1.0], [2.0]]),
        lipschitz=1.0,
        progress=lambda *at: seen.append(at),
    )
    assert seen[-1] == (3, 3)


def test_zero_filled_observations_are_a_pseudometric():
    observed = sparse.csr_array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0]])
    fair = repair([0.0, 2.0, 1.0], ObservedDistance(observed, "l1"), lipschitz=1.0)
    assert worst_excess(fair.outputs, np.array([[0, 0.5, 2], [0.5, 0, 1.5], [2, 1.5, 0]]), 1.0) <= 1e-14


def test_several_outputs_that_were_fair_have_no_lower_bound():
    """Each pair differs in one output by 1 at d = 1: fair for L = 1. The budgets are 1 / sqrt 2, so it is changed all the same, but that "no repair" needs less would be untrue."""
    d = np.full((4, 4), 100.0) - 100 * np.eye(4)
    d[0, 1] = d[1, 0] = d[2, 3] = d[3, 2] = 1
    outputs = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    for objective in OBJECTIVES:
        fair = repair(outputs, PrecomputedDistance(d), lipschitz=1.0, objective=objective)
        assert fair.largest_change > 0.1
        assert fair.least_possible == pytest.approx(0, abs=1e-9)
        assert "No repair" not in str(fair)
        assert str(fair).endswith("2 outputs share L; changes are lengths. Another may be less.")


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), lipschitz=st.floats(0.05, 2.0))
def test_the_lower_bound_of_several_outputs_holds_for_other_repairs(seed, lipschitz):
    """Everybody drawn towards the mean, or turned first and repaired in those directions, is a repair to the same D <= L d too."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 2)), rng.normal(size=(8, 2)) * [1.0, 3.0]
    d = distances(X, X)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    i, j = np.triu_indices(8, 1)
    share = min(1.0, float((lipschitz * d[i, j] / distances(y, y)[i, j]).min()))
    others = [y.mean(axis=0) + share * (y - y.mean(axis=0))]
    others += [
        repair(y @ turn, RowDistance(X), lipschitz=lipschitz, objective=o).outputs @ turn.T
        for o in OBJECTIVES
    ]
    for objective in OBJECTIVES:
        bound = repair(y, RowDistance(X), lipschitz=lipschitz, objective=objective).least_possible
        for other in others:
            assert worst_excess(other, d, lipschitz) <= 1e-9
            changes = np.linalg.norm(other - y, axis=1)
            reached = changes.max() if objective == "largest-change" else np.sqrt(np.mean(changes**2))
            assert bound <= reached * (1 + 1e-9) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@given(seed=st.integers(0, 10**6), lipschitz=st.floats(0.01, 1.0))
def test_probabilities_stay_probabilities(objective, seed, lipschitz):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(10, 2)), rng.normal(size=(6, 2))
    y = rng.dirichlet([0.5, 1.0, 2.0], size=10)
    fair = repair(y, RowDistance(X), lipschitz=lipschitz, objective=objective)
    outputs = np.vstack([fair.outputs, fair.predict(distances(new, X))])
    np.testing.assert_allclose(outputs.sum(axis=1), 1, rtol=1e-12)
    assert outputs.min() >= 0
    everybody = np.vstack([X, new])
    assert worst_excess(outputs, distances(everybody, everybody), lipschitz) <= 1e-12
    np.testing.assert_allclose(fair.predict(distances(X, X)), fair.outputs, atol=1e-12)
    assert "Probabilities still sum to 1" in str(fair) or fair.n_changed == 0


def test_nearest_distributions_are_those_of_a_general_solver():
    rng = np.random.default_rng(0)
    for row in rng.normal(size=(10, 4)):
        other = minimize(
            lambda p, row=row: np.sum((p - row) ** 2),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(nearest_distributions(row[None])[0], other.x, atol=1e-6)


def test_of_fair_outputs_it_is_said_that_nobody_changes():
    fair = repair([0.0, 0.1], RowDistance([[0.0], [1.0]]), lipschitz=1.0)
    assert str(fair) == "D <= 1 d for every pair, seen or not. So it was before: nobody gets another output."


def test_the_spread_that_is_left_by_hand():
    """(.9, .1, .5) about .5 has squares of .32; (.6, .4, .5) of .02: a quarter is left. Of two outputs the squares of both count."""
    fair = repair([0.9, 0.1, 0.5], RowDistance([[0.0], [1.0], [9.0]]), lipschitz=0.2)
    assert fair.spread_left == pytest.approx(0.25)
    assert "25% of the spread of the outputs is left." in str(fair)
    assert fair.to_dict()["spread_left"] == fair.spread_left
    two = repair([[0.0, 0.0], [3.0, 4.0]], RowDistance([[0.0], [1.0]]), lipschitz=1.0)
    np.testing.assert_allclose(two.outputs, [[1.2, 1.6], [1.8, 2.4]])  # L in proportion to 3 and 4: .6 and .8
    assert two.spread_left == pytest.approx(0.2)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100.0), st.sampled_from([1, 3]))
def test_the_spread_that_is_left_is_a_ratio_of_standard_deviations(seed, lipschitz, n_outputs):
    rng = np.random.default_rng(seed)
    outputs = rng.normal(size=(8, n_outputs))
    fair = repair(outputs, RowDistance(rng.normal(size=(8, 2))), lipschitz=lipschitz)
    deviations = [np.sqrt(np.mean(each.var(axis=0))) for each in (outputs, fair.outputs)]
    assert fair.spread_left == pytest.approx(deviations[1] / deviations[0], rel=1e-9)
    assert not fair.were_decisions


def test_outputs_that_hardly_differ_any_more_are_warned_of():
    d = RowDistance([[0.0], [1.0], [2.0]])
    with pytest.warns(
        ConstantOutputWarning, match=r"nearly constant: 2% of their spread is left.*larger L leaves"
    ):
        repair([0.0, 1.0, 2.0], d, lipschitz=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        repair([0.0, 1.0, 2.0], d, lipschitz=0.06)
        assert repair([0.1, 0.1, 0.1], d, lipschitz=1e-9).spread_left == 1


def test_decisions_are_scores_afterwards():
    d = RowDistance([[0.0], [1.0], [9.0]])
    for outputs, values in (([0, 1, 1], "0 or 1"), ([-1, 1, 1], "-1 or 1")):
        fair = repair(outputs, d, lipschitz=0.5)
        assert fair.were_decisions
        assert f"Outputs were {values}; they are scores now, no decisions" in str(fair)
    assert not repair([0, 1, 1], d, lipschitz=1.0).were_decisions  # they were fair, and stay decisions
    assert not repair([0.5, 1, 1], d, lipschitz=0.1).were_decisions


def test_a_triangle_that_does_not_close_is_told_by_the_names_of_its_people():
    d = PrecomputedDistance([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]], row_ids=["ann", "bob", "cy"])
    with pytest.raises(DistanceError, match=r"d\(ann, cy\) = 5 exceeds d\(ann, bob\) \+ d\(bob, cy\) = 2"):
        repair([0.0, 1.0, 2.0], d, lipschitz=1.0)


def test_a_change_of_several_outputs_is_said_to_be_a_length():
    d = RowDistance(np.array([0.0, 0.1, 0.2]))
    several = repair(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]), d, lipschitz=1.0)
    assert "2 outputs share L; changes are lengths." in str(several)
    assert "length" not in str(repair([0.0, 3.0, 0.0], d, lipschitz=1.0))
