"""A number that an audit finds, exact, bracketed or sampled: different types, so that an estimate is never taken for a fact."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar


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
