"""Factors and biases by regressions in turn: by hand, against a naive reference, and what holds for any data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.errors import ConvergenceWarning, InputError, MemoryLimitError
from likewise.estimation import AlternatingLeastSquares, alternating_least_squares
from likewise.estimation.base.factor_update import (
    Factors,
    ObservedRows,
    Prior,
    packed,
    regress,
    unpacked,
)
from likewise.spectrum.orthonormal import orthogonal_factors


def partly_observed(matrix, share, rng):
    values = np.where(rng.random(matrix.shape) < share, matrix, np.nan)
    return as_csr(values)


def as_csr(values):
    i, j = np.nonzero(~np.isnan(values))
    return sparse.csr_array((values[i, j], (i, j)), shape=values.shape)


def completed(fit):
    rows, columns = fit.rows.means, fit.columns.means
    return fit.centre + rows[:, :-1] @ columns[:, :-1].T + rows[:, -1:] + columns[:, -1]


def planted(rng, m=60, n=40, rank=2, noise=0.1):
    truth = (
        rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n)) + rng.normal(size=(m, 1)) + rng.normal(size=n)
    )
    return truth, truth + noise * rng.normal(size=truth.shape)


def naive_regressions(values, weights, centre, others, penalty, by_count):
    """One row at a time, with the design matrix written out."""
    found = np.zeros((values.shape[0], others.shape[1]))
    for i in range(values.shape[0]):
        part = slice(values.indptr[i], values.indptr[i + 1])
        seen, w = values.indices[part], np.diag(weights[part])
        design = np.column_stack([others[seen, :-1], np.ones(seen.size)])
        target = values.data[part] - centre - others[seen, -1]
        shrink = penalty * (max(seen.size, 1) if by_count else 1) * np.eye(design.shape[1])
        found[i] = np.linalg.solve(design.T @ w @ design + shrink, design.T @ w @ target)
    return found


def test_one_row_two_columns_by_hand():
    """Normal equations [[6, 3], [3, 3]] x = [13, 8] for f = (1, 1), (2, 1), z = (3, 5), lambda = 1."""
    columns = Factors.certain(np.array([[1.0, 0.0], [2.0, 0.0]]))
    rows = ObservedRows(sparse.csr_array([[3.0, 5.0]]), None, 1)
    found = regress(rows, columns, Prior(np.eye(2)))
    np.testing.assert_allclose(found.factors.means, [[5 / 3, 1.0]])
    # Residuals 3 - 5/3 - 1 and 5 - 10/3 - 1: what is explained is 34 less their squares.
    assert found.explained == pytest.approx(34 - (1 / 3) ** 2 - (2 / 3) ** 2)
    assert found.penalty == pytest.approx((25 / 9 + 1) / 2)


def test_an_uncertain_column_by_hand():
    """E[v^2] = 1.5, E[v b] = 0.25: matrix I + [[1.5, 1], [1, 1]] / 2, side (3 - 0.25, 3) / 2."""
    columns = Factors(np.array([[1.0, 0.0]]), np.array([[1.5, 0.25, 0.125]]))
    found = regress(ObservedRows(sparse.csr_array([[3.0]]), None, 1), columns, Prior(np.eye(2), 2.0, True))
    matrix = np.array([[1.75, 0.5], [0.5, 1.5]])
    mean = np.array([1.3125, 1.9375]) / 2.375
    np.testing.assert_allclose(found.factors.means, [mean])
    second = np.array([[1.5, -0.5], [-0.5, 1.75]]) / 2.375 + np.outer(mean, mean)
    np.testing.assert_allclose(unpacked(found.factors.moments, 2)[0], second)
    divergence = (np.trace(second) - 2 + np.log(np.linalg.det(matrix))) / 2
    assert found.penalty == pytest.approx(divergence)


def test_packing_is_undone():
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        matrices = rng.normal(size=(4, d, d))
        matrices += matrices.transpose(0, 2, 1)
        np.testing.assert_array_equal(unpacked(packed(matrices), d), matrices)


def test_turned_factors_are_those_of_turned_vectors():
    rng = np.random.default_rng(0)
    means, turn = rng.normal(size=(6, 3)), rng.normal(size=(3, 2))
    turned = Factors.certain(means).turned(turn)
    np.testing.assert_allclose(turned.means, means @ turn)
    np.testing.assert_allclose(turned.moments, Factors.certain(means @ turn).moments)


@pytest.mark.parametrize("by_count", [False, True])
def test_at_convergence_each_side_is_the_naive_regression_on_the_other(by_count):
    rng = np.random.default_rng(1)
    values = partly_observed(planted(rng, 30, 20)[1], 0.6, rng)
    weights = rng.uniform(0.5, 2.0, values.nnz)
    fit = alternating_least_squares(
        values,
        2,
        regularization=0.3,
        by_count=by_count,
        weights=weights,
        tol=1e-12,
        max_iter=5000,
        random_state=0,
    )
    rows = naive_regressions(values, weights, fit.centre, fit.columns.means, 0.3, by_count)
    np.testing.assert_allclose(fit.rows.means, rows, atol=1e-9)
    turned, turned_weights = (
        values.T.tocsr(),
        sparse.csr_array((weights, values.indices, values.indptr)).T.tocsr(),
    )
    columns = naive_regressions(turned, turned_weights.data, fit.centre, fit.rows.means, 0.3, by_count)
    np.testing.assert_allclose(fit.columns.means, columns, atol=1e-3)
    error = values.data - completed(fit)[np.repeat(np.arange(30), np.diff(values.indptr)), values.indices]
    counts = (np.diff(values.indptr), np.diff(turned.indptr)) if by_count else (np.ones(30), np.ones(20))
    penalty = sum(
        (c[:, None] * f.means**2).sum() for c, f in zip(counts, (fit.rows, fit.columns), strict=True)
    )
    assert fit.objectives[-1] == pytest.approx((weights @ error**2 + 0.3 * penalty) / 2)


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 12),
    n=st.integers(1, 12),
    rank=st.integers(1, 4),
    regularization=st.sampled_from(["estimated", 0.01, 1.0]),
    noise=st.sampled_from([None, 0.1, 2.0]),
    weighted=st.booleans(),
)
def test_the_objective_never_rises(seed, m, n, rank, regularization, noise, weighted):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((m, n)) < 0.6, rng.normal(size=(m, n)).round(1), np.nan)
    values[0, 0] = 0.0
    stored = as_csr(values)
    weights = rng.uniform(0.1, 3.0, stored.nnz) if weighted else None
    fit = alternating_least_squares(
        stored,
        rank,
        regularization=regularization,
        noise=noise if regularization == "estimated" else None,
        weights=weights,
        tol=1e-12,
        max_iter=25,
        random_state=seed,
    )
    # While the priors are held they are other ones, so the energy may jump where they are first judged: downwards.
    objectives = np.array(fit.objectives)
    assert (np.diff(objectives) <= 1e-7 * np.abs(objectives).max()).all()
    assert np.isfinite(completed(fit)).all()


def test_a_planted_matrix_and_its_noise_are_found_without_tuning():
    rng = np.random.default_rng(2)
    truth, noisy = planted(rng, 200, 100, 3, noise=0.3)
    values = partly_observed(noisy, 0.3, rng)
    fit = alternating_least_squares(values, 8, random_state=0)
    hidden = np.ones(truth.shape, bool)
    hidden[np.repeat(np.arange(200), np.diff(values.indptr)), values.indices] = False
    # 4 numbers a row and column from 6,000 observations: the error of least squares that knows the rank is of this size.
    expected = 0.3 * np.sqrt(4 * 300 / 6000)
    assert np.sqrt(np.mean((completed(fit) - truth)[hidden] ** 2)) < 2 * expected
    assert fit.row_prior.noise**0.5 == pytest.approx(0.3, rel=0.1)
    strengths = np.linalg.svd(fit.rows.coordinates @ fit.columns.coordinates.T, compute_uv=False)
    assert (strengths[3:] < 0.02 * strengths[2]).all()
    assert fit.converged


def test_a_given_noise_is_kept_and_is_a_share_of_the_variance():
    """Values -1, 1, 5, 7 have a mean of 3 and a variance of 10."""
    values = sparse.csr_array([[-1.0, 1.0], [5.0, 7.0]])
    fit = alternating_least_squares(values, 1, noise=0.3, tol=1e-9, random_state=0)
    assert fit.row_prior.noise == pytest.approx(3.0)
    estimator = AlternatingLeastSquares(1, noise=0.3, value_range=(-1, 7), random_state=0).fit(values)
    assert estimator.noise_ == pytest.approx((0.3 * 10 / 16) ** 0.5)  # on [-1, 1], where a unit is 4


@pytest.mark.slow
def test_a_given_noise_finds_components_that_an_estimate_takes_for_noise():
    """1,500 observations for 1,200 numbers, with noise of variance 1/4; given is twice as much."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth, noisy = planted(rng, 100, 100, 5, noise=0.5)
        values = partly_observed(noisy, 0.15, rng)
        estimated = alternating_least_squares(values, 5, random_state=seed)
        given_noise = alternating_least_squares(values, 5, noise=0.5 / values.data.var(), random_state=seed)
        assert estimated.row_prior.noise > 3 * 0.25
        errors = [np.mean((completed(fit) - truth) ** 2) for fit in (estimated, given_noise)]
        assert errors[1] < 0.8 * errors[0]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"noise": 0}, "noise=0"),
        ({"noise": True}, "noise=True"),
        ({"noise": 0.3, "regularization": 0.5}, "noise.*beside.*regularization"),
    ],
)
def test_a_noise_that_is_none_is_named(options, match):
    with pytest.raises(InputError, match=match):
        AlternatingLeastSquares(1, **options).fit(np.eye(3))


def test_an_observation_of_weight_two_counts_as_two():
    rng = np.random.default_rng(3)
    means = rng.normal(size=(3, 3))
    once = Factors.certain(means)
    twice = Factors.certain(means[[0, 1, 1, 2]])
    prior = Prior(np.eye(3), 0.5, uncertain=True)
    z = np.array([[1.0, -2.0, 0.0]])
    weighted = regress(ObservedRows(sparse.csr_array(z + 5), np.array([1.0, 2.0, 1.0]), 2), once, prior)
    repeated = regress(ObservedRows(sparse.csr_array(z[:, [0, 1, 1, 2]] + 5), None, 2), twice, prior)
    np.testing.assert_allclose(weighted.factors.means, repeated.factors.means)
    assert weighted.penalty == pytest.approx(repeated.penalty)


def test_other_units_give_the_same_in_those_units():
    rng = np.random.default_rng(4)
    values = partly_observed(planted(rng)[1], 0.4, rng)
    larger = sparse.csr_array((7 * values.data, values.indices, values.indptr), shape=values.shape)
    fits = [alternating_least_squares(z, 3, tol=1e-3, random_state=0) for z in (values, larger)]
    np.testing.assert_allclose(completed(fits[1]), 7 * completed(fits[0]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("regularization", ["estimated", 0.5])
@pytest.mark.parametrize("shape", [(1, 1), (6, 1), (1, 6), (3, 2)])
def test_thin_matrices_and_ranks_beyond_their_sides(shape, regularization):
    stars = np.resize([1.0, 5.0, 3.0], shape)
    estimator = AlternatingLeastSquares(
        10, regularization, value_range=(0, 6), max_iter=400, tol=1e-3, random_state=0
    )
    assert np.isfinite(estimator.fit_transform(stars)).all()
    assert estimator.rank_ <= min(shape)


def test_what_is_not_observed_is_what_the_other_side_says():
    stars = np.array([[5.0, 1.0, np.nan], [4.0, 2.0, np.nan], [np.nan] * 3])
    estimate = AlternatingLeastSquares(1, 0.5, value_range=(1, 5), random_state=0).fit(stars).estimate_
    np.testing.assert_allclose(estimate.rows([2])[0], 3 + 2 * estimate.column_offsets)
    np.testing.assert_allclose(
        estimate.to_dense()[:, 2], 3 + 2 * (estimate.column_offsets[2] + estimate.row_offsets)
    )


@pytest.mark.filterwarnings("ignore::likewise.errors.PropensityWarning")
@pytest.mark.parametrize("regularization", ["estimated", 0.1])
def test_rows_of_the_fit_fold_in_exactly(regularization):
    rng = np.random.default_rng(5)
    stars = np.where(rng.random((40, 12)) < 0.5, rng.integers(1, 6, (40, 12)), np.nan)
    stars[:, 0] = np.resize([1.0, 5.0], 40)
    for propensities in (None, "degrees"):
        estimator = AlternatingLeastSquares(
            3, regularization, propensities=propensities, value_range=(1, 5), tol=1e-3, random_state=0
        ).fit(stars)
        np.testing.assert_allclose(estimator.transform(stars), estimator.estimate_.to_dense(), atol=1e-9)


def test_orthogonal_factors_turn_rows_into_coefficients():
    rng = np.random.default_rng(6)
    rows, columns = rng.normal(size=(3, 5)), rng.normal(size=(7, 5))
    (left, values, right), turn = orthogonal_factors(rows, columns)
    np.testing.assert_allclose((left * values) @ right.T, rows @ columns.T)
    np.testing.assert_allclose(rows @ turn @ right.T, rows @ columns.T)
    np.testing.assert_allclose(right.T @ right, np.eye(values.size), atol=1e-12)


def test_a_fit_that_is_stopped_is_kept_and_flagged():
    stars = np.random.default_rng(7).integers(1, 6, (20, 10)).astype(float)
    estimator = AlternatingLeastSquares(2, max_iter=1, value_range=(1, 5), random_state=0)
    with pytest.warns(ConvergenceWarning, match="not converged after 1 sweep:"):
        estimator.fit(stars)
    assert estimator.converged_ is False
    assert estimator.n_iter_ == 1
    assert "not converged" in estimator.notes_[0]
    assert np.isfinite(estimator.estimate_.to_dense()).all()


@pytest.mark.parametrize(
    "options",
    [
        {"rank": 0},
        {"rank": 2.5},
        {"rank": True},
        {"regularization": 0.0},
        {"regularization": -1},
        {"regularization": float("nan")},
        {"regularization": "bayes"},
        {"tol": 0},
        {"max_iter": 0},
    ],
)
def test_bad_parameters_are_named(options):
    (name,) = options
    with pytest.raises(InputError, match=f"^{name}(=| is ).*; expected"):
        AlternatingLeastSquares(**options).fit(np.eye(3))


def test_components_that_fit_noise_do_not_keep_themselves_alive():
    """One weak component under much noise: where ten begin, the one that is left is as good as where one begins."""
    rng = np.random.default_rng(0)
    m, n = 400, 300
    truth = rng.normal(size=(m, 1)) + rng.normal(size=n) + 0.6 * rng.normal(size=(m, 1)) * rng.normal(size=n)
    values = partly_observed(truth + 1.5 * rng.normal(size=(m, n)), 0.08, rng)
    one, ten = (alternating_least_squares(values, rank, random_state=0) for rank in (1, 10))
    errors = [np.mean((completed(fit) - truth) ** 2) for fit in (one, ten)]
    assert errors[1] < 1.05 * errors[0]
    assert ten.row_prior.noise == pytest.approx(one.row_prior.noise, rel=0.01)


def test_components_without_use_are_dropped():
    rng = np.random.default_rng(2)
    values = partly_observed(planted(rng, 200, 100, 3, noise=0.3)[1], 0.3, rng)
    fit = alternating_least_squares(values, 8, random_state=0)
    assert fit.rank == 3
    assert fit.columns.moments.shape == (100, 10)


@pytest.mark.parametrize("regularization", ["estimated", 0.5])
def test_a_fit_that_begins_with_another_stays_near_it(regularization):
    rng = np.random.default_rng(3)
    values = partly_observed(planted(rng, 80, 60)[1], 0.4, rng)
    options = {"regularization": regularization, "tol": 1e-6, "max_iter": 500, "random_state": 0}
    first = alternating_least_squares(values, 5, **options)
    again = alternating_least_squares(values, 5, start=first, **options)
    assert again.n_iter <= 3
    np.testing.assert_allclose(completed(again), completed(first), atol=1e-2)


def test_a_fit_ends_where_it_is_told_to():
    values = partly_observed(planted(np.random.default_rng(4))[1], 0.4, np.random.default_rng(4))
    answers = iter([False, False, True, True])
    fit = alternating_least_squares(values, 2, tol=1e-12, random_state=0, stop=lambda: next(answers))
    assert fit.n_iter == 3
    assert not fit.converged


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regularization": 1e-18}, "regularization so small that it is lost in rounding"),
        ({"noise": 1e-16}, "a share of at least 1e-15. Hint: less is so small that rounding swallows it"),
    ],
)
def test_a_prior_that_is_lost_in_rounding_is_refused(options, message):
    stars = np.random.default_rng(0).integers(1, 6, (30, 8)).astype(float)
    with pytest.raises(InputError, match=message):
        AlternatingLeastSquares(20, value_range=(1, 5), random_state=0, **options).fit(stars)


def test_a_fit_that_would_not_fit_is_refused_before_it_begins(monkeypatch):
    monkeypatch.setattr("likewise.memory.available_memory", lambda: 1e6)
    with pytest.raises(MemoryLimitError, match=r"factors of rank 20 of 400 x 300.*take a smaller rank"):
        alternating_least_squares(sparse.csr_array(np.ones((400, 300))), 20)


def test_counts_have_no_say_where_the_regularization_is_estimated():
    with pytest.raises(InputError, match="by_count=True beside a regularization that is estimated"):
        AlternatingLeastSquares(2, by_count=True).fit(np.eye(3))


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), rank=st.integers(1, 3), share=st.sampled_from([0.5, 0.8, 1.0]))
def test_a_matrix_without_noise_is_fitted_as_it_is(seed, rank, share):
    """An estimate of no noise is rounding, and was refused as a noise that nobody had given."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((25, rank)) @ rng.standard_normal((rank, 18))
    fit = alternating_least_squares(partly_observed(truth, share, rng), rank, random_state=0)
    assert fit.row_prior.noise > 0
    assert np.isfinite(fit.rows.means).all()
    # The objective holds squares over the noise, which is tiny here: their rounding, some units in the last place, is all that may lift it.
    rounding = 16 * np.finfo(float).eps * (truth**2).sum() / fit.row_prior.noise
    assert (np.diff(fit.objectives) <= rounding).all()


@pytest.mark.parametrize("shape", [(60, 40), (20, 15), (200, 30)])
def test_a_matrix_without_noise_comes_back(shape):
    rng = np.random.default_rng(0)
    truth = np.outer(rng.standard_normal(shape[0]), rng.standard_normal(shape[1]))
    fit = alternating_least_squares(as_csr(truth), 1, random_state=0)
    np.testing.assert_allclose(completed(fit), truth, atol=1e-6)
    assert fit.converged


def test_a_noise_that_is_no_number_beside_the_observations_is_refused():
    with pytest.raises(InputError, match=r"noise=4\.94066e-324; expected a share of at least 1e-15"):
        alternating_least_squares(as_csr(np.eye(3)), 1, noise=5e-324)


@pytest.mark.slow
def test_components_of_few_observations_fade_in_few_sweeps():
    """Where a person has four observations nothing but biases can be found: 20 components took 143 sweeps, and were then still there."""
    rng = np.random.default_rng(0)
    m, n, draws = 1500, 3000, 6000
    rows = rng.choice(m, draws, p=np.arange(m, 0, -1.0) / (m * (m + 1) / 2))
    cells = np.unique(rows * n + rng.integers(0, n, draws))
    values = rng.normal(size=m)[cells // n] + rng.normal(size=cells.size)
    seen = sparse.csr_array((values, (cells // n, cells % n)), shape=(m, n))
    fit = alternating_least_squares(seen, 20, random_state=0)
    assert fit.converged
    assert fit.rank <= 1
    plain = alternating_least_squares(seen, 1, random_state=0)
    assert fit.objectives[-1] <= plain.objectives[-1] + 0.01 * cells.size
    assert fit.n_iter < 60


@pytest.mark.slow
def test_components_that_an_estimated_noise_has_swallowed_are_told_of():
    """One observation for thirteen numbers: whatever is weak counts as noise. Not where the noise is given, nor where observations are many."""
    rng = np.random.default_rng(0)
    few = np.where(rng.random((60, 80)) < 0.15, rng.normal(size=(60, 80)), np.nan)
    n_observed = int((~np.isnan(few)).sum())

    def notes(values, **options):
        return AlternatingLeastSquares(value_range=(-5, 5), random_state=0, **options).fit(values).notes_

    told = notes(few)
    assert told[0].startswith(
        f"{n_observed:,} observations for the 2,800 numbers of 20 components, of which "
    )
    assert "a smaller share of noise, such as 0.6, and fewer components can predict better" in told[0]
    assert notes(few, noise=0.6) == notes(few, regularization=5.0) == notes(rng.normal(size=(60, 80))) == ()
