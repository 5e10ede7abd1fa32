"""Answers that cannot be used are named."""

import numpy as np
import pytest

from likewise.errors import DistanceError, ObservationError, ShapeError
from likewise.fairness.learned.answers import Answers

IDS = np.array(["ann", "bea", "cy"], dtype=object)
GOOD = [("ann", "bea", True), ("bea", "cy", False)] * 15


def test_answers_by_position():
    answers = Answers.of(IDS, GOOD, None, np.arange(30) % 4)
    assert answers.individuals[:2].tolist() == [[0, 1], [1, 2]]
    assert answers.similar[:2].tolist() == [True, False]
    assert answers.in_words() == "30 answers of 4 judges (similar or not)"
    triplets = Answers.of(IDS, None, [("cy", "ann", "bea")] * 20, None)
    assert triplets.individuals[0].tolist() == [2, 0, 1]
    assert triplets.similar is None


@pytest.mark.parametrize(
    ("pairs", "triplets", "judges", "error", "message"),
    [
        (None, None, None, DistanceError, "no answers"),
        (GOOD, GOOD, None, DistanceError, "pairs and triplets"),
        (GOOD[:19], None, None, DistanceError, "19 answers"),
        ([("ann", "bea")] * 20, None, None, ShapeError, "lengths"),
        ([*GOOD, ("ann", "bea", "maybe")], None, None, DistanceError, "'maybe'"),
        ([("ann", "bea", True)] * 20, None, None, DistanceError, "20 pairs that are all similar"),
        ([("ann", "bea", False)] * 20, None, None, DistanceError, "all not similar"),
        ([*GOOD, ("ann", "ann", True)], None, None, DistanceError, "one individual twice, such as 'ann'"),
        (None, [("ann", "bea", "ann")] * 20, None, DistanceError, "twice"),
        ([*GOOD, ("ann", "dan", True)], None, None, ObservationError, "dan"),
        (GOOD, None, ["j"], ShapeError, "judges of shape"),
    ],
)
def test_what_cannot_be_used_is_named(pairs, triplets, judges, error, message):
    with pytest.raises(error, match=message):
        Answers.of(IDS, pairs, triplets, judges)
