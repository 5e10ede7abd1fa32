"""What an interval is: two ends, how sure they are, and how they were made; and those of rates and quantiles of independent draws."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.checks import checked_confidence
from likewise.errors import InputError
from likewise.fairness.metrics.metric_value import order_statistics


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


def clopper_pearson(n_events: int, n_draws: int, confidence: float = 0.95, side: Side = "both") -> Interval:
    """Bound the probability of an event by inverting exact binomial tests; inside [0, 1].

    The draws must be independent; pairs that share people are not. With a the error of one end, X binomial: ``low`` solves
    ``P(X >= n_events) = a``, ``high`` solves ``P(X <= n_events) = a``. InputError for no draw, more events than draws, or a confidence outside
    (0, 1).

    Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934.

    >>> interval = clopper_pearson(0, 299, side="upper")
    >>> round(interval.high, 5)
    0.00997
    """
    from scipy.stats import beta

    check_count("n_draws", n_draws)
    if not 0 <= n_events <= n_draws:
        raise InputError(f"n_events={n_events!r} of n_draws={n_draws!r}", "between none and all of the draws")
    low_error, high_error = tail_errors(confidence, side)
    n_others = n_draws - n_events
    # P(X >= k) is, as a function of the probability, the distribution of a beta(k, n - k + 1): its quantile
    # is where it equals the error.
    low = float(beta.ppf(low_error, n_events, n_others + 1)) if low_error and n_events else 0.0
    high = float(beta.isf(high_error, n_events + 1, n_others)) if high_error and n_others else 1.0
    return Interval(low, high, confidence, "Clopper-Pearson")


def share_beyond_maximum(n_draws: int, confidence: float = 0.95) -> Interval:
    """Bound the share of all values that exceed the largest one of independent draws: from 0 to ``1 - (1 - confidence)^(1 / n_draws)``.

    Let more than a share e exceed the value t. All n draws stay at or below t with probability less than ``(1 - e)^n``. It is
    the Clopper-Pearson limit of an event that was never seen.

    Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical Statistics 12, 1941.

    >>> round(share_beyond_maximum(299).high, 5)
    0.00997
    """
    limit = clopper_pearson(0, n_draws, confidence, "upper")
    return Interval(0.0, limit.high, confidence, "Wilks tolerance limit")


def quantile_interval(
    values: ArrayLike, q: float, confidence: float = 0.95, side: Side = "both", *, least: float = 0.0
) -> Interval:
    """Bound the smallest value that at least the share q of the distribution does not exceed; both ends are drawn values.

    Draws are independent; infinite ones are allowed, NaN is not. No value falls below `least`, the low end where the draws are too few to say
    more; the high end is then infinite. InputError for no draw, NaN, a q outside [0, 1] or a confidence outside (0, 1).

    With X_(1) <= ... <= X_(n) and B binomial (n, q): ``P(quantile < X_(r)) <= P(B <= r - 1)`` and ``P(quantile > X_(s)) <= P(B >= s)``, also
    where values tie. The largest r and the smallest s are taken that keep each within its error.

    David, Nagaraja, "Order Statistics", 3rd edition, 2003, Section 7.1.

    >>> print(quantile_interval(range(1, 101), 0.5))
    [40, 61]
    """
    draws = checked_values(values)
    low_rank, high_rank = binomial_ranks(draws.size, q, confidence, side)
    return ranked_interval(draws, low_rank, high_rank, least, confidence, "order statistics")


def binomial_ranks(n_draws: int, q: float, confidence: float, side: Side) -> tuple[int, int]:
    """Return the ranks r and s, from 1, of the ends; 0 and ``n_draws + 1`` where there is none."""
    from scipy.stats import binom

    low_error, high_error = tail_errors(confidence, side)
    check_share(q)
    # ppf is the smallest k with P(B <= k) >= error, isf the smallest with P(B > k) <= error.
    low_rank = int(binom.ppf(low_error, n_draws, q)) if low_error else 0
    high_rank = int(binom.isf(high_error, n_draws, q)) + 1 if high_error else n_draws + 1
    return max(low_rank, 0), high_rank


def ranked_interval(
    values: NDArray[np.float64], low_rank: int, high_rank: int, least: float, confidence: float, method: str
) -> Interval:
    """Return the interval between the values of two ranks, counted from 1; ranks beyond the values leave an end open."""
    ranks = [rank - 1 for rank in (low_rank, high_rank) if 1 <= rank <= values.size]
    found = order_statistics(values, ranks)
    low = found[0] if low_rank >= 1 else least
    high = found[-1] if high_rank <= values.size else inf
    return Interval(low, high, confidence, method)
