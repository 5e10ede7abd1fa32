"""The threshold that is tried before it is taken: never worse than nothing, and the noise edge where that is right."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from likewise.errors import RankZeroWarning
from likewise.estimation import SVT, Adaptive, CrossValidated, NoiseEdge, ObservationStatistics
from likewise.estimation.base.preparation import Recentred, prepare
from likewise.estimation.thresholding.rules.cross_validation import ThresholdPath, _errors, _Hidden, _pooled
from likewise.observations import ObservedMatrix, hold_out
from likewise.spectrum import singular_triplets


def like_ratings(seed, m=300, n=200, scale=1.0):
    """Whole stars; people and items are observed very unequally; beside biases there are two weak components."""
    rng = np.random.default_rng(seed)
    active, popular = rng.pareto(1.5, m) + 0.1, rng.pareto(1.5, n) + 0.1
    chance = np.outer(active, popular)
    seen = rng.random((m, n)) < np.clip(chance * (0.06 / chance.mean()), 0, 0.9)
    truth = 3.6 + 0.4 * rng.normal(size=(m, 1)) + 0.5 * rng.normal(size=n)
    truth = truth + scale * 0.3 * rng.normal(size=(m, 2)) @ rng.normal(size=(2, n))
    stars = np.clip(np.round(truth + 0.9 * rng.normal(size=(m, n))), 1, 5)
    return ObservedMatrix(np.where(seen, stars, np.nan), value_range=(1, 5))


def planted(seed, strength, m=80, n=120, p=0.4):
    """Three components of equal strength in white noise, observed uniformly at random."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(m, 3)) @ rng.normal(size=(3, n)) / np.sqrt(3)
    values = strength * truth + 0.3 * rng.normal(size=(m, n))
    return ObservedMatrix(
        np.where(rng.random((m, n)) < p, np.clip(values, -4, 4), np.nan), value_range=(-4, 4)
    )


def held_out_error(observed, seed, **options):
    split = hold_out(observed, 0.2, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = SVT(**options).fit(split.training)
    return np.mean((fitted.estimate_.entries(split.rows, split.columns) - split.values) ** 2)


@pytest.mark.parametrize("centering", ["none", "biases"])
@pytest.mark.parametrize("seed", range(4))
def test_on_ratings_the_default_is_no_worse_than_nothing_though_the_noise_edge_is(centering, seed):
    observed = like_ratings(seed)
    nothing = held_out_error(observed, seed, threshold=1e9, centering=centering)
    assert held_out_error(observed, seed, centering=centering) <= 1.005 * nothing
    assert held_out_error(observed, seed, threshold="noise-edge", centering=centering) > 1.1 * nothing


@pytest.mark.parametrize("seed", range(4))
def test_three_planted_components_are_found_where_the_noise_edge_finds_three_to_five(seed):
    observed = planted(seed, 1.0)
    assert SVT().fit(observed).rank_ == 3
    assert 3 <= SVT("noise-edge").fit(observed).rank_ <= 5


def test_where_hidden_observations_do_not_speak_against_it_it_is_the_noise_edge():
    statistics = ObservationStatistics.of(planted(2, 1.0).scaled().values)
    assert Adaptive()(statistics) == NoiseEdge()(statistics)


@pytest.mark.parametrize("seed", range(4))
def test_where_there_is_noise_only_it_keeps_nothing(seed):
    statistics = ObservationStatistics.of(planted(seed, 0.0).scaled().values)
    largest = singular_triplets(statistics.matrix, at_most=1, random_state=0).values[0]
    assert Adaptive()(statistics) >= largest


def test_of_fewer_than_60_observations_nothing_is_kept():
    few = ObservationStatistics.of(planted(0, 1.0, m=6, n=10, p=0.9).scaled().values)
    assert few.matrix.nnz < 60
    assert Adaptive()(few) > np.linalg.norm(few.matrix.data)
    with pytest.warns(RankZeroWarning):
        fitted = SVT().fit(planted(0, 1.0, m=6, n=10, p=0.9))
    assert any("fewer than 60" in note for note in fitted.notes_)


def test_of_200_observations_each_is_hidden_once_and_of_2000_a_tenth_as_ever():
    few, many = (ObservationStatistics.of(planted(0, 1.0, m=m, n=50, p=1.0).scaled().values) for m in (4, 40))
    assert len(CrossValidated().several(few, 200)) == 10
    (path,) = CrossValidated().several(many, 200)
    assert_allclose(path.errors, CrossValidated().path(many).errors)
    hidden = sum(path.errors[0] * 20 for path in CrossValidated().several(few, 200))
    assert hidden == pytest.approx(few.energy)  # of no component: the square of everything, once


@given(seed=st.integers(0, 10**6))
def test_paths_are_pooled_at_the_thresholds_of_the_first_and_at_the_edge(seed):
    """Each path says what it has at a threshold by how many of its own values lie above."""
    rng = np.random.default_rng(seed)
    paths = []
    for size in (3, 2, 4):
        values, errors = np.sort(rng.uniform(1, 5, size))[::-1], rng.uniform(size=size + 1)
        root = rng.normal(size=(size + 1, size + 1))
        thresholds = np.concatenate([[6.0], (values[:-1] + values[1:]) / 2, [0.5]])
        paths.append(ThresholdPath(thresholds, errors, root @ root.T, values))
    found = _pooled(paths, 2.5)
    grid = [*paths[0].thresholds, 2.5]
    counts = [[sum(value > tau for value in path.values) for tau in grid] for path in paths]
    for i in range(5):
        assert found.thresholds[i] == grid[i]
        own = [path.errors[count[i]] for path, count in zip(paths, counts, strict=True)]
        assert found.errors[i] == pytest.approx(sum(own) / 3)
        for j in range(5):
            cov = [p.covariance[c[i], c[j]] for p, c in zip(paths, counts, strict=True)]
            assert found.covariance[i, j] == pytest.approx(sum(cov) / 9)


@pytest.mark.slow
@pytest.mark.parametrize("centering", ["none", "biases"])
@pytest.mark.parametrize("kind", ["noise", "exponential", "stars"])
def test_of_60_to_600_observations_without_structure_it_is_on_average_no_worse_than_nothing(kind, centering):
    """At the noise edge the mean ratio of the errors is 1.02 to 1.06 with biases, and half of the data sets are worse by 1% or more."""
    ratios = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        m, n = rng.integers(8, 40, 2)
        truth = {
            "noise": rng.normal(size=(m, n)),
            "exponential": rng.exponential(size=(m, n)),
            "stars": np.clip(np.round(3.7 + rng.normal(0, 0.6, (m, 1)) + rng.normal(0, 1.2, (m, n))), 1, 5),
        }[kind]
        seen = rng.random((m, n)) < rng.uniform(0.3, 0.7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits = [
                SVT(tau, centering=centering).fit(np.where(seen, truth, np.nan)) for tau in ("adaptive", 1e9)
            ]
        ours, nothing = (np.mean((fit.estimate_.to_dense() - truth)[~seen] ** 2) for fit in fits)
        ratios.append(np.sqrt(ours / nothing))
    assert np.mean(ratios) < 1.01
    assert np.mean(np.array(ratios) > 1.01) <= 0.1


def test_it_tries_the_shrinker_of_the_estimator():
    assert Adaptive().trying("identity") == Adaptive(CrossValidated(shrinker="identity"))
    assert Adaptive(CrossValidated(shrinker="soft")).trying("identity").path.shrinker == "soft"
    observed = like_ratings(0, scale=3.0)
    kept = SVT(shrinker="identity", centering="biases").fit(observed)
    assert kept.rank_ >= 1  # x / p would predict worse than nothing, x predicts better


@given(weighted=st.booleans(), seed=st.integers(0, 10**6))
def test_errors_and_their_covariance_against_a_naive_reference(weighted, seed):
    rng = np.random.default_rng(seed)
    matrix = sparse.csr_array(rng.normal(size=(6, 5)))
    triplets = singular_triplets(matrix, above=0.0)
    shrunk = np.triu(np.ones((5, 6)), 1) * triplets.values[:, None]
    hidden = sparse.csr_array(rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.6))
    weights = rng.uniform(0.5, 2, hidden.nnz) if weighted else None
    if not hidden.nnz:
        return
    split = Recentred(hidden, rng.uniform(-0.5, 0.5, hidden.nnz), -1.0, 1.0)
    everything = np.ones(hidden.nnz, dtype=bool)
    errors, covariance = _errors(triplets, shrunk, _Hidden.of(split, everything, weights))
    w = np.ones(hidden.nnz) if weights is None else weights
    spread = np.empty((6, hidden.nnz))
    for count in range(6):
        dense = triplets.left[:, :count] * triplets.values[:count] @ triplets.right[:, :count].T
        rows = np.repeat(np.arange(6), np.diff(hidden.indptr))
        estimated = np.clip(dense[rows, hidden.indices] + split.centre, -1, 1)
        squared = (estimated - split.centre - hidden.data / w) ** 2
        nothing = np.clip(split.centre, -1, 1) - split.centre - hidden.data / w
        beyond = squared - nothing**2
        assert errors[count] == pytest.approx((w * squared).sum() / w.sum())
        mean = (w * beyond).sum() / w.sum()
        spread[count] = w * (beyond - mean) / w.sum()
    assert_allclose(covariance, spread @ spread.T, atol=1e-12)


@given(centering=st.sampled_from(["none", "global", "row", "column", "biases"]), seed=st.integers(0, 10**6))
def test_hidden_observations_have_no_part_in_the_centre_that_is_taken_from_them(centering, seed):
    """Add 1 to what is hidden: its residuals grow by exactly 1 (half on [-1, 1] of a range of 4), and no other changes."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(1, 4, (12, 7))
    hidden = rng.random(values.size) < 0.3
    if hidden.all():
        return
    more = values + hidden.reshape(values.shape)
    first, second = (
        prepare(ObservedMatrix(each, value_range=(1, 5)), "symmetric", centering).recentred(hidden)
        for each in (values, more)
    )
    assert_allclose(second.matrix.data - first.matrix.data, 0.5 * hidden, atol=1e-12)
    assert_allclose(second.centre, first.centre, atol=1e-12)


def test_two_columns_and_their_row_biases():
    """Of two residuals that share a row bias each tells the other with its sign turned, unless the bias is found without the hidden one."""
    rng = np.random.default_rng(0)
    ability = rng.normal(size=(500, 1))
    observed = ObservedMatrix(ability + rng.normal(size=(500, 2)), value_range=(-8, 8))
    nothing = held_out_error(observed, 0, threshold=1e9, centering="biases")
    assert held_out_error(observed, 0, centering="biases") <= 1.02 * nothing
    with pytest.warns(RankZeroWarning):
        assert SVT(threshold="cross-validated", centering="biases").fit(observed).rank_ == 0


def test_better_is_by_more_than_a_standard_error_of_the_difference():
    """Errors 10, 8, 7; what is beyond the first has variances 1 and 9 and covariance 3, so differences 1, 3 and 2."""
    covariance = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 3.0], [0.0, 3.0, 9.0]])
    path = ThresholdPath(
        np.array([9.0, 4.0, 1.0]), np.array([10.0, 8.0, 7.0]), covariance, np.array([5.0, 2.0])
    )
    assert path.is_better(1, 0)
    assert not path.is_better(2, 0)
    assert not path.is_better(2, 1)
    assert [path.kept_at(threshold) for threshold in (6.0, 3.0, 1.0)] == [0, 1, 2]


def test_a_threshold_that_is_not_the_edge_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert any("not the noise edge" in note for note in SVT().fit(like_ratings(0)).notes_)
    assert not any("not the noise edge" in note for note in SVT().fit(planted(2, 1.0)).notes_)
