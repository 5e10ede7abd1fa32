"""Accuracy against a target: by hand, against scikit-learn, and what cannot be held against one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from likewise.errors import InputError, ModelError, ShapeError
from likewise.fairness import target_accuracy
from likewise.fairness.metrics.target_accuracy import LEAST_PROBABILITY, common_measure, label_of

nan = np.nan
SEEDS = st.integers(0, 2**32 - 1)


def values(found):
    return {name: one.value for name, one in found.values.items()}


def test_scores_of_two_classes_by_hand():
    """Of 2 x 3 pairs, one of each class: 0.7 is above 0.1, 0.3 and tied with 0.7; 0.3 is above 0.1, tied with 0.3, below 0.7: (2.5 + 1.5) / 6."""
    found = target_accuracy([0.7, 0.3, 0.7, 0.3, 0.1], [1, 1, 0, 0, 0])
    assert found.measure == "AUC"
    losses = [np.log(0.7), np.log(0.3), np.log(0.3), np.log(0.7), np.log(0.9)]
    expected = {"AUC": 4 / 6, "log loss": -np.mean(losses), "accuracy": 3 / 5}
    assert values(found) == pytest.approx(expected)
    assert all(one.interval is None for one in found.values.values())  # of five people


def test_probabilities_of_three_classes_by_hand():
    rows = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]
    found = target_accuracy(rows, ["a", "c", "b", "c"])
    assert found.measure == "log loss"
    expected = {"log loss": -np.mean(np.log([0.5, 0.7, 0.3, 0.6])), "accuracy": 3 / 4}
    assert values(found) == pytest.approx(expected)


def test_numbers_by_hand():
    found = target_accuracy([1.0, 3.0, 5.0, 4.0], [2.0, 3.0, 2.0, 8.0])
    assert values(found) == pytest.approx({"RMSE": np.sqrt((1 + 0 + 9 + 16) / 4), "MAE": 8 / 4})


@given(SEEDS)
def test_it_is_what_scikit_learn_measures(seed):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.r_[np.ones(6, int), rng.integers(0, 2, 20), np.zeros(6, int)])
    scores = rng.integers(0, 6, truth.size) / 5
    scores[0] = 0.35
    expected = {
        "AUC": metrics.roc_auc_score(truth, scores),
        "log loss": metrics.log_loss(truth, scores),
        "accuracy": metrics.accuracy_score(truth, scores > 0.5),
    }
    assert values(target_accuracy(scores, truth)) == pytest.approx(expected)
    both = target_accuracy(np.column_stack([1 - scores, scores]), truth)
    assert values(both) == pytest.approx(expected)


@given(SEEDS)
def test_ties_count_half_and_a_rising_map_of_scores_changes_no_auc(seed):
    rng = np.random.default_rng(seed)
    truth, scores = np.r_[0, 1, rng.integers(0, 2, 15)], rng.integers(-4, 5, 17).astype(float)
    pairs = [(s > t) + (s == t) / 2 for s in scores[truth == 1] for t in scores[truth == 0]]
    area = target_accuracy(scores, truth).values["AUC"].value
    assert area == pytest.approx(np.mean(pairs))
    assert target_accuracy(scores**3, truth).values["AUC"].value == pytest.approx(area)
    assert target_accuracy(-scores, truth).values["AUC"].value == pytest.approx(1 - area)


def test_delongs_interval_is_that_of_its_formula():
    rng = np.random.default_rng(0)
    truth = np.r_[np.ones(15), np.zeros(25)]
    scores = truth + rng.normal(size=40).round(1)
    found = target_accuracy(scores, truth).values["AUC"]
    kernel = np.array([[(s > t) + (s == t) / 2 for t in scores[15:]] for s in scores[:15]])
    variance = kernel.mean(axis=1).var(ddof=1) / 15 + kernel.mean(axis=0).var(ddof=1) / 25
    margin = 1.959963984540054 * np.sqrt(variance)
    expected = (kernel.mean() - margin, min(kernel.mean() + margin, 1))
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["AUC", "log loss", "accuracy"])
def test_intervals_hold_the_value_of_many_people_about_as_often_as_they_say(name):
    """Of 300 samples of 80 people, 95% intervals hold the value of 200,000 in at least 90%: 4 standard errors below."""
    rng = np.random.default_rng(5)

    def draw(n):
        truth = rng.integers(0, 2, n)
        return 1 / (1 + np.exp(-(truth - 0.5) - rng.normal(size=n))), truth

    value = target_accuracy(*draw(200_000)).values[name].value
    held = [target_accuracy(*draw(80)).values[name].interval.covers(value) for _ in range(300)]
    assert np.mean(held) >= 0.9


def test_what_all_agree_on_has_no_interval_but_a_share_has():
    truth = np.repeat([0, 1], 20)
    found = target_accuracy(truth.astype(float), truth)
    assert found.measure == "accuracy"  # decisions
    assert found.values["AUC"].interval is None
    assert found.first.interval.low == pytest.approx(40 / (40 + 1.959963984540054**2))
    assert found.first.interval.high == 1.0


def test_probabilities_of_0_are_clipped_and_counted():
    found = target_accuracy([0.0, 0.5, 0.5, 0.0], [1, 1, 0, 0])
    assert found.values["log loss"].value == pytest.approx(-(np.log(LEAST_PROBABILITY) + 2 * np.log(0.5)) / 4)
    assert "1 probabilities of what is true, below 2.2e-16, count as that" in found.notes[1]


def test_unknown_targets_are_counted_and_left_out():
    some = target_accuracy([0.9, 0.4, 0.4, 0.1, 0.3, 0.3], [1, 1, 0, 0, nan, None])
    assert (some.n, some.n_unknown) == (4, 2)
    assert values(some) == values(target_accuracy([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0]))


def test_which_word_counts_as_1_and_which_column_is_which_class_is_said():
    import polars as pl

    frame = pl.DataFrame({"yes": [0.9, 0.2], "no": [0.1, 0.8]})
    found = target_accuracy(frame, ["yes", "no"])
    assert found.values["accuracy"].value == found.values["AUC"].value == 1
    assert found.notes == (
        "outputs are probabilities, by their names; target: 'yes' counts as 1, 'no' counts as 0",
    )
    assert "7 counts as 1, 3 counts as 0" in target_accuracy([0.1, 5.0], [3, 7]).notes[0]


@pytest.mark.parametrize(
    ("outputs", "target", "error", "words"),
    [
        ([0.1, 0.2, 0.3], [0, 1], ShapeError, "a target of shape (2,)"),
        ([0.1, 0.2], [1, 1], InputError, "the same for all of them, 1.0"),
        ([0.1, 0.2], [nan, nan], InputError, "known of nobody"),
        ([0.1, 0.2], [0, np.inf], InputError, "1 infinite values"),
        ([0.1, nan], [0, 1], ModelError, "not finite"),
        ([0.1, 0.2, 0.3], ["a", "b", "c"], InputError, "a target of 3 classes"),
        ([[0.5, 0.5], [0.2, 0.9]], [0, 1], InputError, "no probabilities"),
        ([[0.5, 0.3, 0.2], [0.2, 0.8, 0.0]], [0, 1], InputError, "3 outputs for each individual beside"),
    ],
)
def test_what_cannot_be_held_against_a_target_is_refused(outputs, target, error, words):
    with pytest.raises(error) as raised:
        target_accuracy(outputs, target)
    assert words in str(raised.value)


def test_two_kinds_of_outputs_are_compared_by_what_both_have():
    truth = [0, 0, 1, 1]
    decisions, scores = target_accuracy([0, 1, 1, 1], truth), target_accuracy([-1, 2, 3, 4], truth)
    assert common_measure([decisions, decisions]) == "accuracy"
    assert common_measure([decisions, scores]) == "AUC"
    assert common_measure([scores, target_accuracy([0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4])]) is None
    assert (label_of("AUC"), label_of("log loss")) == ("accuracy (AUC)", "error (log loss)")
