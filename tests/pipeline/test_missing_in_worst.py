"""Applicants with blank cells: that somebody in the worst pairs has a blank is said, and only then."""

import numpy as np
import pytest

from likewise import ObservedMatrix, audit
from likewise.estimation import SVT
from likewise.fairness import RowDistance

NAN = np.nan
# The blank counts as 3, so that the first two are 0.1 apart.
APPLICANTS = np.array([[3.1, 5.0], [NAN, 5.0], [5.0, 1.0], [1.0, 1.0], [1.5, 4.0]])
SCORES = np.array([0.0, 9.0, 3.0, 4.0, 2.0])
IDS = ["a", "b", "c", "d", "e"]


def told(report):
    return [finding for finding in report.findings if "worst pairs" in finding]


def applicants(values=APPLICANTS, **options):
    return ObservedMatrix(values, value_range=(1, 5), **options)


@pytest.mark.parametrize("ids", [None, IDS, [7, 5, 9, 11, 2]])
@pytest.mark.parametrize("pairs", ["all", 8])
def test_the_worst_pairs_with_a_missing_value_are_counted(ids, pairs):
    report = audit(applicants(row_ids=ids), outputs=SCORES, pairs=pairs, random_state=0)
    worst = report.arms["outputs"].fairness.worst
    blank = 1 if ids is None else ids[1]
    count = sum(blank in (pair.left, pair.right) for pair in worst)
    assert 0 < count < len(worst)
    assert blank in (worst[0].left, worst[0].right)
    (sentence,) = told(report)
    assert sentence.startswith(
        f"In {count} of the {len(worst)} worst pairs someone has a missing value, which counts as the middle of"
    )


def test_nothing_is_said_of_a_full_table():
    assert not told(audit(applicants(np.nan_to_num(APPLICANTS, nan=3.0)), outputs=SCORES))


def test_nothing_is_said_where_nobody_in_the_worst_pairs_has_a_missing_value():
    """Only the first of 30 people on a line has another output; the one with the blank is farther away than all others."""
    people = np.column_stack([np.linspace(1, 2, 30), np.ones(30)])
    people[29] = [NAN, 5.0]
    assert not told(audit(applicants(people), outputs=np.arange(30) == 0))
    assert told(audit(applicants(people), outputs=np.arange(30) == 29))


def test_nothing_is_said_where_missing_is_the_rule():
    ratings = np.full((5, 6), NAN)
    ratings[:, :2] = APPLICANTS
    assert not told(audit(applicants(ratings), outputs=SCORES))


def test_the_low_end_is_named_where_missing_counts_as_it():
    report = audit(applicants(), outputs=SCORES, estimator=SVT(threshold=0.5, working_range="unit"))
    assert "counts as the low end of its value range" in told(report)[0]


def test_nothing_is_said_of_values_that_the_audit_hid():
    assert not told(
        audit(applicants(), model="identity", hold_out=0.2, estimator=SVT(threshold=0.5), random_state=0)
    )
    assert told(audit(applicants(), model="identity", hold_out=0, estimator=SVT(threshold=0.5)))


def test_nothing_is_said_where_d_fills_nothing():
    assert not told(audit(applicants(), outputs=SCORES, reference="co-observed"))
    given = RowDistance(np.nan_to_num(APPLICANTS, nan=3.0))
    assert not told(audit(applicants(), outputs=SCORES, reference=given))
    assert not told(audit(given, outputs=SCORES))
