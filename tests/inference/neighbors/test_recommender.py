"""`KNNRecommender`: the scikit-learn contract, and the same answers as the pure function."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from likewise import KNNRecommender, ObservedMatrix
from likewise.errors import ModelError, ObservationError
from likewise.inference import nearest_neighbor_outputs

# scikit-learn fits on as few as 10 individuals, who have no 10 neighbours.
ESTIMATORS = [
    KNNRecommender(n_neighbors=3),
    KNNRecommender(n_neighbors=3, average="co-raters"),
    KNNRecommender(n_neighbors=None),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_scikit_learn_contract(estimator):
    outcomes = [outcome["status"] for outcome in check_estimator(estimator, on_skip=None)]
    assert len(outcomes) == len(list(estimator_checks_generator(estimator))) >= 35
    assert set(outcomes) <= {"passed", "skipped"}
    assert outcomes.count("skipped") <= 1  # the array API, unless SCIPY_ARRAY_API is set


@pytest.fixture
def B():
    return np.random.default_rng(1).normal(size=(25, 6))


def test_in_sample_outputs_leave_oneself_out(B):
    expected = nearest_neighbor_outputs(B, 4)
    recommender = KNNRecommender(n_neighbors=4)
    np.testing.assert_array_equal(recommender.fit_predict(B), expected)
    np.testing.assert_array_equal(recommender.predict(), expected)


def test_a_row_given_as_new_finds_itself(B):
    nearest = KNNRecommender(n_neighbors=1).fit(B)
    np.testing.assert_allclose(nearest.predict(B), B)
    assert not np.allclose(nearest.predict(), B)


@pytest.mark.parametrize("average", ["all", "co-raters"])
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_infinite_values_are_told_by_place(B, average, as_given):
    infinite = B.copy()
    infinite[7, 2] = -np.inf
    recommender = KNNRecommender(3, average)
    with pytest.raises(ModelError, match="value -inf at 7, 2 of X; expected finite values"):
        recommender.fit(as_given(infinite))
    with pytest.raises(ModelError, match="value -inf at 7, 2 of X; expected finite values"):
        recommender.fit(B).predict(as_given(infinite))


def test_missing_values_need_co_raters_and_targets_are_complete(B):
    missing = B.copy()
    missing[3, 0] = np.nan
    with pytest.raises(
        ModelError, match=r'value NaN at 3, 0 of X; expected finite values. Hint: .* average="co-raters"'
    ):
        KNNRecommender(3).fit(missing)
    with pytest.raises(ModelError, match="value NaN at 4 of y"):
        KNNRecommender(3).fit(B, [0.0] * 4 + [np.nan] + [0.0] * 20)
    with pytest.raises(ModelError, match="value inf at 4, 1 of y"):
        KNNRecommender(3).fit(B, np.where(np.arange(50).reshape(25, 2) == 9, np.inf, 0.0))


def test_targets(B):
    target = np.arange(25.0)
    recommender = KNNRecommender(n_neighbors=4).fit(B, target)
    np.testing.assert_array_equal(recommender.predict(), nearest_neighbor_outputs(B, 4, targets=target))
    assert recommender.predict(B[:3]).shape == (3,)


def test_inputs_agree(B):
    pandas = pytest.importorskip("pandas")
    B[B < 0.3] = 0.0
    expected = KNNRecommender(n_neighbors=4).fit_predict(B)
    for X in (sparse.csr_array(B), sparse.coo_matrix(B), pandas.DataFrame(B), B.tolist()):
        np.testing.assert_allclose(KNNRecommender(n_neighbors=4).fit_predict(X), expected, atol=1e-12)


def test_co_raters_take_observations(B):
    marked = np.where(B < 0.3, np.nan, B)
    recommender = KNNRecommender(n_neighbors=4, average="co-raters")
    expected = recommender.fit_predict(marked)
    np.testing.assert_allclose(recommender.fit_predict(ObservedMatrix(marked, value_range=(-9, 9))), expected)
    assert np.isfinite(expected).all()


def test_an_observed_matrix_is_not_complete(B):
    with pytest.raises(ModelError, match="zero-fill"):
        KNNRecommender().fit(ObservedMatrix(B, value_range=(-9, 9)))


def test_is_the_last_step_of_a_pipeline(B):
    pipeline = make_pipeline(StandardScaler(), KNNRecommender(n_neighbors=4))
    outputs = pipeline.fit_predict(B)
    assert outputs.shape == B.shape
    assert pipeline.predict(B[:2]).shape == (2, 6)


def test_a_padded_format_is_refused_where_zeros_and_gaps_differ():
    padded = sparse.bsr_array(np.diag([1.0, 2.0, 3.0, 4.0]), blocksize=(2, 2))
    with pytest.raises(ObservationError, match="stores zeros"):
        KNNRecommender(1, average="co-raters").fit(padded)
    assert KNNRecommender(1).fit_predict(padded).shape == (4, 4)
