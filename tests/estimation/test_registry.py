"""Names, options and seeds of estimators: the same seed gives the same bits, however the estimator was named."""

import numpy as np
import pytest

from likewise import ObservedMatrix, audit, entry_intervals, frontier
from likewise.estimation import ESTIMATORS, SVT, SoftImpute, as_estimator

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(0)
    stars = np.clip(np.round(3 + rng.normal(size=(30, 2)) @ rng.normal(size=(2, 18))), 1, 5)
    stars[rng.random(stars.shape) < 0.4] = np.nan
    return ObservedMatrix(stars, value_range=(1, 5))


def test_a_seed_goes_to_names_and_to_what_has_none():
    assert as_estimator("soft-impute", 3).random_state == 3
    unseeded, seeded = SoftImpute(), SoftImpute(random_state=7)
    assert as_estimator(unseeded, 3).random_state == 3
    assert unseeded.random_state is None
    assert as_estimator(seeded, 3) is seeded
    assert as_estimator(unseeded) is unseeded


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in {"auto", "mixture", "cai-candes-shen"}))
        for name in ESTIMATORS
    ],
)
def test_the_same_seed_gives_the_same_bits_by_name(name, ratings):
    """From one process to the next, too: nothing else is drawn from."""
    reports = [audit(ratings, estimator=name, model="identity", random_state=3) for _ in range(2)]
    assert reports[0].to_json() == reports[1].to_json()
    assert "random_state=3" in reports[0].estimate.estimator
    intervals = [entry_intervals(ratings, name, random_state=3) for _ in range(2)]
    np.testing.assert_array_equal(*(found.estimate.to_dense() for found in intervals))
    assert intervals[0].radius == intervals[1].radius


def test_the_same_seed_gives_the_same_frontier(ratings):
    for estimator in ("svt", SVT()):
        documents = {
            frontier(ratings, estimator=estimator, budgets=[0.3], random_state=3).to_json() for _ in range(2)
        }
        assert len(documents) == 1
