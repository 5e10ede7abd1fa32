"""Co-observed, scaled, Mahalanobis, projected, mixed, callable and precomputed distances: values and bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import nan_euclidean_distances

from likewise import ObservedMatrix
from likewise.errors import DistanceError, ShapeError
from likewise.fairness import (
    CallableDistance,
    CoObservedDistance,
    GowerDistance,
    ObservedDistance,
    PrecomputedDistance,
    feature_distance,
    mahalanobis_distance,
    measure_fairness,
    projected_distance,
)


def whole(distance):
    return distance.block(0, distance.n_individuals)


# Co-observed


def test_co_observed_by_hand():
    # Four columns on [-1, 1]. 0 and 1 share columns 0 (|-1 - 0| = 1) and 3 (|1 - 0.5| = 0.5); 0 and 2 share none.
    Z = ObservedMatrix(
        np.array([[1, np.nan, np.nan, 5], [3, 2, np.nan, 4], [np.nan, 1, 5, np.nan]]), value_range=(1, 5)
    )
    d = whole(CoObservedDistance(Z))
    assert d[0, 1] == 4 / 2 * 1.5
    assert np.isnan(d[0, 2])
    np.testing.assert_allclose(whole(CoObservedDistance(Z, "l2"))[0, 1], np.sqrt(4 / 2 * 1.25))
    assert np.isnan(whole(CoObservedDistance(Z, least_shared=3))[0, 1])
    assert whole(CoObservedDistance(Z, exclude=[3]))[0, 1] == 3 / 1 * 1


@given(st.integers(0, 2**32 - 1))
def test_co_observed_l2_equals_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((9, 6)) < 0.5, rng.random((9, 6)), np.nan)
    table[0, 0], table[1, 1] = 0.0, 1.0
    distance = CoObservedDistance(ObservedMatrix(table, value_range=(0, 1)), "l2", working_range="unit")
    measured = whole(distance)
    expected = nan_euclidean_distances(table)
    np.fill_diagonal(expected, np.diag(measured))  # scikit-learn puts an empty row at 0 from itself.
    np.testing.assert_allclose(measured, expected, atol=1e-7)


def test_a_stored_zero_is_co_observed():
    Z = sparse.csr_array(([0.0, 2.0, 0.0], ([0, 1, 2], [0, 0, 0])), shape=(3, 2))
    assert whole(CoObservedDistance(Z)).tolist() == [[0, 4, 0], [4, 0, 4], [0, 4, 0]]


def test_co_observed_pairs_without_shared_features_are_counted():
    Z = ObservedMatrix(np.array([[1, np.nan], [2, 3.0], [np.nan, 4]]), value_range=(1, 5))
    figures = measure_fairness([0.0, 1.0, 2.0], CoObservedDistance(Z))
    assert (figures.n_undefined, figures.n_pairs) == (1, 2)


# Features


def test_scalings_are_fitted_on_the_reference_data_only():
    reference = np.array([[0.0, 10.0, 7.0], [4.0, 30.0, 7.0]])
    rows = np.array([[1.0, 10.0, 1.0], [2.0, 50.0, 2.0]])
    by_range = feature_distance(rows, "l1", scaling="range", fitted_on=reference)
    assert by_range.between([0], [1]).tolist() == [1 / 4 + 40 / 20 + 1]
    by_deviation = feature_distance(rows, "l1", scaling="standard", fitted_on=reference)
    np.testing.assert_allclose(by_deviation.between([0], [1]), [1 / 2 + 40 / 10 + 1])


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_by_name(library):
    frame = library.DataFrame({"lsat": [30.0, 40.0, 45.0], "race": ["a", "b", "a"], "ugpa": [3.0, 3.0, 4.0]})
    distance = feature_distance(frame, "l1", exclude=["race"])
    assert whole(distance).tolist() == [[0, 10, 16], [10, 0, 6], [16, 6, 0]]
    assert distance.description.columns == "all but race"
    with pytest.raises(DistanceError, match="column 'race' of type"):
        feature_distance(frame)
    with pytest.raises(DistanceError, match=r"unknown column 'rac'.*did you mean 'race'"):
        feature_distance(frame, exclude=["rac"])
    with pytest.raises(DistanceError, match=r"exclude=\['race'\]"):
        feature_distance(frame, exclude="race")


def test_excluded_columns_of_observations_go_by_id():
    Z = ObservedMatrix(np.array([[1, 5], [5, 1.0]]), value_range=(1, 5), column_ids=["tea", "age"])
    distance = ObservedDistance(Z, exclude=["age"])
    assert whole(distance)[0, 1] == 2
    assert distance.description.columns == "all but age"
    with pytest.raises(DistanceError, match="every column excluded"):
        ObservedDistance(Z, exclude=["age", "tea"])


def test_mahalanobis_is_the_root_and_agrees_with_scipy():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 4)) @ rng.standard_normal((4, 4))
    inverse = np.linalg.inv(np.cov(rows.T))
    distance = mahalanobis_distance(rows)
    np.testing.assert_allclose(whole(distance), cdist(rows, rows, "mahalanobis", VI=inverse), rtol=1e-9)
    assert distance.is_metric
    fitted = mahalanobis_distance(rows[:5], fitted_on=rows)
    np.testing.assert_allclose(whole(fitted), whole(distance)[:5, :5])


@given(st.integers(0, 2**32 - 1))
def test_mahalanobis_does_not_depend_on_units(seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((20, 3))
    mixed = rows @ (np.eye(3) * rng.uniform(0.01, 100, 3)) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    np.testing.assert_allclose(
        whole(mahalanobis_distance(mixed)), whole(mahalanobis_distance(rows)), rtol=1e-6
    )


def test_singular_covariance_leaves_directions_out_and_says_so():
    rows = np.random.default_rng(0).standard_normal((30, 2))
    doubled = mahalanobis_distance(np.hstack([rows, rows[:, :1], np.ones((30, 1))]))
    np.testing.assert_allclose(whole(doubled), whole(mahalanobis_distance(rows)), rtol=1e-9)
    assert doubled.description.axioms == "pseudometric"
    assert "rank 2 of 4" in doubled.description.scaling
    with pytest.raises(DistanceError, match="no column varies"):
        mahalanobis_distance(np.ones((3, 2)))


def test_projected_by_hand():
    # The sensitive direction is (1, 1): of the difference (3, 1) the part (1, -1) is left.
    distance = projected_distance([[0.0, 0.0], [3.0, 1.0], [2.0, 2.0]], directions=[2.0, 2.0])
    d = whole(distance)
    np.testing.assert_allclose(d[0, 1], np.sqrt(2))
    assert d[0, 2] == 0


@given(st.integers(0, 2**32 - 1), st.floats(-100, 100))
def test_projected_does_not_see_sensitive_directions(seed, step):
    rng = np.random.default_rng(seed)
    rows, directions = rng.standard_normal((6, 12)), rng.standard_normal((2, 12))
    moved = np.vstack([rows, rows + step * directions[0] - directions[1]])
    d = whole(projected_distance(moved, directions=directions))
    assert (np.diag(d[:6, 6:]) == 0).all()
    assert (d[:6, :6][~np.eye(6, dtype=bool)] > 0).all()
    np.testing.assert_allclose(d[:6, :6], d[6:, 6:], rtol=1e-6)


def test_sensitive_direction_from_an_attribute():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((50, 3))
    attribute = 2 * rows[:, 0] - rows[:, 2] + 5
    learned = projected_distance(rows, attributes=attribute)
    given_ = projected_distance(rows, directions=[2.0, 0.0, -1.0])
    np.testing.assert_allclose(whole(learned), whole(given_), rtol=1e-9, atol=1e-12)
    with pytest.raises(ShapeError, match="49 attribute rows"):
        projected_distance(rows, attributes=attribute[:49])


def test_projected_bad_input():
    rows = np.eye(3)
    with pytest.raises(DistanceError, match="exactly one"):
        projected_distance(rows)
    with pytest.raises(DistanceError, match="span 0 of 3"):
        projected_distance(rows, directions=[0.0, 0.0, 0.0])
    with pytest.raises(DistanceError, match="span 3 of 3"):
        projected_distance(rows, directions=np.eye(3))
    with pytest.raises(ShapeError, match="3 columns"):
        projected_distance(rows, directions=[1.0, 0.0])
    with pytest.raises(DistanceError, match="NaN"):
        projected_distance(rows, directions=[np.nan, 0.0, 1.0])


def test_feature_bad_input():
    with pytest.raises(ShapeError, match="reference data with 3 columns"):
        feature_distance(np.eye(2), fitted_on=np.eye(3))
    with pytest.raises(DistanceError, match=r"unknown scaling 'standrd'.*'standard'"):
        feature_distance(np.eye(2), scaling="standrd")
    with pytest.raises(DistanceError, match="1 rows: 1"):
        feature_distance([[1.0], [np.nan]])


# Mixed records


def people(library):
    return library.DataFrame(
        {"age": [20, 30, 60, None], "job": ["cook", "cook", None, "nurse"], "tall": [True, False, True, True]}
    )


@pytest.mark.parametrize("library", [pd, pl])
def test_gower_by_hand(library):
    d = whole(GowerDistance(people(library)))
    # Ages span 40 years. Missing features are left out of the mean.
    assert d[0, 1] == pytest.approx((10 / 40 + 0 + 1) / 3)
    assert d[0, 2] == pytest.approx((40 / 40 + 0) / 2)
    assert d[0, 3] == pytest.approx((1 + 0) / 2)
    assert d[2, 3] == 0
    without = whole(GowerDistance(people(library), exclude=["tall"]))
    assert without[0, 1] == pytest.approx((10 / 40 + 0) / 2)
    assert np.isnan(without[2, 3])


def test_gower_ranges_come_from_the_reference_data():
    table = pl.DataFrame({"age": [0.0, 10.0, 500.0], "level": [1, 1, 2]})
    reference = pl.DataFrame({"age": [0.0, 100.0], "level": [7, 7]})
    d = whole(GowerDistance(table, fitted_on=reference))
    # 500 years on a range of 100 are cut at 1; without spread in the reference data any difference is 1.
    assert d[0].tolist() == pytest.approx([0, (0.1 + 0) / 2, (1 + 1) / 2])


def test_gower_takes_categoricals():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", "x"]), "b": [1.0, 1.0, 2.0]})
    assert whole(GowerDistance(frame))[0].tolist() == [0, 0.5, 0.5]


def test_gower_is_undefined_where_two_records_share_too_little():
    table = people(pl)
    # Shared features, pair by pair: 3, 2, 2; 2, 2; 1. On average 2, of which half is 1.
    least_two = GowerDistance(table, least_shared=2)
    d = whole(least_two)
    assert np.isnan(d[2, 3])
    assert np.isnan(least_two.between(np.array([2]), np.array([3]))[0])
    assert d[0, 3] == pytest.approx((1 + 0) / 2)
    assert np.isnan(whole(least_two.sharing(3))[0, 2])
    assert "undefined where they share fewer than 2" in least_two.description.missing
    assert GowerDistance(table, least_shared="half").least_shared == 1
    assert whole(GowerDistance(table, least_shared="half"))[2, 3] == 0


def test_half_of_what_two_records_share_on_average_is_rounded_up():
    # Of 5 features all known but one cell: pairs share 4, 4 and 5, on average 13/3, of which half is 2.17.
    table = pl.DataFrame({"a": [1.0, 2.0, None], **{name: [1.0, 2.0, 3.0] for name in "bcde"}})
    assert GowerDistance(table, least_shared="half").least_shared == 3


@given(st.integers(0, 2**32 - 1))
def test_half_of_what_two_records_share_against_counting(seed):
    rng = np.random.default_rng(seed)
    m, n, share = int(rng.integers(2, 9)), int(rng.integers(1, 7)), rng.random()
    known = rng.random((m, n)) < share
    table = pl.DataFrame(np.where(known, rng.random((m, n)), np.nan)).fill_nan(None)
    shared = [int((known[i] & known[j]).sum()) for i in range(m) for j in range(i)]
    half = -(-sum(shared) // (2 * len(shared)))  # rounded up
    assert GowerDistance(table, least_shared="half").least_shared == max(1, half)


@pytest.mark.parametrize("least_shared", [0, 4, 1.5, True, "most", None])
def test_gower_refuses_a_number_of_shared_features_that_cannot_be(least_shared):
    with pytest.raises(DistanceError, match=r"least_shared=.*from 1 to 3, or 'half'"):
        GowerDistance(people(pl), least_shared=least_shared)


def test_gower_bad_input():
    with pytest.raises(DistanceError, match="feature_distance"):
        GowerDistance(np.eye(2))
    with pytest.raises(DistanceError, match="'when' of type Date"):
        GowerDistance(
            pl.DataFrame({"when": ["2020-01-01", "2020-01-02"]}).with_columns(pl.col("when").str.to_date())
        )
    with pytest.raises(DistanceError, match="infinite"):
        GowerDistance(pl.DataFrame({"a": [1.0, np.inf]}))
    with pytest.raises(DistanceError, match="without the column 'b'"):
        GowerDistance(pl.DataFrame({"b": [1, 2]}), fitted_on=pl.DataFrame({"a": [1, 2]}))
    with pytest.raises(ShapeError, match="1 individual"):
        GowerDistance(pl.DataFrame({"a": [1]}))


# Callable


def test_callable_takes_any_kind_of_individual():
    def differing_letters(x, y):
        return sum(a != b for a, b in zip(x, y, strict=True))

    distance = CallableDistance(differing_letters, ["cat", "cut", "dog"])
    assert whole(distance).tolist() == [[0, 1, 3], [1, 0, 3], [3, 3, 0]]
    assert distance.name == "differing_letters"
    assert not distance.is_metric


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda *_: np.nan, "returned nan"),
        (lambda *_: -1.0, "returned -1.0"),
        (lambda *_: [1.0, 2.0], "shape"),
        (lambda *_: "far", "not numbers"),
        (lambda *_: 1.0, "from itself"),
        (lambda x, y: max(x - y, 0.0), "one way"),
    ],
)
def test_callable_bad_results(function, message):
    with pytest.raises(DistanceError, match=message):
        CallableDistance(function, np.array([1.0, 2.0]))


def test_callable_bad_results_later_name_the_pair():
    distance = CallableDistance(lambda x, y: np.nan if x == 3 != y else abs(x - y), np.arange(4.0))
    with pytest.raises(DistanceError, match=r"nan for the pair \(3, 0\)"):
        whole(distance)
    with pytest.raises(DistanceError, match=r"shape \(2,\) for 3 pairs"):
        CallableDistance(lambda *_: np.zeros(2), np.arange(4.0), vectorized=True)
    with pytest.raises(ShapeError, match="at least two"):
        CallableDistance(lambda *_: 0.0, [1.0])


# Precomputed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (((1, 2), -1.0), r"negative at \(1, 2\)"),
        (((1, 2), 9.0), r"asymmetric at \(1, 2\)"),
        (((2, 2), 0.5), r"not zero on the diagonal at \(2, 2\)"),
        (((0, 1), np.inf), r"infinite at \(0, 1\)"),
        (((0, 1), np.nan), r"asymmetric at \(0, 1\)"),
    ],
)
def test_precomputed_bad_matrices(change, message):
    matrix = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])
    matrix[change[0]] = change[1]
    with pytest.raises(DistanceError, match=message):
        PrecomputedDistance(matrix)


def test_precomputed_takes_rounded_symmetry_integers_and_undefined_pairs():
    matrix = np.array([[0, 1 / 3, np.nan], [1 / 3 * (1 + 1e-12), 0, 1], [np.nan, 1, 0]])
    assert np.isnan(PrecomputedDistance(matrix).between([0], [2])).all()
    assert whole(PrecomputedDistance(np.array([[0, 2], [2, 0]]))).dtype == np.float64
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        PrecomputedDistance(np.zeros((2, 3)))
    with pytest.raises(DistanceError, match="entries of a distance matrix that are not numbers"):
        PrecomputedDistance([["a", "b"], ["c", "d"]])


def test_precomputed_across_row_blocks(monkeypatch):
    monkeypatch.setattr("likewise.fairness.distances.custom._ROWS_AT_ONCE", 2)
    matrix = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    assert PrecomputedDistance(matrix).n_individuals == 5
    matrix[4, 3] = 7
    with pytest.raises(DistanceError, match=r"asymmetric at \(3, 4\)"):
        PrecomputedDistance(matrix)


def test_gower_on_a_frame_whose_columns_are_numbered():
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame({"age": [20.0, 30.0, 40.0], "town": ["a", "b", "a"]})
    numbered = named.set_axis([1, 0], axis=1)
    np.testing.assert_array_equal(GowerDistance(numbered).block(0, 3), GowerDistance(named).block(0, 3))


def test_feature_distances_on_a_frame_whose_columns_are_numbered():
    pandas = pytest.importorskip("pandas")
    table = np.random.default_rng(0).random((6, 3))
    numbered = pandas.DataFrame(table, columns=[2, 0, 1])
    np.testing.assert_array_equal(
        mahalanobis_distance(numbered, exclude=[2]).block(0, 6),
        mahalanobis_distance(table[:, 1:]).block(0, 6),
    )
