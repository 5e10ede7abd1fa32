"""A fairness budget for estimates by regression: the prior of the rows made stronger until the proved constant is within it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from likewise.errors import EstimatorError
from likewise.estimation.base.low_rank_estimate import LowRankEstimate, left_of
from likewise.estimation.budget.budget import check_limit
from likewise.observations.table import Values

_STRONGEST = 1e70
"""Constants fall as its inverse, in the end, so that every limit that is allowed can be met."""
_ROOM = 1e-9
"""Relative: rounding is added to a certificate, and is to fit into the budget too."""


@dataclass(frozen=True, eq=False)
class StrongerPrior:
    """An estimate whose rows are fitted with a stronger prior."""

    estimate: LowRankEstimate
    limit: float  # L
    strength: float  # >= 1: the precision of the prior of every row was multiplied by it; 1 where the budget did not bind
    constant: float  # the largest slope of its rows, at most the limit
    unconstrained: float  # what it was without a budget
    distance: float  # Frobenius norm of what the budget changes in the components, on the working range

    def to_dict(self) -> dict[str, float]:
        """Return the numbers."""
        names = ("limit", "strength", "constant", "unconstrained", "distance")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        if self.strength == 1:
            return f"the constant of the regressions, {self.constant:.4g}, is within the limit {self.limit:.4g} without a budget"
        return (
            f"the prior of every row is {self.strength:.4g} times as strong, which brings the constant of the regressions from {self.unconstrained:.4g} to "
            f"{self.constant:.4g}"
        )


def within_regression_budget(estimate: LowRankEstimate, values: Values, limit: float) -> StrongerPrior:
    """Fit the rows of an estimate again, with a prior just strong enough that their constant is within a limit.

    The columns stay as they were. With t times the precision the regressors are ``x / sqrt(t)``, so every slope ``||X|| phi(||x_k||)`` falls with t, in the end as
    ``1 / t``: there is one t at which the largest meets the limit. One number is moved and no feature is treated otherwise than before; the rows lose what the prior takes from
    them, little where much was observed.

    `values` are the observations of the fit, on the working range; `limit` is L > 0, of the constant in the metric in which the empty entry is a
    point. Raises `EstimatorError` where the rows of the estimate are not regressions, or no prior is strong enough.

    >>> from likewise import make_estimator
    >>> from likewise.observations import clustered
    >>> data = clustered(60, 40, 3, observed_fraction=0.4, random_state=1)
    >>> als = make_estimator("als", rank=3, random_state=0).fit(data.observed)
    >>> found = within_regression_budget(als.estimate_, data.observed.scaled("symmetric").values, limit=1.0)
    >>> found.strength > 1, round(found.constant, 6)
    (True, 1.0)
    """
    check_limit(limit)
    limit = float(limit)  # single precision would round what is left for rounding away
    free, wanted = _steepest(estimate, 1.0), limit * (1 - _ROOM)
    if free <= wanted:
        return StrongerPrior(estimate, limit, 1.0, free, free, 0.0)
    if _steepest(estimate, _STRONGEST) > wanted:
        raise EstimatorError(
            f"a budget of {limit:g}",
            f"at least {_steepest(estimate, _STRONGEST):.3g}, the constant with a prior {_STRONGEST:g} times as strong",
        )
    # By the logarithm, in which the constant falls evenly.
    strength = float(
        np.exp(
            brentq(
                lambda log_t: _steepest(estimate, np.exp(log_t)) - wanted, 0.0, np.log(_STRONGEST), xtol=1e-13
            )
        )
    )
    while _steepest(estimate, strength) > wanted:  # a root is found to within rounding, on either side
        strength *= 1 + 1e-12
    held = _refitted(estimate, values, strength)
    distance = float(np.linalg.norm((held.left - estimate.left) * estimate.shrunk_values))
    return StrongerPrior(held, limit, strength, _steepest(estimate, strength), free, distance)


def is_regression(estimate: LowRankEstimate) -> bool:
    """Whether the rows of an estimate are regressions that have a constant, which a budget can bring down."""
    return not isinstance(estimate.folding.regression(estimate), str)


def _steepest(estimate: LowRankEstimate, strength: float) -> float:
    regression = estimate.folding.stronger(strength).regression(estimate)
    if isinstance(regression, str):
        raise EstimatorError(
            "a budget for the constant of a regression", f"an estimate that has one: {regression}"
        )
    return float((regression.slopes + regression.offset_slopes).max(initial=0.0))


def _refitted(estimate: LowRankEstimate, values: Values, strength: float) -> LowRankEstimate:
    """Fold the rows of the fit in again."""
    folding = estimate.folding.stronger(strength)
    coefficients, offsets = folding.fold(values, estimate)
    left = left_of(coefficients, estimate.shrunk_values)
    return replace(estimate, left=left, row_offsets=offsets, folding=folding)
