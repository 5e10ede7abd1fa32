"""What a sample says of a maximum: not how large it is, but how few can exceed what was seen."""

from __future__ import annotations

from math import ceil, log, log1p

from likewise.errors import InputError
from likewise.fairness.intervals.arguments import tail_errors
from likewise.fairness.intervals.interval import Interval
from likewise.fairness.intervals.rates import clopper_pearson


def share_beyond_maximum(n_draws: int, confidence: float = 0.95) -> Interval:
    """Bound the share of all values that exceed the largest one drawn.

    Parameters
    ----------
    n_draws : int
        Independent draws.
    confidence : float, default 0.95

    Returns
    -------
    Interval
        From 0 to ``1 - (1 - confidence)^(1 / n_draws)``.

    Raises
    ------
    InputError
        No draw, or a confidence outside (0, 1).

    Notes
    -----
    Let more than a share e exceed the value t. All n draws stay at or below t with probability less than ``(1 - e)^n``. It is
    the Clopper-Pearson limit of an event that was never seen.

    References
    ----------
    Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical Statistics 12, 1941.

    Examples
    --------
    >>> round(share_beyond_maximum(299).high, 5)
    0.00997
    """
    limit = clopper_pearson(0, n_draws, confidence, "upper")
    return Interval(0.0, limit.high, confidence, "Wilks tolerance limit")


def draws_needed(share: float, confidence: float = 0.95) -> int:
    """Return how many draws are needed so that at most `share` of all values exceed the largest one drawn.

    Parameters
    ----------
    share : float
        In (0, 1).
    confidence : float, default 0.95

    Returns
    -------
    int
        As many draws without a violation also show that at most `share` of all pairs violate.

    Raises
    ------
    InputError
        A share or confidence outside (0, 1).

    Examples
    --------
    >>> draws_needed(0.01), draws_needed(0.001)
    (299, 2995)
    """
    _, error = tail_errors(confidence, "upper")
    if not 0 < share < 1:
        raise InputError(f"share={share!r}", "a share inside (0, 1)")
    return max(1, ceil(log(error) / log1p(-share)))
