"""The sentences of a report, for every direction in which figures can go."""

from types import SimpleNamespace

import numpy as np
import pytest

from likewise.fairness import ExactValue, RowDistance, measure_fairness
from likewise.fairness.sentences import findings


def arm(scale_free, mean_ratio=0.1, spread=1.0, rmse=0.9, infinite=0, finite=np.nan):
    similar = SimpleNamespace(
        share=0.1,
        scale_free_ratio=ExactValue(scale_free, 3),
        output_gap=ExactValue(2 * scale_free, 3),
        finite_mean_ratio=ExactValue(finite, 2),
    )
    fairness = SimpleNamespace(
        similar=similar,
        mean_ratio=ExactValue(mean_ratio, 3),
        finite_mean_ratio=ExactValue(0.3, 2),
        output_spread=ExactValue(spread, 3),
        mean_output_distance=ExactValue(spread, 3),
        mean_reference_distance=ExactValue(4.0, 3),
        n_pairs=3,
        n_infinite=infinite,
        n_individuals=3,
    )
    return SimpleNamespace(fairness=fairness, error=None if rmse is None else SimpleNamespace(rmse=rmse))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (0.25, "treated more alike"),
        (0.47, "treated more alike"),
        (0.48, "treated about as alike as before"),
        (0.5, "treated about as alike as before"),
        (0.52, "treated about as alike as before"),
        (0.53, "treated less alike"),
        (0.75, "treated less alike"),
    ],
)
def test_first_sentence_names_the_direction(after, words):
    first, *_ = findings({"without": arm(0.5), "with": arm(after)})
    assert words in first


def test_a_change_too_small_for_a_headline_keeps_its_figures():
    first, *_ = findings({"without": arm(1.72), "with": arm(1.74)})
    assert "treated about as alike as before" in first
    assert "most similar pairs goes from 1.72 to 1.74 (+1%)" in first


def test_percent_change_is_right():
    first, second, *_ = findings({"without": arm(0.5, rmse=1.0), "with": arm(0.25, rmse=1.1)})
    assert "from 0.5 to 0.25 (-50%)" in first
    assert "distance of their outputs goes from 1 to 0.5 (-50%)" in first
    assert "rises: RMSE goes from 1 to 1.1 (+10%)" in second


def test_no_change_is_not_called_a_change():
    _, second, *_ = findings({"without": arm(0.5, rmse=1.059), "with": arm(0.25, rmse=1.057)})
    assert "stays the same: RMSE is 1.06 before and 1.06 after" in second


def test_a_mean_ratio_that_falls_with_the_spread_is_no_gain():
    sentences = findings({"without": arm(0.5, 0.2, 2.0), "with": arm(0.5, 0.1, 1.0)})
    assert any("also falls when all outputs shrink" in sentence for sentence in sentences)
    sentences = findings({"without": arm(0.5, 0.2, 1.0), "with": arm(0.5, 0.1, 1.0)})
    assert not any("also falls when all outputs shrink" in sentence for sentence in sentences)


def test_two_references_give_no_verdict():
    sentences = findings({"without": arm(0.5), "with": arm(0.1)}, valid=False)
    assert "not a valid before/after comparison" in sentences[0]
    assert not any("more alike" in sentence for sentence in sentences)


def test_one_pair_of_infinite_ratio_leaves_finite_figures():
    inf = float("inf")
    first, _, third, _ = findings(
        {"without": arm(inf, inf, 2.0, infinite=1, finite=0.5), "with": arm(0.4, 0.1)}
    )
    assert first.startswith(
        "Pairs at distance 0 whose outputs differ, so that their ratio is infinite: 1 before and 0 after, of 3; ratios"
    )
    assert "treated more alike" in first
    assert "from 1 to 0.4 (-60%)" in first  # 0.5 times 4 over 2
    assert "from 0.3 to 0.1 (-67%)" in third
    assert "inf " not in first + third


def test_one_arm_with_a_pair_of_infinite_ratio():
    inf = float("inf")
    first, _ = findings({"outputs": arm(inf, inf, 2.0, infinite=1, finite=0.5)})
    assert "ratio is infinite: 1, of 3; ratios here are those of the other pairs. Over the 10% most" in first
    assert "outputs differ 1 times as much" in first


def test_where_no_similar_pair_has_a_finite_ratio_all_pairs_are_spoken_of():
    inf = float("inf")
    first, _ = findings({"outputs": arm(inf, inf, infinite=1)})
    assert first.endswith("over all pairs the mean ratio IF is 0.3.")


def test_equal_people_with_different_outputs_allow_no_verdict():
    inf = float("inf")
    first, *_ = findings({"without": arm(inf, infinite=2), "with": arm(inf, infinite=1)})
    assert "2 before and 1 after, of 3" in first
    assert "Whether similar individuals are treated more alike is not shown" in first


def test_the_scale_free_ratio_of_finite_pairs_is_that_of_their_pairs():
    """Of 4 people two are at distance 0; among the 3 nearest pairs those of finite ratio have D/d 1/1 and 2/1."""
    people, outputs = RowDistance(np.array([0.0, 0.0, 1.0, 4.0])), np.array([0.0, 1.0, 2.0, 2.0])
    measured = measure_fairness(outputs, people, nearest_share=0.5)
    mean_ratio, d, output = (2 / 1 + 1 / 1) / 2, (0 + 1 + 1 + 4 + 4 + 3) / 6, (1 + 2 + 1 + 2 + 1 + 0) / 6
    (first, _) = findings({"outputs": SimpleNamespace(fairness=measured, error=None)})
    assert f"outputs differ {mean_ratio * d / output:.3g} times" in first


def test_advice_stands_where_the_error_rises_only():
    better, worse = arm(0.4, rmse=0.8), arm(0.4, rmse=0.9)
    _, rises, *_ = findings({"a": better, "b": worse}, advice="Try another.")
    _, falls, *_ = findings({"a": worse, "b": better}, advice="Try another.")
    assert rises.endswith("of the data. Try another.")
    assert falls.endswith("of the data.")


def test_one_arm_is_described():
    (sentence, scope) = findings({"with": arm(0.4, rmse=None)})
    assert "0.4 times" in sentence
    assert "other individuals" in scope


def test_the_change_is_named():
    first, *_ = findings({"old": arm(0.5), "new": arm(0.25)})
    assert first.startswith("From 'old' to 'new' similar individuals are treated more alike")
    first, *_ = findings({"old": arm(0.5), "new": arm(0.25)}, change="With pre-processing")
    assert first.startswith("With pre-processing similar individuals are treated more alike")
