"""Scorers give what `measure_fairness` gives, with the sign of a score, and choose models by it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score

from likewise.errors import InputError, ModelError
from likewise.fairness import RowDistance, feature_distance, measure_fairness
from likewise.sklearn import FairnessScorer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=90)
LABELS = np.where(Y > 0, "yes", "no")


class Copy(BaseEstimator):
    """Predicts one column, so that what it treats alike is known."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]


def test_the_score_is_minus_the_metric():
    model = LogisticRegression().fit(X, LABELS)
    d = feature_distance(X, scaling="standard")
    found = measure_fairness(model.predict_proba(X), d, lipschitz=0.1)
    assert FairnessScorer()(model, X) == -found.similar.relative_gap.value
    assert (
        FairnessScorer("violation_rate", lipschitz=0.1)(model, X) == -found.metrics()["violation_rate"].value
    )
    own = FairnessScorer("mean_ratio", distance=RowDistance)
    assert own(model, X) == -measure_fairness(model.predict_proba(X), RowDistance(X)).mean_ratio.value


def test_outputs_may_be_a_tensor_that_requires_grad():
    class Graded:
        def __array__(self, *_, **__):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

        def detach(self):
            return self

        def cpu(self):
            return X[:, 0]

    class Net(Copy):
        def predict(self, X):
            return Graded()

    assert FairnessScorer()(Net(), X) == FairnessScorer()(Copy(), X)


def test_error_and_fairness_together():
    model = LogisticRegression().fit(X, LABELS)
    gap = FairnessScorer().unfairness(model, X)
    both = FairnessScorer(error="roc_auc", weight=0.5)
    assert both(model, X, LABELS) == pytest.approx(get_scorer("roc_auc")(model, X, LABELS) - 0.5 * gap)


def test_a_search_by_fairness_takes_the_column_that_people_are_compared_by():
    scorer = FairnessScorer(exclude=[1, 2])
    search = GridSearchCV(Copy(), {"column": [0, 1, 2]}, scoring=scorer, cv=3).fit(X, Y)
    assert search.best_params_ == {"column": 0}
    assert search.best_score_ > -0.2


def test_frames_and_regressors_and_names_of_columns():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    scores = cross_val_score(LinearRegression(), frame, Y, scoring=FairnessScorer(exclude=["b"]), cv=3)
    assert np.isfinite(scores).all()


def test_classes_without_probabilities_are_equal_or_not():
    class Hard(Copy):
        def predict(self, X):
            return np.where(np.asarray(X)[:, 0] > 0, "yes", "no")

    one_of_two = np.column_stack([X[:, 0] <= 0, X[:, 0] > 0]).astype(float)
    expected = measure_fairness(one_of_two, RowDistance(X)).mean_ratio.value
    scorer = FairnessScorer("mean_ratio", distance=RowDistance)
    assert scorer.unfairness(Hard(), X) == pytest.approx(expected)


def test_what_is_not_defined_ranks_last():
    assert np.isnan(FairnessScorer()(DummyClassifier().fit(X, LABELS), X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": 3}, "metric of type int"),
        ({"lipschitz": 0}, "lipschitz=0"),
        ({"weight": -1}, "weight=-1"),
        ({"distance": 3}, "distance"),
        ({"distance": RowDistance, "exclude": [0]}, "one of them"),
        ({"metric": "output_spread"}, "unknown metric 'output_spread'"),
        ({"metric": "violation_rate"}, "without lipschitz"),
        ({"lipschitz": 1.0}, "with lipschitz"),
        ({"weight": 9.0}, "weight without error"),
        ({"error": "nope"}, "unknown error 'nope'"),
        ({"error": 3}, "error of type int"),
    ],
)
def test_options_that_cannot_be_used_are_told(options, message):
    with pytest.raises(InputError, match=message):
        FairnessScorer(**options)


def test_an_unknown_metric_and_no_outputs_are_told():
    with pytest.raises(InputError, match="did you mean 'mean_ratio'"):
        FairnessScorer("mean_ratios")(Copy(), X)
    with pytest.raises(ModelError, match="as an estimator to score"):
        FairnessScorer()(object(), X)
    assert (
        repr(FairnessScorer(error="roc_auc"))
        == "FairnessScorer('similar_relative_gap', error='roc_auc', weight=1)"
    )
