"""The experiments: how the observations of a cell are drawn."""

import numpy as np
import pytest

from likewise.observations.synthetic import _probabilities
from likewise.reproduction import EXPERIMENTS


@pytest.mark.parametrize("fraction", EXPERIMENTS["3"].levels)
def test_each_cluster_of_experiment_3_has_exactly_the_expected_share(fraction):
    """The entries of p_k sum to p n (Section 6, Experiment 3)."""
    p = _probabilities(10, 800, fraction, "by-cluster", np.random.default_rng(0))
    np.testing.assert_allclose(p.sum(axis=1), 800 * fraction, rtol=1e-12)
    assert 0 <= p.min() < p.max() <= 1
