"""An output that is a feature too is refused, whatever d is made of; another column of that name is not."""

import numpy as np
import polars as pl
import pytest

import likewise
from likewise.errors import InputError
from likewise.fairness import GowerDistance, RowDistance, feature_distance

RNG = np.random.default_rng(0)
TEST, SCORE = RNG.normal(size=30), RNG.normal(size=30)
FRAME = pl.DataFrame({"test": TEST, "score": SCORE})
OUTPUTS = pl.DataFrame({"score": SCORE})

MADE = {
    "observations": lambda frame: likewise.ObservedMatrix(frame, value_range=(-5, 5)),
    "gower": GowerDistance,
    "rows": RowDistance,
    "scaled rows": lambda frame: feature_distance(frame, scaling="standard"),
}


@pytest.mark.parametrize("kind", MADE)
def test_the_same_values_under_the_same_name_are_refused(kind):
    with pytest.raises(InputError, match="output 'score' among the features"):
        likewise.audit(MADE[kind](FRAME), outputs=OUTPUTS)


@pytest.mark.parametrize("kind", MADE)
def test_another_name_or_other_values_are_not(kind):
    likewise.audit(MADE[kind](FRAME.rename({"score": "other"})), outputs=OUTPUTS)
    likewise.audit(MADE[kind](FRAME.with_columns(pl.col("score").reverse())), outputs=OUTPUTS)
    likewise.audit(MADE[kind](FRAME), outputs=SCORE)


def test_categories_that_are_one_for_one_with_outputs():
    words = ["yes" if score > 0 else "no" for score in SCORE]
    decided = pl.DataFrame({"score": (SCORE > 0).astype(float)})
    with pytest.raises(InputError, match="output 'score' among the features"):
        likewise.audit(FRAME.with_columns(score=pl.Series(words)), outputs=decided, reference="gower")
    words[0] = {"yes": "no", "no": "yes"}[words[0]]
    likewise.audit(FRAME.with_columns(score=pl.Series(words)), outputs=decided, reference="gower")


def test_one_of_several_outputs_is_enough():
    outputs = OUTPUTS.with_columns(rank=np.arange(30.0))
    with pytest.raises(InputError, match="output 'score' among the features"):
        likewise.audit(GowerDistance(FRAME), outputs=outputs)


def test_where_something_is_missing_it_is_not_the_output():
    frame = FRAME.with_columns(score=pl.Series([None, *SCORE[1:]]))
    likewise.audit(frame, outputs=OUTPUTS, reference="gower")
