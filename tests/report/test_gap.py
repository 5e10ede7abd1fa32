"""The gap as a report reads it, and what tells whether it changed."""

from __future__ import annotations

import pytest

from likewise.fairness import RowDistance, SampledValue, measure_fairness
from likewise.report.gap import Gap, changed, compared, interval_text


def test_intervals_that_touch_do_not_tell():
    assert compared(Gap(0.9, 0.8, 1.0), Gap(0.7, 0.6, 0.8)) == 0
    assert compared(Gap(0.9, 0.8, 1.0), Gap(1.2, 1.1, 1.3)) == 1


@pytest.mark.parametrize(
    ("low", "high", "told"), [(-0.2, -0.01, -1), (-0.2, 0.0, 0), (0.0, 0.2, 0), (0.01, 0.2, 1)]
)
def test_a_change_is_told_by_an_interval_without_0(low, high, told):
    assert changed(SampledValue(0.0, low, high, 0.95, "individuals like these", "jackknife", 9)) == told


def test_a_gap_is_written_with_its_interval_where_it_has_one():
    assert str(Gap(0.5, 0.25, 1.0)) == "0.5 [0.25, 1]" == interval_text(Gap(0.5, 0.25, 1.0))
    four = Gap.of(
        measure_fairness([0.0, 2.0, 3.0, 9.0], RowDistance([0.0, 1.0, 3.0, 7.0]), nearest_share=1 / 3)
    )
    assert not four.has_interval  # four individuals are too few
    assert str(four) == "0.321"  # 1.5 over 28 / 6
