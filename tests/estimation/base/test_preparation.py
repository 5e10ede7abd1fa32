"""Centres: against hand-computed values, dense least squares, and each other; undone exactly, for seen and unseen rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import SVT, ObservedMatrix
from likewise.errors import InputError
from likewise.estimation import Biases, centre
from likewise.estimation.base.bias_equations import VarianceComponents, solve_biases, variance_components

pytestmark = pytest.mark.filterwarnings(
    "ignore::likewise.errors.PropensityWarning"
)  # patterns drawn at random

HAND = np.array([[1.0, 0.0, np.nan], [0.5, np.nan, -0.5], [np.nan, np.nan, np.nan]])
"""Means: all .25; rows .5, 0, none; columns .75, 0, -.5."""


def stored(values):
    i, j = np.nonzero(~np.isnan(values))
    return sparse.csr_array((values[i, j], (i, j)), shape=values.shape)


def random_values(seed, m=12, n=9, share=0.5):
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, (m, 1)) / 2 + rng.uniform(-1, 1, n) / 3 + rng.normal(0, 0.1, (m, n))
    values[rng.random((m, n)) >= share] = np.nan
    values[0, 0] = 0.3
    return values


def naive_biases(values, weights, row_penalty, column_penalty):
    """Normal equations written out for every unknown, and solved as they are (minimum norm)."""
    m, n = values.shape
    mean = np.nansum(values * weights) / weights[~np.isnan(values)].sum()
    matrix, side = np.diag([row_penalty] * m + [column_penalty] * n).astype(float), np.zeros(m + n)
    for i, j in zip(*np.nonzero(~np.isnan(values)), strict=True):
        for unknown in (i, m + j):
            side[unknown] += weights[i, j] * (values[i, j] - mean)
            matrix[unknown, i] += weights[i, j]
            matrix[unknown, m + j] += weights[i, j]
    solution = np.linalg.lstsq(matrix, side, rcond=None)[0]
    return mean, solution[:m], solution[m:]


def test_nothing():
    found = centre(stored(HAND), "none")
    assert found.row_offsets is found.column_offsets is found.row_penalty is None
    np.testing.assert_array_equal(found.residuals(stored(HAND)).data, [1, 0, 0.5, -0.5])


def test_global_mean_by_hand():
    found = centre(stored(HAND), "global")
    np.testing.assert_allclose(found.column_offsets, [0.25, 0.25, 0.25])
    assert found.row_offsets is None
    np.testing.assert_allclose(found.residuals(stored(HAND)).data, [0.75, -0.25, 0.25, -0.75])


def test_column_means_by_hand_are_of_each_column():
    found = centre(stored(HAND), "column")
    np.testing.assert_allclose(found.column_offsets, [0.75, 0.0, -0.5])
    np.testing.assert_allclose(found.residuals(stored(HAND)).data, [0.25, 0.0, -0.25, 0.0])


def test_row_means_by_hand_are_of_each_row_and_a_row_of_nothing_has_the_mean_of_all():
    found = centre(stored(HAND), "row")
    np.testing.assert_allclose(
        found.column_offsets + found.row_offsets[:, None], [[0.5] * 3, [0.0] * 3, [0.25] * 3]
    )
    assert found.notes == (
        "1 rows without an observation have the mean of all observations in place of their own",
    )


def test_biases_by_hand():
    """Deviations from the mean .25: (.75, -.25), (.25, -.75). With lambda = 1: equations solved on paper for rows 0 and 1.

    Unknowns a0, a1, b0, b1, b2: 3 a0 + b0 + b1 = .5; 3 a1 + b0 + b2 = -.5; a0 + a1 + 3 b0 = 1; a0 + 2 b1 = -.25; a1 + 2 b2 = -.75.
    The sum and the difference of the first two, with s = a0 + a1 and t = a0 - a1: b0 = (1 - s)/3, b1 + b2 = -.5 - s/2, b1 - b2 = .25 - t/2;
    3 s + 2 (1 - s)/3 - .5 - s/2 = 0 gives s = -1/11; 3 t + .25 - t/2 = 1 gives t = .3.
    """
    found = centre(stored(HAND), "biases", regularization=1.0)
    s, t = -1 / 11, 0.3
    rows = [(s + t) / 2, (s - t) / 2, 0.0]
    columns = [(1 - s) / 3, (-0.25 - rows[0]) / 2, (-0.75 - rows[1]) / 2]
    np.testing.assert_allclose(found.row_offsets, rows, atol=1e-12)
    np.testing.assert_allclose(found.column_offsets - 0.25, columns, atol=1e-12)
    assert found.row_penalty == 1.0


@pytest.mark.parametrize("penalty", [0.0, 0.3, 5.0])
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.15, 1.0))
def test_biases_equal_dense_least_squares(penalty, seed, share):
    values = random_values(seed, share=share)
    weights = np.random.default_rng(seed + 1).uniform(0.2, 5, values.shape)
    kept = weights[~np.isnan(values)]
    weights /= kept.mean()
    mean, rows, columns = naive_biases(values, weights, penalty, penalty)
    found = centre(stored(values), "biases", weights[~np.isnan(values)], regularization=penalty)
    fitted = found.column_offsets + found.row_offsets[:, None]
    expected = mean + rows[:, None] + columns
    seen = ~np.isnan(values)
    np.testing.assert_allclose(fitted[seen], expected[seen], atol=1e-8)
    if penalty:
        np.testing.assert_allclose(fitted, expected, atol=1e-8)


@given(seed=st.integers(0, 2**32 - 1))
def test_biases_are_a_minimum(seed):
    """No step away from the solution lowers the objective."""
    values, rng = stored(random_values(seed)), np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, values.nnz)
    rows_of, columns_of = values.nonzero()
    found = solve_biases(values, weights, 2.0)

    def objective(a, b):
        left = values.data - a[rows_of] - b[columns_of]
        return (weights * left**2).sum() + 2 * (a**2).sum() + 2 * (b**2).sum()

    least = objective(found.rows, found.columns)
    for size in (1e-3, 0.1):
        moved = objective(
            found.rows + size * rng.normal(size=found.rows.size),
            found.columns + size * rng.normal(size=found.columns.size),
        )
        assert moved >= least


@pytest.mark.parametrize("kind", ["global", "row", "column", "biases"])
def test_the_scale_of_weights_does_not_matter(kind):
    values, weights = stored(random_values(3)), np.random.default_rng(0).uniform(0.1, 1, 200)
    weights = weights[: values.nnz]
    one, ten = (centre(values, kind, factor * weights, regularization=2.0) for factor in (1, 10))
    np.testing.assert_allclose(one.column_offsets, ten.column_offsets)
    if one.row_offsets is not None:
        np.testing.assert_allclose(one.row_offsets, ten.row_offsets)
        assert ten.row_penalty == pytest.approx(10 * one.row_penalty)


def test_biases_of_no_variance_are_said_to_be_none():
    assert VarianceComponents(2.0, 1.0, 4.0).notes == (
        "biases regularised by 2 observations a row and 4 observations a column, from variance components",
    )
    assert VarianceComponents(0.0, 1.0, 4.0).notes == (
        "biases regularised by 4 observations a column, from variance components",
        "no row biases: their variance is estimated as 0",
    )
    assert VarianceComponents(0.0, 0.0, 4.0).notes == (
        "no row biases: their variance is estimated as 0",
        "no column biases: their variance is estimated as 0",
    )


def test_variance_components_are_right_on_average():
    """Unbiased: the mean over draws comes within three standard errors of the variances .09, .04, .01 that made the data."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        values = rng.normal(0, 0.3, (30, 1)) + rng.normal(0, 0.2, 20) + rng.normal(0, 0.1, (30, 20))
        values[rng.random(values.shape) < 0.6] = np.nan
        components = variance_components(stored(values))
        found.append((components.rows, components.columns, components.noise))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - [0.09, 0.04, 0.01]) < 3 * error).all()


def test_without_biases_in_the_data_none_are_found():
    """Checkerboard: every row and column has mean 0, so the penalties are infinite and the offsets 0."""
    values = stored(np.where(np.indices((6, 6)).sum(axis=0) % 2, 0.5, -0.5))
    found = centre(values, "biases")
    assert found.row_penalty == np.inf
    np.testing.assert_array_equal(found.row_offsets, 0)
    np.testing.assert_allclose(found.column_offsets, 0, atol=1e-15)


@pytest.mark.parametrize("kind", ["none", "global", "row", "column", "biases"])
@pytest.mark.parametrize("working_range", ["symmetric", "unit"])
def test_the_centre_is_undone_exactly(kind, working_range):
    """All singular values kept as they are: what was observed comes back, and a missing entry is its centre."""
    values = random_values(1)
    Z = ObservedMatrix(values, value_range=(-2, 2))
    fitted = SVT(threshold=0.0, shrinker="identity", centering=kind, working_range=working_range)
    dense = fitted.fit(Z).estimate_.to_dense()
    np.testing.assert_allclose(dense[~np.isnan(values)], values[~np.isnan(values)], atol=1e-10)
    estimate = fitted.estimate_.on_working_range()
    offsets = np.zeros(values.shape)
    offsets += 0 if estimate.column_offsets is None else estimate.column_offsets
    offsets += 0 if estimate.row_offsets is None else estimate.row_offsets[:, None]
    np.testing.assert_allclose(estimate.to_dense()[np.isnan(values)], offsets[np.isnan(values)], atol=1e-10)


@pytest.mark.filterwarnings("ignore::likewise.errors.FullRankWarning")
@pytest.mark.parametrize("kind", ["none", "global", "row", "column", "biases"])
@pytest.mark.parametrize("propensities", [None, "degrees"])
def test_rows_of_the_fit_fold_in_to_their_estimate(kind, propensities):
    Z = ObservedMatrix(random_values(4, 40, 25), value_range=(-2, 2))
    fitted = SVT(threshold=0.2, centering=kind, propensities=propensities).fit(Z)
    assert fitted.rank_ > 0
    np.testing.assert_allclose(fitted.transform(Z), fitted.estimate_.to_dense(), atol=1e-9)


def test_the_offset_of_an_unseen_row_is_of_its_own_observations():
    """Biases alone: a = sum of (z - column offset) over (count + lambda), by hand."""
    fitted = Biases(regularization=2.0, value_range=(-1, 1)).fit(random_values(2))
    columns = fitted.estimate_.column_offsets
    new = np.full((1, 9), np.nan)
    new[0, [1, 4]] = 0.8, 0.2
    offset = (0.8 - columns[1] + 0.2 - columns[4]) / (2 + 2)
    np.testing.assert_allclose(fitted.transform(new)[0], np.clip(columns + offset, -1, 1))


def test_biases_recover_biases():
    rng = np.random.default_rng(5)
    truth = rng.uniform(-0.5, 0.5, (60, 1)) + rng.uniform(-0.5, 0.5, 40)
    values = truth + rng.normal(0, 0.05, truth.shape)
    values[rng.random(truth.shape) < 0.7] = np.nan
    estimate = Biases(value_range=(-2, 2)).fit(values).estimate_.to_dense()
    # 100 biases from some 720 observations: the error is about noise x sqrt(100 / 720).
    assert np.sqrt(np.mean((estimate - truth) ** 2)) < 0.05 * np.sqrt(100 / 720) * 1.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"centering": "rows"}, "unknown centering 'rows'.*did you mean 'row'"),
        ({"centering": "biases", "regularization": -1.0}, "regularization -1.0; expected a number >= 0"),
        ({"centering": "biases", "regularization": [1]}, r"regularization \[1\]; expected a number >= 0"),
        ({"centering": "biases", "regularization": np.nan}, "regularization nan"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        centre(stored(HAND), **options)


def test_empty_rows_and_columns_are_noted_and_counted():
    values = random_values(6)
    values[3], values[:, [2, 5]] = np.nan, np.nan
    notes = Biases(value_range=(-2, 2)).fit(values).notes_
    assert "1 rows without an observation have the mean of all observations in place of their own" in notes
    assert "2 columns without an observation have the mean of all observations in place of their own" in notes
