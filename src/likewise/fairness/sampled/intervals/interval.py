"""What an interval is: two ends, how sure they are, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.checks import checked_confidence
from likewise.errors import InputError


@dataclass(frozen=True)
class Interval:
    """A confidence interval: both ends included; one that was not asked for is the least or largest possible value."""

    low: float
    high: float
    confidence: float  # least probability, over the draws, that the interval holds the true value
    method: str  # how it was made; "asymptotic" where the confidence is only approached as the sample grows

    def __str__(self) -> str:
        return f"[{self.low:.4g}, {self.high:.4g}]"

    def covers(self, value: float) -> bool:
        """Whether the interval holds a value."""
        return self.low <= value <= self.high


Side = Literal["both", "lower", "upper"]
"""Which ends are asked for. ``"both"`` gives each end half of the error probability, the others all of it."""


def tail_errors(confidence: float, side: Side = "both") -> tuple[float, float]:
    """Return the error probabilities of the low and of the high end; 0 for an end that is not asked for.

    InputError for a confidence outside (0, 1) or an unknown side.

    >>> tail_errors(0.5), tail_errors(0.75, "upper")
    ((0.25, 0.25), (0.0, 0.25))
    """
    error = 1 - checked_confidence(confidence)
    errors = {"both": (error / 2, error / 2), "lower": (error, 0.0), "upper": (0.0, error)}
    if side not in errors:
        raise InputError(f"side={side!r}", "'both', 'lower' or 'upper'")
    return errors[side]


def check_count(name: str, count: int, least: int = 1) -> None:
    """Raise InputError if there are fewer than `least`."""
    if count < least:
        raise InputError(f"{name}={count!r}", f"at least {least}")


def check_share(q: float) -> None:
    """Raise InputError if q is outside [0, 1]."""
    if not 0 <= q <= 1:
        raise InputError(f"q={q!r}", "a share in [0, 1]")


def check_bound(bound: float) -> None:
    """Raise InputError if an upper bound is not a finite number above 0."""
    if not 0 < bound < inf:
        raise InputError(f"bound={bound!r}", "a finite number > 0 that no value exceeds")


def checked_values(values: ArrayLike, least: int = 1) -> NDArray[np.float64]:
    """Return values as a float64 vector of at least `least` entries, none of them NaN."""
    draws = np.asarray(values, dtype=np.float64)
    if draws.ndim != 1:
        raise InputError(f"values of shape {draws.shape}", "a vector")
    check_count("number of values", draws.size, least)
    if np.isnan(draws).any():
        raise InputError(f"{np.count_nonzero(np.isnan(draws))} values are NaN", "numbers")
    return draws


def bounded_values(values: ArrayLike, bound: float, least: int = 1) -> NDArray[np.float64]:
    """Return values as a float64 vector of at least `least` entries, all in [0, bound]."""
    check_bound(bound)
    draws = checked_values(values, least)
    if draws.min() < 0 or draws.max() > bound:
        given = f"values from {draws.min():.4g} to {draws.max():.4g}"
        raise InputError(given, f"values in [0, {bound:.4g}]", "state a bound that holds for every value")
    return draws
