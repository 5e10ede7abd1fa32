import numpy as np
import pytest

from likewise.errors import ObservationError, ShapeError
from likewise.observations import clustered


def test_defaults_are_experiment_one_of_section_6():
    data = clustered(random_state=0)
    assert data.truth.shape == data.observed.shape == (200, 800)
    np.testing.assert_array_equal(np.bincount(data.clusters), [20] * 10)
    assert repr(data.observed.value_range) == "ValueRange(-1 to 1)"
    assert np.abs(data.truth).max() <= 1


def test_entries_are_observed_with_the_probability_asked_for():
    for fraction in (0.05, 0.4):
        observed = clustered(observed_fraction=fraction, random_state=1).observed.observed_fraction
        standard_error = np.sqrt(fraction * (1 - fraction) / (200 * 800))
        assert abs(observed - fraction) < 5 * standard_error


def test_without_noise_what_is_observed_is_the_truth():
    data = clustered(30, 40, 3, noise=0, random_state=2)
    np.testing.assert_array_equal(data.observed.values.data, data.truth[data.observed.positions()])


def test_noise_has_the_standard_deviation_asked_for():
    data = clustered(noise=0.1, observed_fraction=1.0, random_state=3)
    inside = np.abs(data.truth) < 0.5  # clipping is 5 standard deviations away
    noise = (data.observed.to_dense() - data.truth)[inside]
    assert abs(noise.std() - 0.1) < 5 * 0.1 / np.sqrt(2 * noise.size)
    assert abs(noise.mean()) < 5 * 0.1 / np.sqrt(noise.size)


def test_individuals_spread_around_their_clusters_mean_with_variance_uniform_up_to_a_tenth():
    data = clustered(4000, 300, 2, random_state=4)
    one = data.truth[data.clusters == 0]
    central = (
        np.abs(one.mean(axis=0)) < 0.2
    )  # where clipping, at least 2.5 standard deviations off, matters little
    variances = one[:, central].var(axis=0)
    assert variances.max() < 0.11
    assert abs(variances.mean() - 0.05) < 5 * (0.1 / np.sqrt(12)) / np.sqrt(central.sum())


def test_by_cluster_each_cluster_has_its_own_probabilities_of_the_same_sum():
    data = clustered(4000, 50, 2, observed_fraction=0.3, sampling="by-cluster", random_state=5)
    is_observed = ~np.isnan(data.observed.to_dense(np.nan))
    for cluster in (0, 1):
        shares = is_observed[data.clusters == cluster].mean(axis=0)
        assert abs(shares.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / (2000 * 50))
        assert shares.std() > 0.1  # uniform on (0, 0.6): 0.17
    first, second = (is_observed[data.clusters == cluster].mean(axis=0) for cluster in (0, 1))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.6


def test_the_same_seed_gives_the_same_data():
    first, second = (clustered(20, 30, 2, random_state=6) for _ in range(2))
    np.testing.assert_array_equal(first.truth, second.truth)
    np.testing.assert_array_equal(first.observed.values.toarray(), second.observed.values.toarray())
    assert not np.array_equal(first.truth, clustered(20, 30, 2, random_state=7).truth)


def test_sizes_that_the_clusters_do_not_divide_differ_by_one_at_most():
    assert sorted(np.bincount(clustered(11, 30, 3, random_state=0).clusters)) == [3, 4, 4]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"n_clusters": 0}, ShapeError),
        ({"n_individuals": 5}, ShapeError),
        ({"n_features": 0}, ShapeError),
        ({"observed_fraction": 0}, ObservationError),
        ({"observed_fraction": 1.1}, ObservationError),
        ({"observed_fraction": float("nan")}, ObservationError),
        ({"noise": -0.1}, ObservationError),
        ({"sampling": "by cluster"}, ObservationError),
        ({"sampling": "by-cluster", "observed_fraction": 0.9}, ObservationError),
    ],
)
def test_impossible_settings_are_refused(options, error):
    with pytest.raises(error):
        clustered(**options)
