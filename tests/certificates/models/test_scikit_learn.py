"""Estimators that are not what their class says, that keep no model, or whose weights are at the ends of what numbers hold."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from likewise.certificates import AffineCertificate, Certificate, Unavailable, compose, model_constant
from likewise.certificates.models.layers import Activation, Linear, Scaling, Softmax
from likewise.certificates.models.network import network_constant
from likewise.certificates.operator_norm import product_upward, spectral_norm
from likewise.errors import ModelError

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X @ [1.0, 2.0, -1.0]


def test_a_search_that_kept_no_model():
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, refit=False).fit(X, Y)
    with pytest.raises(ModelError, match="GridSearchCV with refit=False, which keeps no model"):
        model_constant(search)
    refitted = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}).fit(X, Y)
    assert model_constant(refitted).value == pytest.approx(np.linalg.norm(refitted.best_estimator_.coef_))


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "transform", "_predict_proba_lr"]
)
def test_a_method_of_one_object_that_was_replaced(method):
    model = LogisticRegression().fit(X, Y > 0)
    setattr(model, method, lambda x: 1e6 * np.asarray(x)[:, 0])
    found = model_constant(model)
    assert isinstance(found, Unavailable)
    assert f"{method} of this LogisticRegression was replaced" in found.reason


def test_a_replaced_method_within_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), Ridge()).fit(X, Y)
    assert isinstance(model_constant(pipeline), Certificate)
    pipeline[-1].predict = lambda x: 1e6 * np.asarray(x)[:, 0]
    assert "Ridge was replaced" in model_constant(pipeline).reason


# --- constants at the ends of what numbers hold

TINY = 1e-170


def linear(value):
    return Linear(np.array([[value]]))


@pytest.mark.parametrize(
    "layers",
    [
        [linear(TINY), linear(TINY)],
        [linear(TINY), Activation("relu", 1.0), linear(TINY)],
        [linear(TINY), Activation("a", TINY)],
        [Activation("a", TINY), Activation("b", TINY)],
        [Scaling(np.array([TINY])), Scaling(np.array([TINY]))],
        [linear(TINY), Scaling(np.array([TINY]))],
        [Scaling(np.array([TINY])), linear(TINY)],
    ],
)
def test_a_product_that_vanishes_is_not_zero(layers):
    """The constant is 1e-340 in exact arithmetic: above 0, and the smallest number there is, 5e-324, is above it."""
    assert 0 < network_constant(layers, 2.0, 2.0).value < 1e-300


@pytest.mark.parametrize("scale", [5e-324, 1e-320, 1e-170])
@pytest.mark.parametrize("q", [1.0, 2.0, np.inf])
def test_scores_that_nearly_vanish_move_their_probabilities(scale, q):
    softmax = Softmax(Linear(np.array([[scale, 0.0], [0.0, 0.0], [scale, scale]])))
    for p in (1.0, 2.0, np.inf):
        assert 0 < network_constant([softmax], p, q).value <= 2 * scale + 1e-321


def test_what_vanishes_within_is_not_lost():
    """1e-170 x 1e-170 x 1e300 = 1e-40: too small in the middle, a plain number in the end."""
    found = network_constant([linear(TINY), linear(TINY), linear(1e300)], 2.0, 2.0).value
    assert found >= 1e-40 * (1 - 1e-15)


@pytest.mark.parametrize("factors", [(0.0, 5.0), (1e-170, 1e-170, 1e300), (3.0, 2.0)])
def test_a_product_is_rounded_up(factors):
    exact = np.prod(np.array(factors, dtype=np.longdouble))
    assert np.longdouble(product_upward(*factors)) >= exact
    assert product_upward(*factors) > 0 or not exact


@pytest.mark.parametrize("scale", [1e-323, 1e-310, 1e-200, 1.0, 1e200])
def test_the_largest_singular_value_at_every_scale(scale):
    matrix = np.array([[3.0, 0.0], [0.0, 4.0]]) * scale
    assert 4 * scale <= spectral_norm(matrix) <= 4 * scale * (1 + 1e-12) + 1e-322


def certificate(value):
    return Certificate(name="K", value=value, from_norm="l2", to_norm="l2")


def test_constants_that_multiply_to_nothing_or_to_infinity():
    assert compose(certificate(TINY), certificate(TINY)).value > 0
    found = compose(certificate(1e200), certificate(1e200))
    assert isinstance(found, Unavailable)
    assert "larger than the largest number" in found.reason
    affine = AffineCertificate(name="A", slope=1.0, offset=1e200, from_norm="l2", to_norm="l2")
    assert isinstance(compose(affine, certificate(1e200)), Unavailable)
