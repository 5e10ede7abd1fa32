"""Cai, Candès and Shen's iteration: what it solves, that it says where it does not, and steps that are too long."""

import numpy as np
import pytest
from scipy import sparse

from likewise import make_estimator
from likewise.errors import ConvergenceWarning, EstimatorError, InputError
from likewise.estimation import CaiCandesShen, cai_candes_shen

pytestmark = pytest.mark.filterwarnings(
    "ignore::likewise.errors.PropensityWarning"
)  # patterns drawn at random


def planted(seed, m=60, n=40, rank=2, share=0.5):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
    i, j = np.nonzero(rng.random((m, n)) < share)
    return truth, sparse.csr_array((truth[i, j], (i, j)), shape=(m, n))


def dense(fit):
    return (fit.left * fit.values) @ fit.right.T


def naive(values, threshold, step, steps):
    """The iteration on dense arrays, with all singular values each time."""
    seen = np.zeros(values.shape, bool)
    seen[values.tocoo().coords] = True
    z, dual = values.toarray(), np.zeros(values.shape)
    for _ in range(steps):
        u, s, vt = np.linalg.svd(dual, full_matrices=False)
        estimate = (u * np.maximum(s - threshold, 0)) @ vt
        dual += step * np.where(seen, z - estimate, 0)
    return estimate


def test_everything_observed_by_hand():
    """X agrees with (3, 4) where the singular value of Y is 5 + tau."""
    fit = cai_candes_shen(sparse.csr_array([[3.0, 4.0]]), 10.0, step=1.0, tol=1e-6, random_state=0)
    np.testing.assert_allclose(dense(fit), [[3.0, 4.0]], rtol=1e-5)
    np.testing.assert_allclose(fit.values, [5.0], rtol=1e-5)


@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_a_planted_matrix_of_low_rank_comes_back(shape):
    truth, values = planted(0, *shape)
    fit = cai_candes_shen(values, tol=1e-4, random_state=0)
    assert fit.converged
    assert fit.residual <= 1e-4
    assert fit.values.size == 2
    assert np.linalg.norm(dense(fit) - truth) < 1e-3 * np.linalg.norm(truth)


@pytest.mark.slow
def test_it_follows_the_dense_iteration():
    """To where both hardly move any more; they begin k0 steps apart."""
    _, values = planted(1, 20, 12, share=0.6)
    fit = cai_candes_shen(values, 20.0, step=1.5, tol=1e-9, max_iter=1500, random_state=0)
    assert not fit.converged
    assert fit.n_iter == 1500
    np.testing.assert_allclose(dense(fit), naive(values, 20.0, 1.5, 1500), atol=1e-3)


def test_a_step_that_is_too_long_is_shortened_until_it_converges():
    rng = np.random.default_rng(3)
    i, j = np.nonzero(rng.random((24, 15)) < 0.5)
    noisy = sparse.csr_array((rng.normal(size=i.size), (i, j)), shape=(24, 15))
    fit = cai_candes_shen(noisy, 5.0, step=6.0, tol=0.05, random_state=0)
    assert fit.converged
    assert 1.9 <= fit.step < 6.0


@pytest.mark.parametrize("seed", range(3))
def test_where_the_subspace_had_lagged_behind_it_goes_on(seed, monkeypatch):
    """Noise, of which 40 components rise at once: the steps see a smaller residual than all singular values of Y leave."""
    monkeypatch.setattr("likewise.spectrum.orthonormal._SPARE_SHARE", 0.0)
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random((200, 150)) < 0.3)
    noise = sparse.csr_array((rng.normal(size=i.size), (i, j)), shape=(200, 150))
    fit = cai_candes_shen(noise, tol=0.3, random_state=0)
    assert fit.converged
    left_over = np.linalg.norm(noise.data - dense(fit)[i, j]) / np.linalg.norm(noise.data)
    assert left_over == pytest.approx(fit.residual)
    assert left_over <= 0.3


def test_propensities_are_refused_with_the_reason():
    with pytest.raises(
        EstimatorError, match=r"propensities for cai-candes-shen.* reproduces every observation"
    ):
        make_estimator("cai-candes-shen", propensities="degrees")


def test_zeros_that_are_stored_are_reproduced_and_zeros_alone_are_fine():
    stored = sparse.csr_array(([1.0, 0.0, 1.0], ([0, 0, 1], [0, 1, 0])), shape=(3, 2))
    np.testing.assert_allclose(dense(cai_candes_shen(stored, tol=1e-5, random_state=0))[:, 1], 0, atol=1e-4)
    nothing = cai_candes_shen(sparse.csr_array(([0.0], ([0], [0])), shape=(2, 2)), random_state=0)
    assert (nothing.values.size, nothing.converged) == (0, True)


def test_rows_of_the_fit_fold_in_to_their_estimate():
    truth, values = planted(4, 60, 30)
    z = np.full(truth.shape, np.nan)
    z[values.tocoo().coords] = values.data
    estimator = CaiCandesShen(value_range=(-9, 9), tol=1e-4, random_state=0).fit(z)
    np.testing.assert_allclose(estimator.transform(z), estimator.estimate_.to_dense(), atol=0.02)


def test_a_fit_that_is_stopped_is_kept_and_flagged():
    truth, _ = planted(5)
    estimator = CaiCandesShen(max_iter=3, value_range=(-15, 15), random_state=0)
    with pytest.warns(
        ConvergenceWarning, match="not converged after 3 steps: the observations are reproduced"
    ):
        estimator.fit(truth)
    assert estimator.converged_ is False
    assert estimator.residual_ > estimator.tol
    assert "not converged" in estimator.notes_[-1]


@pytest.mark.parametrize(
    "options",
    [{"threshold": 0.0}, {"threshold": "big"}, {"step": -1.0}, {"tol": float("nan")}, {"max_iter": True}],
)
def test_bad_parameters_are_named(options):
    (name,) = options
    with pytest.raises(InputError, match=f"^{name}(=| is ).*; expected"):
        CaiCandesShen(**options).fit(np.eye(3))


@pytest.mark.parametrize("step", [1e10, 1e80, 1e300, 1e-310])
def test_a_step_that_diverges_is_named(step):
    with pytest.raises(InputError, match=r"^step is 1e.*, with which Y outgrows .* expected a step about 1"):
        CaiCandesShen(step=step, random_state=0).fit([[5.0, 3.0], [4.0, 1.0], [2.0, 2.0]])


def test_a_tolerance_below_rounding_ends_where_nothing_moves_any_more():
    values = np.outer([1.0, 2, 3, 4, 5], [1.0, 0.5, 1, 0.8])
    fitted = CaiCandesShen(tol=5e-324, max_iter=10**5, value_range=(0, 5), random_state=0).fit(values)
    assert fitted.converged_
    assert fitted.n_iter_ < 10**5
    assert fitted.residual_ < 1e-8
    assert any("to double precision" in note for note in fitted.notes_)
