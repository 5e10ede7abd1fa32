"""The minimax remark: what is drawn, the best answer against a sum over all truths, and shares of the lower bound's shape."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.observations import ObservedMatrix
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction import ARMS, EXPERIMENTS
from likewise.reproduction.minimax import BEST, best_answer, least_favourable, run_minimax
from likewise.reproduction.theory import proved_rate

HARD = EXPERIMENTS["minimax"]


def posterior_mean(values, clusters, theta):
    """Weigh every truth by how likely the observations are under it: two values for each cluster and feature."""
    m, n = values.shape
    cells = [(c, j) for c in range(max(clusters) + 1) for j in range(n)]
    total, weight = np.zeros((m, n)), 0.0
    for signs in product([-1, 1], repeat=len(cells)):
        sign = dict(zip(cells, signs, strict=True))
        A = np.array([[theta * sign[clusters[i], j] for j in range(n)] for i in range(m)])
        seen = ~np.isnan(values)
        likely = np.prod(((1 + values * A) / 2)[seen])
        total, weight = total + likely * A, weight + likely
    return total / weight


@given(
    st.lists(st.sampled_from([-1.0, 1.0, np.nan]), min_size=12, max_size=12).filter(
        lambda values: not np.isnan(values).all()
    ),
    st.floats(0.05, 0.95),
)
def test_the_best_answer_is_the_posterior_mean(values, size):
    values, clusters = np.reshape(values, (4, 3)), np.array([0, 0, 1, 1])
    data = ClusteredData(ObservedMatrix(values, value_range=(-1, 1)), np.full((4, 3), size**0.5), clusters)
    np.testing.assert_allclose(
        best_answer(data, size), posterior_mean(values, clusters, size**0.5), atol=1e-12
    )


@pytest.mark.parametrize("size", HARD.levels)
def test_what_is_drawn(size):
    data = least_favourable(200, 800, 0.2, size, np.random.default_rng(0))
    assert np.unique(data.clusters).size == round(200 * 0.2 * size)
    assert np.allclose(np.abs(data.truth), size**0.5)
    assert set(np.unique(data.observed.values.data)) == {-1.0, 1.0}
    assert data.observed.observed_fraction == pytest.approx(0.2, abs=0.01)
    # The mean of an observation is its entry: 32,000 of them, to five standard errors.
    rows, columns = data.observed.positions()
    excess = (data.observed.values.data * np.sign(data.truth[rows, columns])).mean() - size**0.5
    assert abs(excess) < 5 / np.sqrt(rows.size)
    # The nuclear norm is about theta sqrt(r m n), so the shape is about theta^2.
    assert proved_rate(data.truth, 0.2) == pytest.approx(size, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("size", HARD.levels)
def test_nobody_is_far_below_the_shape_and_the_universal_threshold_is_not_far_above(size):
    data = least_favourable(200, 800, 0.2, size, np.random.default_rng(1))
    found = run_minimax(data, HARD, [ARMS["h"], ARMS["f-noise-edge"]], 0.2, size, 0)
    assert list(found["arms"]) == [BEST, "universal", "f-noise-edge"]
    shares = {name: arm["metrics"]["share_of_rate"] for name, arm in found["arms"].items()}
    assert 0.3 < shares[BEST] < min(shares["universal"], shares["f-noise-edge"])
    assert shares["universal"] < 1.1
    assert found["rate"] == proved_rate(data.truth, 0.2)
