"""Certificates: by hand, against naive formulas, and never exceeded by any pair."""

import json
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.certificates import Certificate, Unavailable, certify
from likewise.errors import LikewiseWarning, ShapeError, ThresholdError
from likewise.estimation import svt
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


def cancelling(flat=28, large=10.0):
    """Return exact triplets of a matrix in [-1, 1], all above tau, on which the corollary's derivation fails.

    Q is orthogonal with entries of +-1/2. Its singular vectors are chosen so that u1 v1^T has an entry of 3/4: in ``sum u v^T = Q`` that cancels down to
    1/2, in ``sum u v^T / sigma`` it does not, because the other three have a large sigma. A flat block fills the columns.
    """
    Q = np.kron([[1, 1], [1, -1]], [[1, 1], [1, -1]]) / 2
    first = np.eye(4)[0] + Q[0]
    U = np.linalg.qr(np.column_stack([first, np.eye(4)[:, :3]]))[0]
    sigma = np.array([1.0, large, large, large])
    top = np.abs((U * sigma) @ U.T @ Q).max()
    left, right = np.zeros((4 + flat, 5)), np.zeros((4 + flat, 5))
    left[:4, 1:], right[:4, 1:] = U, Q.T @ U
    left[4:, 0] = right[4:, 0] = 1 / np.sqrt(flat)
    order = [0, 2, 3, 4, 1]
    return left[:, order], np.r_[flat * top, sigma][order] / top, right[:, order]


def test_cancelling_entries_break_the_corollarys_derivation():
    """All that it assumes holds, exactly: psi = x, entries in [-1, 1], tau at most every sigma, mu_1 as measured."""
    left, sigma, right = cancelling()
    matrix = (left * sigma) @ right.T
    assert np.abs(matrix).max() <= 1 + 1e-12
    Z = ObservedMatrix(matrix, value_range=(-1.1, 1.1))
    estimate = planted(left, sigma, np.ones(5), right)
    certificates = certify(estimate, Z)

    m, n, r = 32, 32, 5
    weighted, plain = (left / sigma) @ right.T, left @ right.T
    assert np.abs(weighted).max() > np.abs(plain).max() / sigma.min()  # the step that fails
    bound = np.sqrt(certificates.incoherence * r * m) / sigma.min()
    assert np.abs(plain).max() == pytest.approx(np.sqrt(certificates.incoherence * r / (m * n)))
    assert certificates.k2.value > bound

    assert isinstance(certificates.corollary, Unavailable)
    assert "does not bound K2" in certificates.corollary.reason
    # What the same assumption does prove lies between K* and the corollary.
    assert certificates.k_star.value <= certificates.incoherent.value <= bound
    assert certificates.incoherent.value == pytest.approx(np.sqrt(certificates.incoherence * r / n))


def test_tau_must_be_what_the_corollary_takes_it_for():
    Z = ObservedMatrix(np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 0.5]]), value_range=(-1, 1))
    estimate = planted([[1, 0], [0, 1]], [1, 0.5], [2, 2], [[0.6, 0], [0.8, 0], [0, 1]])
    for tau in (0.0, 0.75):
        refused = certify(estimate, Z, threshold=tau).corollary
        assert isinstance(refused, Unavailable)
        assert "smallest kept singular value" in refused.reason
    for tau in (-1.0, np.nan, np.inf):
        with pytest.raises(ThresholdError):
            certify(estimate, Z, threshold=tau)


def random_case(seed, m, n, share, tau, shrinker="rescaled"):
    rng = np.random.default_rng(seed)
    values = np.clip(rng.normal(size=(m, 2)) @ rng.normal(size=(2, n)) / 2, -1, 1)
    values[rng.random((m, n)) >= share] = np.nan
    values[0, 0] = 0.5
    observed = ObservedMatrix(values, value_range=(-1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        return observed, svt(observed, tau, shrinker), rng


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
    for certificate in (certificates.k_star, certificates.k2, certificates.incoherent):
        assert isinstance(certificate, Unavailable) or certificate.holds_for(l1, D, slack=1e-9).holds
    assert certificates.spectral.holds_for(l2, D, slack=1e-9).holds
    at_fit = estimate.on_working_range().to_dense()
    D_seen = np.linalg.norm(at_fit[:, None] - at_fit[None], axis=2)
    assert certificates.seen.holds_for(l1[:m, :m], D_seen, slack=1e-12).holds


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


def test_seen_rows_may_depart_from_their_fold_in_by_what_the_solver_left():
    """Left vectors off by a known amount: the offset is twice the largest departure, and some pair needs it."""
    left, sigma, right = cancelling()
    Z = ObservedMatrix((left * sigma) @ right.T, value_range=(-1.1, 1.1))
    off = left.copy()
    off[3] += 0.01 * right[0]
    certificates = certify(planted(off, sigma, np.ones(5), right), Z)
    departure = np.linalg.norm((off - left) * sigma, axis=1).max()
    assert certificates.seen.offset == pytest.approx(2 * departure, rel=1e-6)
    assert certify(planted(left, sigma, np.ones(5), right), Z).seen.offset < 1e-11


def test_factors_that_are_no_singular_triplets_have_no_k2():
    """K* still holds for the fold-in; K2 rests on v = Z^T u / sigma, which a smaller Z does not fulfil."""
    left, sigma, right = cancelling()
    small = ObservedMatrix(1e-3 * (left * sigma) @ right.T, value_range=(-1, 1))
    certificates = certify(planted(left, sigma, np.ones(5), right), small)
    assert isinstance(certificates.k2, Unavailable)
    assert "not singular triplets" in certificates.k2.reason
    assert isinstance(certificates.corollary, Unavailable)
    assert certificates.k_star.value == pytest.approx(1.0)
    assert certificates.seen.offset > 1


def test_a_basis_that_is_not_quite_orthonormal_is_allowed_for():
    """Columns of length 1.001: the formula for an orthonormal basis would fall short of the exact largest row norm."""
    observed, estimate, _ = random_case(5, 20, 12, 0.8, 0.3)
    off = 1.001 * estimate.right
    crooked = planted(estimate.left, estimate.singular_values, estimate.gains, off)
    exact = np.linalg.norm((off * estimate.gains) @ off.T, axis=1).max()
    naive = np.sqrt((off**2 @ estimate.gains**2).max())
    value = certify(crooked, observed).k_star.value
    assert naive < exact <= value <= exact * (1 + 1e-9)


def test_prints_every_constant_and_its_norms():
    observed, estimate, _ = random_case(3, 10, 8, 0.7, 0.3)
    certificates = certify(estimate, observed)
    *for_all, in_sample = str(certificates).splitlines()
    assert len(for_all) == len(list(certificates)) == 6
    assert for_all[0].startswith("K* =")
    assert "l1 to l2" in for_all[0]
    assert "seen in the fit or not" in for_all[0]
    assert "in sample: rows of the fit" in in_sample
    assert "because: clipping does not expand" in certificates.explain()


def test_plain_values_have_a_record_for_each_constant():
    observed, estimate, _ = random_case(3, 10, 8, 0.7, 0.3)
    records = json.loads(json.dumps(certify(estimate, observed).to_dict()))
    assert records["k_star"]["kind"] == "proved"
    assert records["seen"]["domain"].startswith("in sample")
    assert isinstance(records["incoherence"], float)
