"""Explanations of a pair: by hand for each kind of distance, and shares that add up for any data."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ObservedMatrix
from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness import (
    CallableDistance,
    CoObservedDistance,
    FactorDistance,
    ObservedDistance,
    RowDistance,
    explain_pair,
    feature_distance,
)

# On [-1, 1]: ann (-1, missing, 1, 0.5), bob (-0.5, -0.5, 1, missing), cy (missing, 1, -1, -0.5).
STARS = ObservedMatrix(
    np.array([[1, np.nan, 5, 4], [2, 2, 5, np.nan], [np.nan, 5, 1, 2.0]]),
    value_range=(1, 5),
    row_ids=["ann", "bob", "cy"],
    column_ids=["Alien", "Brazil", "Casino", "Diva"],
)


def listed(contributions):
    return [(part.feature, part.left, part.right, round(part.share, 9)) for part in contributions]


def test_zero_filled_by_hand():
    found = explain_pair([0.0, 3.0, 1.0], ObservedDistance(STARS), 0, 1)
    # d = 0.5 + 0.5 + 0 + 0.5; Alien takes off 1 + 0.5 - 0.5 = 1, Casino 2.
    assert (found.left, found.right, found.ratio) == ("ann", "bob", 2)
    d = found.reference
    assert (d.distance, d.n_different, d.n_features, d.by_feature) == (1.5, 3, 4, True)
    assert [name for name, *_ in listed(d.apart)] == ["Alien", "Brazil", "Diva"]
    assert [part.share for part in d.apart] == pytest.approx([1 / 3] * 3)
    assert listed(d.together) == [("Casino", 1, 1, round(2 / 3, 9)), ("Alien", -1, -0.5, round(1 / 3, 9))]
    assert d.saved == pytest.approx(3 / 4.5)
    assert math.isnan(d.apart[1].left)
    assert found.output.apart[0].share == 1


def test_opposite_opinions_are_nothing_in_common():
    # ann and cy share Casino (1 and -1) and Diva (0.5 and -0.5): nothing is taken off.
    found = explain_pair([0.0, 3.0, 1.0], ObservedDistance(STARS), 0, 2).reference
    assert (found.saved, found.together) == (0, ())
    assert listed(found.apart)[0] == ("Casino", 1, -1, 0.4)


def test_co_observed_by_hand():
    found = explain_pair([0.0, 3.0, 1.0], CoObservedDistance(STARS), 0, 1).reference
    # Alien and Casino are shared; of Alien (-1, -0.5) deviates 0.25, so 2^0.5 / 4 is usual: less than the 0.5 there.
    assert (found.n_different, found.n_features) == (1, 2)
    assert listed(found.apart) == [("Alien", -1, -0.5, 1.0)]
    # Casino is 1, 1, -1: deviation 8^0.5 / 3, usually 4 / 3 apart, here 0.
    assert listed(found.together) == [("Casino", 1, 1, 1.0)]
    assert found.saved == pytest.approx((4 / 3) / (4 / 3 + 0.5))


def test_people_who_share_nothing():
    Z = ObservedMatrix(np.array([[1, np.nan], [np.nan, 2.0], [3, 3]]), value_range=(1, 5))
    found = explain_pair([0.0, 1.0, 2.0], CoObservedDistance(Z), 0, 1).reference
    assert (found.apart, found.together, found.n_features) == ((), (), 0)
    assert math.isnan(found.distance)


def test_factors_by_hand():
    # Outputs (1, 3, 0), (3, 7, 1), (2, 4, 1): differences of the first two (2, 4, 1).
    outputs = FactorDistance([[1.0, 0], [1, 1], [0, 1]], [[1.0, 2], [3, 4], [0, 1]])
    found = explain_pair(outputs, RowDistance(np.arange(3.0)), 0, 1, output_ids=["x", "y", "z"]).output
    assert listed(found.apart) == [
        ("y", 3, 7, round(16 / 21, 9)),
        ("x", 1, 3, round(4 / 21, 9)),
        ("z", 0, 1, round(1 / 21, 9)),
    ]


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 1.5, 2.0]))
def test_factors_are_explained_as_their_outputs(seed, order):
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((6, 3)), rng.standard_normal((8, 3))
    people = RowDistance(rng.random((6, 2)), order)
    short = explain_pair(FactorDistance(left, right), people, 1, 4, top=8).output
    long = explain_pair(RowDistance(left @ right.T), people, 1, 4, top=8).output
    for kind in ("apart", "together"):
        found, expected = getattr(short, kind), getattr(long, kind)
        assert [part.feature for part in found] == [part.feature for part in expected]
        np.testing.assert_allclose(
            [part.share for part in found], [part.share for part in expected], atol=1e-9
        )
    assert short.saved == pytest.approx(long.saved, abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 1.5, 2.0]))
def test_parts_make_up_the_distance(seed, order):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 6, (5, 7)).astype(float)
    table[rng.random(table.shape) < 0.4] = np.nan
    table[0, 0] = table[1, 0] = 2
    Z = ObservedMatrix(table, value_range=(1, 5))
    rows = RowDistance(rng.standard_normal((5, 7)), order)
    for d in (ObservedDistance(Z, order), rows):
        found = explain_pair(rng.random(5), d, 0, 1, top=7).reference
        a, b = (np.array([getattr(part, side) for part in found.apart]) for side in ("left", "right"))
        made_of = (np.abs(np.nan_to_num(a) - np.nan_to_num(b)) ** order).sum() ** (1 / order)
        assert made_of == pytest.approx(found.distance, abs=1e-12)
        for parts in (found.apart, found.together):
            if parts:
                assert sum(part.share for part in parts) == pytest.approx(1)
                assert [part.share for part in parts] == sorted((part.share for part in parts), reverse=True)
        assert 0 <= found.saved <= 1
        assert found.n_different == len(found.apart)


def test_a_distance_that_is_no_sum_over_features():
    d = CallableDistance(lambda x, y: abs(x - y), [0.0, 2.0, 5.0])
    found = explain_pair([1.0, 2.0, 4.0], d, 0, 2)
    assert (found.reference.by_feature, found.reference.apart) == (False, ())
    assert "no sum over features" in str(found)


def test_names_groups_and_how_many():
    outputs = np.arange(12.0).reshape(3, 4) ** 2
    found = explain_pair(
        outputs,
        ObservedDistance(STARS, exclude=["Alien"]),
        0,
        1,
        row_ids=["p", "q", "r"],
        groups=["old", "young", "old"],
        output_ids=list("wxyz"),
        top=2,
    )
    assert (found.left, found.right, found.left_group, found.right_group) == ("p", "q", "old", "young")
    assert [part.feature for part in found.output.apart] == ["z", "y"]
    assert {part.feature for part in found.reference.apart} == {"Brazil", "Diva"}
    text = str(found)
    assert "p and q (old and young)" in text
    assert "Brazil (missing and -0.5): 50.0%" in text
    assert "takes off" in text
    record = json.loads(json.dumps(found.to_dict()))
    assert record["reference"]["together"][0]["feature"] == "Casino"


def test_bad_input():
    people, outputs = RowDistance(np.arange(3.0)), np.arange(3.0)
    for left, right in ((0, 0), (0, 3), (-1, 1), (0.5, 1)):
        with pytest.raises(InputError, match="two different positions from 0 to 2"):
            explain_pair(outputs, people, left, right)
    with pytest.raises(InputError, match="top=-1"):
        explain_pair(outputs, people, 0, 1, top=-1)
    with pytest.raises(ShapeError, match="one for each of 1"):
        explain_pair(outputs, people, 0, 1, feature_ids=["a", "b"])
    with pytest.raises(ShapeError, match="groups"):
        explain_pair(outputs, people, 0, 1, groups=["a"])


@pytest.mark.parametrize("scaling", ["none", "standard"])
def test_the_columns_of_a_frame_keep_their_names_and_units(scaling):
    """By hand: a and b differ in income alone, 30 and 50; both are 40 years old."""
    people = pl.DataFrame({"age": [40.0, 40.0, 20.0], "income": [30.0, 50.0, 90.0], "race": [0.0, 1.0, 1.0]})
    d = feature_distance(people, "l1", exclude=["race"], scaling=scaling, row_ids=["a", "b", "c"])
    (part,) = explain_pair([0.0, 1.0, 2.0], d, 0, 1).reference.apart
    assert (part.feature, part.left, part.right, part.share) == ("income", 30.0, 50.0, 1.0)
    (taken,) = explain_pair([1.0, 2.0], d.taken(np.array([1, 0])), 0, 1).reference.apart
    assert (taken.feature, taken.left, taken.right) == ("income", 50.0, 30.0)


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_a_column_of_text_is_named_with_the_distance_that_reads_it(kind):
    people = pl.DataFrame({"age": [40.0, 20.0], "job": ["a", "b"]}).with_columns(pl.col("job").cast(kind))
    for read in (feature_distance, RowDistance):
        with pytest.raises(DistanceError, match=r"column 'job' of type .*GowerDistance\(frame\)"):
            read(people)
    assert feature_distance(people, exclude=["job"]).between([0], [1]) == 20.0
