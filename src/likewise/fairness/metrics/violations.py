"""How often, and by how much, pairs break a Lipschitz condition with a given constant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from likewise.checks import checked_non_negative, checked_positive
from likewise.fairness.metrics.metric_value import AnyMetricValue, ExactValue, MetricValue

SHARES = (0.01, 0.05, 0.1)
"""Shares alpha of pairs for which the slack gamma is reported."""


@dataclass(frozen=True)
class Violations:
    """Pairs with ``D > L d + gamma``: individual fairness with constant L and slack gamma, broken.

    Parameters
    ----------
    lipschitz : float
        L.
    slack : float
        gamma; 0 is the condition of Dwork et al. (2012).
    n_violating : int
        How many pairs break it.
    rate : MetricValue
        Their share: the smallest alpha for which the outputs are (alpha, gamma)-approximately metric-fair.
    mean_excess : MetricValue
        Mean over *all* pairs of ``max(0, D - L d - gamma)``.
    max_excess : MetricValue
        Its maximum.
    needed_slack : mapping of float to MetricValue or BracketedValue
        At alpha: the smallest gamma >= 0 such that at most the share alpha of the pairs has ``D > L d + gamma``.

    References
    ----------
    Dwork, Hardt, Pitassi, Reingold, Zemel, "Fairness through awareness", ITCS 2012. Rothblum, Yona, "Probably approximately
    metric-fair learning", ICML 2018, Definition 1.1 (there L = 1).
    """

    lipschitz: float
    slack: float
    n_violating: int
    rate: MetricValue
    mean_excess: MetricValue
    max_excess: MetricValue
    needed_slack: Mapping[float, AnyMetricValue]


def violations_of(
    condition: tuple[float, float],
    n_pairs: int,
    n_violating: int,
    total: float,
    largest: float,
    needed_slack: Mapping[float, AnyMetricValue],
) -> Violations:
    """Make metrics of what was counted under a `condition` (L, gamma): `total` and `largest` are sum and maximum of ``max(0, D - L d - gamma)``."""
    rate, mean, maximum = (
        ExactValue(value, n_pairs) for value in (n_violating / n_pairs, total / n_pairs, largest)
    )
    return Violations(*condition, n_violating, rate, mean, maximum, needed_slack)


def check_lipschitz(lipschitz: Any, slack: Any) -> None:
    """Raise InputError unless L > 0 and gamma >= 0, both finite."""
    checked_positive("lipschitz", lipschitz)
    checked_non_negative("slack", slack)
