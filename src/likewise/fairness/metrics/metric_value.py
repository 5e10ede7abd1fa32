"""A number that an audit finds, exact, bracketed or sampled: different types, so that an estimate is never taken for a fact.

With the means and order statistics of ratios that such numbers are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from likewise._typing import Floats


@dataclass(frozen=True)
class ExactValue:
    """A metric over every pair that it speaks of: no sampling, no interval.

    Parameters
    ----------
    value : float
        May be infinite (zero-distance pairs whose outputs differ) or NaN (not defined, for example no pair).
    n_pairs : int
        How many unordered pairs it was computed over.
    """

    kind: ClassVar[str] = "exact"

    value: float
    n_pairs: int

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return f"{self.value:.4g}"


@dataclass(frozen=True)
class BracketedValue:
    """A metric over every pair that it speaks of, known to lie between two numbers: no sampling, no confidence.

    Order statistics of more pairs than memory holds are known to within a bin.

    Parameters
    ----------
    value : float
        The upper end, which at least as many pairs do not exceed as the metric itself.
    low, high : float
        The metric is at least `low` and at most `high`.
    n_pairs : int
        How many unordered pairs it was computed over.
    """

    kind: ClassVar[str] = "bracketed"

    value: float
    low: float
    high: float
    n_pairs: int

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class SampledValue:
    """A metric estimated from sampled pairs, with an interval; an estimate is not a bound on every pair.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        Ends of the interval; infinite where it is one-sided.
    confidence : float
        Coverage that the interval guarantees, in (0, 1).
    population : str
        What the interval speaks of: all pairs of this data set, or the population that the individuals come from.
    method : str
        How the interval was made.
    n_pairs : int
        How many pairs were drawn.
    """

    kind: ClassVar[str] = "sampled"

    value: float
    low: float
    high: float
    confidence: float
    population: str
    method: str
    n_pairs: int

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


MetricValue = ExactValue | SampledValue
AnyMetricValue = MetricValue | BracketedValue


def values_of(record: Any, prefix: str = "") -> dict[str, AnyMetricValue]:
    """Return the metrics among the fields of a record, by name with a prefix."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {prefix + name: value for name, value in values.items() if isinstance(value, AnyMetricValue)}


def ordered_mean(total: float, n_individuals: int, left_out: int = 0) -> float:
    """Return the mean over ordered pairs, where i = j contributes 0 and counts.

    ``(1/m^2) sum_ij`` of a symmetric quantity whose sum over i < j is `total`; `left_out` unordered pairs do not count.
    """
    return 2 * total / (n_individuals**2 - 2 * left_out)


def finite_mean(ratios: Floats) -> float:
    """Return the mean of the finite ratios; NaN without one."""
    finite = np.isfinite(ratios)
    count = np.count_nonzero(finite)
    return float(np.sum(ratios, where=finite)) / count if count else float("nan")


def share_rank(share: float, n_pairs: int) -> int:
    """Return the 0-based rank of the smallest value that at least `share` of all values do not exceed."""
    # A share like 0.1 is not a binary fraction: 0.1 * 30 exceeds 3 by rounding and must still mean 3 pairs.
    needed = np.ceil(share * n_pairs * (1 - 4 * np.finfo(float).eps))
    return min(max(int(needed), 1), n_pairs) - 1


def order_statistics(values: Floats, ranks: list[int]) -> list[float]:
    """Return the values of the given 0-based ranks, without sorting all; no value is NaN, infinity is allowed.

    >>> order_statistics(np.array([3.0, 1.0, np.inf, 2.0]), [0, 2, 3])
    [1.0, 3.0, inf]
    """
    return [float(value) for value in np.partition(values, sorted(set(ranks)))[ranks]] if ranks else []
