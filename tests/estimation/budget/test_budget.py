"""The fairness budget: by hand, against a grid and a general solver, and by what must hold of every solution."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from likewise import SVT, LowRankEstimate, ObservedMatrix, certify, svt
from likewise.certificates.filled import KindOfMap
from likewise.errors import InputError
from likewise.estimation import LinearFolding, RidgeFolding, Weighting, make_estimator
from likewise.estimation.budget.budget import shrink_to_budget, smallest_constant, within_budget
from likewise.fairness import Unavailable
from likewise.observations import clustered

pytestmark = pytest.mark.filterwarnings(
    "ignore::likewise.errors.PropensityWarning"
)  # patterns drawn at random


def squared_distance(gains, targets, sigma):
    return float((sigma**2 * (gains - targets) ** 2).sum())


def constant(gains, right):
    return np.sqrt(((right * gains) ** 2).sum(axis=1)).max()


def problem(seed, n, r, largest=3.0):
    rng = np.random.default_rng(seed)
    right = np.linalg.qr(rng.standard_normal((n, r)) * np.exp(rng.standard_normal((n, 1))))[0]
    return rng.uniform(0.1, largest, r), np.sort(rng.uniform(0.5, 10, r))[::-1], right


problems = st.builds(
    lambda seed, r, extra: problem(seed, r + extra, r),
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.integers(0, 20),
)


def test_two_components_by_hand_where_one_feature_binds():
    """v_1 = (1, 1)/sqrt 2, v_2 = (1, -1)/sqrt 2: both rows are (g_1^2 + g_2^2)/2 <= L^2.

    With gains (3, 4), equal sigma and L^2 = 6.25/2 the nearest point of the circle of radius 2.5 is (3, 4)/2, at distance 2.5.
    """
    right = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
    solution = shrink_to_budget(np.array([3.0, 4.0]), np.ones(2), right, 2.5 / np.sqrt(2))
    np.testing.assert_allclose(solution.gains, [1.5, 2.0], rtol=1e-8)
    assert solution.distance == pytest.approx(2.5, rel=1e-8)
    assert solution.unconstrained == pytest.approx(5 / np.sqrt(2))


def test_two_components_by_hand_where_singular_values_differ():
    """v = e_1, e_2 turned by nothing: each feature holds its own gain, whatever the singular values."""
    solution = shrink_to_budget(np.array([4.0, 1.0]), np.array([10.0, 2.0]), np.eye(2), 2.0)
    np.testing.assert_allclose(solution.gains, [2.0, 1.0], rtol=1e-8)
    assert solution.distance == pytest.approx(20.0, rel=1e-8)
    assert solution.n_binding == 1


def test_a_component_on_few_features_gives_way_before_a_stronger_one_on_many():
    right = np.zeros((5, 2))
    right[:4, 0], right[4, 1] = 0.5, 1.0
    solution = shrink_to_budget(np.array([1.0, 1.0]), np.array([2.0, 9.0]), right, 0.6)
    np.testing.assert_allclose(solution.gains, [1.0, 0.6], rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_no_point_of_a_grid_is_better(seed, share):
    targets, sigma, right = problem(seed, 7, 2)
    limit = share * constant(targets, right)
    solution = shrink_to_budget(targets, sigma, right, limit)
    axis = np.linspace(0, 1, 401)
    grid = np.stack(np.meshgrid(axis * targets[0], axis * targets[1], indexing="ij"), -1).reshape(-1, 2)
    feasible = grid[((grid**2) @ (right**2).T).max(axis=1) <= limit**2]
    best = min(squared_distance(point, targets, sigma) for point in feasible)
    assert solution.distance**2 <= best
    step = np.sqrt(((sigma * targets / 400) ** 2).sum())
    assert np.sqrt(best) <= solution.distance + 2 * step  # and the grid comes that near


@pytest.mark.parametrize("seed", range(12))
def test_a_general_solver_agrees(seed):
    targets, sigma, right = problem(seed, 12 + seed, 1 + seed % 5)
    limit = (0.1 + 0.07 * seed) * constant(targets, right)
    solution = shrink_to_budget(targets, sigma, right, limit)
    found = minimize(
        squared_distance,
        0.9 * targets * limit / constant(targets, right),
        args=(targets, sigma),
        jac=lambda g, *_: 2 * sigma**2 * (g - targets),
        bounds=[(0, None)] * targets.size,
        constraints={
            "type": "ineq",
            "fun": lambda g: limit**2 - right**2 @ g**2,
            "jac": lambda g: -2 * right**2 * g,
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert solution.distance**2 == pytest.approx(found.fun, rel=1e-6)


@given(problems, st.floats(1e-3, 0.999))
def test_within_the_limit_never_above_the_targets_and_nearly_optimal(case, share):
    targets, sigma, right = case
    limit = share * constant(targets, right)
    solution = shrink_to_budget(targets, sigma, right, limit)
    assert constant(solution.gains, right) <= solution.constant <= limit
    assert (solution.gains >= 0).all()
    assert (solution.gains <= targets).all()
    assert solution.distance == pytest.approx(np.sqrt(squared_distance(solution.gains, targets, sigma)))
    assert solution.gap <= 1e-9 * (sigma**2 * targets**2).sum()


@given(problems, st.floats(1e-3, 0.999))
def test_never_worse_than_scaling_all_gains(case, share):
    targets, sigma, right = case
    solution = shrink_to_budget(targets, sigma, right, share * constant(targets, right))
    scaled = squared_distance(share * targets, targets, sigma)
    assert solution.distance**2 <= scaled * (1 + 1e-7)


@given(problems, st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_a_larger_budget_costs_no_more(case, one, other):
    targets, sigma, right = case
    low, high = sorted((one, other))
    whole = constant(targets, right)
    tight, loose = (shrink_to_budget(targets, sigma, right, share * whole) for share in (low, high))
    assert loose.distance <= tight.distance + 1e-6 * np.sqrt((sigma**2 * targets**2).sum())


@given(problems, st.floats(1.001, 10))
def test_a_budget_that_is_met_changes_nothing(case, share):
    targets, sigma, right = case
    solution = shrink_to_budget(targets, sigma, right, share * constant(targets, right))
    assert solution.gains is targets
    assert solution.distance == solution.gap == 0
    assert "without any change" in str(solution)


@pytest.mark.parametrize("share", [1e-12, 1e-6])
def test_a_tiny_budget_is_met(share):
    targets, sigma, right = problem(0, 30, 5)
    limit = share * constant(targets, right)
    solution = shrink_to_budget(targets, sigma, right, limit)
    assert 0 < solution.constant <= limit
    assert solution.gap <= 1e-7 * solution.distance**2


def test_features_that_coincide_are_no_difficulty():
    targets, sigma, right = problem(1, 10, 3)
    twice = np.vstack([right, right]) / np.sqrt(2)
    limit = 0.4 * constant(targets, twice)
    once = shrink_to_budget(targets, sigma, right, limit * np.sqrt(2))
    np.testing.assert_allclose(shrink_to_budget(targets, sigma, twice, limit).gains, once.gains, rtol=1e-6)


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), float("inf"), "1", True, None])
def test_limits_that_are_none_are_refused(limit):
    with pytest.raises(InputError, match="a finite number above 0"):
        shrink_to_budget(np.ones(1), np.ones(1), np.eye(1), limit)


# --- with the estimator


@pytest.fixture(scope="module")
def data():
    return clustered(60, 80, 3, observed_fraction=0.5, random_state=1).observed


@pytest.mark.parametrize("share", [0.9, 0.5, 0.05])
def test_the_certificate_of_a_budgeted_estimate_is_within_the_limit(data, share):
    limit = share * certify(svt(data), data).k_star.value
    fitted = SVT(max_lipschitz=limit).fit(data)
    assert certify(fitted.estimate_, data).k_star.value <= limit
    assert fitted.budget_.constant <= limit
    assert str(fitted.budget_) in fitted.notes_
    free = svt(data)
    moved = np.linalg.norm(
        (fitted.estimate_.left * (fitted.estimate_.shrunk_values - free.shrunk_values)) @ free.right.T
    )
    assert fitted.budget_.distance == pytest.approx(moved)


def test_seen_and_unseen_rows_obey_the_budget(data):
    """Random rows, rows of the fit, and the worst there is: rows that differ in the one feature that binds."""
    limit = 0.5 * certify(svt(data), data).k_star.value
    fitted = SVT(max_lipschitz=limit, value_range=(-1, 1)).fit(data)
    rng = np.random.default_rng(0)
    random = np.where(rng.random((50, 80)) < 0.5, rng.uniform(-1, 1, (50, 80)), np.nan)
    single = np.full((80, 80), np.nan)
    np.fill_diagonal(single, 1e-3)
    rows = np.vstack([random, single, np.where(data.values.toarray() == 0, np.nan, data.values.toarray())])
    completed = fitted.transform(rows)
    left, right = rng.integers(len(rows), size=(2, 4000))
    filled = np.nan_to_num(rows)
    outputs = np.linalg.norm(completed[left] - completed[right], axis=1)
    inputs = np.abs(filled[left] - filled[right]).sum(axis=1)
    assert (outputs <= limit * inputs * (1 + 1e-12)).all()
    alone = np.linalg.norm(completed[50:130], axis=1) / 1e-3
    assert alone.max() == pytest.approx(limit, rel=1e-6)  # none smaller would do


def test_without_a_budget_nothing_is_said(data):
    assert SVT().fit(data).budget_ is None
    loose = SVT(max_lipschitz=1e6).fit(data)
    np.testing.assert_array_equal(loose.estimate_.shrunk_values, SVT().fit(data).estimate_.shrunk_values)


def test_a_budget_of_nothing_kept(data):
    with pytest.warns(UserWarning, match="no singular value"):
        fitted = SVT(threshold=1e3, max_lipschitz=0.1).fit(data)
    assert fitted.budget_.constant == 0


def test_a_budget_by_name_and_a_bad_one_before_the_work(data, monkeypatch):
    assert make_estimator("svt", max_lipschitz=0.5).max_lipschitz == 0.5
    monkeypatch.setattr(
        "likewise.estimation.thresholding.svt.threshold_spectrum", lambda *_: pytest.fail("too late")
    )
    with pytest.raises(InputError, match="max_lipschitz=-1"):
        SVT(max_lipschitz=-1).fit(data)


def test_an_estimate_without_a_constant_is_refused(data):
    estimate = svt(data)
    ridge = replace(estimate, folding=RidgeFolding(penalties=np.ones(estimate.rank)))
    with pytest.raises(InputError, match="linear folding"):
        within_budget(ridge, 0.5)


# --- offsets of rows and weights of columns: rows filled with their centre


def naive_map(gains, right, weights, penalty):
    """``diag(w) (P + 1 e^T)``, ``e = (1 - w P) / (sum w + lambda)``, in full; without row offsets ``diag(w) P``."""
    P = (right * gains) @ right.T
    if penalty is not None:
        P = P + np.outer(np.ones(len(right)), (1 - weights @ P) / (weights.sum() + penalty))
    return weights[:, None] * P


@given(problems, st.sampled_from([None, 0.0, 5.0]), st.booleans(), st.integers(0, 1000))
def test_the_constant_is_the_largest_row_of_the_map(case, penalty, weighted, seed):
    gains, sigma, right = case
    estimate, weights = made_estimate(gains, sigma, right, penalty, weighted, seed)
    expected = np.linalg.norm(naive_map(gains, right, weights, penalty), axis=1).max()
    rows = KindOfMap.of(estimate).row_map(estimate.right)
    assert rows.largest_row(gains) == pytest.approx(expected, rel=1e-9)
    nothing = np.linalg.norm(naive_map(0 * gains, right, weights, penalty), axis=1).max()
    assert smallest_constant(rows) == pytest.approx(nothing, rel=1e-9, abs=1e-12)


def made_estimate(gains, sigma, right, penalty, weighted, seed):
    """An estimate of observations that nobody made: only its map counts."""
    n, weighting, weights = len(right), None, np.ones(len(right))
    if weighted:
        propensities = np.random.default_rng(seed).uniform(0.2, 1, n)
        weighting, weights = Weighting(propensities, by_count=False, floor=0.1), 1 / propensities
    observed = ObservedMatrix(np.full((2, n), 0.5), value_range=(-1, 1))
    factors = (np.zeros((2, gains.size)), gains * sigma, right)
    folding = LinearFolding(penalty, weighting)
    return LowRankEstimate.from_factors(
        observed, "symmetric", factors, folding, singular_values=sigma
    ), weights


@pytest.mark.parametrize("seed", range(10))
def test_a_general_solver_agrees_with_row_offsets_and_weights(seed):
    targets, sigma, right = problem(seed, 10 + seed, 1 + seed % 4, largest=20.0)
    estimate, weights = made_estimate(targets, sigma, right, float(seed % 3), seed % 2 == 1, seed)
    rows = KindOfMap.of(estimate).row_map(estimate.right)
    limit = smallest_constant(rows) + (0.1 + 0.08 * seed) * (
        rows.largest_row(targets) - smallest_constant(rows)
    )
    solution = within_budget(estimate, limit)[1]

    def room(gains):
        full = naive_map(gains, right, weights, float(seed % 3))
        return limit**2 - (full**2).sum(axis=1)

    found = minimize(
        squared_distance,
        0.05 * targets,
        args=(targets, sigma),
        bounds=[(0, None)] * targets.size,
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert solution.distance**2 == pytest.approx(found.fun, rel=1e-5)
    assert (room(solution.gains) >= -1e-12 * limit**2).all()


@pytest.mark.parametrize("centering", ["global", "row", "column", "biases"])
def test_the_certificate_of_a_centred_estimate_is_within_the_limit(data, centering):
    free = SVT(centering=centering).fit(data)
    limit = 0.5 * certify(free.estimate_, data).filled.value
    fitted = SVT(centering=centering, max_lipschitz=limit).fit(data)
    proved = certify(fitted.estimate_, data).filled.value
    assert limit * (1 - 1e-6) <= proved <= limit


def test_a_budget_below_what_row_offsets_have_alone_says_what_the_smallest_is(data):
    """sqrt(80) / 80 without a penalty."""
    with pytest.raises(InputError, match=r"a limit above 0\.1118, which offsets of rows have alone"):
        SVT(centering="row", max_lipschitz=0.1).fit(data)
    tight = SVT(centering="row", max_lipschitz=0.112).fit(data)
    assert certify(tight.estimate_, data).filled.value <= 0.112


@pytest.mark.parametrize("centering", ["row", "biases"])
def test_no_budget_where_rows_have_offsets_and_weights_of_their_own(data, centering):
    """No constant can hold there, and none is certified."""
    free = SVT(centering=centering, propensities="degrees").fit(data)
    assert isinstance(certify(free.estimate_, data).filled, Unavailable)
    with pytest.raises(
        InputError, match=r"max_lipschitz=0\.5 .* its rows have offsets, and weights of their own"
    ):
        SVT(centering=centering, propensities="degrees", max_lipschitz=0.5).fit(data)
