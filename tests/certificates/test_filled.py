"""Constants of centred, weighted and regressed estimates: exact where there is one, refused where there is none."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise import SVT, LowRankEstimate, ObservedMatrix, certify
from likewise.certificates.row_map import FilledRowMap
from likewise.estimation import Biases, LinearFolding, RidgeFolding, Weighting
from likewise.fairness import Certificate, Unavailable
from likewise.observations import AffineScale

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")

CENTRED = ["global", "row", "column", "biases"]
COLUMNS = np.linspace(0.9, 0.2, 14)
"""Propensities that differ between columns alone."""


def drawn(seed, m=30, n=14, share=0.6):
    rng = np.random.default_rng(seed)
    values = np.clip(
        rng.uniform(-1, 1, (m, 2)) @ rng.uniform(-1, 1, (2, n)) + rng.uniform(-0.5, 0.5, n), -1, 1
    )
    values[rng.random((m, n)) >= share] = np.nan
    values[0, 0] = 0.5
    return values


def fitted(seed=0, **options):
    return SVT(threshold=0.8, **options).fit(ObservedMatrix(drawn(seed), value_range=(-1, 1)))


def unclipped(estimate, rows):
    """Estimates before clipping, read from the factors alone."""
    wide = AffineScale(np.asarray(0.0), np.asarray(1.0), (-1e9, 1e9))
    return replace(estimate, scale=wide).fold_in(rows)


def filled(estimate, rows, weights=None):
    """Rows with what is missing filled with their centre, written out for each row."""
    columns, penalty = estimate.column_offsets, estimate.folding.row_penalty
    columns = np.zeros(rows.shape[1]) if columns is None else columns
    w = np.ones(rows.shape[1]) if weights is None else weights
    result = np.empty_like(rows)
    for i, row in enumerate(rows):
        seen = ~np.isnan(row)
        total = 0.0 if penalty is None else (w[seen].sum() + penalty)
        offset = (w[seen] * (row - columns)[seen]).sum() / total if total > 0 else 0.0
        result[i] = np.where(seen, row, columns + offset)
    return result


def pairs_hold(constant, rows, outputs):
    order = {"l1": 1, "l2": 2}[constant.from_norm]
    d = np.linalg.norm(rows[:, None] - rows[None], ord=order, axis=2)
    D = np.linalg.norm(outputs[:, None] - outputs[None], axis=2)
    return constant.holds_for(d, D, slack=1e-9).holds


@pytest.mark.parametrize("kind", CENTRED)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.0, 1.0))
def test_no_pair_of_filled_rows_exceeds_the_constants(kind, seed, share):
    """Rows of any pattern of what is observed, also none at all, together with rows of the fit."""
    estimator = fitted(centering=kind)
    estimate, constants = estimator.estimate_, estimator.certificate_
    rng = np.random.default_rng(seed)
    rows = np.vstack([drawn(seed, 20, share=share), drawn(0)[:10], rng.choice([-1.0, 1.0], (5, 14))])
    for function in (unclipped, lambda estimate, rows: estimate.fold_in(rows)):
        outputs = function(estimate, rows)
        assert pairs_hold(constants.filled, filled(estimate, rows), outputs)
        assert pairs_hold(constants.filled_spectral, filled(estimate, rows), outputs)


@pytest.mark.parametrize("kind", CENTRED)
def test_the_constant_is_attained(kind):
    """A complete row whose one entry moves: the column that moves the estimate most attains the l1 constant."""
    estimator = fitted(centering=kind)
    row = np.zeros((1, 14))
    moved = [
        np.linalg.norm(
            unclipped(estimator.estimate_, row + 1e-3 * np.eye(14)[k]) - unclipped(estimator.estimate_, row)
        )
        for k in range(14)
    ]
    assert max(moved) / 1e-3 == pytest.approx(estimator.certificate_.filled.value, rel=1e-6)


@pytest.mark.parametrize("kind", CENTRED)
def test_the_l2_constant_is_attained(kind):
    """In the direction of the largest singular value of the map, found from its columns."""
    estimator = fitted(centering=kind)
    base = unclipped(estimator.estimate_, np.zeros((1, 14)))
    columns = [unclipped(estimator.estimate_, np.eye(14)[[k]])[0] - base[0] for k in range(14)]
    assert np.linalg.norm(columns, 2) == pytest.approx(estimator.certificate_.filled_spectral.value, rel=1e-6)


@pytest.mark.parametrize("kind", CENTRED)
def test_on_zero_filled_rows_there_is_none_and_rightly(kind):
    """Two rows at distance 0 on zero-filled data, one of which observed a zero, have different estimates."""
    estimator = fitted(centering=kind)
    k_star = estimator.certificate_.k_star
    assert isinstance(k_star, Unavailable)
    assert "filled with its centre, not with 0" in k_star.reason
    rows = np.full((2, 14), np.nan)
    rows[:, 0] = 0.5
    rows[1, 1:] = 0.0
    outputs = unclipped(estimator.estimate_, rows)
    assert np.linalg.norm(outputs[0] - outputs[1]) > 1e-3


def test_hand_computed_biases_alone():
    """n = 3, lambda = 1, rank 0: an entry that moves by 1 moves the offset, so all three entries, by 1/4: sqrt(3)/4."""
    Z = ObservedMatrix(np.array([[0.5, 0.1, 0.2], [0.3, -0.4, 0.0]]), value_range=(-1, 1))
    constants = Biases(regularization=1.0).fit(Z).certificate_
    assert constants.filled.value == pytest.approx(np.sqrt(3) / 4)
    # From l2: a row that moves by (1, 1, 1)/sqrt(3) moves its offset by sqrt(3)/4, so the estimate by 3/4.
    assert constants.filled_spectral.value == pytest.approx(0.75)
    assert constants.seen.offset < 1e-12


def test_hand_computed_one_component_and_an_offset():
    """v = (.6, .8), gain 2, lambda = 2: P = [[.72, .96], [.96, 1.28]], 1 P = (1.68, 2.24), e = (1 - 1 P) / 4 = (-.17, -.31)."""
    Z = ObservedMatrix(np.array([[0.5, 0.1], [0.3, -0.4]]), value_range=(-1, 1))
    factors = (np.ones((2, 1)), np.array([2.0]), np.array([[0.6], [0.8]]))
    estimate = LowRankEstimate.from_factors(
        Z, "symmetric", factors, LinearFolding(row_penalty=2.0), singular_values=np.array([1.0])
    )
    rows = np.array([[0.72 - 0.17, 0.96 - 0.31], [0.96 - 0.17, 1.28 - 0.31]])
    constants = certify(replace(estimate, row_offsets=np.zeros(2)), Z)
    assert constants.filled.value == pytest.approx(np.linalg.norm(rows[1]))
    assert constants.filled_spectral.value == pytest.approx(np.linalg.norm(rows, 2))


@pytest.mark.parametrize("kind", ["none", *CENTRED])
def test_weights_of_columns_enter_the_constants(kind):
    estimator = fitted(centering=kind, propensities=COLUMNS)
    estimate, constants = estimator.estimate_, estimator.certificate_
    weights = estimate.folding.weighting.of_columns()
    rows = np.vstack([drawn(5, 25), drawn(0)[:10], np.random.default_rng(1).choice([-1.0, 1.0], (5, 14))])
    outputs = unclipped(estimate, rows)
    assert pairs_hold(constants.filled, filled(estimate, rows, weights), outputs)
    row = np.zeros((1, 14))
    moved = [
        np.linalg.norm(unclipped(estimate, row + np.eye(14)[k]) - unclipped(estimate, row)) for k in range(14)
    ]
    assert max(moved) == pytest.approx(constants.filled.value, rel=1e-6)
    if kind == "none":  # then rows are filled with 0
        assert constants.k_star.value == constants.filled.value
        assert pairs_hold(constants.k_star, np.nan_to_num(rows), outputs)
    else:
        assert isinstance(constants.k_star, Unavailable)


@pytest.mark.parametrize("kind", ["none", "global", "column"])
def test_weights_of_rows_leave_a_constant_on_weighted_residuals(kind):
    estimator = fitted(centering=kind, propensities="degrees")
    estimate, constants = estimator.estimate_, estimator.certificate_
    assert "weights of its own" in constants.k_star.reason
    rows = drawn(5, 40)
    columns = 0 if estimate.column_offsets is None else estimate.column_offsets
    observed = ObservedMatrix(rows, value_range=(-1, 1))
    chances = np.ones(rows.shape)
    chances[observed.positions()] = estimate.folding.weighting.propensities(observed.values)
    residuals = np.nan_to_num(rows - columns) / chances
    assert "Z_ij - centre_j) / p_ij" in constants.filled.function
    assert pairs_hold(constants.filled, residuals, unclipped(estimate, rows))


@pytest.mark.parametrize("kind", ["none", "global", "column"])
def test_the_constant_on_residuals_over_propensities_is_attained(kind):
    """Two rows of one pattern, so of equal weights, that differ in one entry: none smaller than the largest of these ratios holds."""
    estimator = fitted(centering=kind, propensities="degrees")
    estimate, constants = estimator.estimate_, estimator.certificate_
    row = np.zeros((1, 14))
    chances = estimate.folding.weighting.propensities(ObservedMatrix(row, value_range=(-1, 1)).values)
    steps = [unclipped(estimate, row + np.eye(14)[k]) - unclipped(estimate, row) for k in range(14)]
    ratios = [np.linalg.norm(step) * chances[k] for k, step in enumerate(steps)]
    assert max(ratios) == pytest.approx(constants.filled.value, rel=1e-9)
    spectral = np.linalg.norm(np.vstack(steps) * chances[:, None], 2)
    assert spectral == pytest.approx(constants.filled_spectral.value, rel=1e-9)


def test_weights_of_rows_and_offsets_of_rows_leave_none():
    constants = fitted(centering="biases", propensities="degrees").certificate_
    assert isinstance(constants.filled, Unavailable)
    assert "its rows have offsets, and weights of their own" in constants.filled.reason


def test_a_regression_on_what_is_observed_has_none_from_filled_rows_and_rightly():
    """The reason in numbers: rows at distance 0 on zero-filled data, and on filled data, with different estimates."""
    Z = ObservedMatrix(drawn(0), value_range=(-1, 1))
    rng = np.random.default_rng(0)
    factors = (rng.normal(size=(30, 2)), np.ones(2), rng.normal(size=(14, 2)))
    estimate = LowRankEstimate.from_factors(Z, "symmetric", factors, RidgeFolding(penalties=np.full(2, 0.1)))
    constants = certify(estimate, Z)
    for constant in (*constants, constants.seen):
        if constant is constants.regression.certificate:
            continue  # from a metric in which the empty entry is a point of its own
        assert isinstance(constant, Unavailable)
        assert "depends on which entries are observed" in constant.reason
    rows = np.full((2, 14), np.nan)
    rows[:, 0], rows[1, 1:] = 0.5, 0.0
    outputs = estimate.fold_in(rows)
    assert np.linalg.norm(outputs[0] - outputs[1]) > 0.1


@pytest.mark.parametrize("kind", CENTRED)
def test_rows_of_the_fit_hold_with_what_the_solver_left(kind):
    """Also where the factors are crooked: the departure is in the offset."""
    estimator = fitted(centering=kind)
    Z, estimate = estimator.observed_, estimator.estimate_
    assert estimator.certificate_.seen.offset < 1e-9
    rng = np.random.default_rng(2)
    crooked = replace(estimate, left=estimate.left + 0.05 * rng.normal(size=estimate.left.shape))
    if crooked.row_offsets is not None:
        crooked = replace(crooked, row_offsets=crooked.row_offsets + 0.05 * rng.normal(size=30))
    seen = certify(crooked, Z).seen
    rows = filled(crooked, drawn(0))
    wide = crooked.left * crooked.shrunk_values @ crooked.right.T
    wide = wide + (0 if crooked.column_offsets is None else crooked.column_offsets)
    wide = wide + (0 if crooked.row_offsets is None else crooked.row_offsets[:, None])
    assert seen.offset > 0.05
    assert pairs_hold(seen, rows, wide)


def test_nothing_changes_for_the_paper_s_estimate():
    """Without centre and weights the constants are on zero-filled rows, and there are no others."""
    constants = fitted().certificate_
    assert constants.filled is constants.filled_spectral is None
    assert isinstance(constants.k_star, Certificate)
    assert constants.k_star.function.startswith("a zero-filled row")


def test_no_offsets_found_is_no_offset():
    """An infinite penalty: the offset of every row is 0, and the constant that of P."""
    Z = ObservedMatrix(drawn(0), value_range=(-1, 1))
    estimate = SVT(threshold=0.8).fit(Z).estimate_
    shrunk = replace(estimate, folding=LinearFolding(row_penalty=np.inf), row_offsets=np.zeros(30))
    assert certify(shrunk, Z).filled.value == pytest.approx(certify(estimate, Z).k_star.value, rel=1e-12)


def test_weighting_alone_is_recognised():
    Z = ObservedMatrix(drawn(0), value_range=(-1, 1))
    estimate = SVT(threshold=0.8).fit(Z).estimate_
    weighting = Weighting(np.full(14, 0.5), by_count=False, floor=0.1)
    doubled = replace(estimate, folding=LinearFolding(weighting=weighting))
    assert certify(doubled, Z).k_star.value == pytest.approx(2 * certify(estimate, Z).k_star.value, rel=1e-12)


def naive_map(right, gains, weights, penalty):
    """``diag(w) (P + 1 e^T)``, ``e = (1 - w P) / (sum w + lambda)``, in full."""
    P = (right * gains) @ right.T
    return weights[:, None] * (
        P + np.outer(np.ones(len(right)), (1 - weights @ P) / (weights.sum() + penalty))
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 12),
    tilt=st.sampled_from([0.0, 1e-17, 1e-14, 1e-11, 1e-8, 1e-5, 1e-2, 1.0]),
    weighted=st.booleans(),
    penalty=st.sampled_from([0.0, 0.5, 20.0]),
)
def test_the_map_with_the_ones_in_or_near_the_span_of_the_components(seed, n, tilt, weighted, penalty):
    """What is left of the ones outside V is all rounding there; its direction must not be taken for one (a factor of sqrt 2)."""
    rng = np.random.default_rng(seed)
    near = np.ones(n) + tilt * rng.normal(size=n)
    right = np.linalg.qr(np.column_stack([near, rng.normal(size=(n, 2))]))[0][:, : min(n, 3)]
    gains, weights = rng.uniform(0, 3, right.shape[1]), rng.uniform(0.2, 4, n) if weighted else np.ones(n)
    found = FilledRowMap(right, weights, penalty)
    exact = naive_map(right, gains, weights, penalty)
    largest = np.linalg.norm(exact, axis=1).max()
    assert largest * (1 - 1e-14) <= found.largest_row(gains) <= largest * (1 + 1e-10) + 1e-13
    spectral = np.linalg.norm(exact, 2)
    assert spectral * (1 - 1e-14) <= found.largest_singular_value(gains) <= spectral * (1 + 1e-10) + 1e-13


def test_hand_computed_the_ones_in_the_span():
    """V = (1, 1)/sqrt 2, gain 3, lambda 0: P = [[1.5, 1.5]] * 2, e = (1 - 3)/2 = -1, Q = .5 everywhere: rows of sqrt(.5), norm 1.

    The offset of a complete row is its mean, and what remains has no part along the ones, so the gain does not matter.
    """
    found = FilledRowMap(np.full((2, 1), np.sqrt(0.5)), penalty=0.0)
    assert found.largest_row(np.array([3.0])) == pytest.approx(np.sqrt(0.5), rel=1e-12)
    assert found.largest_singular_value(np.array([3.0])) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.8])
def test_a_budget_and_its_certificate_are_one_number(threshold):
    """Also where the kept components span the ones."""
    Z = ObservedMatrix(drawn(3, m=30, n=4, share=0.9), value_range=(-1, 1))
    estimator = SVT(threshold=threshold, centering="biases", max_lipschitz=0.6).fit(Z)
    proved = estimator.certificate_.filled.value
    assert proved == estimator.budget_.constant <= 0.6
    row = np.zeros((1, 4))
    steps = [
        unclipped(estimator.estimate_, row + np.eye(4)[k]) - unclipped(estimator.estimate_, row)
        for k in range(4)
    ]
    assert max(map(np.linalg.norm, steps)) == pytest.approx(proved, rel=1e-9)


def test_rows_as_they_are_stored_are_covered_by_the_certificate_of_the_fit():
    """The stored row comes from the solver's left vectors, off by a known amount here: K* speaks of fold-in, `seen` of stored rows."""
    Z = ObservedMatrix(drawn(0), value_range=(-1, 1))
    estimate = SVT(threshold=0.8).fit(Z).estimate_
    off = replace(
        estimate, left=estimate.left + 1e-7 * np.random.default_rng(0).normal(size=estimate.left.shape)
    )
    constants = certify(off, Z)
    assert constants.k_star.function.endswith("to its estimate by fold-in")
    assert 1e-8 < constants.seen.offset < 1e-4
