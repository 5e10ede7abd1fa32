"""The dual of the fairness budget: Newton steps on the multipliers of the few features that bind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats

_TOLERANCE = 1e-10
"""Relative excess over the limit at which a constraint counts as met; what is left is scaled away."""

_NEWTON_STEPS = 100
_ROUNDS = 200
_ADDED = 16
"""Violated constraints that join at a time."""

_RIDGE = 1e-13
"""Relative to the trace: constraints that coincide make the Hessian singular."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """``sum_l (squares_kl g_l^2 + 2 cross_kl g_l) + constants_k <= 1``, one for each feature k; g = 0 meets them all with room to spare."""

    squares: Floats  # (n, r), >= 0, so that each constraint is convex
    cross: Floats  # (n, r)
    constants: Floats  # (n,), below 1

    def loads(self, gains: Floats) -> Floats:
        """The left sides, shape (n,)."""
        total: Floats = self.squares @ gains**2 + 2 * (self.cross @ gains) + self.constants
        return total

    def slopes(self, gains: Floats) -> Floats:
        """Half the derivatives of the left sides, shape (n, r)."""
        halves: Floats = self.squares * gains + self.cross
        return halves

    def of(self, features: NDArray[np.intp]) -> Constraints:
        """Those of some features."""
        return Constraints(self.squares[features], self.cross[features], self.constants[features])


@dataclass(frozen=True, eq=False)
class DualSolution:
    """Multipliers, as far as they matter."""

    gains: Floats  # (r,), the minimiser of the Lagrangian, within the limit up to a small excess
    value: float  # of the dual: no feasible gains are at a smaller squared distance
    n_binding: int  # how many multipliers are above 0
    n_iterations: int


@dataclass(frozen=True, eq=False)
class _Lagrangian:
    """``sum_l s_l (g_l - targets_l)^2 + sum_k lambda_k (load_k(g) - 1)``, minimised over ``g >= 0``: component by component."""

    targets: Floats  # (r,)
    energies: Floats  # (r,), s_l > 0
    constraints: Constraints

    def gains(self, multipliers: Floats) -> Floats:
        """The minimiser."""
        pull = self.energies * self.targets - multipliers @ self.constraints.cross
        kept: Floats = np.maximum(pull, 0.0) / (self.energies + multipliers @ self.constraints.squares)
        return kept

    def value(self, multipliers: Floats) -> float:
        """The minimum: the dual function, which is concave."""
        gains = self.gains(multipliers)
        excess = self.constraints.loads(gains) - 1
        return float(np.sum(self.energies * (gains - self.targets) ** 2) + multipliers @ excess)

    def hessian(self, multipliers: Floats) -> Floats:
        """How fast the loads fall with the multipliers: minus the Hessian of the dual."""
        gains = self.gains(multipliers)
        # A gain at 0 stays there, so it moves no load.
        slopes = self.constraints.slopes(gains)[:, gains > 0]
        stiffness = (self.energies + multipliers @ self.constraints.squares)[gains > 0]
        fall: Floats = 2 * (slopes / stiffness) @ slopes.T
        return fall


def solve_dual(targets: Floats, energies: Floats, constraints: Constraints) -> DualSolution:
    """Minimise ``sum_l s_l (g_l - targets_l)^2`` over ``g >= 0`` subject to the constraints, through the dual.

    The targets, >= 0, violate a constraint; s, the energies, is above 0.
    """
    unit = float((energies * targets**2).sum())  # the objective at g = 0, so that multipliers are near 1
    scaled = energies / unit
    chosen, multipliers, gains, steps = np.zeros(0, dtype=np.intp), np.zeros(0), targets, 0
    value = 0.0
    for _ in range(_ROUNDS):
        # Few features bind: the worst of those that are violated join, and those whose multiplier fell to 0 leave, until none is violated.
        loads = constraints.loads(gains)
        loads[chosen] = 0.0
        violated = np.flatnonzero(loads > 1 + _TOLERANCE)
        if not violated.size:
            break
        worst = violated[np.argsort(loads[violated])[::-1][:_ADDED]]
        kept = multipliers > 0
        chosen = np.concatenate([chosen[kept], worst])
        dual = _Lagrangian(targets, scaled, constraints.of(chosen))
        multipliers, taken = _ascend(dual, np.concatenate([multipliers[kept], np.zeros(worst.size)]))
        gains, value, steps = dual.gains(multipliers), dual.value(multipliers), steps + taken
    return DualSolution(gains, value * unit, int(np.count_nonzero(multipliers)), steps)


def _ascend(dual: _Lagrangian, multipliers: Floats) -> tuple[Floats, int]:
    """Take Newton steps on the multipliers, kept >= 0, until none helps."""
    for step in range(_NEWTON_STEPS):
        slope = dual.constraints.loads(dual.gains(multipliers)) - 1
        # At the maximum the load is at the limit where a multiplier is above 0, and within it elsewhere.
        if (np.where(multipliers > 0, np.abs(slope), slope) <= _TOLERANCE).all():
            return multipliers, step
        target = _newton_target(dual.hessian(multipliers), slope, multipliers)
        moved = _line_search(dual, multipliers, target, slope)
        if moved is None:
            return multipliers, step
        multipliers = moved
    return multipliers, _NEWTON_STEPS


def _newton_target(hessian: Floats, slope: Floats, multipliers: Floats) -> Floats:
    """Maximise the quadratic model of the dual over multipliers >= 0: non-negative least squares in a factor of the Hessian."""
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    # The model's rise, slope^T d - d^T H d / 2, is largest where |U x - (U lambda + U^-T slope)| is least, with H = U^T U.
    hessian[np.diag_indices_from(hessian)] += _RIDGE * float(np.trace(hessian))
    upper = cholesky(hessian)
    sought = upper @ multipliers + solve_triangular(upper, slope, trans="T")
    return np.asarray(nnls(upper, sought, maxiter=50 * slope.size)[0], dtype=np.float64)


def _line_search(dual: _Lagrangian, multipliers: Floats, target: Floats, slope: Floats) -> Floats | None:
    """Halve the step until the dual rises by a share of what its slope promises (Armijo); None if it never does."""
    before, promised = dual.value(multipliers), float(slope @ (target - multipliers))
    length = 1.0
    while promised > 0 and length > 1e-12:
        candidate: Floats = multipliers + length * (target - multipliers)
        if dual.value(candidate) >= before + 1e-4 * length * promised:
            return candidate
        length /= 2
    return None
