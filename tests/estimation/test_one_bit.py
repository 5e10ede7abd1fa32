"""1-bit completion: what a gap promises, against points that are allowed; the sample of rows that the radius is chosen on."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likewise.estimation import one_bit, one_bit_completion
from likewise.estimation.one_bit import RADII


def loss_of(logits, mask):
    return float((np.logaddexp(0, logits) - mask * logits).sum())


@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    share=st.floats(0.05, 0.95),
    radius=st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]),
)
def test_no_allowed_point_is_better_than_the_gap_says(seed, shape, share, radius):
    """Points between the fit and others of the ball are allowed; among these others the one that the gradient points to."""
    rng = np.random.default_rng(seed)
    mask = rng.random(shape) < share
    assume(0 < mask.sum() < mask.size)
    fit = one_bit_completion(mask, radius=radius)
    logits = np.log(fit.probabilities / (1 - fit.probabilities))
    left, _, right = np.linalg.svd(fit.probabilities - mask)
    others = [-np.outer(left[:, 0], right[0]), *rng.normal(size=(3, *shape))]
    least = loss_of(logits, mask) * (1 - fit.gap)
    for other in others:
        allowed = other * radius * np.sqrt(mask.size) / np.linalg.norm(other, "nuc")
        for part in (1e-3, 0.03, 0.3, 1.0):
            level = np.log(mask.mean() / (1 - mask.mean()))
            assert loss_of((1 - part) * logits + part * (level + allowed), mask) >= least - 1e-9


@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.3, 0.7), radius=st.sampled_from([0.1, 0.5, 1.0]))
def test_steps_settle_where_half_of_the_cells_are_observed(seed, share, radius):
    """Curvatures are largest there: steps of intercept and B that both answer to the mean would overshoot."""
    mask = np.random.default_rng(seed).random((12, 8)) < share
    assume(0 < mask.sum() < mask.size)
    fit = one_bit_completion(mask, radius=radius)
    assert fit.converged
    assert fit.probabilities.mean() == pytest.approx(mask.mean(), rel=1e-2)


@pytest.mark.parametrize(
    ("shape", "n_rows"),
    [
        ((15_400, 1_000), 2_000),  # two for each column
        ((100_000, 100), 20_000),  # two million cells
        ((300, 290), None),
        ((2_000, 1_000), None),
        ((2_001, 1_000), 2_000),
    ],
)
def test_how_many_rows_the_radius_is_chosen_on(shape, n_rows):
    rows = one_bit._rows_to_choose_on(shape, np.random.default_rng(0))
    assert (rows is None) if n_rows is None else rows.size == n_rows
    if rows is not None:
        assert np.all(np.diff(rows) > 0)
        assert 0 <= rows[0] <= rows[-1] < shape[0]


@given(seed=st.integers(0, 2**32 - 1), m=st.integers(2, 6), rank=st.integers(1, 3))
def test_a_radius_holds_for_samples_of_rows_on_average(seed, m, rank):
    """``E ||B_S||_* / sqrt(s n) <= ||B||_* / sqrt(m n)``: over all samples of each size, by hand."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, 3))
    for s in range(1, m + 1):
        norms = [np.linalg.norm(B[list(rows)], "nuc") for rows in combinations(range(m), s)]
        assert np.mean(norms) / np.sqrt(s) <= np.linalg.norm(B, "nuc") / np.sqrt(m) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("strength", "level"), [(1.2, -1.5), (1.2, -4.0), (0.7, -3.0)])
def test_the_radius_of_a_small_sample_is_the_best_one_or_beside_it(strength, level, monkeypatch):
    """By the truth, which the choice does not know: of 1,500 rows 120 are sampled, with 720 held-out cells."""
    rng = np.random.default_rng(0)
    logits = level + strength * rng.normal(size=(1500, 2)) @ rng.normal(size=(2, 60))
    chances = 1 / (1 + np.exp(-logits))
    mask = rng.random(chances.shape) < chances
    monkeypatch.setattr(one_bit, "_LEAST_CELLS", 1)
    assert one_bit._rows_to_choose_on(mask.shape, rng).size == 120
    chosen = one_bit_completion(mask, random_state=0)
    errors = [
        np.mean((one_bit_completion(mask, radius=radius).probabilities - chances) ** 2) for radius in RADII
    ]
    assert chosen.converged
    assert abs(RADII.index(chosen.radius) - int(np.argmin(errors))) <= 1


def test_a_wide_pattern_is_sampled_along_its_long_side(monkeypatch):
    """Columns are then what is sampled; a transposed pattern has the transposed probabilities."""
    monkeypatch.setattr(one_bit, "_LEAST_CELLS", 1)
    mask = np.random.default_rng(1).random((60, 6)) < np.linspace(0.2, 0.8, 6)
    tall, wide = (one_bit_completion(given, random_state=0) for given in (mask, mask.T))
    assert tall.radius == wide.radius
    np.testing.assert_allclose(wide.probabilities, tall.probabilities.T)
