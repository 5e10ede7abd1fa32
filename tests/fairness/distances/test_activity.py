"""Does d measure activity: on planted data where it does, and where it does not."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import spearmanr

from likewise import ObservedMatrix
from likewise.errors import ActivityWarning, InputError, ShapeError
from likewise.fairness import ObservedDistance, RowDistance, activity_check
from likewise.fairness.distances.activity import ActivityCheck
from likewise.fairness.distances.observed import co_observed_powers
from likewise.observations import clustered


def uneven(seed=0, m=80, n=60):
    """People with very different numbers of observations and hardly different taste."""
    rng = np.random.default_rng(seed)
    table = rng.choice([1.0, 5.0], (m, n))
    table[rng.random((m, n)) > np.linspace(0.05, 0.9, m)[:, None]] = np.nan
    return ObservedMatrix(table, value_range=(1, 5))


def test_co_observed_by_hand():
    # Shared by 0 and 1: columns 0 (0 against 0.5) and 2 (1 against -1); by 0 and 2: none.
    Z = sparse.csr_array(
        ([0.0, 0.3, 1.0, 0.5, -1.0, 0.7], ([0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 2, 3])), shape=(3, 4)
    )
    counts, powers = co_observed_powers(Z, np.array([0, 0, 1]), np.array([1, 2, 1]))
    assert counts.tolist() == [2, 0, 2]
    assert powers.tolist() == [2.5, 0, 0]
    assert co_observed_powers(Z, np.array([0]), np.array([1]), 2)[1].tolist() == [4.25]


def test_co_observed_against_the_definition_in_parts(monkeypatch):
    monkeypatch.setattr("likewise.fairness.distances.observed._PAIRS_AT_ONCE", 7)
    Z = uneven()
    table = Z.to_dense(np.nan)
    left, right = np.random.default_rng(1).integers(80, size=(2, 100))
    counts, powers = co_observed_powers(Z.values, left, right)
    difference = np.abs(table[left] - table[right])
    assert counts.tolist() == np.isfinite(difference).sum(axis=1).tolist()
    np.testing.assert_allclose(powers, np.nansum(difference, axis=1))


def test_zero_filled_l1_on_uneven_people_measures_activity():
    Z = uneven()
    with pytest.warns(ActivityWarning, match="mostly measures activity"):
        check = activity_check(Z, ObservedDistance(Z), random_state=0)
    assert check.with_activity > 0.8 > abs(check.with_differences)
    assert check.to_dict()["measures_activity"] is True


def test_distance_on_what_people_share_does_not():
    # Sixty-fourths are exact in binary, so that equal differences stay equal on the symmetric interval.
    Z = uneven()
    taste = np.arange(80.0)
    answers = ObservedMatrix(
        np.where(np.isnan(Z.to_dense(np.nan)), np.nan, taste[:, None]), value_range=(0, 128)
    )
    check = activity_check(
        answers, RowDistance(np.random.default_rng(0).permutation(80.0 * taste)), random_state=0
    )
    good = activity_check(answers, RowDistance(taste), random_state=0)
    assert good.with_differences == pytest.approx(1)
    assert check.with_differences < good.with_differences


def test_correlations_agree_with_scipy_over_all_pairs():
    Z = uneven(3, 6, 5)
    d = ObservedDistance(Z)
    with pytest.warns(ActivityWarning):
        check = activity_check(Z, d, n_pairs=40_000, random_state=1)
    left, right = np.triu_indices(6, 1)
    counts = np.diff(Z.values.indptr)
    everything = spearmanr(d.between(left, right), counts[left] + counts[right]).statistic
    assert check.with_activity == pytest.approx(everything, abs=0.02)


def test_same_seed_same_result_and_equal_activity_is_undefined():
    full = ObservedMatrix(np.random.default_rng(0).random((9, 4)), value_range=(0, 1))
    checks = [activity_check(full, ObservedDistance(full), random_state=3) for _ in range(2)]
    assert checks[0].with_differences == checks[1].with_differences == pytest.approx(1)
    assert np.isnan(checks[0].with_activity)
    assert not checks[0].measures_activity


@pytest.mark.parametrize(
    ("activity", "differences", "is_measured"),
    [(0.4, 0.1, True), (0.4, 0.5, False), (0.1, -0.2, False), (0.2, np.nan, False), (np.nan, np.nan, False)],
)
def test_a_weak_correlation_is_not_called_most_of_d(activity, differences, is_measured):
    check = ActivityCheck(activity, differences, 100, 0)
    assert check.measures_activity == is_measured
    assert ("mostly measures" in str(check)) == is_measured


def test_features_of_a_file_that_have_nothing_to_do_with_activity_are_not_called_it():
    """Over a few people a correlation is never 0: here it is the larger of the two, and yet small."""
    data = clustered(40, 30, 3, observed_fraction=0.4, random_state=0).observed
    found = [
        activity_check(data, RowDistance(np.random.default_rng(seed).random((40, 2)))) for seed in range(20)
    ]
    assert any(check.with_activity > check.with_differences for check in found)
    assert not any(check.measures_activity for check in found)


def test_bad_input():
    Z = uneven()
    with pytest.raises(ShapeError, match="80 individuals, a distance of 2"):
        activity_check(Z, RowDistance([1.0, 2.0]))
    with pytest.raises(InputError, match="n_pairs"):
        activity_check(Z, ObservedDistance(Z), n_pairs=1)


@pytest.mark.data
def test_zero_filled_l1_measures_activity_on_movielens():
    folder = os.environ.get("LIKEWISE_DATA")
    if not folder:
        pytest.skip("LIKEWISE_DATA does not name the folder with the real data")
    ratings = np.loadtxt(Path(folder) / "ml-100k" / "u.data", usecols=(0, 1, 2))
    Z = ObservedMatrix.from_triplets(
        ratings[:, 0].astype(int), ratings[:, 1].astype(int), ratings[:, 2], value_range=(1, 5)
    )
    with pytest.warns(ActivityWarning):
        check = activity_check(Z, ObservedDistance(Z), random_state=0)
    assert check.with_activity > 0.8
