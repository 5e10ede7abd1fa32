"""What a model says of people whose target it has not seen: held against plain loops over the folds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold

from likewise.errors import ModelError
from likewise.inference.supervised_model import SupervisedModel


def drawn(seed, m=24):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, 3)), rng.permutation(np.arange(m) % 2)


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
