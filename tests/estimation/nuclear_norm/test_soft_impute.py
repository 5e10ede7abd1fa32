"""SoftImpute: by hand, against the dense iteration of its inventors, and the conditions of a minimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from likewise.errors import ConvergenceWarning, InputError, ShapeError
from likewise.estimation import SoftImpute, alternating_least_squares, soft_impute
from likewise.estimation.nuclear_norm.problem import DualityGap
from likewise.estimation.nuclear_norm.soft_impute import (
    chosen_on_path,
    lambdas_down_to,
    largest_singular_value,
    solution_path,
)
from likewise.observations import clustered


def observations(seed, m=30, n=20, share=0.5, rank=3):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n)) + 0.3 * rng.normal(size=(m, n))
    seen = rng.random((m, n)) < share
    seen[0, 0] = True
    i, j = np.nonzero(seen)
    return sparse.csr_array((matrix[i, j], (i, j)), shape=(m, n)), np.where(seen, matrix, np.nan)


def dense(fit):
    return (fit.left * fit.values) @ fit.right.T


def objective(z, a, lam):
    return 0.5 * np.nansum((z - a) ** 2) + lam * np.linalg.svd(a, compute_uv=False).sum()


def naive(z, lam, steps):
    """Fill what is missing from the estimate, lower the singular values, repeat (Mazumder et al. 2010, Algorithm 1)."""
    a = np.zeros(z.shape)
    for _ in range(steps):
        u, s, vt = np.linalg.svd(np.where(np.isnan(z), a, z), full_matrices=False)
        a = (u * np.maximum(s - lam, 0)) @ vt
    return a


def test_one_row_two_columns_by_hand():
    """sigma = 5, lambda = 1: four fifths of (3, 4)."""
    fit = soft_impute(sparse.csr_array([[3.0, 4.0]]), 1.0, random_state=0)
    np.testing.assert_allclose(dense(fit), [[2.4, 3.2]])
    assert fit.converged
    assert fit.objective == pytest.approx(0.5 * (0.36 + 0.64) + 4)


@pytest.mark.slow
def test_an_entry_that_is_not_observed_by_hand():
    """Two rows (z, z) and (z, missing) of rank one: with lambda -> 0 the missing entry becomes z."""
    values = sparse.csr_array(([2.0, 2.0, 2.0], ([0, 0, 1], [0, 1, 0])), shape=(2, 2))
    fit = soft_impute(values, 1e-3, tol=1e-9, max_iter=20_000, random_state=0)
    np.testing.assert_allclose(dense(fit), np.full((2, 2), 2.0), atol=0.05)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_it_is_the_limit_of_the_dense_iteration(shape):
    stored, z = observations(0, *shape)
    fit = soft_impute(stored, 2.0, tol=1e-9, max_iter=5000, random_state=0)
    reference = naive(z, 2.0, 3000)
    np.testing.assert_allclose(dense(fit), reference, atol=2e-3)
    assert fit.objective == pytest.approx(objective(z, reference, 2.0), rel=1e-8)


def test_the_residual_at_a_minimum_is_a_subgradient():
    """``||P(Z - A)||_2 <= lambda``, and ``P(Z - A) v = lambda u`` on what is kept (Mazumder et al. 2010, Section 4)."""
    stored, z = observations(1)
    fit = soft_impute(stored, 1.5, tol=1e-10, max_iter=20_000, random_state=0)
    residual = np.nan_to_num(z - dense(fit))
    assert np.linalg.norm(residual, 2) <= 1.5 * (1 + 1e-4)
    np.testing.assert_allclose(residual @ fit.right, 1.5 * fit.left, atol=1e-3)
    np.testing.assert_allclose(residual.T @ fit.left, 1.5 * fit.right, atol=1e-3)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 14),
    n=st.integers(1, 14),
    lam=st.sampled_from([0.05, 0.5, 5.0]),
    max_iter=st.sampled_from([1, 5, 300]),
)
def test_the_gap_is_a_bound_whenever_it_stops(seed, m, n, lam, max_iter):
    """No matrix has an objective below ``(1 - gap)`` times the one returned: not the naive solution either."""
    stored, z = observations(seed, m, n)
    fit = soft_impute(stored, lam, max_iter=max_iter, random_state=seed)
    assert fit.objective == pytest.approx(objective(z, dense(fit), lam), rel=1e-9, abs=1e-12)
    assert objective(z, naive(z, lam, 400), lam) >= fit.objective * (1 - fit.gap) - 1e-9
    assert fit.converged == (fit.gap <= 1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_gap_is_a_bound_where_a_randomised_test_proves_it(seed, monkeypatch):
    """As beyond 1,000 columns: the level is proved by a test on random vectors, and the largest singular value is below it."""
    monkeypatch.setattr("likewise.spectrum.proof.INERTIA_SIDE", 0)
    stored, z = observations(seed, 60, 40)
    w, of_stored = weights_of(z, seed)
    fit = soft_impute(stored, 1.0, weights=of_stored, tol=1e-3, max_iter=2000, random_state=seed)
    pull = np.nan_to_num(w * (z - dense(fit)))
    scale = min(1.0, 1.0 / np.linalg.norm(pull, 2))
    dual = scale * np.nansum(pull * z) - scale**2 / 2 * np.nansum(pull * (z - dense(fit)))
    true_gap = 1 - dual / fit.objective
    assert fit.converged
    assert 0 < true_gap <= fit.gap <= 1e-3


@given(
    seed=st.integers(0, 10**6), lam=st.floats(0.1, 9.0), above=st.floats(1.0, 9.0), more=st.floats(1e-6, 0.5)
)
def test_the_bound_for_a_gap_is_the_largest_that_has_it(seed, lam, above, more):
    rng = np.random.default_rng(seed)
    z, a = rng.normal(size=(2, 7))
    residual = z - a
    value = 0.5 * residual @ residual + lam * abs(a).sum()
    gap = DualityGap(value, residual @ z, residual @ residual, lam)
    wanted = gap.at(above * lam) + more
    assert wanted >= gap.at(0.0)
    if wanted < 1:
        assert gap.at(gap.bound_for(wanted)) == pytest.approx(wanted, rel=1e-6)
        assert gap.bound_for(wanted) >= above * lam * (1 - 1e-9) or gap.at(above * lam) == gap.at(0.0)


# weights


def weighted_objective(z, w, a, lam):
    return 0.5 * np.nansum(w * (z - a) ** 2) + lam * np.linalg.svd(a, compute_uv=False).sum()


def naive_weighted(z, w, lam, steps):
    """Proximal gradient steps of one over the largest weight, on dense arrays (Mazumder et al. 2010 with weights)."""
    a, largest = np.zeros(z.shape), w.max()
    for _ in range(steps):
        moved = a + np.nan_to_num(w / largest * (z - a))
        u, s, vt = np.linalg.svd(moved, full_matrices=False)
        a = (u * np.maximum(s - lam / largest, 0)) @ vt
    return a


def weights_of(z, seed, lowest=0.2):
    """One for each cell; and those of what is stored, in its order."""
    w = np.random.default_rng(seed).uniform(lowest, 2.0, z.shape)
    return w, w[~np.isnan(z)]


def test_weights_by_hand():
    """Diagonal and all observed, lambda = 1: 3 of weight 2 loses 1/2, 4 of weight 1 loses 1, since W (Z - A) is then the identity."""
    values = sparse.csr_array(([3.0, 0.0, 0.0, 4.0], ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    fit = soft_impute(values, 1.0, weights=np.array([2.0, 5.0, 5.0, 1.0]), tol=1e-9, max_iter=5000)
    np.testing.assert_allclose(dense(fit), np.diag([2.5, 3.0]), atol=1e-4)
    assert fit.objective == pytest.approx(0.5 * (2 * 0.25 + 1.0) + 5.5)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_weighted_it_is_the_limit_of_the_dense_iteration(shape):
    stored, z = observations(8, *shape)
    w, of_stored = weights_of(z, 8)
    fit = soft_impute(stored, 1.5, weights=of_stored, tol=1e-9, max_iter=9000, random_state=0)
    reference = naive_weighted(z, w, 1.5, 6000)
    assert fit.converged
    np.testing.assert_allclose(dense(fit), reference, atol=2e-3)
    assert fit.objective == pytest.approx(weighted_objective(z, w, reference, 1.5), rel=1e-8)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 12),
    n=st.integers(1, 12),
    lam=st.sampled_from([0.05, 0.5, 5.0]),
    lowest=st.sampled_from([0.0, 0.5, 2.0]),
    max_iter=st.sampled_from([1, 5, 300]),
)
def test_the_weighted_gap_is_a_bound_whenever_it_stops(seed, m, n, lam, lowest, max_iter):
    stored, z = observations(seed, m, n)
    w, of_stored = weights_of(z, seed, lowest)
    fit = soft_impute(stored, lam, weights=of_stored, max_iter=max_iter, random_state=seed)
    assert fit.objective == pytest.approx(weighted_objective(z, w, dense(fit), lam), rel=1e-9, abs=1e-12)
    least = weighted_objective(z, w, naive_weighted(z, w, lam, 400), lam)
    assert least >= fit.objective * (1 - fit.gap) - 1e-9
    assert fit.converged == (fit.gap <= 1e-4)


@pytest.mark.slow
def test_an_observation_of_weight_zero_is_not_there():
    stored, _ = observations(9)
    w = np.where(np.arange(stored.nnz) % 5, 1.0, 0.0)
    without = stored.copy()
    without.data[w == 0] = 77.0
    first, second = (
        soft_impute(values, 1.0, weights=w, tol=1e-8, max_iter=5000, random_state=0)
        for values in (stored, without)
    )
    np.testing.assert_allclose(dense(first), dense(second), atol=1e-6)


@pytest.mark.slow
def test_only_lambda_over_the_weights_matters():
    stored, z = observations(10)
    _, w = weights_of(z, 10)
    once, fourfold = (
        soft_impute(stored, k * 1.0, weights=k * w, tol=1e-8, max_iter=5000, random_state=0)
        for k in (1, 4)  # exact in binary
    )
    np.testing.assert_allclose(dense(fourfold), dense(once), rtol=1e-12)
    assert fourfold.objective == pytest.approx(4 * once.objective)


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        (np.ones(3), ShapeError),
        (-np.ones(4), InputError),
        (np.zeros(4), InputError),
        (np.array([1.0, np.nan, 1.0, 1.0]), InputError),
        (np.array([1.0, np.inf, 1.0, 1.0]), InputError),
    ],
)
@pytest.mark.parametrize(
    "fit",
    [
        lambda values, w: soft_impute(values, 1.0, weights=w),
        lambda values, w: alternating_least_squares(values, 1, weights=w),
    ],
)
def test_weights_that_are_none_are_named(fit, weights, error):
    with pytest.raises(error, match=r"^weights"):
        fit(sparse.csr_array([[1.0, 2.0], [3.0, 4.0]]), weights)


def test_weights_decide_what_is_held_out_for():
    """The errors of the path are ``sqrt(sum w e^2 / sum w)`` of what its own solutions leave of the observations held out."""
    stored, z = observations(11)
    _, w = weights_of(z, 11)
    points = chosen_on_path(stored, 3, np.random.default_rng(5), w, tol=1e-6, max_iter=2000, random_state=0)
    hidden = np.zeros(stored.nnz, bool)
    hidden[np.random.default_rng(5).choice(stored.nnz, round(0.1 * stored.nnz), replace=False)] = True
    rows, columns = (c[hidden] for c in stored.tocoo().coords)
    assert len(points) > 1
    for point in points:
        squares = (z[rows, columns] - dense(point.fit)[rows, columns]) ** 2
        expected = np.sqrt((w[hidden] * squares).sum() / w[hidden].sum())
        assert point.held_out_error == pytest.approx(expected)
        assert point.held_out_error != pytest.approx(np.sqrt(squares.mean()), rel=1e-6)


# the path, and the estimator


@pytest.mark.slow
def test_from_large_lambdas_to_small_ones_the_solutions_are_those_from_nothing():
    stored, _ = observations(2)
    lambdas = lambdas_down_to(0.5, largest_singular_value(stored), 5)
    *_, last = solution_path(stored, lambdas, tol=1e-8, max_iter=5000, random_state=0)
    cold = soft_impute(stored, 0.5, tol=1e-8, max_iter=5000, random_state=1)
    np.testing.assert_allclose(dense(last), dense(cold), atol=5e-3)


def test_a_lambda_above_the_largest_singular_value_leaves_nothing():
    stored, _ = observations(3)
    fit = soft_impute(stored, 1.01 * largest_singular_value(stored), random_state=0)
    assert (fit.rank, fit.converged) == (0, True)
    assert 0 <= fit.gap <= 1e-4


def test_a_rank_limit_holds_and_its_gap_is_told():
    stored, z = observations(4)
    fit = soft_impute(stored, 0.5, max_rank=2, max_iter=2000, random_state=0)
    assert fit.rank == 2
    assert fit.converged
    assert fit.gap > 1e-3
    assert objective(z, naive(z, 0.5, 2000), 0.5) >= fit.objective * (1 - fit.gap)


def test_stored_zeros_are_observed_and_empty_rows_stay_empty():
    stored = sparse.csr_array(([1.0, 0.0, 1.0], ([0, 0, 1], [0, 1, 0])), shape=(3, 2))
    assert stored.nnz == 3
    fit = soft_impute(stored, 0.1, tol=1e-8, random_state=0)
    assert abs(dense(fit)[:, 1]).max() < 1e-3
    np.testing.assert_allclose(dense(fit)[2], 0, atol=1e-12)


@pytest.mark.slow
def test_held_out_observations_choose_a_lambda_that_predicts():
    """Experiment 1, p = 0.2: better on what is not observed than half the largest singular value."""
    data = clustered(100, 200, 5, observed_fraction=0.2, random_state=0)
    hidden = np.ones(data.truth.shape, bool)
    hidden[data.observed.positions()] = False
    chosen, half = (
        SoftImpute(choice, tol=1e-3, random_state=0).fit(data.observed) for choice in ("held-out", "half")
    )
    by_held_out, by_half = (
        np.mean((fitted.estimate_.to_dense() - data.truth)[hidden] ** 2) for fitted in (chosen, half)
    )
    assert by_held_out < by_half < np.mean(data.truth[hidden] ** 2)
    lambdas, _, error = np.array(chosen.path_).T
    assert (np.diff(lambdas) < 0).all()
    assert chosen.regularization_ == pytest.approx(lambdas[np.argmin(error)] / np.sqrt(0.9))


@pytest.mark.slow
def test_rows_of_the_fit_fold_in_to_their_estimate():
    _, z = observations(6)
    estimator = SoftImpute(
        0.3, centering="none", value_range=(-12, 12), tol=1e-9, max_iter=20_000, random_state=0
    )
    estimator.fit(z)
    np.testing.assert_allclose(estimator.transform(z), estimator.estimate_.to_dense(), atol=0.02)


def test_a_fit_that_is_stopped_is_kept_and_flagged():
    _, z = observations(7)
    estimator = SoftImpute(0.01, n_path=1, max_iter=2, value_range=(-12, 12), random_state=0)
    with pytest.warns(ConvergenceWarning, match="not converged after 2 steps: the objective may be"):
        estimator.fit(z)
    assert estimator.converged_ is False
    assert estimator.gap_ > estimator.tol
    assert "not converged" in estimator.notes_[-1]


@pytest.mark.parametrize(
    "options",
    [
        {"regularization": 0.0},
        {"regularization": "most"},
        {"regularization": float("inf")},
        {"n_path": 0},
        {"max_rank": 0},
        {"tol": -1.0},
        {"max_iter": 1.5},
    ],
)
def test_bad_parameters_are_named(options):
    (name,) = options
    with pytest.raises(InputError, match=f"^{name}(=| is ).*; expected"):
        SoftImpute(**options).fit(np.eye(3))


@pytest.mark.parametrize("value", [3.0, 5.0])
def test_ratings_that_are_all_the_same_leave_nothing_to_choose_by(value):
    """Less their centre they are 0, so no lambda is a share of the largest singular value."""
    Z = np.full((6, 8), np.nan)
    Z[np.random.default_rng(0).random(Z.shape) < 0.6] = value
    fitted = SoftImpute(value_range=(1, 5), random_state=0).fit(Z)
    assert (fitted.rank_, fitted.path_) == (0, ())
    np.testing.assert_allclose(fitted.estimate_.to_dense(), value)


@pytest.mark.slow
@pytest.mark.parametrize("tol", [5e-324, 1e-30])
@pytest.mark.parametrize("regularization", ["held-out", 0.3])
def test_a_tolerance_below_rounding_ends_where_nothing_moves_any_more(tol, regularization):
    values = np.random.default_rng(0).integers(1, 6, (12, 8)).astype(float)
    fitted = SoftImpute(regularization, tol=tol, max_iter=10**6, value_range=(1, 5), random_state=0).fit(
        values
    )
    assert fitted.converged_
    assert fitted.gap_ < 1e-8
    assert any("to double precision" in note for note in fitted.notes_)
    exact = SoftImpute(
        fitted.regularization_, tol=1e-10, max_iter=10**6, value_range=(1, 5), random_state=0
    ).fit(values)
    np.testing.assert_allclose(fitted.estimate_.to_dense(), exact.estimate_.to_dense(), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tolerance_that_can_be_reached_is_reached_though_the_objective_is_flat(weighted):
    """The gap is about the root of what the objective has left to fall: at 1e-8 that is below rounding already."""
    rng = np.random.default_rng(2)
    values = sparse.csr_array(np.where(rng.random((30, 20)) < 0.5, rng.integers(1, 6, (30, 20)), 0.0))
    weights = rng.random(values.nnz) + 0.1 if weighted else None
    fit = soft_impute(values, 1.0, weights=weights, tol=1e-11, max_iter=10**5, random_state=0)
    assert fit.converged
    assert fit.gap <= 1e-11


def test_a_tolerance_below_rounding_ends_at_a_limit_of_the_rank_too():
    values = np.random.default_rng(1).integers(1, 6, (12, 8)).astype(float)
    fitted = SoftImpute(0.1, max_rank=2, tol=5e-324, max_iter=10**5, value_range=(1, 5), random_state=0).fit(
        values
    )
    assert fitted.converged_
    assert fitted.n_iter_ < 10**5
