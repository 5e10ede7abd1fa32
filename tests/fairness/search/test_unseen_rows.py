"""The search for the worst unseen rows: ways between rows by hand, never below its start, never above what is proved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.certificates.regression import certify_regression
from likewise.certificates.regression_map import RegressionMap
from likewise.errors import InputError, ShapeError
from likewise.fairness import PatternDistance, search_unseen_rows
from likewise.fairness.search.unseen_rows import _Way, attained_ratios

nan = np.nan


def test_ratios_by_hand():
    """D = 3 and 1 over d = 2 and 0; a tenth of D may be rounding."""
    np.testing.assert_allclose(
        attained_ratios(np.array([3.0, 1.0]), np.array([2.0, 0.0]), np.zeros(2)), [1.5, np.inf]
    )
    np.testing.assert_allclose(attained_ratios(np.array([1.0]), np.array([2.0]), np.array([0.1])), [0.45])


def test_a_linear_map_by_hand():
    """Outputs (3 x, 4 x, y): one unit of x moves them by 5, one of y by 1. From (0, 0) to (1, 1) the ratio is sqrt(50) / 2 < 5."""
    matrix = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    found = search_unseen_rows(lambda rows: rows @ matrix, [([0.0, 0.0], [1.0, 1.0])])
    assert found.start_ratio == pytest.approx(np.linalg.norm([3, 4, 1]) / 2, rel=1e-5)
    assert found.ratio == pytest.approx(5.0, rel=1e-5)
    assert np.count_nonzero(found.rows[0] != found.rows[1]) == 1
    assert "5" in str(found)


@given(st.integers(0, 10**6))
def test_distances_to_a_row_between_sum_to_the_whole(seed):
    """Of zero-filled rows in l1 and l2, and where the empty entry is a point; d itself is that of `PatternDistance`."""
    rng = np.random.default_rng(seed)
    left, right = rng.uniform(-1, 1, size=(2, 6, 7))
    left[rng.random(left.shape) < 0.4] = nan
    right[rng.random(right.shape) < 0.4] = nan
    for way in (_Way(1.0, None), _Way(2.0, None), _Way(1.0, 1.3)):
        whole = way.distances(left, right)
        for between in way.between(left, right, rng):
            np.testing.assert_allclose(
                way.distances(left, between) + way.distances(between, right), whole, atol=1e-12
            )
    stored = [
        sparse.csr_array(
            (row[~np.isnan(row)], (np.zeros((~np.isnan(row)).sum(), int), np.flatnonzero(~np.isnan(row)))),
            shape=(1, 7),
        )
        for row in (left[0], right[0])
    ]
    measured = PatternDistance(sparse.vstack(stored, format="csr"), 1.3).between(np.array([0]), np.array([1]))
    np.testing.assert_allclose(way.distances(left[:1], right[:1]), measured, atol=1e-12)


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_it_never_loses_and_never_exceeds_a_linear_map(seed):
    """l1 to l2: the largest row of the matrix; l2 to l2: its largest singular value."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(8, 3))
    starts = rng.uniform(-1, 1, size=(3, 2, 8))
    starts[rng.random(starts.shape) < 0.3] = nan
    ratios = np.linalg.norm((np.nan_to_num(starts[:, 0]) - np.nan_to_num(starts[:, 1])) @ matrix, axis=1)
    for norm, constant in (("l1", np.linalg.norm(matrix, axis=1).max()), ("l2", np.linalg.norm(matrix, 2))):
        found = search_unseen_rows(
            lambda rows: np.nan_to_num(rows) @ matrix, starts, norm=norm, random_state=seed
        )
        order = int(norm[1])
        first = (
            ratios / np.linalg.norm(np.nan_to_num(starts[:, 0]) - np.nan_to_num(starts[:, 1]), order, axis=1)
        ).max()
        assert first * (1 - 1e-5) <= found.start_ratio <= found.ratio <= constant


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_it_never_exceeds_the_constant_of_a_regression(seed):
    """Where rows are regressions on what they observe, the way goes from one pattern to another; only rows of the domain are tried."""
    rng = np.random.default_rng(seed)
    regression = RegressionMap(
        rng.normal(size=(6, 2)) * rng.choice([0.3, 1.0, 4.0]), rng.uniform(-0.3, 0.3, 6)
    )
    rows = rng.uniform(-1, 1, size=(8, 6))
    rows[rng.random(rows.shape) < 0.5] = nan

    def stored(some):
        seen = ~np.isnan(some)
        ends = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
        return sparse.csr_array((some[seen], np.nonzero(seen)[1], ends), shape=some.shape)

    def estimates(some):
        coefficients = np.stack([u for u, *_ in regression.solve(stored(some))])
        return np.clip(regression.offsets + regression.noise * coefficients @ regression.regressors.T, -1, 1)

    proved = certify_regression(regression, stored(rows))
    found = search_unseen_rows(
        estimates,
        rows.reshape(4, 2, 6),
        empty=proved.empty,
        admissible=lambda some: proved.covers(stored(some)),
        random_state=seed,
    )
    assert found.start_ratio <= found.ratio <= proved.certificate.value
    assert proved.covers(stored(found.rows)).all()


@pytest.mark.parametrize(
    ("norm", "length"), [("l1", 0.7), ("l2", 0.5), ("linf", 0.4), (3.0, 0.091 ** (1 / 3))]
)
def test_the_start_is_measured_in_the_norm_that_was_asked_for(norm, length):
    """Two columns that differ by .3 and -.4: lengths by hand; under linf powers are no way to them. NaN counts as 0."""
    starts = [([0.1, 0.4], [0.4, np.nan])]
    found = search_unseen_rows(lambda rows: 2 * np.nan_to_num(rows), starts, norm=norm)
    assert found.start_ratio == pytest.approx(2 * 0.5 / length, rel=1e-6)
    assert found.ratio >= found.start_ratio


def test_rows_that_are_not_admissible_are_not_used():
    """The steep half is forbidden, so only the slope of the other is found."""
    found = search_unseen_rows(
        lambda x: np.where(x > 0.5, 9 * x, x),
        [([0.0], [0.4]), ([0.0], [1.0])],
        admissible=lambda x: x[:, 0] <= 0.5,
    )
    assert found.ratio == pytest.approx(1.0, rel=1e-5)


def test_the_same_seed_finds_the_same():
    rng = np.random.default_rng(3)
    matrix, starts = rng.normal(size=(30, 4)), rng.uniform(-1, 1, size=(4, 2, 30))
    first, second = (
        search_unseen_rows(lambda x: np.tanh(x @ matrix), starts, random_state=5) for _ in range(2)
    )
    assert first.ratio == second.ratio
    np.testing.assert_array_equal(first.rows, second.rows)


def test_bad_input():
    with pytest.raises(ShapeError, match=r"pairs of rows of shape \(2, 3\)"):
        search_unseen_rows(lambda x: x, np.zeros((2, 3)))
    with pytest.raises(InputError, match="infinite"):
        search_unseen_rows(lambda x: x, [([np.inf], [0.0])])
    with pytest.raises(InputError, match="empty"):
        search_unseen_rows(lambda x: x, [([1.0], [0.0])], empty=0.0)
    with pytest.raises(InputError, match="n_steps"):
        search_unseen_rows(lambda x: x, [([1.0], [0.0])], n_steps=0)
    with pytest.raises(ShapeError, match="outputs of shape"):
        search_unseen_rows(lambda x: x[:-1], [([1.0], [0.0]), ([0.5], [0.0])])
    with pytest.raises(InputError, match="NaN or infinite"):
        search_unseen_rows(lambda x: np.full(x.shape, np.inf), [([1.0], [2.0])])


def test_outputs_whose_squares_overflow_are_refused_and_not_taken_for_rounding():
    with pytest.raises(InputError, match=r"outputs up to 1e\+200"):
        search_unseen_rows(lambda rows: 1e200 * rows, [([0.0], [1.0])])
    assert search_unseen_rows(lambda rows: 1e100 * rows, [([0.0], [1.0])]).ratio == pytest.approx(1e100)
