"""Propensities: by hand, against a naive optimum, and what weighting by them is for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar

from likewise import SVT, ObservedMatrix, svt
from likewise.errors import InputError, ShapeError
from likewise.estimation import (
    AlternatingLeastSquares,
    SoftImpute,
    centre,
    one_bit_completion,
    propensities_of,
)
from likewise.estimation.one_bit import projected_on_nuclear_ball

SEEN = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool)
"""Rows observed 3, 1, 2 times, columns 3, 2, 1, 0; N = 6."""


def stored(mask, values=None):
    i, j = np.nonzero(mask)
    data = np.ones(i.size) if values is None else values[i, j]
    return sparse.csr_array((data, (i, j)), shape=mask.shape)


def test_degrees_by_hand():
    """3 x (3, 2, 1) / 6, 1 x 3 / 6, 2 x (3, 2) / 6, the first clipped to 1."""
    found = propensities_of(stored(SEEN), "degrees")
    np.testing.assert_allclose(found.probabilities, [1, 1, 0.5, 0.5, 1, 2 / 3])
    assert found.clipped_fraction == pytest.approx(1 / 6)
    np.testing.assert_allclose(found.weights, 0.5 / found.probabilities)
    worth = (1 + 1 + 2 + 2 + 1 + 1.5) ** 2 / (1 + 1 + 4 + 4 + 1 + 2.25)
    assert (
        f"16.7% of the observations clipped to [0.05, 1]; weighted, 6 observations are worth {worth:.0f}"
        in found.notes[-1]
    )


def test_the_floor_clips_and_says_so():
    found = propensities_of(stored(SEEN), "degrees", floor=0.6)
    np.testing.assert_allclose(found.probabilities, [1, 1, 0.6, 0.6, 1, 2 / 3])
    assert found.clipped_fraction == pytest.approx(0.5)


@pytest.mark.parametrize(
    "choice",
    [
        np.array([[0.5, 0.25, 0.125, 0.1], [0.4, 0.2, 0.1, 0.08], [0.3, 0.15, 0.075, 0.06]]),
        ([1.0, 0.8, 0.6], [0.5, 0.25, 0.125, 0.1]),
    ],
)
def test_given_ones_of_all_cells_or_as_factors_by_hand(choice):
    found = propensities_of(stored(SEEN), choice)
    np.testing.assert_allclose(found.probabilities, [0.5, 0.25, 0.125, 0.4, 0.3, 0.15])
    assert found.clipped_fraction == 0
    # A row never seen, with two observations: 2 x column sums over the sum of all, here .51 and .26.
    new = sparse.csr_array(([1.0, 1.0], ([0, 0], [1, 2])), shape=(1, 4))
    np.testing.assert_allclose(found.weighting.propensities(new), 2 * np.array([0.25, 0.125]) / 0.975)


def test_given_ones_of_columns_hold_for_every_row():
    found = propensities_of(stored(SEEN), np.array([0.5, 0.25, 0.125, 0.1]))
    np.testing.assert_allclose(found.probabilities, [0.5, 0.25, 0.125, 0.5, 0.5, 0.25])
    np.testing.assert_allclose(found.weighting.of_columns()[:3], 0.5 / np.array([0.5, 0.25, 0.125]))


@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        (np.full((3, 4), 0.0), InputError, r"propensities with 0; expected numbers in \(0, 1\]"),
        (np.full((3, 4), 1.5), InputError, "propensities with 1.5"),
        (np.full((3, 4), np.nan), InputError, "propensities with nan"),
        (
            np.full((4, 3), 0.5),
            ShapeError,
            r"propensities of shape \(4, 3\); expected \(3, 4\), \(4,\), or a pair",
        ),
        (np.full(3, 0.5), ShapeError, "propensities of shape"),
        ((np.full(4, 0.5), np.full(3, 0.5)), ShapeError, "factors of shapes"),
        ((np.full(3, 0.5),), ShapeError, "1 factors"),
        ((np.full(3, 0.5), np.full(4, -0.5)), InputError, "a factor of propensities with -0.5"),
        ("degree", InputError, "unknown propensities 'degree'.*did you mean 'degrees'"),
        ("words here", InputError, "unknown propensities"),
        ([["a"]], InputError, "propensities"),
    ],
)
def test_bad_propensities_are_named(choice, error, message):
    with pytest.raises(error, match=message):
        propensities_of(stored(SEEN), choice)


@pytest.mark.parametrize("floor", [0.0, -1.0, 1.1, np.nan])
def test_bad_floors_are_named(floor):
    with pytest.raises(InputError, match="propensity floor"):
        propensities_of(stored(SEEN), "degrees", floor=floor)


def test_those_of_other_observations_are_refused():
    other = propensities_of(stored(SEEN), "degrees")
    with pytest.raises(ShapeError, match="propensities of 6 observations of 4 features"):
        propensities_of(stored(SEEN[:2]), other)


def ratings(m=40, n=25, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.clip(rng.uniform(-1, 1, (m, 2)) @ rng.uniform(-1, 1, (2, n)), -1, 1)
    chances = np.clip(0.4 + 0.35 * truth, 0.05, 1)  # what is liked is seen
    return truth, chances, rng.random((m, n)) < chances


def masked(truth, mask):
    return ObservedMatrix(np.where(mask, truth, np.nan), value_range=(-1, 1))


def test_equal_propensities_weigh_nothing():
    truth, _, mask = ratings()
    Z = masked(truth, mask)
    plain = SVT(threshold=1.0).fit(Z)
    weighted = SVT(threshold=1.0, propensities=np.full(truth.shape, mask.mean())).fit(Z)
    np.testing.assert_allclose(weighted.estimate_.to_dense(), plain.estimate_.to_dense(), atol=1e-9)
    assert weighted.rank_ == plain.rank_ > 0


def test_weighted_estimation_is_svt_of_inversely_weighted_entries():
    """``SVT(Z / p, tau / p_hat, identity)``, zero-filled: the definition, on a dense matrix and NumPy's SVD."""
    truth, chances, mask = ratings()
    fitted = SVT(threshold=1.0, propensities=chances).fit(masked(truth, mask))
    left, sigma, right = np.linalg.svd(np.where(mask, truth / chances, 0))
    kept = sigma > 1.0 / mask.mean()
    expected = np.clip((left[:, : sigma.size][:, kept] * sigma[kept]) @ right[: sigma.size][kept], -1, 1)
    np.testing.assert_allclose(fitted.estimate_.to_dense(), expected, atol=1e-9)


def test_true_propensities_lower_the_error_where_what_is_liked_is_seen():
    """Mean error over cells, five draws: with the true propensities below that without, in each."""
    for seed in range(5):
        truth, chances, mask = ratings(200, 120, seed)
        Z = masked(truth, mask)
        plain, weighted = (
            SVT(centering="global", propensities=choice).fit(Z).estimate_.to_dense()
            for choice in (None, chances)
        )
        assert np.mean((weighted - truth) ** 2) < np.mean((plain - truth) ** 2)


def test_soft_impute_minimises_the_inversely_weighted_errors():
    """Against the objective itself: no estimate near the fitted one has a smaller one."""
    truth, chances, mask = ratings()
    fitted = SoftImpute(0.5, centering="none", propensities=chances, tol=1e-7, max_iter=9000, random_state=0)
    estimate = fitted.fit(masked(truth, mask)).estimate_
    dense = (estimate.left * estimate.singular_values) @ estimate.right.T
    w = np.where(mask, mask.mean() / chances, 0)

    def objective(a):
        return 0.5 * (w * (truth - a) ** 2).sum() + 0.5 * np.linalg.svd(a, compute_uv=False).sum()

    least, rng = objective(dense), np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        assert least < objective(dense + size * rng.normal(size=dense.shape))
        assert least * (1 - 1e-6) < objective((1 - size) * dense)
    assert fitted.propensities_.method == "given"
    assert any("propensities (given)" in note for note in fitted.notes_)


@pytest.mark.parametrize(
    "make",
    [
        lambda choice: SoftImpute(1.0, centering="global", propensities=choice, random_state=0),
        lambda choice: AlternatingLeastSquares(3, regularization=2.0, propensities=choice, random_state=0),
    ],
)
def test_true_propensities_lower_the_error_of_regressions_too(make):
    for seed in range(3):
        truth, chances, mask = ratings(200, 120, seed)
        rng = np.random.default_rng(seed)
        Z = masked(np.clip(truth + 0.3 * rng.normal(size=truth.shape), -1, 1), mask)
        plain, weighted = (make(choice).fit(Z).estimate_.to_dense() for choice in (None, chances))
        assert np.mean((weighted - truth) ** 2) < np.mean((plain - truth) ** 2)


def test_one_bit_propensities_that_did_not_converge_leave_a_fit_that_did_not():
    truth, _, mask = ratings()
    Z = masked(truth, mask)
    found = propensities_of(stored(mask), "1-bit", random_state=0)
    assert found.converged
    for converged in (True, False):
        fitted = SoftImpute(2.0, propensities=replace(found, converged=converged), random_state=0).fit(Z)
        assert fitted.converged_ is converged


def test_weighted_mean_is_unbiased_where_the_plain_one_is_not():
    truth, chances, mask = ratings(300, 200)
    found = propensities_of(stored(mask), chances)
    plain, weighted = (
        centre(stored(mask, truth), "global", weights).column_offsets[0] for weights in (None, found.weights)
    )
    assert abs(plain - truth.mean()) > 0.05
    assert abs(weighted - truth.mean()) < 0.01


def test_what_the_weights_rest_on_is_noted():
    truth, _, mask = ratings()
    fitted = SVT(threshold=1.0, propensities="degrees").fit(masked(truth, mask))
    assert any("propensities (degrees) from" in note for note in fitted.notes_)
    assert fitted.propensities_.method == "degrees"
    with pytest.raises(InputError, match="unknown propensities"):
        SVT(propensities="popularity").fit(masked(truth, mask))


# 1-bit completion


@given(seed=st.integers(0, 2**32 - 1), radius=st.floats(0.1, 20))
def test_projection_is_the_naive_one_and_the_nearest(seed, radius):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(5, 8))
    found = projected_on_nuclear_ball(matrix, radius)
    left, sigma, right = np.linalg.svd(matrix, full_matrices=False)
    low, high = 0.0, sigma[0]
    for _ in range(200):  # bisection for the common amount
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(sigma - middle, 0).sum() > radius else (low, middle)
    cut = 0.0 if sigma.sum() <= radius else high
    np.testing.assert_allclose(found, (left * np.maximum(sigma - cut, 0)) @ right, atol=1e-6)
    np.testing.assert_allclose(projected_on_nuclear_ball(matrix.T, radius), found.T, atol=1e-6)


def naive_one_bit(mask, radius):
    """The penalised form's factors, ``||B||_* = min (|U|^2 + |V|^2) / 2``, with the penalty found by bisection; L-BFGS of full rank."""
    m, n = mask.shape
    k, target = min(m, n), mask.astype(float)

    def solve(penalty, start):
        def objective(x):
            U, V = x[1 : 1 + m * k].reshape(m, k), x[1 + m * k :].reshape(n, k)
            logits = x[0] + U @ V.T
            slope = 1 / (1 + np.exp(-logits)) - target
            value = (np.logaddexp(0, logits) - target * logits).sum() + penalty / 2 * (x[1:] @ x[1:])
            gradient = np.concatenate(
                [[slope.sum()], (slope @ V + penalty * U).ravel(), (slope.T @ U + penalty * V).ravel()]
            )
            return value, gradient

        return minimize(
            objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-14}
        ).x

    def logits_of(x):
        return x[0], x[1 : 1 + m * k].reshape(m, k) @ x[1 + m * k :].reshape(n, k).T

    low, high = 1e-3, 10.0
    start = np.random.default_rng(0).normal(size=1 + (m + n) * k) * 0.3
    for _ in range(40):
        penalty = np.sqrt(low * high)
        level, B = logits_of(solve(penalty, start))
        low, high = (penalty, high) if np.linalg.norm(B, "nuc") > radius * np.sqrt(m * n) else (low, penalty)
    return level, B


def test_one_bit_completion_reaches_the_optimum_of_another_solver():
    mask = np.random.default_rng(1).random((7, 6)) < np.linspace(0.2, 0.8, 6)
    fit = one_bit_completion(mask, radius=0.8)
    level, B = naive_one_bit(mask, 0.8)

    def loss(p):
        return -np.log(np.where(mask, p, 1 - p)).sum()

    expected = loss(1 / (1 + np.exp(-level - B)))
    assert fit.converged
    assert loss(fit.probabilities) == pytest.approx(expected, rel=2e-4)


def test_radius_zero_is_the_observed_fraction():
    fit = one_bit_completion(SEEN, radius=0.0)
    np.testing.assert_allclose(fit.probabilities, 0.5)


@pytest.mark.parametrize("radius", [0.3, 1.0, 3.0])
def test_the_constraint_holds_and_the_intercept_is_free(radius):
    mask = np.random.default_rng(2).random((30, 20)) < 0.15
    fit = one_bit_completion(mask, radius=radius)
    logits = np.log(fit.probabilities / (1 - fit.probabilities))
    # For the optimal intercept fitted and observed shares agree, whatever the radius.
    assert fit.probabilities.mean() == pytest.approx(mask.mean(), rel=1e-3)
    smallest = minimize_scalar(lambda level: np.linalg.norm(logits - level, "nuc"), tol=1e-12).fun
    assert smallest <= radius * np.sqrt(600) * (1 + 1e-6)


def test_one_bit_completion_finds_blocks():
    """Truth .7 and .1 in a checkerboard of blocks: the error is a third of that of one share for all."""
    chances = 0.1 + 0.6 * np.kron([[1, 0], [0, 1]], np.ones((30, 40)))
    mask = np.random.default_rng(3).random(chances.shape) < chances
    fit = one_bit_completion(mask, random_state=0)
    assert np.abs(fit.probabilities - chances).mean() < np.abs(mask.mean() - chances).mean() / 3


def test_without_structure_one_share_is_found_for_all():
    mask = np.random.default_rng(4).random((50, 40)) < 0.2
    fit = one_bit_completion(mask, random_state=0)
    assert np.abs(fit.probabilities - 0.2).max() < 0.15


def test_one_bit_propensities_are_clipped_noted_and_the_same_for_a_seed():
    truth, _, mask = ratings(60, 40)
    first, second = (
        propensities_of(stored(mask, truth), "1-bit", floor=0.3, random_state=5) for _ in range(2)
    )
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    assert first.probabilities.min() >= 0.3
    assert first.converged
    assert first.notes[0].startswith("1-bit completion of the pattern of observations with nuclear norm")
    fitted = SVT(threshold=1.0, propensities="1-bit", random_state=5).fit(masked(truth, mask))
    assert fitted.converged_ is True


def test_what_would_take_too_long_is_refused():
    with pytest.raises(
        InputError, match=r"1-bit matrix completion of 3,000 x 3,000 cells.*propensities='degrees'"
    ):
        one_bit_completion(np.zeros((3000, 3000), dtype=bool))


@pytest.mark.parametrize("radius", [-1.0, np.nan])
def test_bad_radii_are_named(radius):
    with pytest.raises(InputError, match="radius"):
        one_bit_completion(SEEN, radius=radius)


def test_a_row_or_column_without_an_observation_is_fine():
    fit = one_bit_completion(np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]], dtype=bool), radius=1.0)
    assert np.isfinite(fit.probabilities).all()
    Z = ObservedMatrix(
        np.array([[0.5, np.nan, np.nan], [0.1, 0.2, np.nan], [np.nan] * 3]), value_range=(-1, 1)
    )
    assert np.isfinite(svt(Z, 0.01).to_dense()).all()
    assert np.isfinite(
        SVT(0.01, propensities="degrees", centering="biases").fit(Z).estimate_.to_dense()
    ).all()
