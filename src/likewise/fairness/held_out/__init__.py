"""Fairness on the truth A, measured: observations that no algorithm saw say how much two individuals differ (Definition 3.2)."""

from likewise.fairness.held_out.measure import (
    HeldOutChange,
    HeldOutFairness,
    HeldOutMetrics,
    MeasuredSplit,
    measure_held_out,
)
from likewise.fairness.held_out.pairs import (
    FEWER_SHARED,
    LEAST_SHARED,
    ReferencePairs,
    reference_pairs,
    usual_shared,
)

__all__ = [
    "FEWER_SHARED",
    "LEAST_SHARED",
    "HeldOutChange",
    "HeldOutFairness",
    "HeldOutMetrics",
    "MeasuredSplit",
    "ReferencePairs",
    "measure_held_out",
    "reference_pairs",
    "usual_shared",
]
