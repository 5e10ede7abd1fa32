"""Theorem 4.3: by hand, with the truth known, with an error that is only likely, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from likewise.certificates import (
    Certificate,
    Domain,
    ErrorBound,
    Unavailable,
    certify_on_truth,
    model_constant,
)
from likewise.errors import DistanceError, InputError, ShapeError
from likewise.estimation import svt
from likewise.observations import ObservedMatrix

K1 = Certificate(name="K1", value=3.0, from_norm="l2", to_norm="l2")


def test_by_hand():
    """Row errors (3, 4) and (0, 1): the largest is 5; D <= 3 d + 2 x 3 x 5."""
    truth = np.array([[0.0, 0.0], [1.0, 1.0]])
    bound = certify_on_truth(K1, ErrorBound.measured([[3.0, 4.0], [1.0, 2.0]], truth))
    assert bound.slope == 3.0
    assert bound.offset == pytest.approx(30.0)
    assert bound.confidence == 1.0
    assert bound.assumptions == ()
    assert bound.domain is Domain.SEEN


def test_the_norm_of_the_error_is_the_one_the_model_starts_from():
    truth = np.zeros((2, 2))
    error = ErrorBound.measured([[3, 4], [0, 1]], truth, norm="l1")
    assert error.value == pytest.approx(7.0)
    with pytest.raises(InputError, match="same norm"):
        certify_on_truth(K1, error)


def test_a_likely_error_makes_a_likely_bound_and_an_assumption():
    bound = certify_on_truth(K1, ErrorBound(0.5, "l2", 0.95, "a hold-out"))
    assert bound.confidence == 0.95
    assert "with confidence 0.95" in str(bound)
    assert any("a hold-out" in assumption for assumption in bound.assumptions)


@given(st.integers(0, 10**6), st.floats(0, 2), st.sampled_from(["l1", "l2", "linf"]))
def test_no_pair_exceeds_it_whatever_the_estimate(seed, noise, norm):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(-1, 1, (15, 6))
    estimate = truth + noise * rng.normal(size=truth.shape)
    weights = rng.normal(size=(3, 6))
    model = Certificate(
        name="K1", value=max(np.linalg.norm(weights, 2) * np.sqrt(6), 1e-9), from_norm=norm, to_norm="l2"
    )
    bound = certify_on_truth(model, ErrorBound.measured(estimate, truth, norm=norm))
    metric = {"l1": "cityblock", "l2": "euclidean", "linf": "chebyshev"}[norm]
    assert bound.holds_for(pdist(truth, metric), pdist(estimate @ weights.T), slack=1e-9).holds


def test_it_is_attained():
    """Two rows that the estimate moves apart, each by the largest error, seen by the identity."""
    truth, estimate = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[-0.5, 0.0], [1.5, 0.0]])
    bound = certify_on_truth(model_constant("identity"), ErrorBound.measured(estimate, truth))
    check = bound.holds_for(pdist(truth), pdist(estimate), slack=1e-12)
    assert check.holds
    assert check.largest_share == pytest.approx(1.0)


def test_a_low_rank_estimate_is_read_by_blocks():
    rng = np.random.default_rng(0)
    truth = rng.uniform(-1, 1, (30, 8))
    estimate = svt(ObservedMatrix(truth, value_range=(-1, 1)), 0.5, "soft")
    by_blocks = ErrorBound.measured(estimate, truth)
    naive = np.linalg.norm(estimate.to_dense() - truth, axis=1).max()
    assert by_blocks.value == pytest.approx(naive)
    assert ErrorBound.measured(estimate.to_dense(), truth).value == pytest.approx(naive)


def test_without_a_model_constant_there_is_none():
    bound = certify_on_truth(Unavailable("K1", "trees jump"), ErrorBound(0.5, "l2", 0.9, "a theorem"))
    assert isinstance(bound, Unavailable)
    assert "trees jump" in bound.reason


def test_bad_input_is_refused():
    truth = np.zeros((3, 2))
    with pytest.raises(ShapeError):
        ErrorBound.measured(np.zeros((3, 3)), truth)
    with pytest.raises(ShapeError):
        ErrorBound.measured(np.zeros(3), np.zeros(3))
    with pytest.raises(InputError, match="NaN or infinite"):
        ErrorBound.measured(np.full((3, 2), np.nan), truth)
    with pytest.raises(InputError, match="finite number >= 0"):
        ErrorBound(-1.0, "l2", 0.9, "x")
    with pytest.raises(InputError, match="confidence"):
        ErrorBound(1.0, "l2", 0.0, "x")
    with pytest.raises(DistanceError):
        ErrorBound(1.0, "manhattan", 0.9, "x")
