"""Every two groups have a row where there are few of them, and are all in the record."""

import numpy as np
import pytest

from likewise import audit
from likewise.fairness import RowDistance
from likewise.report.comparison import comparison

PEOPLE = RowDistance(np.array([0.0, 1.0, 3.0, 7.0, 8.0, 12.0, 13.0, 20.0]))
SCORES = np.array([0.0, 2.0, 3.0, 3.0, 7.0, 8.0, 5.0, 1.0])


def report(groups):
    return audit(PEOPLE, outputs=SCORES, groups=groups, nearest_share=0.5)


def rows_by_title(groups):
    return {
        group.title: group.rows for group in comparison(report(groups)) if group.title.startswith("Every two")
    }


def test_every_two_groups_have_a_row():
    groups = ["f", "f", "m", "m", "f", "m", "f", "m"]
    mean, similar = rows_by_title(groups).values()
    assert [row.label for row in mean] == [row.label for row in similar] == ["f and f", "f and m", "m and m"]
    ratios = [
        abs(SCORES[i] - SCORES[j]) / abs(PEOPLE.rows[i, 0] - PEOPLE.rows[j, 0])
        for i in range(8)
        for j in range(i + 1, 8)
        if groups[i] == groups[j] == "m"
    ]
    assert float(mean[2].values[0]) == pytest.approx(np.mean(ratios), rel=1e-3)
    assert "f and m" in str(report(groups))
    assert "kinds of pairs" not in str(report(groups))


def test_of_many_groups_the_table_has_none_and_the_record_all():
    groups = list("aabcdefg")
    assert rows_by_title(groups) == {}
    assert "every two groups: 28 kinds of pairs; all of them are in report.json" in " ".join(
        str(report(groups)).split()
    )
    record = report(groups).arms["outputs"].fairness.to_dict()["groups"]["by_groups"]
    assert len(record) == 7 * 8 // 2
