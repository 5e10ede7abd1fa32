"""The gap of similar pairs as a report reads it: its interval, and whether a change made it smaller."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose, isfinite, isnan
from typing import TYPE_CHECKING

from likewise.fairness import SampledValue
from likewise.report.numbers import brief

if TYPE_CHECKING:
    from likewise.fairness import FairnessMetrics
    from likewise.report.records import Arm


@dataclass(frozen=True)
class Gap:
    """Mean D of the similar pairs over mean D of all pairs, with its interval if there is one."""

    # 0: the similar are treated alike; 1: similarity makes no difference. NaN where all outputs are equal.
    value: float
    low: float  # ends of the interval; NaN without one
    high: float

    @classmethod
    def of(cls, fairness: FairnessMetrics) -> Gap:
        """Take the gap of one set of outputs; of drawn pairs its interval is over pairs, else over individuals."""
        similar = fairness.similar
        gap, interval = similar.relative_gap, similar.relative_gap_interval
        ends = interval or (gap if isinstance(gap, SampledValue) else None)
        return cls(
            gap.value,
            *((ends.low, ends.high) if ends and isfinite(ends.low + ends.high) else (float("nan"),) * 2),
        )

    @classmethod
    def of_arm(cls, arm: Arm) -> Gap:
        """Take the gap on the truth, where it was measured; else that of d."""
        if arm.on_truth is None:
            return cls.of(arm.fairness)
        gap = arm.on_truth.relative_gap
        return cls(gap.value, gap.low, gap.high)

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not isnan(self.low)

    def to_dict(self) -> dict[str, float | None]:
        """Return plain values; None for ends that there are not."""
        low, high = (self.low, self.high) if self.has_interval else (None, None)
        return {"value": self.value, "low": low, "high": high}

    def __str__(self) -> str:
        return interval_text(self) if self.has_interval else brief(self.value)


def compared(before: Gap, after: Gap) -> int:
    """Return -1 where similar individuals are treated more alike after a change, 1 where less, 0 where it cannot be told.

    Only intervals that lie apart tell.

    >>> compared(Gap(0.9, 0.88, 0.92), Gap(0.7, 0.68, 0.72)), compared(Gap(0.9, 0.8, 1.0), Gap(0.89, 0.8, 1.0))
    (-1, 0)
    """
    if after.high < before.low:
        return -1
    return 1 if after.low > before.high else 0


_ROUNDING = 1e-9
"""Of a gap, or of any metric: a change that is smaller comes from rounding, as where all outputs are shifted or scaled alike."""


def changed(gap_change: SampledValue) -> int:
    """Return the same by the interval of the change over the same pairs, which is narrower than what two intervals that lie apart ask for.

    Examples
    --------
    >>> changed(SampledValue(-0.01, -0.02, -0.005, 0.95, "individuals like these", "jackknife", 90))
    -1
    """
    if is_rounding(gap_change):
        return 0
    return -1 if gap_change.high < 0 else int(gap_change.low > 0)


def is_rounding(gap_change: SampledValue) -> bool:
    """Return whether a gap is the same before and after, to within rounding."""
    return max(abs(gap_change.low), abs(gap_change.high)) < _ROUNDING


def are_same(before: FairnessMetrics, after: FairnessMetrics) -> bool:
    """Return whether all metrics are the same to within rounding, as where both outputs are the same, or all are shifted alike."""
    old, new = ({name: value.value for name, value in one.metrics().items()} for one in (before, after))
    return all(
        isclose(old[name], new[name], rel_tol=_ROUNDING) or (isnan(old[name]) and isnan(new[name]))
        for name in old
    )


def interval_text(value: Gap | SampledValue) -> str:
    """Write a number with its interval, for sentences.

    Examples
    --------
    >>> interval_text(Gap(0.32204, 0.2646, 0.3795))
    '0.322 [0.265, 0.38]'
    """
    return f"{brief(value.value)} [{brief(value.low)}, {brief(value.high)}]"
