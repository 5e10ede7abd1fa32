"""Whatever is missing, as part of an audit: the verdict of `judge_completions`, in every form of the report, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import likewise
from likewise import ObservedMatrix, audit
from likewise.errors import InputError, LikewiseError
from likewise.fairness import CoObservedDistance, GowerDistance, RowDistance, judge_completions
from likewise.observations import clustered

nan = np.nan
MARKS = np.array([[60.0, 70.0], [62.0, nan], [20.0, 30.0], [60.0, 70.0]])
SCORES = [0.9, 0.2, 0.4, 0.1]


def observed():
    return ObservedMatrix(
        MARKS, value_range=(0, 100), row_ids=["ann", "bob", "eve", "joe"], column_ids=["maths", "music"]
    )


def audited(outputs=SCORES, data=None, **options):
    options = {"missing_entries": "any", "lipschitz": 1.0, "progress": False, **options}
    return likewise.audit(observed() if data is None else data, outputs=outputs, **options)


def test_by_hand():
    """On [-1, 1] Ann is (.2, .4), Bob (.24, ?), Eve (-.6, -.4), Joe is Ann. L = 1.

    Ann and Joe: D = .8 at d = 0, violated for certain. Ann and Bob: D = .7, d from .04 to 1.44, depends. Bob and Joe: D = .1, d from .04, depends.
    Ann and Eve, Eve and Joe, Bob and Eve: D = .5, .3, .2 at d >= .84, fair for certain.
    """
    found = audited().arms["outputs"].completions
    assert (found.n_fair, found.n_violated, found.n_depends, found.n_pairs) == (3, 1, 2, 6)
    assert found.status == "violated"
    first = found.undecided[0]
    assert {first.left, first.right} == {"ann", "bob"}
    assert first.features == (("music", pytest.approx(1.4)),)


def test_it_is_told_in_every_form():
    report = audited()
    sentence = "Whatever the missing values are, in the value range: D <= 1 d holds for 3 of 6 pairs and fails for 1."
    for text in (" ".join(str(report).split()), " ".join(report.details().split())):
        assert sentence in text
    assert "ann and bob: D = 0.7" in " ".join(report.details().split())
    page = report._repr_html_()
    assert "ann and bob: D = 0.7" in page
    document = json.loads(report.to_json())
    assert document["arms"]["outputs"]["completions"]["n_depends"] == 2
    assert document["settings"]["missing_entries"] == "any"
    assert audited(missing_entries=None).arms["outputs"].completions is None


def test_each_arm_of_a_comparison_is_judged():
    report = audited({"old": SCORES, "new": [0.3, 0.3, 0.3, 0.31]})
    assert report.arms["old"].completions.n_violated == 1
    assert report.arms["new"].completions.n_violated == 1
    assert report.arms["new"].completions.n_fair == 5


@pytest.mark.slow
def test_ratings_are_mostly_undetermined_and_it_is_said_and_intervals_decide_more():
    data = clustered(60, 30, 3, observed_fraction=0.4, random_state=0).observed
    # Scores of clusters: people of one get the same.
    scores = clustered(60, 30, 3, observed_fraction=0.4, random_state=0).truth[:, :2] * 6
    anything, narrowed = (
        audited(scores, data, missing_entries=kind, estimator="als").arms["outputs"].completions
        for kind in ("any", "intervals")
    )
    assert anything.n_depends > narrowed.n_depends
    assert "mostly undetermined" in str(anything)
    assert narrowed.confidence == 0.95
    assert "confidence 0.95" in str(narrowed)


def test_the_working_range_of_the_model_is_that_of_d():
    data = clustered(20, 6, 2, observed_fraction=0.9, random_state=1).observed
    options = {
        "estimator": likewise.SVT(threshold=0.1, working_range="unit"),
        "model": "identity",
        "hold_out": 0,
    }
    report = audited(None, data, lipschitz=0.8, **options)
    matrix = report.arms["without"].completions
    zero_filled = data.scaled("unit").zero_filled().toarray()
    expected = judge_completions(zero_filled, data, lipschitz=0.8, working_range="unit")
    assert (matrix.n_fair, matrix.n_violated) == (expected.n_fair, expected.n_violated)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lipschitz": None}, "lipschitz"),
        ({"missing_entries": "all"}, "missing_entries"),
        ({"reference": "co-observed"}, "reference=co-observed"),
        ({"reference": RowDistance(np.eye(4))}, "reference"),
        ({"reference": CoObservedDistance(observed())}, "reference"),
        ({"data": RowDistance(np.eye(4))}, "missing_entries"),
        ({"lipschitz": 0.0}, "lipschitz"),
        ({"outputs": SCORES[:3]}, "3 individuals"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises((InputError, LikewiseError), match=message):
        audited(**options)


def test_gower_with_a_missing_cell_is_bounded_where_pairs_are_drawn():
    """Gower is at most 1, also of what is missing: its mean has an upper end, and so has the gap."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": [None, *rng.random(59)], "b": rng.choice(list("xyz"), 60)})
    report = audit(GowerDistance(table), outputs=rng.random(60), pairs=700, random_state=0, nearest_share=0.5)
    fairness = report.main_arm.fairness
    d = fairness.mean_reference_distance
    assert 0 < d.low <= d.value <= d.high <= 1
    gap = fairness.similar.relative_gap
    assert 0 <= gap.low <= gap.value <= gap.high < np.inf


_FEATURES = "abcdef"


def applicants():
    """Return twelve people of six features; of the last two hardly one is known, in which they are equal."""
    table = np.arange(12.0)[:, None] * np.arange(1.0, 7.0)
    table[10:, 1:], table[10:, 0] = np.nan, 3.0
    table[0, 2] = np.nan
    return pl.DataFrame(table, schema=list(_FEATURES)).fill_nan(None)


OUTPUTS = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 5.0]


def test_gower_by_name_asks_for_half_of_what_two_share_on_average():
    report = likewise.audit(applicants(), outputs=OUTPUTS, reference="gower")
    fairness = report.arms["outputs"].fairness
    # 45 pairs of ten people share 6 features, 9 of them 5; 21 pairs with the last two share 1: (36 * 6 + 9 * 5 + 21) / 66 = 4.3, half is 2.1.
    assert (fairness.n_undefined, fairness.n_pairs) == (21, 45)
    assert "share fewer than 3" in report.reference.description
    assert not {pair.left for pair in fairness.worst} & {10, 11}
    assert not {pair.right for pair in fairness.worst} & {10, 11}


def test_how_many_features_two_must_share_is_asked_for():
    by_name = likewise.audit(applicants(), outputs=OUTPUTS, reference="gower", least_shared=1)
    worst = by_name.arms["outputs"].fairness.worst[0]
    assert (worst.left, worst.right, worst.reference_distance) == (
        3,
        11,
        0,
    )  # both have 3 in `a`, and no other
    assert by_name.settings["least_shared"] == 1
    given = likewise.audit(GowerDistance(applicants()), outputs=OUTPUTS, least_shared=6)
    assert given.arms["outputs"].fairness.n_undefined == 21 + 9
    beside = likewise.audit(
        likewise.ObservedMatrix(applicants().drop_nulls(), value_range=(0, 99)),
        outputs=OUTPUTS[1:10],
        reference=GowerDistance(applicants()[1:10]),
        least_shared=2,
    )
    assert beside.arms["outputs"].fairness.n_undefined == 0


def test_a_number_that_nothing_is_counted_by_is_refused():
    with pytest.raises(InputError, match="least_shared"):
        likewise.audit(applicants(), outputs=OUTPUTS, reference="observed", least_shared=2)
    with pytest.raises(InputError, match=r"least_shared=7.*from 1 to 6"):
        likewise.audit(applicants(), outputs=OUTPUTS, reference="gower", least_shared=7)


@pytest.mark.filterwarnings("ignore::likewise.errors.ConstantOutputWarning")
def test_what_is_hidden_from_the_algorithm_is_not_missing():
    """Without a blank every pair is decided, though a tenth of the marks is hidden to measure the error."""
    data = clustered(20, 6, 2, observed_fraction=1.0, random_state=1).observed
    report = audited(None, data, lipschitz=0.8, hold_out=0.1, estimator="biases", model="identity")
    for arm in report.arms.values():
        assert arm.completions.n_depends == 0
        assert arm.completions.n_pairs == 190
