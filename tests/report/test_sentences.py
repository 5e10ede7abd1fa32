"""The sentences of a report, for every direction in which numbers can go."""

from types import SimpleNamespace

import numpy as np
import pytest

from likewise.fairness import ExactValue, RowDistance, SampledValue
from likewise.fairness.sampled.intervals import Interval
from likewise.pipeline import audit
from likewise.report.gap import Gap
from likewise.report.sentences import BY_ACTIVITY, findings


def arm(
    gap, low=None, high=None, mean_ratio=0.1, spread=1.0, rmse=0.9, infinite=0, scale_free=2.0, undefined=0
):
    similar = SimpleNamespace(
        share=0.1,
        n_pairs=3,
        relative_gap=ExactValue(gap, 3),
        relative_gap_interval=None if low is None else Interval(low, high, 0.95, "jackknife"),
        scale_free_ratio=ExactValue(scale_free, 3),
        no_difference=3.09,
    )
    fairness = SimpleNamespace(
        similar=similar,
        mean_ratio=ExactValue(mean_ratio, 3),
        finite_mean_ratio=ExactValue(0.3, 2),
        output_spread=ExactValue(spread, 3),
        n_pairs=3,
        n_infinite=infinite,
        n_zero_distance=infinite,
        n_undefined=undefined,
        n_individuals=60,
    )
    fairness.metrics = lambda: {
        "similar_relative_gap": similar.relative_gap,
        "mean_ratio": fairness.mean_ratio,
        "output_spread": fairness.output_spread,
    }
    error = None if rmse is None else SimpleNamespace(rmse=rmse, unit="the units of the data")
    return SimpleNamespace(fairness=fairness, error=error, on_truth=None, test_error=None, accuracy=None)


def answer(before, after, **options):
    return findings({"without": before, "with": after}, change="with pre-processing", **options)[0]


def test_where_no_similar_pair_differs_the_answer_is_the_best_there_is():
    """Six clusters, everybody in a cluster gets the same: this was answered "cannot be told"."""
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(6), 20)
    people = RowDistance(100.0 * cluster[:, None] + rng.normal(size=(120, 2)))
    told = audit(people, outputs=(cluster > 2).astype(float)).findings[0]
    assert told.startswith("Similar individuals are treated alike: the 10% most similar pairs of these 120")
    assert "do not differ in their outputs at all" in told
    assert "cannot be told" not in told
    assert "no similar pair of these data differs after" in answer(arm(0.3, 0.2, 0.4), arm(0.0))


def test_the_same_outputs_before_and_after_are_no_difference():
    rng = np.random.default_rng(0)
    people, scores = RowDistance(rng.normal(size=(60, 2))), rng.normal(size=60)
    told = audit(people, outputs={"old": scores, "new": scores}).findings[0]
    assert told.startswith("No difference: with 'new' instead of 'old' outputs are as far apart as they were")
    assert "overlap" not in told
    shifted = audit(people, outputs={"old": scores, "new": scores + 5}).findings[0]
    assert shifted.startswith("No difference: ")
    scaled = audit(people, outputs={"old": scores, "new": scores / 3}).findings[0]
    assert scaled.startswith("Cannot be told")
    assert "the gap is the same to within rounding" in scaled
    other = audit(people, outputs={"old": scores, "new": scores + 1e-6 * rng.normal(size=60)}).findings[0]
    assert not other.startswith("No difference")


@pytest.mark.parametrize(
    ("after", "begins"),
    [
        (
            (0.5, 0.45, 0.55),
            "Better: with pre-processing the 10% most similar pairs of these 60 individuals are treated more alike",
        ),
        ((0.87, 0.82, 0.92), "Cannot be told: whether"),
        ((0.909, 0.86, 0.95), "Cannot be told: whether"),
        (
            (1.2, 1.1, 1.3),
            "Worse: with pre-processing the 10% most similar pairs of these 60 individuals are treated less alike",
        ),
    ],
)
def test_the_answer_tells_only_what_intervals_tell(after, begins):
    assert answer(arm(0.9, 0.85, 0.95), arm(*after)).startswith(begins)


@pytest.mark.parametrize(("before", "after"), [(1.0, 1.01), (0.99, 1.01), (1.01, 0.99), (3.05, 3.12)])
def test_neither_a_percent_nor_a_crossing_of_the_level_of_no_difference_is_called_anything(before, after):
    """Both gaps with intervals of a tenth to each side, as of a few hundred individuals."""
    first = answer(arm(before, before - 0.1, before + 0.1), arm(after, after - 0.1, after + 0.1))
    assert first.startswith("Cannot be told")
    assert "their intervals overlap" in first


def test_without_intervals_nothing_is_claimed():
    assert answer(arm(0.9), arm(0.1)).startswith("Cannot be told: whether")
    assert "they have no intervals" in answer(arm(0.9), arm(0.1))


def test_the_answer_names_the_cost():
    before, after = arm(0.9, 0.85, 0.95, rmse=1.0), (0.5, 0.45, 0.55)
    assert answer(before, arm(*after, rmse=1.1)).endswith("; the error rises (RMSE 1 before, 1.1 after).")
    assert answer(before, arm(*after, rmse=0.5)).endswith("; the error falls (RMSE 1 before, 0.5 after).")
    assert answer(before, arm(*after, rmse=1.001)).endswith(
        "the error stays the same (RMSE 1 before, 1 after)."
    )
    assert answer(before, arm(*after, rmse=None)).endswith("what it costs in accuracy was not measured.")


def test_outputs_that_are_the_same_for_everybody_give_no_answer():
    assert "the same for everybody" in answer(arm(0.9, 0.8, 1.0), arm(np.nan))
    assert "the same for everybody" in findings({"outputs": arm(np.nan)})[0]


def test_the_caveat_of_activity_stands_in_the_first_finding_that_rests_on_it():
    assert answer(arm(0.9), arm(0.5), by_activity=True).endswith(BY_ACTIVITY)
    assert findings({"outputs": arm(0.9)}, by_activity=True)[0].endswith(BY_ACTIVITY)
    assert BY_ACTIVITY not in answer(arm(0.9), arm(0.5))


def test_the_first_sentence_itself_says_that_d_measures_activity():
    for told in (
        answer(arm(0.9), arm(0.5), by_activity=True),
        findings({"outputs": arm(0.9)}, by_activity=True)[0],
    ):
        assert "of these 60 individuals (by a d that mostly measures activity)" in told
    assert "activity" not in answer(arm(0.9), arm(0.5))


def test_pairs_without_a_distance_are_counted_where_the_similar_ones_are_named():
    told = findings({"outputs": arm(0.9, undefined=1200)})
    assert "of these 60 individuals (1,200 pairs whose d is undefined left out) are 0.9 times" in told[0]
    assert told[-1].startswith("All 3 pairs whose d is defined (1,200 others) of the 60 individuals")
    assert "(1 pair whose d is undefined left out)" in answer(arm(0.9), arm(0.5, undefined=1))
    assert "undefined" not in " ".join(findings({"outputs": arm(0.9)}))


def test_the_scale_free_ratio_stands_beside_the_level_that_it_has_without_similarity():
    sentences = findings({"without": arm(0.9), "with": arm(0.8)})
    told = next(text for text in sentences if "scale-free" in text)
    assert told == (
        "The scale-free ratio of similar pairs is 2 before and 2 after; if similarity made no difference it would be 3.09."
    )


def test_outputs_that_do_not_depend_on_the_individuals_are_not_called_fair_or_unfair():
    """Scores drawn without a look at the people: the gap is 1 to within its interval, the scale-free ratio near its own level."""
    rng = np.random.default_rng(0)
    report = audit(RowDistance(rng.standard_normal((400, 3))), outputs=rng.standard_normal(400))
    gap = Gap.of(report.arms["outputs"].fairness)
    assert gap.low <= 1 <= gap.high
    similar = report.arms["outputs"].fairness.similar
    assert similar.no_difference > 2
    assert similar.scale_free_ratio.value == pytest.approx(similar.no_difference, rel=0.1)
    assert report.findings[0].startswith(
        "Whether similar individuals are treated more alike than others cannot be told"
    )


@pytest.mark.slow
def test_an_interval_close_around_no_difference_says_so_and_a_wide_one_does_not():
    """Forty scores for each of 2,000 people, drawn without a look at them."""
    rng = np.random.default_rng(0)
    report = audit(RowDistance(rng.standard_normal((2000, 3))), outputs=rng.standard_normal((2000, 40)))
    gap = Gap.of(report.arms["outputs"].fairness)
    assert 0.95 < gap.low <= 1 <= gap.high < 1.05
    assert report.findings[0].startswith(
        "Similar individuals are treated hardly more alike than others, by less than 5% if at all"
    )


@pytest.mark.parametrize(
    ("gap", "begins"),
    [
        ((0.988, 0.98, 0.996), "Similar individuals are treated hardly more alike than others, by 1.2%: "),
        ((0.96, 0.93, 0.99), "Similar individuals are treated hardly more alike than others, by 4%: "),
        (
            (0.999, 0.97, 1.01),
            "Similar individuals are treated hardly more alike than others, by less than 5% if at all: ",
        ),
        ((0.94, 0.92, 0.96), "Similar individuals are treated more alike than others: "),
        ((1.02, 1.01, 1.03), "Similar individuals are treated no more alike than others: "),
        (
            (0.96, 0.9, 1.02),
            "Whether similar individuals are treated more alike than others cannot be told: ",
        ),
    ],
)
def test_a_few_percent_are_not_called_more_alike(gap, begins):
    """A recommender that is blind to similarity was praised for 1%."""
    assert findings({"outputs": arm(*gap)})[0].startswith(begins)


def test_outputs_proportional_to_the_distance_are_more_alike_for_the_similar():
    people = np.random.default_rng(0).standard_normal((200, 1))
    report = audit(RowDistance(people), outputs=2 * people)
    assert report.findings[0].startswith("Similar individuals are treated more alike than others: ")
    assert report.arms["outputs"].fairness.similar.scale_free_ratio.value == pytest.approx(1)


def test_percent_change_is_right():
    sentences = findings({"without": arm(0.5, rmse=1.0), "with": arm(0.25, rmse=1.1)})
    assert any("rises: RMSE goes from 1 to 1.1 (+10%)" in text for text in sentences)


def test_no_change_of_the_error_is_not_called_a_change():
    sentences = findings({"without": arm(0.5, rmse=1.059), "with": arm(0.25, rmse=1.057)})
    assert any("stays the same: RMSE is 1.06 before and 1.06 after" in text for text in sentences)


def test_a_mean_ratio_that_falls_with_the_spread_is_no_gain():
    shrunk = findings({"without": arm(0.5, mean_ratio=0.2, spread=2.0), "with": arm(0.5, mean_ratio=0.1)})
    kept = findings({"without": arm(0.5, mean_ratio=0.2), "with": arm(0.5, mean_ratio=0.1)})
    assert any("also falls when all outputs shrink" in text for text in shrunk)
    assert not any("also falls when all outputs shrink" in text for text in kept)


def test_two_references_give_no_answer():
    sentences = findings({"without": arm(0.5, 0.4, 0.6), "with": arm(0.1, 0.05, 0.2)}, valid=False)
    assert sentences[0].startswith("Cannot be told")
    assert "not a valid before/after comparison" in sentences[0]
    assert not any("more alike" in text for text in sentences)


def test_pairs_at_distance_0_are_counted_beside_finite_numbers():
    inf = float("inf")
    before = arm(0.5, mean_ratio=inf, spread=2.0, infinite=1, scale_free=inf)
    sentences = findings({"without": before, "with": arm(0.4, mean_ratio=0.1)})
    assert sentences[2].startswith(
        "Pairs at distance 0 that get different outputs: 1 before and 0 after, of 3. Their ratio"
    )
    assert any("from 0.3 to 0.1 (-67%)" in text for text in sentences)
    assert [text for text in sentences if "inf" in text] == [sentences[2]]
    (one,) = [text for text in findings({"outputs": before}) if "distance 0" in text]
    assert "outputs: 1, of 3." in one


def test_advice_stands_where_the_error_rises_only():
    better, worse = arm(0.4, rmse=0.8), arm(0.4, rmse=0.9)
    rises = findings({"a": better, "b": worse}, advice="Try another.")
    falls = findings({"a": worse, "b": better}, advice="Try another.")
    assert any(text.endswith("of the data. Try another.") for text in rises)
    assert not any("Try another." in text for text in falls)


def test_one_arm_is_described():
    first, *_, scope = findings({"with": arm(0.4, 0.35, 0.45, rmse=None)})
    assert "are 0.4 [0.35, 0.45] times as far apart as those of all pairs" in first
    assert "other individuals" in scope


def test_the_change_is_named():
    first, *_ = findings({"old": arm(0.5, 0.4, 0.55), "new": arm(0.25, 0.2, 0.3)})
    assert first.startswith("Better: with 'new' instead of 'old' the 10% most similar pairs")


def test_a_change_with_an_interval_of_its_own_tells_where_overlapping_intervals_do_not():
    before, after = arm(0.9, 0.8, 1.0), arm(0.85, 0.75, 0.95)

    def change(low, high):
        return SampledValue(-0.05, low, high, 0.95, "individuals like these", "jackknife", 9)

    assert answer(before, after).startswith("Cannot be told")
    assert answer(before, after, gap_change=change(-0.08, -0.02)).startswith("Better: ")
    assert answer(after, before, gap_change=change(0.02, 0.08)).startswith("Worse: ")
    told = findings({"without": before, "with": after}, gap_change=change(-0.2, 0.1))
    assert "0.85 after; the change may be none: -0.05 [-0.2, 0.1])" in told[0]
    assert "It is 0.9 [0.8, 1] before and 0.85 [0.75, 0.95] after, a change of -0.05 [-0.2, 0.1] (" in told[1]


def test_a_test_from_elsewhere_is_told_beside_the_hidden_share():
    before, after = arm(0.9, rmse=1.0), arm(0.5, rmse=0.5)
    before.test_error, after.test_error = (
        SimpleNamespace(n=1200, rmse=rmse, unit="the units of the data") for rmse in (2.0, 1.5)
    )
    told = findings({"without": before, "with": after})
    assert (
        "On 1,200 test observations from elsewhere: RMSE goes from 2 to 1.5 (-25%), in the units of the data."
        in told
    )
    assert any(
        sentence.startswith("On 1,200 test observations from elsewhere: RMSE 2,")
        for sentence in findings({"x": before})
    )


def six_clusters():
    """Twenty people in each of six places, and what everybody in a place gets."""
    place = np.repeat(np.arange(6.0), 20)
    people = 10 * place + 0.1 * np.random.default_rng(0).normal(size=120)
    return RowDistance(people), (place > 2).astype(float)


def test_a_gap_that_stays_zero_is_told_plainly():
    people, outputs = six_clusters()
    told = audit(people, outputs={"old": outputs, "new": 2 * outputs}).findings[0]
    assert told.startswith("Similar individuals are treated alike before and after: the 10%")


def test_two_sets_of_outputs_from_elsewhere_are_not_called_pre_processed():
    """They may be two vendors."""
    people, outputs = six_clusters()
    noise = np.random.default_rng(1).normal(size=(2, 120))
    report = audit(people, outputs={"without": outputs + noise[0], "with": outputs + noise[1]})
    assert [one.label for one in report.arms.values()] == ["before the change", "after the change"]
    assert [one.heading for one in report.arms.values()] == ["before", "after"]
    assert "after the change" in report.findings[0]
    assert "pre-processing" not in str(report)
