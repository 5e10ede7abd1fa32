"""An interval for a rate, from independent draws that each show an event or not."""

from __future__ import annotations

from likewise.errors import InputError
from likewise.fairness.intervals.arguments import Side, check_count, tail_errors
from likewise.fairness.intervals.interval import Interval


def clopper_pearson(n_events: int, n_draws: int, confidence: float = 0.95, side: Side = "both") -> Interval:
    """Bound the probability of an event by inverting exact binomial tests.

    Parameters
    ----------
    n_events, n_draws : int
        How many of the draws showed the event. The draws must be independent; pairs that share people are not.
    confidence : float, default 0.95
    side : {"both", "lower", "upper"}, default "both"

    Returns
    -------
    Interval
        Inside [0, 1].

    Raises
    ------
    InputError
        No draw, more events than draws, or a confidence outside (0, 1).

    Notes
    -----
    With `a` the error of one end, X binomial: ``low`` solves ``P(X >= n_events) = a``, ``high`` solves ``P(X <= n_events) = a``.

    References
    ----------
    Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934.

    Examples
    --------
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
    low = float(beta.ppf(low_error, n_events, n_others + 1)) if low_error and n_events else 0.0
    high = float(beta.isf(high_error, n_events + 1, n_others)) if high_error and n_others else 1.0
    return Interval(low, high, confidence, "Clopper-Pearson")
