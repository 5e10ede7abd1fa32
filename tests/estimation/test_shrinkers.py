"""Shrinkers: the named ones by hand, and what psi must satisfy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import ShrinkerError
from likewise.estimation import SHRINKERS, resolve_shrinker, shrink

SIGMA = np.array([6.0, 4.0, 3.0])
# p_hat = 1/2, tau = 2.5
BY_HAND = {
    "rescaled": [12.0, 8.0, 6.0],
    "identity": [6.0, 4.0, 3.0],
    "soft": [3.5, 1.5, 0.5],
    "soft-rescaled": [7.0, 3.0, 1.0],
}


def test_every_named_shrinker_is_covered_by_hand():
    assert BY_HAND.keys() == SHRINKERS.keys()


@pytest.mark.parametrize("name", SHRINKERS)
def test_named_shrinker_equals_the_hand_computed_values(name):
    np.testing.assert_allclose(shrink(resolve_shrinker(name, 0.5, 2.5), SIGMA), BY_HAND[name])


@given(
    st.sampled_from(sorted(SHRINKERS)),
    st.floats(0.01, 1),
    st.floats(0, 10),
    st.lists(st.floats(0, 1e6), min_size=1),
)
def test_named_shrinkers_keep_order_and_sign(name, p, tau, values):
    sigma = np.sort(values)[::-1]
    shrunk = shrink(resolve_shrinker(name, p, tau), sigma)
    assert (shrunk >= 0).all()
    assert (np.diff(shrunk) <= 0).all()


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
        resolve_shrinker("hard", 0.5, 1.0)


def test_nothing_kept_gives_nothing():
    assert shrink(np.sqrt, np.zeros(0)).shape == (0,)
