"""A fairness budget: the shrinkage closest to the unconstrained one whose Lipschitz constant K* stays within a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.certificates.filled import KindOfMap
from likewise.certificates.row_map import FilledRowMap
from likewise.checks import checked_instance, is_finite
from likewise.errors import InputError, ShapeError, option
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.budget.dual import Constraints, solve_dual

_LEAST_SINGULAR_VALUE = 1e-100
"""Its square, and that of its inverse, are numbers still."""
LEAST_LIMIT = 1e-60
"""Constraints are divided by the square of the limit, and their product, too, must be a number."""


@dataclass(frozen=True, eq=False)
class BudgetSolution:
    """Gains that keep K* within a budget, and how close they are proved to be to those that change the estimate least.

    Parameters
    ----------
    limit : float
        L.
    gains : ndarray, shape (r,)
        ``psi(sigma_l) / sigma_l`` within the budget; never above those without it.
    constant : float
        K* with them, at most L: an upper bound that contains its own rounding.
    unconstrained : float
        The same of the gains without a budget.
    distance : float
        Frobenius norm of what the budget changes in the estimate before clipping.
    gap : float
        By how much the squared distance can at most exceed the least possible one (the duality gap).
    n_binding : int
        How many features hold the estimate at the limit.
    n_iterations : int
        Newton steps.
    """

    limit: float
    gains: Floats
    constant: float
    unconstrained: float
    distance: float
    gap: float
    n_binding: int
    n_iterations: int

    def to_dict(self) -> dict[str, float]:
        """Return the numbers, not the gains."""
        names = ("limit", "constant", "unconstrained", "distance", "gap", "n_binding", "n_iterations")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        if self.unconstrained <= self.limit:
            return f"fairness budget K* <= {self.limit:.4g}: met without any change, K* = {self.unconstrained:.4g}"
        return (
            f"fairness budget K* <= {self.limit:.4g}: K* = {self.unconstrained:.4g} without it; the estimate moved by "
            f"{self.distance:.4g} in Frobenius norm, the least possible up to {self.slack:.1e}; held by {self.n_binding:,} features"
        )

    @property
    def slack(self) -> float:
        """By how much `distance` can at most exceed the least possible one."""
        return self.distance - sqrt(max(self.distance**2 - self.gap, 0.0))


def shrink_to_budget(gains: Floats, singular_values: Floats, right: Floats, limit: float) -> BudgetSolution:
    """Find the gains within a budget that change the estimate least.

    Minimise ``sum_l sigma_l^2 (g_l - gains_l)^2``, the squared Frobenius distance between the two estimates before clipping, over
    ``g >= 0`` subject to ``K* = max_k sqrt(sum_l g_l^2 v_lk^2) <= L``: a convex problem with one constraint a feature. Any
    limit above 0 can be met, since g = 0 has K* = 0. The gains need not be a function psi of the singular value: a component that rests
    on few features gives way first. The certificate does not need one.

    Parameters
    ----------
    gains : ndarray, shape (r,)
        ``psi(sigma_l) / sigma_l >= 0``.
    singular_values : ndarray, shape (r,)
        ``sigma_l > 0``.
    right : ndarray, shape (n, r)
        Right singular vectors ``v_l`` in columns.
    limit : float
        L, finite and above 0.

    Returns
    -------
    BudgetSolution
        Gains that meet the limit are unchanged, to the last bit.

    Raises
    ------
    InputError
        If the limit is not a finite number above 0.

    Notes
    -----
    The dual has one multiplier a feature and is solved by Newton steps over the features that bind, which are few. Its
    solution gives ``g_l = gains_l sigma_l^2 / (sigma_l^2 + sum_k lambda_k v_lk^2)``, scaled down by what is left over the
    limit, rounding included. For any multipliers the dual value bounds the least squared distance from below, so the gap is proved.

    Examples
    --------
    Two components on one feature each, so that each constraint holds one gain:

    >>> solution = shrink_to_budget(np.array([2.0, 0.5]), np.array([3.0, 1.0]), np.eye(2), limit=1.0)
    >>> solution.gains.round(9), round(solution.distance, 9)  # 3 x (2 - 1)
    (array([1. , 0.5]), 3.0)
    """
    check_limit(limit)
    gains, singular_values, right = (
        as_floats(part, name)
        for name, part in (("gains", gains), ("singular_values", singular_values), ("right", right))
    )
    _check_components(gains, singular_values, right)
    return _shrink(gains, singular_values, FilledRowMap(right), limit)


def _check_components(gains: Floats, singular_values: Floats, right: Floats) -> None:
    """Raise unless there are a gain, a singular value and a vector of each component, of sizes whose squares are numbers."""
    shapes = gains.shape, singular_values.shape, right.shape
    if gains.ndim != 1 or right.ndim != 2 or not shapes[0] == shapes[1] == shapes[2][1:]:
        raise ShapeError(
            f"gains, singular values and right vectors of shapes {shapes}", "(r,), (r,) and (n, r)"
        )
    for name, part, least in (
        ("gains", np.abs(gains), 0.0),
        ("singular values", singular_values, _LEAST_SINGULAR_VALUE),
        ("right vectors", np.abs(right), 0.0),
    ):
        if not ((least <= part) & (part <= 1 / _LEAST_SINGULAR_VALUE)).all():
            raise InputError(
                f"{name} from {part.min():.3g} to {part.max():.3g}",
                f"finite numbers, singular values from {_LEAST_SINGULAR_VALUE:g} on",
            )


def within_budget(estimate: LowRankEstimate, limit: float) -> tuple[LowRankEstimate, BudgetSolution]:
    """Return an estimate whose rows depend on the observations with a constant K* of at most the limit.

    Parameters
    ----------
    estimate : LowRankEstimate
        With linear folding.
    limit : float
        L, finite and above 0, on the method's working range: from l1 between filled rows to l2 between rows of the estimate.

    Returns
    -------
    LowRankEstimate
        The same vectors with smaller gains.
    BudgetSolution

    Raises
    ------
    InputError
        If the limit is not a finite number above 0, or not above what offsets of rows have alone (the message says how much that is);
        or the estimate has no such constant.

    Notes
    -----
    Where rows have offsets, each feature moves the estimate by ``gains a_k + t_k`` and a part that does not depend on the gains (see
    `FilledRowMap`): the constraints are then convex quadratics with a linear term, the constant of all gains 0 is that of the offsets
    alone, ``sqrt(n) / (n + lambda)`` without weights, and a gain may also rise.
    """
    check_limit(limit)
    limit = float(limit)
    checked_instance(
        "estimate", estimate, LowRankEstimate, "a LowRankEstimate", "estimate_ of a fitted estimator is one"
    )
    if reason := without_constant(estimate):
        raise InputError(
            f"{option('max_lipschitz', repr(limit))} for an estimate without a constant K*: {reason}",
            *_instead(estimate),
        )
    rows = KindOfMap.of(estimate).row_map(estimate.right)
    if limit <= (smallest := smallest_constant(rows)):
        raise InputError(
            option("max_lipschitz", repr(limit)),
            f"a limit above {smallest:.4g}, which offsets of rows have alone",
            f"{option('centering', repr('column'))} has no offsets of rows, so every limit above 0 can be met",
        )
    solution = _shrink(estimate.gains, estimate.singular_values, rows, limit)
    if solution.distance == 0:
        return estimate, solution
    return replace(estimate, shrunk_values=solution.gains * estimate.singular_values), solution


def smallest_constant(rows: FilledRowMap) -> float:
    """Return the constant that offsets of rows have alone, where all gains are 0."""
    return rows.largest_row(np.zeros(rows.right.shape[1]))


def without_constant(estimate: LowRankEstimate) -> str:
    """Return why an estimate has no constant K*, of zero-filled rows or of rows filled with their centre; empty where it has one."""
    return KindOfMap.of(estimate).without_constant


def _instead(estimate: LowRankEstimate) -> tuple[str, ...]:
    """Return what has a constant where an estimate has none, and a hint where it is only a matter of options."""
    if estimate.folding.not_linear:
        return ("an estimator with linear folding, such as 'svt'",)
    return (
        "offsets of rows, or propensities that differ between them, not both",
        f"{option('centering', repr('column'))} has no offsets of rows; propensities for each column are the same in all of them",
    )


def check_limit(limit: float, name: str = "max_lipschitz") -> None:
    """Raise InputError, with the name of the argument, unless a limit is a finite number above 0."""
    if not is_finite(limit) or limit <= 0:
        raise InputError(
            option(name, repr(limit)),
            "a finite number above 0",
            "0 is the constant of an estimate that treats all alike",
        )
    if limit < LEAST_LIMIT:
        raise InputError(
            option(name, repr(limit)),
            f"a limit of at least {LEAST_LIMIT:g}",
            "a smaller limit would treat all alike",
        )


def _shrink(gains: Floats, singular_values: Floats, rows: FilledRowMap, limit: float) -> BudgetSolution:
    unconstrained = rows.largest_row(gains)
    if unconstrained <= limit or not gains.size:
        return BudgetSolution(limit, gains, unconstrained, unconstrained, 0.0, 0.0, 0, 0)
    energies = singular_values**2
    dual = solve_dual(gains, energies, _constraints(rows, gains, limit))
    feasible = _scaled_within(dual.gains, singular_values, rows, limit)
    squared = float(np.sum(energies * (feasible - gains) ** 2))
    return BudgetSolution(
        limit=limit,
        gains=feasible,
        # As it will be certified: from the values that the estimate stores.
        constant=rows.largest_row(feasible * singular_values / singular_values),
        unconstrained=unconstrained,
        distance=sqrt(squared),
        gap=max(squared - dual.value, 0.0),
        n_binding=dual.n_binding,
        n_iterations=dual.n_iterations,
    )


def _constraints(rows: FilledRowMap, gains: Floats, limit: float) -> Constraints:
    """Return that no row of the map may be longer than the limit: each is a quadratic in the gains, divided by the limit squared."""
    # The certificate adds its own rounding, which has to fit into the limit too.
    unit = limit - rows.slack(gains)
    slopes, inside, outside = (part / unit for part in rows.coefficients())
    return Constraints(slopes**2, slopes * inside, (inside**2).sum(axis=1) + outside**2)


def _scaled_within(gains: Floats, singular_values: Floats, rows: FilledRowMap, limit: float) -> Floats:
    """Scale gains down by what the dual leaves over the limit, and then by roundings until floating point agrees too.

    With all gains 0 the constant is the smallest one, below the limit, and in between it is at most on the line: it is convex. An
    estimate stores ``g sigma`` and is certified with ``g sigma / sigma``, so that is what must be within the limit.
    """
    excess = rows.largest_row(gains) - limit
    if excess > 0:
        gains = gains * (1 - excess / (excess + limit - smallest_constant(rows)))
    # By 1, 2, 4, ... units in the last place: few are needed.
    step = 2.0**-52
    while rows.largest_row(gains * singular_values / singular_values) > limit:
        gains, step = gains * (1 - step), 2 * step
    return gains
