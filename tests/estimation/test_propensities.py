"""Propensities: by hand, against a naive optimum, and what weighting by them is for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar

from likewise import SVT, ObservedMatrix, make_estimator, svt
from likewise.certificates import Unavailable
from likewise.certificates.regression import RegressionCertificate
from likewise.errors import InputError, PropensityWarning, ShapeError
from likewise.estimation import (
    AlternatingLeastSquares,
    Biases,
    RandomSample,
    SoftImpute,
    centre,
    one_bit_completion,
    propensities_of,
)
from likewise.estimation.base.bias_equations import variance_components
from likewise.estimation.one_bit import NuclearBall
from likewise.observations.synthetic import clustered

pytestmark = pytest.mark.filterwarnings(
    "ignore::likewise.errors.PropensityWarning"
)  # patterns drawn at random

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


def test_weights_that_add_up_to_their_worth_by_hand():
    """Weights .5, .5, 1, 1, .5, .75 sum to 4.25, their squares to 3.3125; they are worth 4.25^2 / 3.3125 equal ones."""
    found = propensities_of(stored(SEEN), "degrees").scaled_to_their_worth()
    np.testing.assert_allclose(found.weights, np.array([0.5, 0.5, 1, 1, 0.5, 0.75]) * 4.25 / 3.3125)
    assert found.weights.sum() == pytest.approx(4.25**2 / 3.3125)
    assert found.weighting.weights(stored(SEEN)) == pytest.approx(found.weights)


@pytest.mark.parametrize("factor", [0.1, 0.5])
def test_only_ratios_of_propensities_count_where_regularization_is_estimated(factor):
    """What is observed twice as seldom everywhere says as much: propensities too small for the share observed must not hide the data."""
    data = clustered(40, 30, 2, observed_fraction=0.5, random_state=0).observed
    chances = np.random.default_rng(0).uniform(0.4, 0.9, data.shape)
    fits = [
        AlternatingLeastSquares(2, propensities=p, random_state=0).fit(data)
        for p in (chances, factor * chances)
    ]
    np.testing.assert_allclose(*(fit.estimate_.to_dense() for fit in fits), rtol=1e-9)


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
    with pytest.raises(InputError, match="floor="):
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


@pytest.mark.slow
def test_true_propensities_lower_the_error_where_what_is_liked_is_seen():
    """Mean error over cells, five draws, at the noise edge: with the true propensities below that without, in each."""
    for seed in range(5):
        truth, chances, mask = ratings(200, 120, seed)
        Z = masked(truth, mask)
        plain, weighted = (
            SVT(threshold="noise-edge", centering="global", propensities=choice).fit(Z).estimate_.to_dense()
            for choice in (None, chances)
        )
        assert np.mean((weighted - truth) ** 2) < np.mean((plain - truth) ** 2)


@pytest.mark.slow
def test_the_default_threshold_is_better_than_the_noise_edge_with_and_without_propensities():
    """Few components are right here; the edge keeps more, and more still where weights differ."""
    for seed in range(3):
        truth, chances, mask = ratings(200, 120, seed)
        for choice in (None, chances):
            edge, default = (
                SVT(threshold, centering="global", propensities=choice)
                .fit(masked(truth, mask))
                .estimate_.to_dense()
                for threshold in ("noise-edge", "adaptive")
            )
            assert np.mean((default - truth) ** 2) < 0.9 * np.mean((edge - truth) ** 2)


@pytest.mark.slow
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


@pytest.mark.slow
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


def naive_projection(matrix, radius):
    """Every singular value less a common amount, which bisection finds."""
    left, sigma, right = np.linalg.svd(matrix, full_matrices=False)
    low, high = 0.0, sigma[0]
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(sigma - middle, 0).sum() > radius else (low, middle)
    cut = 0.0 if sigma.sum() <= radius else high
    return (left * np.maximum(sigma - cut, 0)) @ right


@given(seed=st.integers(0, 2**32 - 1), radius=st.floats(0.1, 20))
def test_projection_is_the_naive_one(seed, radius):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(8, 5))
    found = NuclearBall(5, rng).projected(matrix, radius)
    np.testing.assert_allclose(found, naive_projection(matrix, radius), atol=1e-6)


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        InputError,
        match=r"1-bit matrix completion of 3,001 x 3,001 cells.*3,000 on the short side.*propensities='degrees'",
    ):
        one_bit_completion(np.zeros((3001, 3001), dtype=bool))


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


def low_rank_pattern(m, n, seed=0):
    rng = np.random.default_rng(seed)
    logits = -1.5 + 1.2 * rng.normal(size=(m, 2)) @ rng.normal(size=(2, n))
    chances = 1 / (1 + np.exp(-logits))
    return chances, rng.random((m, n)) < chances


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(500, 310), (310, 500)])
def test_a_large_pattern_is_fitted_from_subspaces_as_well_as_exactly(shape, monkeypatch):
    """The same optimum, proved by the same gap, in single precision and with a few directions a step."""
    _, mask = low_rank_pattern(*shape)
    fast = one_bit_completion(mask, radius=1.0)
    monkeypatch.setattr("likewise.estimation.one_bit._EXACT_SIDE", 1000)
    exact = one_bit_completion(mask, radius=1.0)
    assert fast.converged
    assert exact.converged

    def loss(p):
        return -np.log(np.where(mask, p, 1 - p.astype(np.float64))).sum()

    assert loss(fast.probabilities) == pytest.approx(loss(exact.probabilities), rel=2e-4)


@pytest.mark.slow
def test_projections_from_subspaces_come_to_the_exact_one():
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(500, 8)) * np.geomspace(30, 1, 8)) @ rng.normal(size=(8, 400))
    matrix += 0.1 * rng.normal(size=matrix.shape)
    radius = 0.5 * np.linalg.norm(matrix, "nuc")
    ball, exact = NuclearBall(400, rng), naive_projection(matrix, radius)
    for _ in range(4):  # each goes on from the last
        found = ball.projected(matrix, radius)
    np.testing.assert_allclose(found, exact, atol=1e-2 * np.abs(exact).max())
    assert np.linalg.norm(found, "nuc") <= radius * (1 + 1e-4)


@pytest.mark.slow
def test_after_an_exact_projection_a_subspace_is_enough_where_few_directions_are_kept():
    """A large ball first needs all directions of noise; a small one afterwards only those that stand out."""
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(400, 6)) @ rng.normal(size=(6, 320))).astype(np.float32)
    matrix += 0.1 * rng.normal(size=matrix.shape).astype(np.float32)
    whole, ball = np.linalg.norm(matrix, "nuc"), NuclearBall(320, rng)
    first = ball.projected(matrix, 0.95 * whole)
    assert 3 * ball.basis.shape[1] > 320
    np.testing.assert_allclose(first, naive_projection(matrix, 0.95 * whole), atol=1e-2)
    ball.projected(matrix, 0.5 * whole)
    assert ball.basis.shape[1] < 30
    found = ball.projected(matrix, 0.5 * whole)
    np.testing.assert_allclose(found, naive_projection(matrix, 0.5 * whole), atol=1e-2)


def test_a_pattern_of_stored_entries_is_the_same_as_a_mask():
    mask = np.random.default_rng(2).random((30, 20)) < 0.15
    first, second = (one_bit_completion(given, radius=0.5) for given in (mask, stored(mask)))
    np.testing.assert_array_equal(first.probabilities, second.probabilities)


# --- by value, from a random sample

FIVES = np.array([[5, 5, 1, 0], [5, 0, 0, 0], [1, 5, 0, 0]], dtype=float)
"""Six observations of twelve cells: 5 four times, 1 twice."""


def test_by_value_by_hand():
    """One more of each is counted. P(1 | observed) = 3/8, P(5 | observed) = 5/8; sample 1, 1, 1, 5: P(1) = 4/6, P(5) = 2/6; p_hat = 1/2."""
    found = propensities_of(stored(SEEN, FIVES), RandomSample([1, 1, 1, 5]))
    low, high = 0.5 * (3 / 8) / (4 / 6), 0.5 * (5 / 8) / (2 / 6)
    np.testing.assert_allclose(found.probabilities, [high, high, low, high, low, high])
    np.testing.assert_allclose(found.weights, 0.5 / found.probabilities)
    assert found.method == "values"
    assert found.notes[0].startswith(
        "propensities by value from 4 values drawn at random: 1: 0.281, 5: 0.938"
    )
    assert "2 of the values occur fewer than 5 times in the sample" in found.notes[0]
    # A row never seen is weighted by its values, one between the levels as the nearest of them.
    new = sparse.csr_array(np.array([[1.0, 5.0, 4.0, 0.0]]))
    np.testing.assert_allclose(found.weighting.propensities(new), [low, high, high])


def test_weighted_by_value_the_observed_values_have_the_shares_of_the_sample():
    rng = np.random.default_rng(0)
    truth = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], (200, 150), p=[0.4, 0.25, 0.2, 0.1, 0.05])
    mask = rng.random(truth.shape) < np.array([0, 0.02, 0.03, 0.05, 0.1, 0.3])[truth.astype(int)]
    values = stored(mask, truth)
    found = propensities_of(values, RandomSample(rng.choice(truth.ravel(), 3000)))
    assert abs(values.data.mean() - truth.mean()) > 0.8
    assert np.average(values.data, weights=found.weights) == pytest.approx(truth.mean(), abs=0.1)
    for level, chance in zip(range(1, 6), (0.02, 0.03, 0.05, 0.1, 0.3), strict=True):
        assert found.probabilities[values.data == level][0] == pytest.approx(chance, rel=0.35)


@pytest.mark.parametrize(
    "make", [Biases, SoftImpute, AlternatingLeastSquares, lambda **options: SVT(1.0, **options)]
)
def test_the_sample_is_in_the_units_of_the_data_whatever_the_working_range(make):
    stars = np.where(FIVES > 0, FIVES, np.nan)
    stars[2, 2] = 3.0
    seen = ObservedMatrix(stars, value_range=(1, 5))
    chances = {}
    for working_range in ("symmetric", "unit"):
        options = {
            "propensities": RandomSample([1, 1, 3, 5]),
            "working_range": working_range,
            "random_state": 0,
        }
        fitted = make(**options).fit(seen)
        chances[working_range] = fitted.propensities_.probabilities
        row = np.array([[1.0, np.nan, 5.0, np.nan]])
        assert np.isfinite(fitted.transform(row)).all()
    np.testing.assert_allclose(chances["symmetric"], chances["unit"])
    np.testing.assert_allclose(
        chances["unit"], propensities_of(seen.values, RandomSample([1, 1, 3, 5])).probabilities
    )


def test_a_sample_is_taken_of_a_matrix_too_and_bad_ones_are_named():
    assert (
        RandomSample(ObservedMatrix(np.where(FIVES > 0, FIVES, np.nan), value_range=(1, 5))).values.size == 6
    )
    for bad in ([], [np.nan], [np.inf], "abc", [["a"]]):
        with pytest.raises(InputError, match="a random sample"):
            RandomSample(bad)
    many = np.random.default_rng(0).normal(size=(20, 20))
    with pytest.raises(InputError, match=r"400 different values.*a scale of at most 100"):
        propensities_of(sparse.csr_array(many), RandomSample(many.ravel()))
    per_column = ObservedMatrix(np.array([[1.0, 10.0], [2.0, 30.0]]), value_range="per-column")
    with pytest.raises(InputError, match="ranges of their own"):
        Biases(propensities=RandomSample([1, 2])).fit(per_column)


# --- degrees that rest on nothing


def test_degrees_that_do_not_go_with_the_values_warn():
    rng = np.random.default_rng(0)
    mask = rng.random((80, 60)) < np.outer(rng.uniform(0.1, 0.9, 80), np.ones(60))
    values = stored(mask, rng.normal(size=mask.shape))
    with pytest.warns(PropensityWarning, match="have no basis in these data"):
        found = propensities_of(values, "degrees")
    assert "RandomSample" in found.notes[0]


@pytest.mark.filterwarnings("error::likewise.errors.PropensityWarning")
def test_degrees_that_go_with_the_values_do_not():
    rng = np.random.default_rng(0)
    liking = rng.uniform(-1, 1, 60)
    mask = rng.random((80, 60)) < 0.5 + 0.4 * liking
    found = propensities_of(
        stored(mask, np.tile(liking, (80, 1)) + 0.3 * rng.normal(size=mask.shape)), "degrees"
    )
    assert len(found.notes) == 1


# --- variances under weights


def test_weighted_variance_components_by_hand():
    """Rows (1, 2) and (3, 4), the 4 weighing 2: mean 14/5, deviations -1.8, -.8, .2, 1.2.

    Within rows, pairs: (-1.8)(-.8) w 1 x 1, and .2 x 1.2 w 1 x 2: (1.44 + .48) / (1 + 2) = .64. Within columns: (-1.8)(.2) w 1, and
    (-.8)(1.2) w 2: negative, so 0. All: (3.24 + .64 + .04 + 2 x 1.44) / 5 = 1.36; what is left, .72, is noise. Worth 25 / (4 x 7).
    """
    found = variance_components(
        sparse.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]])), np.array([1.0, 1.0, 1.0, 2.0])
    )
    assert (found.rows, found.columns, found.noise) == (pytest.approx(0.64), 0.0, pytest.approx(0.72))
    assert found.worth == pytest.approx(25 / 28)
    assert found.penalties == (pytest.approx(0.72 / 0.64 * 28 / 25), np.inf)


def test_weighted_variance_components_are_those_of_all_entries():
    """Rows that like much are seen more: unweighted, the variance of the rows that were seen is another one."""
    rng = np.random.default_rng(1)
    rows, columns = rng.normal(0, 1.0, (400, 1)), rng.normal(0, 0.5, (1, 300))
    truth = rows + columns + rng.normal(0, 0.8, (400, 300))
    chances = 1 / (1 + np.exp(1.0 - 0.8 * truth))
    mask = rng.random(truth.shape) < chances
    found = variance_components(stored(mask, truth), 1 / chances[mask])
    assert found.rows == pytest.approx(rows.var(), rel=0.1)
    assert found.columns == pytest.approx(columns.var(), rel=0.1)
    assert found.noise == pytest.approx(0.64, rel=0.05)


@given(st.integers(0, 2**32 - 1))
def test_weighted_variance_components_equal_the_sums_over_pairs(seed):
    rng = np.random.default_rng(seed)
    mask = rng.random((6, 5)) < 0.7
    mask[0] = True
    values, weights = rng.normal(size=mask.shape), rng.uniform(0.2, 3, mask.shape)
    mean = np.average(values[mask], weights=weights[mask])
    found = variance_components(stored(mask, values), weights[mask])
    for axis, variance in ((0, found.rows), (1, found.columns)):
        above = below = 0.0
        for i in range(mask.shape[axis]):
            v, w, s = (np.take(part, i, axis) for part in (values - mean, weights, mask))
            for j, k in np.argwhere(np.triu(np.outer(s, s), 1)):
                above += w[j] * w[k] * v[j] * v[k]
                below += w[j] * w[k]
        assert variance == pytest.approx(max(above / below, 0.0) if below else 0.0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (2, 2)])
@pytest.mark.filterwarnings("error")
def test_a_mask_of_a_few_cells_has_propensities(shape):
    """Of so few that none is held out to choose by."""
    for seed in range(30):
        fit = one_bit_completion(np.ones(shape, dtype=bool), random_state=seed)
        assert ((fit.probabilities > 0) & (fit.probabilities <= 1)).all()


@pytest.mark.filterwarnings("ignore::likewise.errors.PropensityWarning")
def test_biases_with_weights_of_each_row_say_why_their_regression_has_no_constant():
    truth, _, mask = ratings()
    observed = masked(truth, mask)
    reason = make_estimator("biases", propensities="degrees").fit(observed).certificate_.regression
    assert isinstance(reason, Unavailable)
    assert "weighs features in its own way" in reason.reason
    assert isinstance(make_estimator("biases").fit(observed).certificate_.regression, RegressionCertificate)
