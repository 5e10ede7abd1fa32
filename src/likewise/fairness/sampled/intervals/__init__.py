"""Confidence intervals for means, rates, quantiles and maxima over pairs, each with its assumption and its source."""

from likewise.fairness.sampled.intervals.interval import (
    Interval,
    clopper_pearson,
    quantile_interval,
    share_beyond_maximum,
)
from likewise.fairness.sampled.intervals.means import betting, empirical_bernstein, hoeffding, student

__all__ = [
    "Interval",
    "betting",
    "clopper_pearson",
    "empirical_bernstein",
    "hoeffding",
    "quantile_interval",
    "share_beyond_maximum",
    "student",
]
