"""Estimators of every kind as models: which of their outputs an individual gets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, RidgeClassifier
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from likewise.errors import ModelError
from likewise.inference import as_model
from likewise.inference.estimator_model import SupervisedModel


@pytest.fixture
def B():
    """Two groups, of 12 and 8, far apart."""
    rng = np.random.default_rng(0)
    return np.vstack((rng.normal(-1, 0.1, (12, 3)), rng.normal(1, 0.1, (8, 3))))


class Graded:
    """A tensor that requires grad: NumPy has it only without."""

    def __init__(self, values):
        self.values = values

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def detach(self):
        return self

    def cpu(self):
        return self.values


GROUP = np.repeat(["first", "second"], [12, 8])
MEMBERSHIP = np.column_stack((GROUP == "first", GROUP == "second")).astype(float)


def test_transformers_give_what_they_transform_to(B):
    outputs = as_model(StandardScaler())(B)
    np.testing.assert_allclose(outputs, (B - B.mean(axis=0)) / B.std(axis=0))


def test_sparse_output_of_a_transformer_becomes_dense(B):
    outputs = as_model(OneHotEncoder())((B > 0).astype(float))
    np.testing.assert_array_equal(outputs, np.tile(MEMBERSHIP, 3))


def test_pipelines(B):
    assert as_model(make_pipeline(MinMaxScaler(), NMF(2)), random_state=0)(B).shape == (20, 2)


def test_clusters_are_columns_because_their_labels_are_names(B):
    outputs = as_model(KMeans(2), random_state=0)(B)
    assert set(map(tuple, outputs.T)) == set(map(tuple, MEMBERSHIP.T))


def test_noise_of_a_clusterer_is_a_column_too(B):
    B[5] = 50.0
    outputs = as_model(DBSCAN(eps=1.0, min_samples=3))(B)
    np.testing.assert_array_equal(outputs.sum(axis=0), [1, 11, 8])


def test_mixtures_give_probabilities(B):
    outputs = as_model(GaussianMixture(2), random_state=0)(B)
    np.testing.assert_allclose(outputs.sum(axis=1), 1.0)


def test_outlier_detectors_give_their_verdict(B):
    outputs = as_model(IsolationForest(), random_state=0)(B)
    assert set(outputs) <= {-1.0, 1.0}


def test_classifiers_give_probabilities(B):
    outputs = as_model(LogisticRegression(), target=GROUP)(B)
    np.testing.assert_array_equal(outputs, LogisticRegression().fit(B, GROUP).predict_proba(B))


def test_classifiers_without_probabilities_give_a_column_for_each_class(B):
    np.testing.assert_array_equal(as_model(Perceptron(), target=GROUP)(B), MEMBERSHIP)


def test_several_targets_are_side_by_side(B):
    target = np.column_stack((GROUP, GROUP[::-1]))
    assert as_model(MultiOutputClassifier(LogisticRegression()), target)(B).shape == (20, 4)
    numbers = np.column_stack((B.sum(axis=1), B[:, 0]))
    np.testing.assert_allclose(as_model(LinearRegression(), numbers)(B), numbers)


def test_regressors_predict(B):
    target = B.sum(axis=1)
    np.testing.assert_allclose(as_model(LinearRegression(), target)(B), target)


def test_regressors_may_answer_with_tensors_that_require_grad(B):
    class Net(LinearRegression):
        def predict(self, X):
            return Graded(super().predict(X))

    target = B.sum(axis=1)
    np.testing.assert_allclose(as_model(Net(), target)(B), target)
    np.testing.assert_allclose(as_model(Net(), Graded(target))(B), target)


def test_transformers_can_learn_from_a_target(B):
    class CenteredByTarget(BaseEstimator):
        def fit(self, X, y):
            self.level_ = y.mean()
            return self

        def transform(self, X):
            return X - self.level_

    np.testing.assert_allclose(as_model(CenteredByTarget(), np.full(20, 3.0))(B), B - 3.0)


def test_the_given_estimator_stays_unfitted_and_unseeded(B):
    given = TruncatedSVD(2)
    as_model(given, random_state=7)(B)
    assert not hasattr(given, "components_")
    assert given.random_state is None


def test_the_seed_reaches_every_part_that_has_none(B):
    target = np.random.default_rng(1).normal(size=20)
    pipeline = make_pipeline(TruncatedSVD(2), DecisionTreeRegressor(max_features=1, max_depth=3))
    first, second = (as_model(pipeline, target, random_state=3)(B) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    own = make_pipeline(TruncatedSVD(2, random_state=0), DecisionTreeRegressor(max_depth=3, random_state=0))
    np.testing.assert_array_equal(as_model(own, target, random_state=3)(B), own.fit(B, target).predict(B))


@pytest.mark.parametrize("estimator", [LinearRegression(), LogisticRegression()])
def test_what_learns_needs_a_target(estimator):
    with pytest.raises(ModelError, match=r"without a target.*give target="):
        as_model(estimator)


def test_an_estimator_without_outputs_is_refused_before_anything_runs():
    class FitsOnly(BaseEstimator):
        def fit(self, X, y=None):
            return self

    for target in (None, [1, 2]):
        with pytest.raises(ModelError, match="gives no outputs"):
            as_model(FitsOnly(), target)


def test_an_estimator_without_tags_is_taken(B):
    class Plain:
        def get_params(self, deep=True):
            return {}

        def fit(self, X):
            return self

        def fit_predict(self, X):
            return X[:, 0]

    np.testing.assert_array_equal(as_model(Plain())(B), B[:, 0])


def test_failures_are_one_error(B):
    with pytest.raises(ModelError, match=r"LinearRegression\(\) failed .* ValueError"):
        as_model(LinearRegression(), target=[1.0, 2.0])(B)


def drawn(seed, m=24):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, 3)), rng.permutation(np.arange(m) % 2)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_everybody_is_predicted_by_a_fit_to_the_other_folds(seed):
    B, _ = drawn(seed)
    y = B[:, 0] + np.sin(7 * B[:, 1])
    expected = np.empty(len(y))
    for train, test in KFold(5, shuffle=True, random_state=3).split(B):
        expected[test] = LinearRegression().fit(B[train], y[train]).predict(B[test])
    assert SupervisedModel(LinearRegression(), y, 3).unseen(B) == pytest.approx(expected)


def test_classes_are_spread_over_the_folds_and_probabilities_are_taken():
    B, y = drawn(0)
    words = np.where(y == 1, "yes", "no")
    expected = np.empty((len(y), 2))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(B, words):
        expected[test] = LogisticRegression().fit(B[train], words[train]).predict_proba(B[test])
    assert SupervisedModel(LogisticRegression(), words, 0).unseen(B) == pytest.approx(expected)


def test_decisions_become_columns_of_the_classes():
    B, y = drawn(1)
    found = SupervisedModel(RidgeClassifier(), y, 0).unseen(B)
    assert found.shape == (24, 2)
    assert np.isin(found, (0, 1)).all()
    assert (found.sum(axis=1) == 1).all()


def test_there_is_nothing_of_several_targets_or_of_a_class_of_one():
    B, y = drawn(2)
    assert SupervisedModel(LinearRegression(), np.column_stack([y, y]), 0).unseen(B) is None
    assert SupervisedModel(LogisticRegression(), np.arange(24) == 0, 0).unseen(B) is None


class Sure(ClassifierMixin, BaseEstimator):
    """Gives every class the same number, which does not add up to 1."""

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))

    def predict_proba(self, X):
        return np.full((len(X), self.classes_.size), 0.9)


def test_what_does_not_add_up_to_1_is_no_probability():
    B, y = drawn(4)
    assert SupervisedModel(Sure(), y, 0).unseen(B) is None


def test_a_fit_that_fails_is_one_error():
    B, y = drawn(3)
    with pytest.raises(ModelError, match="failed on a part of the individuals with"):
        SupervisedModel(LogisticRegression(C=-1.0), y, 0).unseen(B)
