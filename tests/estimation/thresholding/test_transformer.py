"""`SVT`: the scikit-learn contract, and the same answers as the pure function."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import SVT, ObservedMatrix, svt
from likewise.errors import ObservationError, ValueRangeWarning
from likewise.estimation import NoiseEdge


@pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")
@parametrize_with_checks(
    [SVT(), SVT(threshold="paper-ratings", shrinker="soft-rescaled", working_range="unit")]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def values():
    rng = np.random.default_rng(2)
    values = rng.uniform(1, 5, (30, 3)) @ np.eye(3, 12) + rng.uniform(1, 2, (30, 12))
    values[rng.random(values.shape) < 0.4] = np.nan
    return values


def test_same_estimate_as_the_pure_function(values):
    fitted = SVT(threshold=2.0, value_range=(1, 7)).fit(values)
    pure = svt(ObservedMatrix(values, value_range=(1, 7)), 2.0)
    np.testing.assert_array_equal(fitted.estimate_.to_dense(), pure.to_dense())
    assert fitted.rank_ == pure.rank == fitted.singular_values_.size
    assert fitted.threshold_ == 2.0
    assert fitted.completeness_.proved


def test_dense_sparse_frame_and_observed_matrix_agree(values):
    pandas = pytest.importorskip("pandas")
    rows, columns = np.nonzero(~np.isnan(values))
    stored = sparse.coo_array((values[rows, columns], (rows, columns)), shape=values.shape)
    expected = SVT(value_range=(1, 7)).fit_transform(values)
    for X in (stored, pandas.DataFrame(values), ObservedMatrix(values, value_range=(1, 7))):
        np.testing.assert_allclose(SVT(value_range=(1, 7)).fit(X).estimate_.to_dense(), expected)


def test_column_names_of_a_frame_stay(values):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(values, columns=[f"film {j}" for j in range(12)])
    transformer = SVT(threshold=NoiseEdge()).set_output(transform="pandas").fit(frame)
    assert list(transformer.estimate_.column_ids) == list(frame.columns)
    assert list(transformer.transform(frame).columns) == list(frame.columns)


def test_new_rows_are_folded_in(values):
    transformer = SVT(threshold=4.0).fit(values[:20])
    complete = transformer.transform(values[20:])
    assert complete.shape == (10, 12)
    assert np.isfinite(complete).all()


def test_a_row_of_nothing_gets_the_middle_of_the_range(values):
    transformer = SVT(threshold=4.0, value_range=(1, 7)).fit(values)
    np.testing.assert_allclose(transformer.transform(np.full((1, 12), np.nan)), np.full((1, 12), 4.0))


def test_works_as_a_pipeline_step():
    """A target that is linear in the truth is predicted from features of which a third is missing."""
    rng = np.random.default_rng(8)
    truth = rng.uniform(-1, 1, (80, 1)) @ rng.uniform(-1, 1, (1, 40))
    values = np.where(rng.random(truth.shape) < 0.33, np.nan, truth)
    target = truth.sum(axis=1)
    model = make_pipeline(SVT(value_range=(-1, 1)), Ridge()).fit(values[:60], target[:60])
    assert model.score(values[60:], target[60:]) > 0.9


def test_columns_of_unlike_scales_are_not_squeezed_in_silence():
    rng = np.random.default_rng(0)
    values = rng.random((30, 2)) * [4, 48]
    with pytest.warns(ValueRangeWarning, match="per-column"):
        SVT(threshold=0.1).fit(values)
    SVT(threshold=0.1, value_range="per-column").fit(values)
    SVT(threshold=0.1, value_range=(0, 48)).fit(values)


@pytest.mark.parametrize(
    "padded",
    [
        sparse.dia_array(([[1.0, 0.0, 3.0, 4.0]], [0]), shape=(4, 4)),
        sparse.bsr_array(np.diag([1.0, 2.0, 3.0, 4.0]), blocksize=(2, 2)),
    ],
)
def test_sparse_formats_that_pad_with_zeros_are_refused_not_read(padded):
    with pytest.raises(ObservationError, match="stores zeros"):
        SVT().fit(padded)


def test_duplicates_in_a_sparse_matrix_are_refused_not_added_up(values):
    twice = sparse.coo_array(([1.0, 3.0, 2.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 12))
    with pytest.raises(ObservationError, match="more than once"):
        SVT().fit(twice)
    with pytest.raises(ObservationError, match="more than once"):
        SVT().fit(values).transform(twice)
