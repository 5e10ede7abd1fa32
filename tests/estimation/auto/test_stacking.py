"""Weights of mixtures: against hand-computed ones, a search over a grid, and what they may not look at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

from likewise.estimation.auto.stacking import Pool, stacking_weights


def penalised(weights, errors, prior):
    """The criterion as it is written, one number at a time."""
    k, n = errors.shape
    noise = min(sum(e * e for e in part) for part in errors) / n
    mixed = [sum(weights[p] * errors[p][i] for p in range(k)) for i in range(n)]
    return sum(e * e for e in mixed) + prior * noise * sum((w - 1 / k) ** 2 for w in weights)


def test_two_parts_with_independent_errors_by_hand():
    """w1 : w2 is 1 / 1 : 1 / 4 without a prior; with one of 2, whose noise is 1/2, it is 1 / (1 + 1) : 1 / (4 + 1)."""
    errors = np.array([[1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_allclose(stacking_weights(errors, 0.0), [0.8, 0.2], atol=1e-9)
    np.testing.assert_allclose(stacking_weights(errors, 2.0), [5 / 7, 2 / 7], atol=1e-9)


def test_a_part_that_only_harms_has_no_weight():
    errors = np.array([[0.1, -0.1, 0.1], [1.0, -1.1, 0.9]])
    assert stacking_weights(errors, 0.0).tolist() == [1.0, 0.0]


def test_few_observations_leave_weights_near_equal_and_many_decide():
    rng = np.random.default_rng(0)
    errors = rng.normal(0, [[1.0], [1.6]], (2, 4000))
    apart = [abs(stacking_weights(errors[:, :n]) - 0.5).max() for n in (10, 4000)]
    assert apart[0] < 0.15 < apart[1]


def test_equal_parts_have_equal_weights_and_no_error_at_all_too():
    errors = np.tile([0.3, -0.2, 0.5], (3, 1))
    np.testing.assert_allclose(stacking_weights(errors), np.full(3, 1 / 3))
    np.testing.assert_allclose(stacking_weights(np.zeros((2, 4))), [0.5, 0.5])


@given(
    stnp.arrays(
        np.float64, st.tuples(st.integers(2, 3), st.integers(1, 8)), elements=st.floats(-2, 2, width=16)
    ),
    st.sampled_from([0.0, 1.0, 25.0]),
)
def test_no_weights_of_a_grid_are_likelier(errors, prior):
    found = stacking_weights(errors, prior)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)
    lowest = penalised(found, errors, prior)
    steps = np.linspace(0, 1, 11)
    for first in steps:
        for second in [step for step in steps if step <= 1 - first + 1e-12]:
            grid = [first, 1 - first] if len(errors) == 2 else [first, second, 1 - first - second]
            assert lowest <= penalised(grid, errors, prior) + 1e-9 * (1 + np.sum(errors**2))


def pool(k=4, n=60, seed=0):
    rng = np.random.default_rng(seed)
    actual = rng.uniform(-1, 1, n)
    return Pool(actual + rng.normal(0, 0.5, (k, n)), actual, (-1.0, 1.0))


def test_each_part_is_predicted_with_weights_that_the_others_gave():
    """Against a loop; predictions are clipped after they are mixed."""
    data, members, expected = pool(), (2, 0), []
    for i in range(60):
        others = [j for j in range(60) if j % 5 != i % 5]
        errors = np.clip(data.predictions[list(members)], -1, 1) - data.actual
        weights = stacking_weights(errors[:, others])
        mixed = min(max(float(weights @ data.predictions[list(members), i]), -1.0), 1.0)
        expected.append((mixed - data.actual[i]) ** 2)
    np.testing.assert_allclose(data.squares(members), expected)


def test_what_is_measured_on_does_not_move_the_weights_it_is_measured_with():
    data = pool()
    moved = data.actual.copy()
    moved[0] += 0.25
    again = Pool(data.predictions, moved, data.bounds)
    same = [i for i in range(60) if i % 5 == 0 and i]
    np.testing.assert_allclose(again.squares((0, 1))[same], data.squares((0, 1))[same])


def test_the_best_mixture_is_that_of_the_smallest_error():
    data = pool()
    losses = {(i, j): data.squares((i, j)).mean() for i in range(4) for j in range(i + 1, 4)}
    best = data.best(2)
    assert best == min(losses, key=losses.get)
    assert set(data.best(3, best)) > set(best)
    allowed = data.best(2, allowed=lambda members: members != best)
    assert allowed == min((pair for pair in losses if pair != best), key=losses.get)
    assert data.best(2, allowed=lambda _: False) is None


def test_the_mixture_of_independent_errors_is_better_than_any_part():
    data = pool(n=2000)
    alone = (data.errors**2).mean(axis=1).min()
    assert data.squares(data.best(2)).mean() < 0.8 * alone
