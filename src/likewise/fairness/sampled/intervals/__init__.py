"""Confidence intervals for means, rates, quantiles and maxima over pairs, each with its assumption and its source."""

from likewise.fairness.sampled.intervals.betting import betting
from likewise.fairness.sampled.intervals.interval import Interval
from likewise.fairness.sampled.intervals.means import empirical_bernstein, hoeffding, student
from likewise.fairness.sampled.intervals.quantiles import (
    clopper_pearson,
    draws_needed,
    quantile_interval,
    share_beyond_maximum,
)
from likewise.fairness.sampled.intervals.u_statistics import (
    u_empirical_bernstein,
    u_hoeffding,
    u_jackknife,
    u_quantile,
)

__all__ = [
    "Interval",
    "betting",
    "clopper_pearson",
    "draws_needed",
    "empirical_bernstein",
    "hoeffding",
    "quantile_interval",
    "share_beyond_maximum",
    "student",
    "u_empirical_bernstein",
    "u_hoeffding",
    "u_jackknife",
    "u_quantile",
]
