"""A planted metric is found again from a few hundred noisy answers, and the intervals hold it as often as they say."""

import numpy as np
import polars as pl
import pytest

import likewise
from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness import LearnedDistance, RowDistance, judge_learned, learn_distance, violating_share
from likewise.fairness.learned.distance import embedded
from likewise.fairness.learned.features import ComparedFeatures

WEIGHTS = np.array([1.0, 0.5, 0.25, 0.0])
ROOT = np.array([[1.0, 0.3], [0.0, 0.6], [0.2, 0.0], [0.0, 0.0]])
SHARPNESS = 4.0
"""How sure judges are: at d = 2 they answer wrongly in two of a hundred cases."""


class Planted:
    """People, a metric, and answers that follow it."""

    def __init__(self, seed, metric="l1", kind="pairs", n_answers=300):
        self.rng = np.random.default_rng(seed)
        self.people = self.rng.normal(size=(120, 4))
        self.metric = metric
        left, right = np.triu_indices(120, 1)
        self.unit = self.planted(left, right).mean() if kind == "triplets" else 1.0
        self.true = self.planted(left, right) / self.unit
        asked = self.rng.integers(0, 120, (2 * n_answers, 3))
        asked = asked[
            (asked[:, 0] != asked[:, 1]) & (asked[:, 0] != asked[:, 2]) & (asked[:, 1] != asked[:, 2])
        ]
        self.answers = {kind: getattr(self, kind)(asked[:n_answers])}

    def planted(self, left, right):
        apart = (self.people[left] - self.people[right]) / self.people.std(axis=0)
        if self.metric == "l1":
            return np.abs(apart) @ WEIGHTS
        return np.sqrt(((apart @ ROOT) ** 2).sum(axis=1))

    def power(self, left, right):
        return self.planted(left, right) ** (1 if self.metric == "l1" else 2)

    def yes(self, excess):
        return self.rng.random(len(excess)) < 1 / (1 + np.exp(SHARPNESS * excess))

    def pairs(self, asked):
        similar = self.yes(self.power(asked[:, 0], asked[:, 1]) - 1)
        return [(i, k, bool(yes)) for (i, k, _), yes in zip(asked.tolist(), similar, strict=True)]

    def triplets(self, asked):
        second = self.yes(self.power(asked[:, 0], asked[:, 1]) - self.power(asked[:, 0], asked[:, 2]))
        return [
            (i, j, k) if yes else (i, k, j) for (i, j, k), yes in zip(asked.tolist(), second, strict=True)
        ]

    def learn(self, **options):
        return learn_distance(self.people, metric=self.metric, **self.answers, **options)


KINDS = [(metric, kind) for metric in ("l1", "mahalanobis") for kind in ("pairs", "triplets")]


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "kind"), KINDS)
def test_a_planted_metric_is_found(metric, kind):
    """Whatever the seed: 300 answers correlate at 0.97 or more with the truth, and give distances within 30% in the mean."""
    planted = Planted(np.random.default_rng().integers(2**32), metric, kind)
    learned = planted.learn(n_draws=20)
    found = learned.between(*np.triu_indices(120, 1))
    assert np.corrcoef(found, planted.true)[0, 1] > 0.97
    assert abs(found / planted.true.mean() - planted.true / planted.true.mean()).mean() < 0.3
    assert learned.agreement > learned.by_chance


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "kind"), KINDS)
def test_intervals_of_the_violating_share_are_calibrated(metric, kind):
    """Of 60 intervals at 90% fewer than 41 hold the truth with a probability of one in 30,000, if they are as good as they say."""
    left, right = np.triu_indices(120, 1)
    covered = 0
    for seed in range(60):
        planted = Planted(seed, metric, kind)
        output = RowDistance(planted.people @ [1.0, 1.0, 0.0, 0.5])
        truth = (output.between(left, right) > planted.true).mean()
        share = violating_share(output, planted.learn(n_draws=100, random_state=seed), 1.0, confidence=0.9)
        covered += share.low <= truth <= share.high
    assert covered >= 41


def spread_of_scale(learned):
    low, high = np.quantile(learned.draws.sum(axis=1), [0.25, 0.75])
    return high - low


def test_judges_are_drawn_where_they_are_many():
    """Half the judges are strict and half are not: answers of one judge go together, which leaves more open than as many answers of one voice."""
    planted = Planted(1)
    left, right = planted.rng.integers(0, 120, (2, 320)) % 119
    right = np.where(left == right, 119, right)
    judges = np.arange(320) % 16
    similar = planted.planted(left, right) < np.where(judges < 8, 0.6, 1.8)
    pairs = list(zip(left.tolist(), right.tolist(), similar.tolist(), strict=True))
    alone = learn_distance(planted.people, pairs=pairs, random_state=0)
    by_judge = learn_distance(planted.people, pairs=pairs, judges=judges, random_state=0)
    np.testing.assert_array_equal(alone.weights, by_judge.weights)
    assert spread_of_scale(by_judge) > 1.3 * spread_of_scale(alone)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["l1", "mahalanobis"])
def test_d_is_what_its_weights_say(metric):
    """Against the definition, pair by pair."""
    planted = Planted(2, metric)
    learned = planted.learn(n_draws=20)
    scaled = planted.people / planted.people.std(axis=0)
    for i, k in [(0, 1), (5, 9), (100, 3)]:
        apart = scaled[i] - scaled[k]
        expected = (
            sum(learned.weights * abs(apart)) if metric == "l1" else np.sqrt(apart @ learned.weights @ apart)
        )
        assert learned.between([i], [k])[0] == pytest.approx(expected)
        assert learned.block(i, i + 1, k, k + 1)[0, 0] == pytest.approx(expected)
        drawn = learned.draws[3]
        expected = sum(drawn * abs(apart)) if metric == "l1" else np.sqrt(max(apart @ drawn @ apart, 0))
        assert learned.drawn(3, np.array([i]), np.array([k]))[0] == pytest.approx(max(expected, 0))


def test_categories_are_embedded_by_halves():
    """By hand: a category that counts 3 sets apart by 3, whatever the two values."""
    compared = ComparedFeatures.read(pl.DataFrame({"job": ["cook", "nurse", "clerk"]}))
    rows = embedded(compared, np.array([3.0]))
    assert [abs(rows[i] - rows[k]).sum() for i, k in [(0, 1), (0, 2), (1, 2)]] == [3.0, 3.0, 3.0]


def test_the_violating_share_and_its_verdict_by_hand():
    planted = Planted(3)
    learned = planted.learn(n_draws=20)
    output = RowDistance(planted.people[:, 3])
    left, right = np.triu_indices(120, 1)
    share = violating_share(output, learned, 2.0)
    apart = output.between(left, right)
    assert share.value == pytest.approx((apart > 2 * learned.between(left, right)).mean())
    drawn = [(apart > 2 * learned.drawn(draw, left, right)).mean() for draw in range(20)]
    assert (share.low, share.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.02)
    assert judge_learned(share, learned, 2.0).status == "violated"
    assert judge_learned(share, learned, 2.0, tolerance=share.high).status == "holds"
    assert judge_learned(share, learned, 2.0, tolerance=(share.low + share.high) / 2).status == "inconclusive"


def test_an_audit_carries_what_is_open_into_the_verdict():
    planted = Planted(4)
    learned = planted.learn(n_draws=40)
    report = likewise.audit(learned, outputs=planted.people[:, 3], lipschitz=1.0, tolerance=0.05)
    verdict = report.arms["outputs"].verdict
    assert verdict.status == "violated"
    assert verdict.confidence == 0.95
    assert "by what 300 answers (similar or not) leave open of d" in verdict.reason
    assert "learned from 300 answers" in report.reference.description


def test_constant_outputs_hold():
    learned = Planted(5).learn(n_draws=20)
    share = violating_share(RowDistance(np.r_[0.0, 1e-9, np.zeros(118)]), learned, 1.0)
    assert judge_learned(share, learned, 1.0, tolerance=0.01).status == "holds"


def test_the_same_seed_gives_the_same_and_names_are_used():
    planted = Planted(6)
    names = [f"person {i}" for i in range(120)]
    pairs = [(names[i], names[k], yes) for i, k, yes in planted.answers["pairs"]]
    named = learn_distance(planted.people, pairs=pairs, row_ids=names)
    assert isinstance(named, LearnedDistance)
    assert list(named.row_ids) == names
    np.testing.assert_array_equal(named.draws, planted.learn().draws)
    assert named.to_frame().columns == ["feature", "weight", "low", "high"]
    assert "held-out answers" in named.in_words()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "l2"}, DistanceError, "unknown metric 'l2'"),
        ({"penalty": 0}, DistanceError, "penalty=0"),
        ({"n_draws": 3}, InputError, "n_draws=3"),
        ({"row_ids": ["a"]}, ShapeError, "row_ids"),
    ],
)
def test_options_that_cannot_be_used_are_named(options, error, message):
    planted = Planted(7)
    with pytest.raises(error, match=message):
        learn_distance(planted.people, **{**planted.answers, **options})


def test_answers_the_wrong_way_round_are_noticed():
    planted = Planted(8)
    pairs = [(i, k, not yes) for i, k, yes in planted.answers["pairs"]]
    with pytest.raises(DistanceError, match=r"no distance can be learned.*exchanged"):
        learn_distance(planted.people, pairs=pairs)


def test_categories_are_no_numbers():
    frame = pl.DataFrame({"job": ["cook", "nurse"] * 30})
    pairs = [(i, (i + 1 + k) % 60, k == 1) for i in range(30) for k in (0, 1)]
    with pytest.raises(DistanceError, match="categories for a Mahalanobis distance"):
        learn_distance(frame, pairs=pairs, metric="mahalanobis")
    assert learn_distance(frame, pairs=pairs).between([0], [2])[0] == 0
