"""Paired differences by hand, and in simulation."""

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.fairness import RowDistance, paired_differences


@pytest.fixture
def people():
    return np.random.default_rng(3).standard_normal((60, 3))


class TestPairedDifferences:
    def test_a_uniform_shrinking_is_seen_on_every_pair(self, people):
        reference = RowDistance(people)
        found = paired_differences(RowDistance(people), RowDistance(people / 2), reference, random_state=0)
        assert found.overall.share_lower.value == 1
        assert found.overall.share_higher.value == 0
        assert found.overall.median_difference.value == pytest.approx(-0.5)
        assert found.overall.mean_difference.value == pytest.approx(-0.5)

    def test_values_are_those_of_the_pairs_drawn(self):
        """Two people: one disjoint pair, (D_after - D_before) / d = (1 - 6) / 5."""
        people = RowDistance([[0.0, 0.0], [3.0, 4.0]])
        found = paired_differences(
            RowDistance([0.0, 6.0]),
            RowDistance([0.0, 1.0]),
            people,
            population="data set",
            n_pairs=1,
            random_state=0,
        )
        assert found.overall.median_difference.value == pytest.approx(-1.0)
        assert found.overall.mean_difference.low == -np.inf

    def test_equal_people_whose_outputs_part_make_the_mean_undefined_not_wrong(self):
        people = RowDistance(np.zeros((40, 2)) + np.arange(40)[:, None] // 20)
        before, after = RowDistance(np.zeros(40)), RowDistance(np.arange(40.0))
        found = paired_differences(before, after, people, random_state=0)
        assert np.isnan(found.overall.mean_difference.value)
        assert found.overall.share_higher.value == 1
        assert "mean difference    none: at least one ratio is infinite" in str(found)

    def test_a_bound_that_is_exceeded_is_refused(self, people):
        with pytest.raises(InputError, match="ratio_bound"):
            paired_differences(
                RowDistance(10 * people),
                RowDistance(people),
                RowDistance(people),
                ratio_bound=1.0,
                random_state=0,
            )

    @pytest.mark.slow
    @pytest.mark.parametrize("ratio_bound", [None, 3.0])
    def test_intervals_hold_the_truth_of_the_population(self, ratio_bound):
        """Scores a x and b |x|: the truth comes from a million independent pairs; 300 data sets of 200 people."""
        rng = np.random.default_rng(11)

        def outputs(x):
            return RowDistance(2 * x[:, 0]), RowDistance(np.abs(x).sum(axis=1))

        left, right = rng.standard_normal((2, 1_000_000, 2))
        d = np.linalg.norm(left - right, axis=1)
        before = np.abs(2 * (left - right)[:, 0])
        after = np.abs(np.abs(left).sum(axis=1) - np.abs(right).sum(axis=1))
        truth_share, truth_mean = np.mean(after < before), np.mean((after - before) / d)
        hits = np.zeros(2)
        for seed in range(300):
            people = np.random.default_rng(seed).standard_normal((200, 2))
            found = paired_differences(
                *outputs(people), RowDistance(people), ratio_bound=ratio_bound, random_state=seed
            ).overall
            for k, (figure, truth) in enumerate(
                ((found.share_lower, truth_share), (found.mean_difference, truth_mean))
            ):
                hits[k] += figure.low <= truth <= figure.high
        # 95% nominal; with 300 data sets fewer than 275 hits happen with probability below 0.5% if it holds.
        assert (hits >= 275).all()


@pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")
def test_constant_outputs_have_no_paired_difference(people):
    constant = RowDistance(np.zeros(60))
    found = paired_differences(constant, constant, RowDistance(people), random_state=0)
    assert found.overall.share_lower.value == found.overall.share_higher.value == 0
    assert found.overall.mean_difference.value == 0
