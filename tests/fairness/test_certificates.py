"""Certificates: by hand, against naive formulas, and never exceeded by any pair."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import LikewiseWarning, ShapeError
from likewise.estimation import svt
from likewise.fairness.certificates import Certificate, Unavailable, certify
from likewise.observations import AffineScale, ObservedMatrix


def planted(left, sigma, gains, right):
    scale = AffineScale(np.asarray(0.0), np.asarray(1.0), (-1.0, 1.0))
    arrays = (np.asarray(part, dtype=float) for part in (left, sigma, gains, right))
    return SimpleNamespace(
        **dict(zip(("left", "singular_values", "gains", "right"), arrays, strict=True)), scale=scale
    )


def test_hand_computed_two_components_three_columns():
    """Z = [[.6, .8, 0], [0, 0, .5]]: sigma = 1 and .5, v = (.6, .8, 0) and (0, 0, 1); gains psi(sigma)/sigma = 2 and 3."""
    Z = ObservedMatrix(np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 0.5]]), value_range=(-1, 1))
    estimate = planted([[1, 0], [0, 1]], [1, 0.5], [2, 3], [[0.6, 0], [0.8, 0], [0, 1]])
    certificates = certify(estimate, Z)
    # row norms of P: 2 x .6, 2 x .8, 3 x 1
    assert certificates.k_star.value == pytest.approx(3.0)
    assert certificates.spectral.value == pytest.approx(3.0)
    # M = 2/1 u1 v1^T + 3/.5 u2 v2^T, largest entry 6; sqrt 3; column sums .6, .8, .5
    assert certificates.k2.value == pytest.approx(6 * np.sqrt(3) * 0.8)
    # ||u1 v1^T + u2 v2^T||_max = 1 = sqrt(mu 2 / 6)
    assert certificates.incoherence == pytest.approx(3.0)
    assert isinstance(certificates.corollary, Unavailable)
    assert "psi(x) = beta x" in certificates.corollary.reason


def test_corollary_by_hand():
    """As above with psi = 2 x: beta sqrt(mu r m) / tau = 2 sqrt(3 x 2 x 2) / .5; K2 = 4 sqrt 3 x .8 respects it."""
    Z = ObservedMatrix(np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 0.5]]), value_range=(-1, 1))
    estimate = planted([[1, 0], [0, 1]], [1, 0.5], [2, 2], [[0.6, 0], [0.8, 0], [0, 1]])
    certificates = certify(estimate, Z)
    assert certificates.k2.value == pytest.approx(4 * np.sqrt(3) * 0.8)
    assert isinstance(certificates.corollary, Certificate)
    assert certificates.corollary.value == pytest.approx(4 * np.sqrt(12))
    assert certificates.printed_corollary.value == pytest.approx(2 * np.sqrt(4) / 0.5)
    assert certify(estimate, Z, threshold=0.25).corollary.value == pytest.approx(8 * np.sqrt(12))


def test_corollary_is_refused_where_cancelling_entries_break_its_derivation():
    """u1 v1^T and u2 v2^T cancel at their largest entries, so mu_1 is small, but 1/sigma weighs them apart."""
    h = np.sqrt(0.5)
    left, right = [[h, h], [h, -h]], [[h, -h], [h, h]]
    Z = ObservedMatrix(np.asarray(left) @ np.diag([1.0, 0.1]) @ np.asarray(right).T, value_range=(-1, 1))
    certificates = certify(planted(left, [1.0, 0.1], [1, 1], right), Z)
    naive_k2 = np.abs(np.asarray(left) @ np.diag([1, 10.0]) @ np.asarray(right).T).max() * np.sqrt(2)
    naive_k2 *= np.abs(Z.to_dense()).sum(axis=0).max()
    assert certificates.k2.value == pytest.approx(naive_k2)
    assert isinstance(certificates.corollary, Certificate)
    refused = certify(planted(left, [1.0, 0.1], [1, 1], right), Z, threshold=1.0).corollary
    assert isinstance(refused, Unavailable)
    assert "exceeds" in refused.reason


def random_case(seed, m, n, share, tau, shrinker="rescaled"):
    rng = np.random.default_rng(seed)
    values = np.clip(rng.normal(size=(m, 2)) @ rng.normal(size=(2, n)) / 2, -1, 1)
    values[rng.random((m, n)) >= share] = np.nan
    values[0, 0] = 0.5
    observed = ObservedMatrix(values, value_range=(-1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        return observed, svt(observed, tau, shrinker), rng


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 12),
    st.integers(1, 12),
    st.floats(0.2, 1),
    st.floats(0.05, 2),
    st.sampled_from(["rescaled", "soft", np.sqrt]),
)
def test_no_pair_exceeds_a_certificate(seed, m, n, share, tau, shrinker):
    """Rows of the fit, random new rows, and pairs one coordinate apart, which attain K*."""
    observed, estimate, rng = random_case(seed, m, n, share, tau, shrinker)
    certificates = certify(estimate, observed)
    assert certificates.k_star.value <= certificates.k2.value * (1 + 1e-9)
    seen = observed.to_dense()
    base = rng.uniform(-0.01, 0.01, (20, n))
    single = base.copy()
    single[np.arange(20), rng.integers(0, n, 20)] += 0.01
    rows = np.vstack([seen, rng.uniform(-1, 1, (20, n)), base, single])
    outputs = estimate.fold_in(rows)
    D = np.linalg.norm(outputs[:, None] - outputs[None], axis=2)
    l1 = np.abs(rows[:, None] - rows[None]).sum(axis=2)
    l2 = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    assert (certificates.k_star.value * l1 + 1e-9 >= D).all()
    assert (certificates.spectral.value * l2 + 1e-9 >= D).all()


def test_k_star_is_attained_by_the_unclipped_map():
    """No smaller constant holds: a unit step along the worst feature reaches it."""
    observed, estimate, _ = random_case(7, 30, 20, 0.5, 0.5)
    projection = (estimate.right * estimate.gains) @ estimate.right.T
    steps = np.linalg.norm(projection, axis=1)
    small = 1e-3 * np.eye(20)[[np.argmax(steps)]]
    moved = np.linalg.norm(estimate.fold_in(small) - estimate.fold_in(0 * small))
    assert moved / 1e-3 == pytest.approx(certify(estimate, observed).k_star.value)


def test_k2_equals_the_printed_formula():
    observed, estimate, _ = random_case(11, 25, 17, 0.6, 0.5)
    filled = observed.to_dense()
    weights = estimate.shrunk_values / estimate.singular_values**2
    M = sum(w * np.outer(estimate.left[:, k], estimate.right[:, k]) for k, w in enumerate(weights))
    expected = np.abs(M).max() * np.sqrt(17) * np.abs(filled).sum(axis=0).max()
    assert certify(estimate, observed).k2.value == pytest.approx(expected)


def test_values_are_taken_on_the_methods_interval():
    """Stars 1..5 and the same stars brought to [-1, 1] by hand have the same certificates."""
    rng = np.random.default_rng(4)
    stars = rng.integers(1, 6, (15, 8)).astype(float)
    stars[rng.random(stars.shape) < 0.3] = np.nan
    in_stars = ObservedMatrix(stars, value_range=(1, 5))
    by_hand = ObservedMatrix((stars - 3) / 2, value_range=(-1, 1))
    ours, theirs = certify(svt(in_stars, 1.0), in_stars), certify(svt(by_hand, 1.0), by_hand)
    assert ours.k2.value == pytest.approx(theirs.k2.value)
    assert ours.k_star.value == pytest.approx(theirs.k_star.value)


def test_rank_zero_is_constant():
    observed, estimate, _ = random_case(1, 6, 5, 0.5, 100.0)
    certificates = certify(estimate, observed)
    assert certificates.k_star.value == certificates.k2.value == certificates.spectral.value == 0
    assert isinstance(certificates.corollary, Unavailable)
    assert certificates.incoherence is None


def test_observations_of_another_size_are_refused():
    _, estimate, _ = random_case(1, 6, 5, 0.5, 0.1)
    other = ObservedMatrix(np.ones((5, 5)), value_range=(-1, 1))
    with pytest.raises(ShapeError, match="the shape of the estimate"):
        certify(estimate, other)


def test_prints_every_constant_and_its_norms():
    observed, estimate, _ = random_case(3, 10, 8, 0.7, 0.3)
    text = str(certify(estimate, observed))
    assert "K* =" in text
    assert "l1 to l2" in text
    assert text.count("\n") == 4
