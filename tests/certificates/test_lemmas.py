"""The steps that the proofs of Section 4 rest on, each as a statement of its own: those of Theorem 4.1, and the two lemmas behind Proposition 4.4."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.certificates import certify
from likewise.errors import RankZeroWarning
from likewise.estimation import PaperCorollary, Universal, svt
from likewise.estimation.thresholding.statistics import ObservationStatistics
from likewise.observations import clustered

SEEDS = st.integers(0, 2**32 - 1)
SIDES = st.integers(2, 9)


def shrunk(Z, tau, psi):
    """Return the kept triplets and the estimate before clipping, by the definition of Section 4.1."""
    u, sigma, vt = np.linalg.svd(Z, full_matrices=False)
    kept = sigma > tau
    u, sigma, vt = u[:, kept], sigma[kept], vt[kept]
    return u, sigma, vt, (u * psi(sigma)) @ vt


@given(SEEDS, SIDES, SIDES, st.floats(0.1, 3), st.sampled_from([0.5, 1.0, 1.5]))
def test_the_estimate_is_a_linear_map_of_rows(seed, m, n, tau, power):
    """A_hat_i = Z_i P with P = sum psi(sigma)/sigma v v^T = Z^T M, M = sum psi(sigma)/sigma^2 u v^T: because Z v = sigma u and Z^T u = sigma v."""
    Z = np.random.default_rng(seed).uniform(-1, 1, (m, n))
    u, sigma, vt, estimate = shrunk(Z, tau, lambda x: x**power)
    P = (vt.T * sigma ** (power - 1)) @ vt
    M = (u * sigma ** (power - 2)) @ vt
    np.testing.assert_allclose(Z @ P, estimate, atol=1e-9)
    np.testing.assert_allclose(Z.T @ M, P, atol=1e-9)


@given(SEEDS, SIDES, SIDES)
def test_a_linear_map_from_l1_to_l2_is_bounded_by_its_largest_entry(seed, m, n):
    """||x Z^T M||_2 <= sqrt(n) ||x Z^T M||_inf <= sqrt(n) ||x||_1 max_k ||z_k||_1 ||M||_max: Hölder, twice."""
    rng = np.random.default_rng(seed)
    Z, M, x = rng.uniform(-1, 1, (m, n)), rng.standard_normal((m, n)), rng.standard_normal(n)
    image = x @ (Z.T @ M)
    largest = np.abs(image).max()
    assert np.linalg.norm(image) <= np.sqrt(n) * largest * (1 + 1e-9)
    columns = np.abs(Z).sum(axis=0).max()
    assert largest <= np.abs(x).sum() * columns * np.abs(M).max() * (1 + 1e-9)


def test_both_steps_are_attained():
    """One individual with one feature: equal on both sides, so that neither constant can be smaller in general."""
    Z, M, x = np.array([[-0.5]]), np.array([[3.0]]), np.array([2.0])
    assert np.linalg.norm(x @ Z.T @ M) == 1 * np.abs(x).sum() * np.abs(Z).sum() * np.abs(M).max() == 3.0


@given(SEEDS, SIDES, SIDES)
def test_clipping_does_not_expand(seed, m, n):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 2, (2, m, n))
    clipped = np.linalg.norm(np.clip(a, -1, 1) - np.clip(b, -1, 1), axis=1)
    assert (clipped <= np.linalg.norm(a - b, axis=1) + 1e-12).all()


@given(
    SEEDS, st.integers(2, 12), st.integers(2, 12), st.integers(1, 3), st.floats(0.05, 2), st.floats(0.01, 2)
)
def test_thresholding_above_the_noise_is_close_in_frobenius_norm(seed, m, n, rank, delta, noise):
    """Chatterjee (2015), Lemma 3.5: with singular values of Y above (1 + delta) ||Y - B|| kept, ||B_hat - B||_F <= K sqrt(||Y - B|| ||B||_*).

    K(delta) = (4 + 2 delta) sqrt(2 / delta) + sqrt(2 + delta).
    """
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    Y = B + noise * rng.standard_normal((m, n))
    distance = np.linalg.norm(Y - B, 2)
    *_, kept = shrunk(Y, (1 + delta) * distance, lambda x: x)
    K = (4 + 2 * delta) * np.sqrt(2 / delta) + np.sqrt(2 + delta)
    bound = K * np.sqrt(distance * np.linalg.norm(B, "nuc"))
    assert np.linalg.norm(kept - B) <= bound * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.2, 0.5, 1.0])
def test_noise_ends_below_the_universal_threshold(p):
    """Chatterjee (2015), Theorem 3.4: independent entries of variance at most p, within 1, have ||noise|| <= (2 + eta) sqrt(rho_1 p).

    With probability close to 1 in these sizes: the norm is about sqrt(p) (sqrt(m) + sqrt(n)), 0.85 of the threshold.
    """
    m, n = 100, 200
    rng = np.random.default_rng(0)
    for _ in range(5):
        noise = np.where(rng.random((m, n)) < p, rng.choice([-1.0, 1.0], (m, n)), 0.0)
        assert np.linalg.norm(noise, 2) < Universal(0.01)(ObservationStatistics(m, n, p, p))


@given(SEEDS, st.floats(0.3, 1.0))
@pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")
def test_from_the_threshold_of_the_regimes_on_corollary_4_2_has_the_order_of_section_5(seed, p):
    """tau >= sqrt(2 n beta): beta sqrt(mu_1 r m) / tau <= sqrt(beta mu_1 r m / (2 n)), equal where tau is that threshold."""
    data = clustered(30, 6, 2, observed_fraction=p, random_state=seed).observed
    statistics = ObservationStatistics.of(data.scaled().values)
    tau, (m, n) = PaperCorollary()(statistics), data.shape
    beta = 1 / data.observed_fraction
    assert tau == pytest.approx(np.sqrt(2 * n * beta))
    estimate = svt(data, threshold=tau)
    found = certify(estimate, data, threshold=tau)
    if estimate.rank:
        bound = np.sqrt(beta * found.incoherence * estimate.rank * m / (2 * n))
        assert beta * np.sqrt(found.incoherence * estimate.rank * m) / tau == pytest.approx(bound)
        if hasattr(found.corollary, "value"):
            assert found.k2.value <= found.corollary.value == pytest.approx(bound)


@pytest.mark.parametrize("p", [0.05, 0.1, 0.2, 0.4])
def test_that_threshold_keeps_nothing_of_experiment_1(p):
    """It grows as p falls, while the singular values of what is observed fall with it."""
    data = clustered(observed_fraction=p, random_state=0).observed
    with pytest.warns(RankZeroWarning):
        assert svt(data, threshold="paper-corollary").rank == 0


def test_it_is_larger_than_the_universal_one_by_the_observed_share():
    """sqrt(2 n / p) over (2 + eta) sqrt(n p) is sqrt(2) / ((2 + eta) p), where m <= n."""
    statistics = ObservationStatistics(200, 800, 0.1, 0.05)
    share = PaperCorollary()(statistics) / Universal(0.5)(statistics)
    assert share == pytest.approx(np.sqrt(2) / (2.5 * 0.1))
