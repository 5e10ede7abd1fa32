"""Composition: by hand, on a pipeline whose outputs are computed, and where norms or sizes do not fit."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.linear_model import LogisticRegression, Ridge

from likewise.certificates import (
    AffineCertificate,
    Certificate,
    Domain,
    Unavailable,
    certify,
    compose,
    model_constant,
    scaled,
)
from likewise.errors import InputError, LikewiseWarning
from likewise.estimation import svt
from likewise.observations import ObservedMatrix


def certificate(value, from_norm, to_norm, **changes):
    return Certificate(name=f"K{value:g}", value=value, from_norm=from_norm, to_norm=to_norm, **changes)


def test_constants_multiply_and_what_they_rest_on_is_joined():
    first = certificate(2.0, "l1", "l2", function="f", assumptions=("a", "b"), proof=("one",), n_inputs=7)
    second = certificate(3.0, "l2", "linf", function="g", assumptions=("b", "c"), proof=("two",), n_outputs=4)
    both = compose(first, second)
    assert both.value == pytest.approx(6.0, rel=1e-15)
    assert (both.from_norm, both.to_norm, both.n_inputs, both.n_outputs) == ("l1", "linf", 7, 4)
    assert both.assumptions == ("a", "b", "c")
    assert both.proof[:2] == ("one", "two")
    assert both.function == "f, then g"
    assert both.name == "K3 K2"


def test_norms_between_are_joined_by_their_inequality():
    """l2 is at most l1, at no cost; l1 of 9 features is at most 3 times l2."""
    to_l1, from_l2 = certificate(2.0, "l1", "l1"), certificate(3.0, "l2", "l2")
    assert compose(to_l1, from_l2).value == pytest.approx(6.0)
    to_l2, from_l1 = certificate(2.0, "l1", "l2", n_outputs=9), certificate(3.0, "l1", "l2")
    assert compose(to_l2, from_l1).value == pytest.approx(18.0)


def test_an_inequality_that_needs_an_unknown_size_is_not_guessed():
    none = compose(certificate(2.0, "l1", "l2"), certificate(3.0, "l1", "l2"))
    assert isinstance(none, Unavailable)
    assert "number of features" in none.reason


def test_sizes_that_differ_are_not_joined():
    none = compose(certificate(2.0, "l1", "l2", n_outputs=9), certificate(3.0, "l2", "l2", n_inputs=8))
    assert isinstance(none, Unavailable)
    assert "9 features" in none.reason


def test_in_sample_stays_in_sample():
    seen = certificate(2.0, "l2", "l2", domain=Domain.SEEN)
    assert compose(seen, certificate(3.0, "l2", "l2")).domain is Domain.SEEN
    assert compose(certificate(3.0, "l2", "l2"), seen).domain is Domain.SEEN


def test_a_part_without_a_constant_leaves_the_whole_without_one():
    none = Unavailable("K1", "trees jump")
    for whole in (compose(certificate(2.0, "l1", "l2"), none), compose(none, certificate(2.0, "l2", "l2"))):
        assert isinstance(whole, Unavailable)
        assert "trees jump" in whole.reason


def test_an_affine_bound_keeps_its_confidence():
    first = AffineCertificate(name="A", slope=2.0, offset=0.5, confidence=0.9, from_norm="l1", to_norm="l2")
    both = compose(first, certificate(3.0, "l2", "l2"))
    assert (both.slope, both.offset) == (pytest.approx(6.0), pytest.approx(1.5))
    assert both.confidence == 0.9


def test_scaling_the_outputs_scales_the_constant():
    assert scaled(certificate(0.25, "l2", "l2"), -2).value == pytest.approx(0.5)
    with pytest.raises(InputError):
        scaled(certificate(0.25, "l2", "l2"), np.inf)


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()])
def test_no_pair_of_a_whole_pipeline_exceeds_it(model):
    rng = np.random.default_rng(3)
    values = np.clip(rng.normal(size=(40, 2)) @ rng.normal(size=(2, 15)), -1, 1)
    values[rng.random(values.shape) < 0.4] = np.nan
    observed = ObservedMatrix(values, value_range=(-1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        estimate = svt(observed, 1.0)
    features = estimate.on_working_range().to_dense()
    fitted = model.fit(features, features[:, 0] > 0)
    outputs = getattr(fitted, "predict_proba", fitted.predict)
    certificates = certify(estimate, observed)
    K1 = model_constant(fitted)

    seen = compose(certificates.seen, K1)
    at_rows = np.asarray(outputs(features)).reshape(40, -1)
    d = pdist(observed.to_dense(), "cityblock")
    assert seen.domain is Domain.SEEN
    assert seen.holds_for(d, pdist(at_rows), slack=1e-12).holds

    unseen = compose(certificates.k_star, K1)
    rows = np.vstack([rng.uniform(-1, 1, (30, 15)), 1e-3 * np.eye(15), np.zeros((1, 15))])
    at_new = np.asarray(outputs(estimate.fold_in(rows))).reshape(len(rows), -1)
    assert unseen.domain is Domain.SEEN_AND_UNSEEN
    assert unseen.holds_for(pdist(rows, "cityblock"), pdist(at_new), slack=1e-12).holds
