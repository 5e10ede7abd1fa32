"""The experiments: how the observations of a cell are drawn."""

import numpy as np
import pytest

from likewise.observations.synthetic import _probabilities
from likewise.reproduction import EXPERIMENTS
from likewise.reproduction.movielens import N_PAIRS


def test_sizes_are_those_of_section_6():
    """m, n, c and p of every level, and the data that are generated from them."""
    fractions = (0.05, 0.1, 0.2, 0.4)
    for key, sampling in (("1", "uniform"), ("3", "by-cluster")):
        experiment = EXPERIMENTS[key]
        assert (experiment.levels, experiment.sampling) == (fractions, sampling)
        for level in fractions:
            assert tuple(experiment.sizes(level).values()) == (200, 800, 10, level)
    fourth = [tuple(EXPERIMENTS["4"].sizes(level).values()) for level in EXPERIMENTS["4"].levels]
    assert fourth == [(500, n, 20, 0.2) for n in (25, 100, 400, 800)]
    data = EXPERIMENTS["4"].data(25, 0)
    assert (data.truth.shape, data.clusters.max()) == ((500, 25), 19)
    assert data.observed.observed_fraction == pytest.approx(0.2, abs=0.02)
    assert (EXPERIMENTS["2"].n_individuals, EXPERIMENTS["2"].n_features, N_PAIRS) == (6040, 3952, 100_000)


@pytest.mark.parametrize("fraction", EXPERIMENTS["3"].levels)
def test_each_cluster_of_experiment_3_has_exactly_the_expected_share(fraction):
    """The entries of p_k sum to p n (Section 6, Experiment 3)."""
    p = _probabilities(10, 800, fraction, "by-cluster", np.random.default_rng(0))
    np.testing.assert_allclose(p.sum(axis=1), 800 * fraction, rtol=1e-12)
    assert 0 <= p.min() < p.max() <= 1
