"""The lq norms, linf among them: every distance that has one against loops over its definition, and what is proved in each."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ObservedMatrix, audit, svt
from likewise.certificates import certify
from likewise.certificates.composition import from_norm
from likewise.errors import DistanceError
from likewise.fairness import CoObservedDistance, ObservedDistance, RowDistance, feature_distance
from likewise.fairness.distances.completion_distance import CompletionDistance
from likewise.fairness.search import coordinates
from likewise.norms import conversion, norm_name, norm_order, rooted
from likewise.observations import clustered

ORDERS = ["l1", "l2", "linf", "l3", 1.5, 7, math.inf]


def naive(differences, norm):
    """The definition, one feature at a time."""
    order = norm_order(norm)
    sizes = [abs(float(each)) for each in differences]
    if order == math.inf:
        return max(sizes, default=0.0)
    return math.fsum(size**order for size in sizes) ** (1 / order)


def whole(distance):
    return distance.block(0, distance.n_individuals)


def stars(seed, m=9, n=6):
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((m, n)) < 0.6, rng.integers(1, 6, (m, n)).astype(float), np.nan)
    table[0, 0] = 3.0
    return ObservedMatrix(table, value_range=(1, 5)), (table - 3) / 2


@pytest.mark.parametrize(
    ("norm", "order"), [("l1", 1), ("linf", math.inf), (math.inf, math.inf), ("l2.5", 2.5), (3, 3), ("4", 4)]
)
def test_a_norm_goes_by_name_or_number(norm, order):
    assert norm_order(norm) == order
    assert norm_order(norm_name(order)) == order


@pytest.mark.parametrize(
    "norm",
    ["l0.5", 0, -1, "inf norm", "", None, math.nan, "linfty!", "l1e400", "1e999", 2000, [1], True + 0.5j],
)
def test_what_is_no_norm_is_refused(norm):
    with pytest.raises(DistanceError, match="expected 'l1', 'l2', 'linf' or a number q"):
        norm_order(norm)


@pytest.mark.slow
@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 2**32 - 1))
def test_distances_equal_the_loops(norm, seed):
    Z, table = stars(seed)
    zero_filled, m = np.nan_to_num(table), len(table)
    d, co = whole(ObservedDistance(Z, norm)), whole(CoObservedDistance(Z, norm))
    rows, features = whole(RowDistance(zero_filled, norm)), whole(feature_distance(zero_filled, norm))
    for i in range(m):
        for j in range(m):
            expected = naive(zero_filled[i] - zero_filled[j], norm)
            assert d[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert rows[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert features[i, j] == rows[i, j]
            both = ~np.isnan(table[i]) & ~np.isnan(table[j])
            shared = naive((table[i] - table[j])[both], norm)
            rescaled = shared * (table.shape[1] / max(both.sum(), 1)) ** (1 / norm_order(norm))
            assert co[i, j] == pytest.approx(rescaled if both.any() else math.nan, nan_ok=True)


@pytest.mark.parametrize("norm", ORDERS)
def test_blocks_and_pairs_agree(norm):
    Z, table = stars(3)
    pairs = np.triu_indices(len(table), 1)
    for distance in (
        ObservedDistance(Z, norm),
        CoObservedDistance(Z, norm),
        RowDistance(np.nan_to_num(table), norm),
        CompletionDistance(Z, "least", norm),
        CompletionDistance(Z, "largest", norm),
    ):
        np.testing.assert_allclose(distance.between(*pairs), whole(distance)[pairs], rtol=1e-9, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.floats(1, 50), st.floats(1, 50))
def test_a_larger_q_is_a_smaller_distance_and_linf_the_smallest(seed, p, q):
    Z, _ = stars(seed)
    small, large = sorted((p, q))
    measured = [whole(ObservedDistance(Z, norm)) for norm in (small, large, "linf")]
    assert (measured[0] >= measured[1] - 1e-9).all()
    assert (measured[1] >= measured[2] - 1e-9).all()
    n = Z.shape[1]
    assert (measured[0] <= conversion(large, small, n) * measured[1] + 1e-9).all()
    assert (measured[1] <= conversion(math.inf, large, n) * measured[2] + 1e-9).all()


@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_norm_is_a_metric(norm, seed):
    d = whole(ObservedDistance(stars(seed)[0], norm))
    np.testing.assert_allclose(d, d.T, rtol=1e-9)
    assert (np.diag(d) == 0).all()
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-9).all()


def test_many_features_are_compared_some_at_a_time(monkeypatch):
    Z, table = stars(0, 7, 23)
    expected = whole(ObservedDistance(Z, "linf"))
    monkeypatch.setattr("likewise.fairness.distances.observed._ENTRIES_AT_ONCE", 20)
    assert (whole(ObservedDistance(Z, "linf")) == expected).all()
    assert expected[0, 1] == np.abs(np.nan_to_num(table[0]) - np.nan_to_num(table[1])).max()


@given(st.integers(0, 2**32 - 1), st.sampled_from(ORDERS))
def test_bounds_of_the_search_are_never_above_the_distance(seed, norm):
    distance = ObservedDistance(stars(seed)[0], norm)
    everybody = slice(0, distance.n_individuals)
    for made in (coordinates.coarse_coordinates(distance), coordinates.fine_coordinates(distance)):
        assert (made.bounds(everybody, everybody) <= whole(distance) + 1e-12).all()


def test_large_values_under_linf_are_no_overflow():
    assert RowDistance([[1e100, 0.0], [0.0, 1.0]], "linf").between([0], [1]) == 1e100


def test_rooted_by_hand():
    assert rooted(np.array([[3.0, 4.0], [0.0, 0.0]]), 2.0).tolist() == [5.0, 0.0]
    assert rooted(np.array([[3.0, 4.0], [0.0, 0.0]]), math.inf).tolist() == [4.0, 0.0]


@pytest.mark.parametrize("norm", ["l1", "l1.5", "l2", "l3", "linf"])
@given(seed=st.integers(0, 10**6))
def test_a_certificate_restated_in_another_norm_holds_for_every_pair(norm, seed):
    data = clustered(12, 15, 3, observed_fraction=0.5, random_state=seed).observed
    estimate = svt(data, threshold=1.0)
    found = certify(estimate, data)
    d = whole(ObservedDistance(data, norm))
    D = whole(RowDistance(estimate.on_working_range().to_dense(), "l2"))
    for certificate in (found.k_star, found.spectral):
        restated = from_norm(certificate, norm)
        assert norm_order(restated.from_norm) == norm_order(norm)
        assert (restated.value * d * (1 + 1e-9) + 1e-9 >= D).all()


@pytest.mark.parametrize(("norm", "factor"), [("l1", 1.0), ("l2", 4.0), ("linf", 16.0), ("l4", 8.0)])
def test_the_factor_between_norms_by_hand(norm, factor):
    """16 features: ||x||_1 <= 16^(1 - 1/q) ||x||_q, attained where all entries are equal."""
    data = clustered(12, 16, 3, observed_fraction=0.5, random_state=0).observed
    k_star = certify(svt(data, threshold=1.0), data).k_star
    assert from_norm(k_star, norm).value == pytest.approx(factor * k_star.value)


@pytest.mark.parametrize("norm", ["l3", "linf"])
def test_an_audit_proves_in_the_norm_of_its_distance(norm):
    data = clustered(30, 40, 3, observed_fraction=0.5, random_state=0).observed
    report = audit(data, estimator="svt", model="identity", norm=norm, reference="observed", lipschitz=1e6)
    proved = report.arms["with"].certificate
    assert proved.from_norm == norm
    assert report.arms["with"].fairness.max_ratio.value <= proved.value
    assert report.arms["with"].verdict.status == "holds"
