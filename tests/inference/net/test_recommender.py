"""`DenseNetRecommender` and the model ``"dnn"``: units, new individuals, the scikit-learn contract, the audit."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from likewise import SVT, DenseNetRecommender, ObservedMatrix, audit
from likewise.errors import ModelError, ObservationError, ShapeError
from likewise.inference import NetSettings, as_model, dense_net_outputs
from likewise.inference.net.dense_net import DenseNetModel
from likewise.observations import clustered

torch = pytest.importorskip("torch")

SMALL = {"hidden": (8, 4), "n_steps": 20, "check_every": 10, "device": "cpu", "random_state": 0}
SHORT = NetSettings((8, 4), n_steps=20, check_every=10, device="cpu")


@pytest.fixture
def stars():
    """Ratings from 1 to 5, half of them missing."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 6, (15, 11)).astype(float)
    values[rng.random(values.shape) < 0.5] = np.nan
    return ObservedMatrix(values, value_range=(1, 5))


def test_infinite_values_are_told_by_place(stars):
    with pytest.raises(ObservationError, match=r"value inf at \(0, 0\)"):
        DenseNetRecommender(**SMALL).fit([[np.inf, 1], [2, 3]])
    with pytest.raises(ObservationError, match=r"value inf at \(0, 0\)"):
        DenseNetRecommender(**SMALL).fit(stars).predict(np.full((1, 11), np.inf))


ONE_VALUE_EACH = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "expects one prediction for each individual; here each has one for each feature",
)


def test_scikit_learn_contract():
    estimator = DenseNetRecommender(**SMALL)
    results = check_estimator(estimator, on_skip=None, expected_failed_checks=ONE_VALUE_EACH)
    assert len(results) == len(list(estimator_checks_generator(estimator))) >= 35
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(ONE_VALUE_EACH)
    others = [result["status"] for result in results if result["check_name"] not in ONE_VALUE_EACH]
    assert set(others) <= {"passed", "skipped"}
    assert others.count("skipped") <= 1  # the array API, unless SCIPY_ARRAY_API is set


@pytest.mark.parametrize("working_range", ["symmetric", "unit"])
def test_is_the_function_in_the_users_units(stars, working_range):
    scaled = stars.scaled(working_range)
    bounds = (-1.0, 1.0) if working_range == "symmetric" else (0.0, 1.0)
    outputs = dense_net_outputs(scaled.zero_filled(), scaled, bounds=bounds, settings=SHORT, random_state=0)
    expected = 1 + 4 * (outputs - bounds[0]) / (bounds[1] - bounds[0])
    recommender = DenseNetRecommender(**SMALL, working_range=working_range).fit(stars)
    np.testing.assert_allclose(recommender.predict(), expected, rtol=1e-12)
    assert recommender.predict().min() >= 1
    assert recommender.net_.record.steps == (10, 20)
    np.testing.assert_array_equal(
        DenseNetRecommender(**SMALL, working_range=working_range).fit_predict(stars), recommender.predict()
    )


def test_whatever_holds_the_observations(stars):
    pandas = pytest.importorskip("pandas")
    expected = DenseNetRecommender(**SMALL).fit_predict(stars)
    dense = stars.to_dense(missing=np.nan)
    for X in (stars.values, dense, pandas.DataFrame(dense), dense.tolist()):
        recommender = DenseNetRecommender(**SMALL, value_range=(1, 5))
        np.testing.assert_array_equal(recommender.fit_predict(X), expected)


def test_each_column_can_have_a_range_of_its_own():
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.uniform(0, 1, 12), rng.uniform(200, 800, 12)))
    outputs = DenseNetRecommender(**SMALL, value_range="per-column").fit_predict(X)
    assert ((outputs >= X.min(axis=0)) & (outputs <= X.max(axis=0))).all()


def test_new_individuals_have_the_columns_of_the_fit(stars):
    recommender = DenseNetRecommender(**SMALL).fit(stars)
    everybody = recommender.predict()
    dense = stars.to_dense(missing=np.nan)
    np.testing.assert_array_equal(recommender.predict(dense[3:6]), everybody[3:6])
    np.testing.assert_array_equal(recommender.predict(stars.values[3:6]), everybody[3:6])
    assert not np.allclose(recommender.predict([[1.0, 5.0] + [np.nan] * 9]), everybody[0])


def test_features_are_what_the_net_sees(stars):
    """An estimate in the user's units, as the features of the same targets."""
    estimate = np.random.default_rng(1).uniform(1, 5, stars.shape)
    scaled = stars.scaled()
    expected = dense_net_outputs((estimate - 3) / 2, scaled, settings=SHORT, random_state=0)
    outputs = DenseNetRecommender(**SMALL).fit_predict(stars, features=estimate)
    np.testing.assert_allclose(outputs, 3 + 2 * expected, atol=1e-6)
    with pytest.raises(ShapeError, match="features of shape"):
        DenseNetRecommender(**SMALL).fit(stars, features=estimate[:3])
    with pytest.raises(ModelError, match="NaN"):
        DenseNetRecommender(**SMALL).fit(stars, features=np.full(stars.shape, np.nan))


def test_before_the_fit_it_predicts_nothing():
    with pytest.raises(NotFittedError):
        DenseNetRecommender().predict()


class TestModel:
    def test_learns_what_was_observed(self, stars):
        scaled = stars.scaled()
        B = np.random.default_rng(1).uniform(-1, 1, stars.shape)
        model = DenseNetModel(SHORT, random_state=0)
        np.testing.assert_array_equal(
            model(B, scaled), dense_net_outputs(B, scaled, settings=SHORT, random_state=0)
        )

    def test_outputs_lie_in_the_interval_of_the_observations(self, stars):
        outputs = DenseNetModel(SHORT, random_state=0)(
            stars.scaled("unit").zero_filled(), stars.scaled("unit")
        )
        assert outputs.min() >= 0

    def test_without_observations_every_entry_is_learnt(self):
        B = np.random.default_rng(1).uniform(-1, 1, (9, 7)) * (np.arange(7) > 2)
        expected = dense_net_outputs(B, B, settings=SHORT, random_state=0)
        model = DenseNetModel(SHORT, random_state=0)
        np.testing.assert_array_equal(model(B), expected)
        np.testing.assert_array_equal(model(sparse.csr_array(B)), expected)

    def test_a_range_for_each_column_is_no_interval(self):
        X = np.arange(12.0).reshape(4, 3)
        with pytest.raises(ModelError, match="value range for each column"):
            DenseNetModel(SHORT)(X, ObservedMatrix(X, value_range="per-column"))

    def test_by_name_and_by_estimator(self, stars):
        assert as_model("dnn", random_state=3).random_state == 3
        assert as_model("dnn").name == "dense net 300-100-1"
        model = as_model(DenseNetRecommender(**SMALL), random_state=3)
        assert (model.settings, model.random_state) == (SHORT, 0)
        assert as_model(model) is model
        with pytest.raises(ModelError, match="a target for"):
            as_model("dnn", target=np.arange(15))

    @pytest.mark.parametrize("working_range", ["symmetric", "unit"])
    def test_is_audited(self, working_range):
        data = clustered(40, 60, 2, observed_fraction=0.6, random_state=0)
        model = DenseNetRecommender((30, 20), 3e-3, n_steps=200, device="cpu")
        report = audit(data.observed, model=model, estimator=SVT(working_range=working_range))
        for arm in report.arms.values():
            assert arm.error.rmse < np.std(data.truth)
        assert "dense net 30-20-1" in str(report.details())
