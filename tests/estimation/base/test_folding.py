"""Folding in: ridge regressions against the naive ones, and what comes back from a file."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import LowRankEstimate, ObservedMatrix
from likewise.errors import FileFormatError, InputError, ShapeError
from likewise.estimation import LinearFolding, RidgeFolding, ValueWeighting, Weighting, centre
from likewise.estimation.base.folding import ridge_rows


def naive_ridge(values, basis, penalties, weights):
    coefficients = np.zeros((values.shape[0], basis.shape[1]))
    for i, row in enumerate(values):
        seen = ~np.isnan(row)
        V, w = basis[seen], weights[i, seen]
        gram = V.T @ np.diag(w) @ V + np.diag(penalties)
        coefficients[i] = np.linalg.solve(gram, V.T @ (w * row[seen]))
    return coefficients


def drawn(seed, m=7, n=6, rank=2):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(m, n))
    values[rng.random((m, n)) < 0.5] = np.nan
    values[0] = np.nan
    values[1, 1] = 0.7
    return values, rng.normal(size=(n, rank)), rng.uniform(0.1, 2, rank), rng.uniform(0.2, 3, (m, n))


def stored(values):
    i, j = np.nonzero(~np.isnan(values))
    return sparse.csr_array((values[i, j], (i, j)), shape=values.shape)


def test_ridge_by_hand():
    """One component v = (1, 2, .), penalty 5: c = (1 x 2 + 2 x 4) / (1 + 4 + 5) = 1; weighted (1, 3): (2 + 24) / (1 + 12 + 5)."""
    values, basis = stored(np.array([[2.0, 4.0, np.nan]])), np.array([[1.0], [2.0], [9.0]])
    assert ridge_rows(values, basis, np.array([5.0]))[0, 0] == pytest.approx(1.0)
    assert ridge_rows(values, basis, np.array([5.0]), np.array([1.0, 3.0]))[0, 0] == pytest.approx(26 / 18)


@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_ridge_equals_one_regression_a_row(seed, weighted):
    values, basis, penalties, weights = drawn(seed)
    weights = weights if weighted else np.ones_like(weights)
    given_weights = weights[~np.isnan(values)] if weighted else None
    found = ridge_rows(stored(values), basis, penalties, given_weights)
    np.testing.assert_allclose(found, naive_ridge(values, basis, penalties, weights), atol=1e-9)


def test_ridge_in_blocks_is_the_same(monkeypatch):
    values, basis, penalties, _ = drawn(1, m=50)
    whole = ridge_rows(stored(values), basis, penalties)
    monkeypatch.setattr("likewise.estimation.base.folding._BLOCK_BYTES", 100)
    np.testing.assert_allclose(ridge_rows(stored(values), basis, penalties), whole, atol=1e-12)


def an_estimate(folding, values=None, centering="biases"):
    values = np.clip(drawn(3)[0], -1, 1) if values is None else values
    Z = ObservedMatrix(values, value_range=(-1, 1))
    rng = np.random.default_rng(0)
    factors = (rng.normal(size=(7, 2)), np.array([0.5, 0.2]), rng.normal(size=(6, 2)))
    middle = centre(Z.values, centering, regularization=1.5)
    return LowRankEstimate.from_factors(Z, "symmetric", factors, folding, middle, np.array([1.0, 0.5]))


def test_offsets_first_then_the_regression():
    folding = RidgeFolding(row_penalty=1.5, penalties=np.array([0.3, 0.6]))
    estimate, new = an_estimate(folding), np.clip(drawn(8)[0], -1, 1)
    seen = ~np.isnan(new)
    left = np.where(seen, new - estimate.column_offsets, 0.0)
    offsets = left.sum(axis=1) / (seen.sum(axis=1) + 1.5)
    residuals = np.where(seen, left - offsets[:, None], np.nan)
    c = naive_ridge(residuals, estimate.right, folding.penalties, np.ones(new.shape))
    expected = np.clip(c @ estimate.right.T + estimate.column_offsets + offsets[:, None], -1, 1)
    np.testing.assert_allclose(estimate.fold_in(new), expected, atol=1e-12)


def test_linear_folding_by_hand():
    """One row, z = (.5, ., -.25), weights of columns (2, 1, 4): c = (z w) V g."""
    weighting = Weighting(np.array([0.5, 1.0, 0.25]), by_count=False, floor=0.1)
    Z = ObservedMatrix(np.array([[0.5, 0.1, -0.25], [0.2, 0.1, 0.0]]), value_range=(-1, 1))
    right = np.array([[0.6], [0.0], [0.8]])
    factors = (np.ones((2, 1)), np.array([0.5]), right)
    estimate = LowRankEstimate.from_factors(
        Z, "symmetric", factors, LinearFolding(weighting=weighting), singular_values=np.array([2.0])
    )
    c = (0.5 * 2 * 0.6 - 0.25 * 4 * 0.8) * 0.25
    np.testing.assert_allclose(estimate.fold_in(np.array([[0.5, np.nan, -0.25]])), [[c * 0.6, 0, c * 0.8]])


FOLDINGS = {
    "linear": LinearFolding(),
    "linear with offsets": LinearFolding(row_penalty=2.0),
    "linear with no offsets found": LinearFolding(row_penalty=np.inf),
    "linear with weights": LinearFolding(
        1.0, Weighting(np.full(6, 1 / 6), by_count=True, floor=0.05, scale=0.4)
    ),
    "ridge": RidgeFolding(penalties=np.array([0.3, 0.6])),
    "linear by value": LinearFolding(
        None, ValueWeighting(np.array([-1.0, 0.5]), np.array([0.2, 0.9]), floor=0.05, scale=0.4)
    ),
}


@pytest.mark.parametrize("folding", FOLDINGS.values(), ids=FOLDINGS)
def test_a_folding_comes_back_from_its_file(tmp_path, folding):
    estimate, new = an_estimate(folding), np.clip(drawn(8)[0], -1, 1)
    estimate.save(tmp_path / "estimate.npz")
    loaded = LowRankEstimate.load(tmp_path / "estimate.npz")
    np.testing.assert_array_equal(loaded.fold_in(new), estimate.fold_in(new))
    np.testing.assert_array_equal(loaded.to_dense(), estimate.to_dense())


def test_a_file_of_the_first_version_still_loads(tmp_path):
    """Version 1 had no offsets and no folding; the arrays are those that it wrote."""
    estimate, path = an_estimate(LinearFolding(), centering="none"), tmp_path / "old.npz"
    header = {"format": "likewise.low-rank-estimate", "version": 1, "bounds": [-1.0, 1.0]}
    names = ("left", "singular_values", "shrunk_values", "right", "row_ids", "column_ids")
    arrays = {name: getattr(estimate, name) for name in names}
    np.savez(path, header=json.dumps(header), shift=np.asarray(0.0), factor=np.asarray(1.0), **arrays)
    loaded = LowRankEstimate.load(path)
    np.testing.assert_array_equal(loaded.to_dense(), estimate.to_dense())
    assert isinstance(loaded.folding, LinearFolding)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"header": {"folding": "origami"}}, "folds rows in by 'origami'; expected one of linear, ridge"),
        ({"folding_penalties": None}, "a folding that cannot be used"),
        ({"folding_penalties": np.array([-1.0, 1.0])}, "a folding that cannot be used .*penalties"),
        ({"folding_row_penalty": np.asarray(-2.0)}, "a folding that cannot be used .*row penalty"),
        ({"row_offsets": np.zeros(3)}, "row_offsets in .* shape"),
        ({"column_offsets": np.full(6, np.nan)}, "column_offsets in"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, changes, message):
    path = tmp_path / "estimate.npz"
    an_estimate(RidgeFolding(1.0, penalties=np.array([0.3, 0.6]))).save(path)
    with np.load(path) as stored_arrays:
        arrays = dict(stored_arrays)
    header = json.loads(str(arrays["header"])) | changes.pop("header", {})
    arrays = {name: array for name, array in (arrays | changes).items() if array is not None}
    np.savez(path, **arrays | {"header": np.array(json.dumps(header))})
    with pytest.raises(FileFormatError, match=message):
        LowRankEstimate.load(path)


@pytest.mark.parametrize("penalties", [None, [0.0, 1.0], [[1.0]], [np.inf]])
def test_penalties_must_be_above_zero(penalties):
    with pytest.raises(InputError, match="penalties"):
        RidgeFolding(penalties=penalties)


def test_penalties_must_fit_the_components():
    with pytest.raises(ShapeError, match="3 penalties; expected 2"):
        an_estimate(RidgeFolding(penalties=np.ones(3))).fold_in(np.ones((1, 6)))


@pytest.mark.parametrize(
    "arguments",
    [(np.array([0.5, 1.5]), True, 0.1), (np.array([0.5]), True, 0.0), (np.array([0.5]), True, 0.1, 0.0)],
)
def test_weightings_must_make_sense(arguments):
    with pytest.raises(InputError):
        Weighting(*arguments)
