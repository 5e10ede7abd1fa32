"""Confidence intervals for means, rates, quantiles and maxima over pairs, each with its assumption and its source."""

from likewise.fairness.intervals.betting import betting
from likewise.fairness.intervals.interval import Interval
from likewise.fairness.intervals.maxima import draws_needed, share_beyond_maximum
from likewise.fairness.intervals.means import empirical_bernstein, hoeffding, student
from likewise.fairness.intervals.quantiles import quantile_interval
from likewise.fairness.intervals.rates import clopper_pearson
from likewise.fairness.intervals.u_statistics import (
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
