"""Shrinkers: the named ones by hand, and what psi must satisfy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from likewise.errors import ShrinkerError, ThresholdError
from likewise.estimation import (
    SHRINKERS,
    KeptSpectrum,
    ObservationStatistics,
    OptimalShrinker,
    resolve_shrinker,
    shrink,
)
from likewise.estimation.thresholding.shrinkers import LOSSES, signal_strength

SIGMA = np.array([6.0, 4.0, 3.0])


def kept(p, tau, sigma=SIGMA, mean_square=0.0):
    return KeptSpectrum(ObservationStatistics(4, 9, p, mean_square), tau, np.asarray(sigma, dtype=float))


# p_hat = 1/2, tau = 2.5
BY_HAND = {
    "rescaled": [12.0, 8.0, 6.0],
    "identity": [6.0, 4.0, 3.0],
    "soft": [3.5, 1.5, 0.5],
    "soft-rescaled": [7.0, 3.0, 1.0],
}


def test_every_named_shrinker_is_covered():
    optimal = {f"optimal-{loss}" for loss in LOSSES}
    assert BY_HAND.keys() | optimal == SHRINKERS.keys()


@pytest.mark.parametrize("name", BY_HAND)
def test_named_shrinker_equals_the_hand_computed_values(name):
    np.testing.assert_allclose(shrink(resolve_shrinker(name, kept(0.5, 2.5)), SIGMA), BY_HAND[name])


@given(
    st.sampled_from(sorted(SHRINKERS)),
    st.floats(0.01, 1),
    st.floats(0, 10),
    st.lists(st.floats(0, 1e6), min_size=1, max_size=3),
    st.floats(0, 1e9),
)
def test_named_shrinkers_keep_order_and_sign(name, p, tau, values, rest):
    sigma = np.sort(values)[::-1]
    psi = resolve_shrinker(name, kept(p, tau, sigma, (rest + (sigma**2).sum()) / 36))
    shrunk = shrink(psi, sigma)
    assert (shrunk >= 0).all()
    assert (np.diff(shrunk) <= 1e-12 * shrunk.max()).all()  # as `shrink` itself allows for rounding


@pytest.mark.parametrize(
    ("psi", "message"),
    [
        (lambda x: -x, "finite values >= 0"),
        (lambda x: 10 - x, "never decreases"),
        (lambda x: np.where(x > 5, 1.0, x), "never decreases"),
        (lambda x: x * np.nan, "finite values >= 0"),
        (lambda x: np.where(x > 5.9, np.inf, x), "finite values >= 0"),
        (lambda x: x[:1], "the same shape"),
        (lambda _: 1.0, "the same shape"),
    ],
)
def test_functions_that_are_no_shrinker_are_refused(psi, message):
    with pytest.raises(ShrinkerError, match=message):
        shrink(psi, SIGMA)


def test_a_decrease_between_the_singular_values_is_seen():
    """6 -> 6 and 3 -> 3 alone would look increasing."""
    with pytest.raises(ShrinkerError, match="never decreases"):
        shrink(lambda x: x + np.sin(4 * x) ** 2, np.array([6.0, 3.0]))


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ShrinkerError, match="'soft-rescaled'"):
        resolve_shrinker("hard", kept(0.5, 1.0))


def test_nothing_kept_gives_nothing():
    assert shrink(np.sqrt, np.zeros(0)).shape == (0,)


# --- optimal shrinkers: a signal of strength x in white noise of unit standard deviation over sqrt(longer side)

ASPECTS = (1.0, 0.5, 0.1)
NORMS = {"frobenius": lambda s: (s**2).sum(), "operator": np.max, "nuclear": np.sum}


def seen(x, aspect):
    """Where a signal of strength x is seen: the theory of spiked matrices (Benaych-Georges and Nadakuditi 2012)."""
    return np.sqrt((x + 1 / x) * (x + aspect / x))


def asymptotic_loss(norm, eta, x, aspect):
    """Error of ``eta u v^T`` for ``x e_1 e_1^T`` where u and v stand at the angles to e_1 that the theory gives."""
    cosines = [np.sqrt((x**4 - aspect) / (x**4 + b * x**2)) for b in (aspect, 1.0)]
    u, v = (np.array([c, np.sqrt(1 - c**2)]) for c in cosines)
    error = -eta * np.outer(u, v)
    error[0, 0] += x
    return norm(np.linalg.svd(error, compute_uv=False))


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("x", [1.1, 1.5, 3.0])
def test_optimal_shrinkers_minimise_the_asymptotic_loss(loss, x, aspect):
    y = seen(x, aspect)
    lowest = minimize_scalar(
        lambda eta: asymptotic_loss(NORMS[loss], eta, x, aspect),
        bounds=(0, 2 * y),
        method="bounded",
        options={"xatol": 1e-11},
    )
    # The minimiser stops where the loss no longer changes in double precision: the square root of it in the argument.
    assert LOSSES[loss](np.array([y]), aspect)[0] == pytest.approx(lowest.x, abs=1e-6)


@given(st.floats(1.001, 50), st.sampled_from(ASPECTS))
def test_signal_strength_inverts_what_is_seen(x, aspect):
    assert signal_strength(np.array([seen(x, aspect)]), aspect)[0] == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("aspect", ASPECTS)
def test_noise_becomes_zero(loss, aspect):
    edge = 1 + np.sqrt(aspect)
    assert (LOSSES[loss](np.linspace(0, edge, 50), aspect) == 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_known_noise_rescales_the_unit_by_hand(loss):
    """m = 4, n = 9, standard deviation 1/3: unit sqrt(9)/3 = 1; then divided by p_hat."""
    psi = OptimalShrinker(loss, noise=1 / 3).psi(kept(0.25, 0.0))
    np.testing.assert_allclose(psi(SIGMA), 4 * LOSSES[loss](SIGMA, 4 / 9))


def test_unknown_noise_is_what_the_kept_components_leave():
    """Energy 36 x 2 = 72; kept 36 + 25: 11 left on (4 - 2)(9 - 2) dimensions."""
    data = kept(0.5, 4.5, [6.0, 5.0], mean_square=2.0)
    assert data.residual_variance == pytest.approx(11 / 14)
    known = OptimalShrinker(noise=float(np.sqrt(11 / 14))).psi(data)
    np.testing.assert_allclose(OptimalShrinker().psi(data)(SIGMA), known(SIGMA))


def test_without_noise_nothing_is_shrunk():
    data = kept(0.5, 1.0, [6.0], mean_square=1.0)
    np.testing.assert_allclose(OptimalShrinker().psi(data)(SIGMA), SIGMA / 0.5)


def test_optimal_shrinkers_lose_least_on_simulated_data():
    """One matrix of rank 2 in white noise, 300 x 600: no multiple of the shrunk values does better by more than chance."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((size, 2)))[0] for size in (300, 600))
    truth = (left * [3.0, 1.5]) @ right.T
    u, y, vt = np.linalg.svd(truth + rng.standard_normal(truth.shape) / np.sqrt(600), full_matrices=False)

    def loss(values):
        return ((truth - (u[:, :2] * values) @ vt[:2]) ** 2).sum()

    shrunk = LOSSES["frobenius"](y, 0.5)
    assert (shrunk[2:] == 0).all()
    oracle = np.einsum("ml,mn,ln->l", u[:, :2], truth, vt[:2])  # the best there is, knowing the truth
    assert loss(oracle) <= loss(shrunk[:2]) <= 1.02 * loss(oracle)
    assert loss(shrunk[:2]) < 0.9 * loss(y[:2])


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        (OptimalShrinker("spectral"), ShrinkerError),
        (OptimalShrinker(noise="loud"), ThresholdError),
        (OptimalShrinker(noise=-1.0), ThresholdError),
        (OptimalShrinker(noise=float("nan")), ThresholdError),
    ],
)
def test_unusable_rules_are_refused(rule, error):
    with pytest.raises(error):
        rule.psi(kept(0.5, 1.0))
