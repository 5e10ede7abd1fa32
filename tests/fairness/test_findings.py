"""The sentences of a report, for every direction in which figures can go."""

from types import SimpleNamespace

import pytest

from likewise.fairness import ExactFigure
from likewise.fairness.findings import findings


def arm(scale_free, mean_ratio=0.1, spread=1.0, rmse=0.9):
    similar = SimpleNamespace(
        share=0.1, scale_free_ratio=ExactFigure(scale_free, 3), output_gap=ExactFigure(2 * scale_free, 3)
    )
    fairness = SimpleNamespace(
        similar=similar,
        mean_ratio=ExactFigure(mean_ratio, 3),
        output_spread=ExactFigure(spread, 3),
        mean_output_distance=ExactFigure(spread, 3),
        n_pairs=3,
        n_individuals=3,
    )
    return SimpleNamespace(fairness=fairness, error=None if rmse is None else SimpleNamespace(rmse=rmse))


@pytest.mark.parametrize(
    ("after", "words"), [(0.25, "more alike"), (0.5, "as they were"), (0.75, "less alike")]
)
def test_first_sentence_names_the_direction(after, words):
    first, *_ = findings({"without": arm(0.5), "with": arm(after)})
    assert words in first


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


def test_infinite_figures_are_said_not_divided():
    first, _, third, _ = findings({"without": arm(0.5, float("inf")), "with": arm(0.4, 0.1)})
    assert "from inf to 0.1," in third
    assert "more alike" in first


def test_equal_people_with_different_outputs_allow_no_verdict():
    first, *_ = findings({"without": arm(float("inf")), "with": arm(float("inf"))})
    assert first.startswith("Whether similar individuals are treated more alike is not shown")


def test_one_arm_is_described():
    (sentence, scope) = findings({"with": arm(0.4, rmse=None)})
    assert "0.4 times" in sentence
    assert "other individuals" in scope


def test_the_change_is_named():
    first, *_ = findings({"old": arm(0.5), "new": arm(0.25)})
    assert first.startswith("From 'old' to 'new' similar individuals are treated more alike")
    first, *_ = findings({"old": arm(0.5), "new": arm(0.25)}, change="With pre-processing")
    assert first.startswith("With pre-processing similar individuals are treated more alike")
