from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import ObservedMatrix
from likewise.errors import DistanceError, ShapeError
from likewise.fairness.distances.pattern import PatternDistance


def rows(seed, m=8, n=6):
    rng = np.random.default_rng(seed)
    seen = rng.random((m, n)) < rng.choice([0.3, 0.7, 1.0])
    values = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=(m, n))
    i, j = np.nonzero(seen)
    return sparse.csr_array((values[seen], (i, j)), shape=(m, n)), np.where(seen, values, np.nan)


def naive(table, c, weights, of_empty):
    d = np.zeros((len(table), len(table)))
    for i, a in enumerate(table):
        for j, b in enumerate(table):
            for x, y, w, e in zip(a, b, weights, of_empty, strict=True):
                if not np.isnan(x) and not np.isnan(y):
                    d[i, j] += w * abs(x - y)
                elif np.isnan(x) != np.isnan(y):
                    d[i, j] += c * e
    return d


def test_by_hand():
    """On [-1, 1]: rows (-1, ?, 1) and (0, -.5, ?): 1 for the first feature, 1.5 for each of the others."""
    Z = ObservedMatrix(np.array([[1.0, np.nan, 5.0], [3.0, 2.0, np.nan]]), value_range=(1, 5))
    assert PatternDistance(Z, empty=1.5).block(0, 1, 1).item() == 4.0
    weighted = PatternDistance(Z, empty=1.0, feature_weights=[2, 1, 0], empty_weights=[2, 3, 4])
    assert weighted.block(0, 1, 1).item() == 2 * 1 + 3 + 4
    assert weighted.description.axioms == "pseudometric"


def test_an_observed_zero_is_not_a_missing_entry():
    Z = sparse.csr_array(([0.0], ([0], [0])), shape=(2, 1))
    assert PatternDistance(Z).block(0, 1, 1).item() == 1.0


@given(seed=st.integers(0, 10**6), c=st.sampled_from([1.0, 1.7, 3.0]), weighted=st.booleans())
def test_all_pairs_are_those_of_the_definition(seed, c, weighted):
    observed, table = rows(seed)
    rng = np.random.default_rng(seed)
    w = rng.uniform(0.5, 2, size=6) if weighted else np.ones(6)
    e = w * rng.uniform(1, 2, size=6) if weighted else w
    d = PatternDistance(observed, c, feature_weights=w, empty_weights=e)
    expected = naive(table, c, w, e)
    np.testing.assert_allclose(d.block(0, 8), expected, atol=1e-12)
    i, j = np.triu_indices(8, 1)
    np.testing.assert_allclose(d.between(i, j), expected[i, j], atol=1e-12)
    np.testing.assert_allclose(d.block(2, 5, 3, 7), expected[2:5, 3:7], atol=1e-12)


@given(seed=st.integers(0, 10**6), c=st.sampled_from([1.0, 2.5]))
def test_is_a_metric(seed, c):
    d = PatternDistance(rows(seed)[0], c).block(0, 8)
    np.testing.assert_array_equal(d, d.T)
    np.testing.assert_array_equal(np.diag(d), 0)
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all()


@given(seed=st.integers(0, 10**6), c=st.floats(1, 5))
def test_is_never_smaller_than_between_zero_filled_rows(seed, c):
    """So a constant from zero-filled rows holds from this distance too."""
    sparse_rows, table = rows(seed)
    filled = np.nan_to_num(table)
    left, right = np.triu_indices(len(table), 1)
    zero_filled = np.abs(filled[left] - filled[right]).sum(axis=1)
    assert (PatternDistance(sparse_rows, empty=c).between(left, right) >= zero_filled - 1e-12).all()


def test_too_near_an_empty_entry_is_refused_with_the_triangle_that_breaks():
    Z = rows(0)[0]
    with pytest.raises(DistanceError, match=r"d\(-1, 1\) = 2 exceeds d\(-1, empty\) \+ d\(empty, 1\) = 1.8"):
        PatternDistance(Z, 0.9)
    with pytest.raises(DistanceError, match=">= 2, half the range of the values"):
        PatternDistance(Z, 1.0, feature_weights=np.full(6, 2.0), empty_weights=np.ones(6))
    with pytest.raises(DistanceError, match="number above 0"):
        PatternDistance(Z, np.nan)
    Z = ObservedMatrix(np.array([[1.0, 2.0], [3.0, 2.0]]), value_range=(1, 5))
    assert PatternDistance(Z, 0.5, working_range="unit").block(0, 1, 1).item() == 0.5


def test_bad_weights_are_refused():
    Z = rows(0)[0]
    with pytest.raises(ShapeError, match="one for each feature"):
        PatternDistance(Z, feature_weights=[1.0])
    with pytest.raises(DistanceError, match="finite numbers >= 0"):
        PatternDistance(Z, feature_weights=np.full(6, -1.0))


def test_values_beyond_the_working_range_ask_for_a_larger_c():
    """1 and 5 are 4 apart, by way of an empty entry 2 c."""
    stars = sparse.csr_array([[1.0, 0.0], [5.0, 0.0], [0.0, 3.0]])
    with pytest.raises(
        DistanceError, match=r"d\(1, 5\) = 4 exceeds d\(1, empty\) \+ d\(empty, 5\) = 2; .* >= 2"
    ):
        PatternDistance(stars, empty=1.0)
    d = PatternDistance(stars, empty=2.0).block(0, 3)
    assert d[0, 1] == 4
    assert (d[:, None] <= d[:, :, None] + d[None] + 1e-12).all()


def test_the_triangle_of_weights_is_told_with_its_feature():
    Z = ObservedMatrix(
        np.array([[1.0, 2.0], [3.0, 2.0]]), value_range=(1, 5), column_ids=["maths", "reading"]
    )
    said = r"d\(-1, 1\) = 4 exceeds d\(-1, empty\) \+ d\(empty, 1\) = 2 in feature 'maths'; expected a number >= 2"
    with pytest.raises(DistanceError, match=said):
        PatternDistance(Z, empty=1.0, feature_weights=[2, 1], empty_weights=[1, 1])
    with pytest.raises(DistanceError, match="weights of the empty entry above 0"):
        PatternDistance(Z, empty=1.0, feature_weights=[2, 1], empty_weights=[0, 1])


@pytest.mark.parametrize("options", [{"empty": 1e308}, {"feature_weights": [1e308, 1.0]}])
def test_distances_beyond_all_numbers_are_refused(options):
    Z = ObservedMatrix(np.array([[1.0, 2.0], [3.0, np.nan]]), value_range=(1, 5))
    with pytest.raises(DistanceError, match="expected sizes"):
        PatternDistance(Z, **options)
