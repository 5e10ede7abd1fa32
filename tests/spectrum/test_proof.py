"""That nothing is above a level: never proved where something is, proved where nothing is, by either way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.spectrum import proof
from likewise.spectrum.operators import as_operator
from likewise.spectrum.proof import _clear_level, certify_norm_bound


def test_two_columns_by_hand():
    """Singular values 5 and 2."""
    operator, _ = as_operator(np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]))
    assert certify_norm_bound(operator, 5.01, 5.0).complete
    assert not certify_norm_bound(operator, 4.99, 2.0).complete


@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 30),
    n=st.integers(1, 30),
    above=st.sampled_from([0.5, 0.9, 0.999, 1.001, 1.5]),
    seen=st.sampled_from([0.1, 0.9, 1.0]),
    way=st.sampled_from(["inertia", "random"]),
)
def test_it_is_true_whatever_was_seen(seed, m, n, above, seen, way):
    """`seen` may be far too small: the proof then takes longer or fails, and is never wrong."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(max(m, n), min(m, n)))
    largest = np.linalg.norm(matrix, 2)
    with pytest.MonkeyPatch.context() as patch:
        if way == "random":
            patch.setattr("likewise.spectrum.proof.INERTIA_SIDE", 0)
            patch.setattr(proof, "_MAX_TEST_PASSES", np.inf)
        proved = certify_norm_bound(
            as_operator(matrix)[0], above * largest, seen * largest, random_state=seed
        )
    if above < 1:
        assert not proved.complete
    elif seen == 1.0:
        assert proved.complete


@pytest.mark.parametrize(("margin", "reason"), [(1.01, "randomised test"), (1 + 1e-8, "inertia")])
def test_the_cheaper_way_is_taken_where_columns_are_many(margin, reason):
    """A margin of 1e-8 would take 30,000 passes over the matrix; its Gram matrix takes one."""
    n = proof._MAX_INERTIA_SIDE // 4
    operator, _ = as_operator(sparse.diags_array(np.linspace(0.1, 1.0, n)).tocsr())
    proved = certify_norm_bound(operator, margin, 1.0, random_state=0)
    assert proved.complete
    assert reason in proved.completeness.reason


def test_a_matrix_of_zeros_has_nothing_above_any_level():
    operator, _ = as_operator(sparse.csr_array((40, 3)))
    assert certify_norm_bound(operator, 1e-3, 0.0).complete


@pytest.mark.parametrize("way", ["inertia", "random"])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-30, 1e78, 1e155, 1e300])
def test_scale_proves_nothing_that_is_not_true(scale, way, monkeypatch):
    """Squares that overflow or vanish would prove anything."""
    if way == "random":
        monkeypatch.setattr(proof, "INERTIA_SIDE", 0)
    matrix = np.random.default_rng(0).normal(size=(40, 25))
    largest = np.linalg.norm(matrix, 2) * scale
    operator, _ = as_operator(matrix * scale)
    assert certify_norm_bound(operator, 1.01 * largest, largest, random_state=0).complete
    assert not certify_norm_bound(operator, 0.99 * largest, 0.9 * largest, random_state=0).complete
    assert certify_norm_bound(operator, 1.7e308, 0.0, random_state=0).complete
    assert not certify_norm_bound(operator, 5e-324, 0.0, random_state=0).complete


@pytest.mark.parametrize("steps", [0.0, 0.5, 1.0, 3.0])
def test_inertia_is_taken_where_no_ritz_value_is_near(steps):
    """Counted at a level that values just above the threshold are surely above, or surely below."""
    rounding = 1e-12
    squares = 1.0 + rounding * np.array([3e12, steps, -steps])
    level = _clear_level(squares, 1.0, rounding)
    assert 1.0 < level <= 1.0 + 8 * rounding
    assert np.abs(squares - level).min() > rounding
    assert _clear_level(np.zeros(3), 0.0, 0.0) == 0.0
