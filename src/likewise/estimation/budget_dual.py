"""The dual of the fairness budget: Newton steps on the multipliers of the few features that bind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TOLERANCE = 1e-10
"""Relative excess over the limit at which a constraint counts as met; what is left is scaled away."""

_NEWTON_STEPS = 100
_ROUNDS = 200
_ADDED = 16
"""Violated constraints that join at a time."""

_RIDGE = 1e-13
"""Relative to the trace: constraints that coincide make the Hessian singular."""


@dataclass(frozen=True, eq=False)
class DualSolution:
    """Multipliers, as far as they matter.

    Parameters
    ----------
    gains : ndarray, shape (r,)
        The minimiser of the Lagrangian, within the limit up to a small excess.
    value : float
        Of the dual: no feasible gains are at a smaller squared distance.
    n_binding : int
        How many multipliers are above 0.
    n_iterations : int
    """

    gains: Floats
    value: float
    n_binding: int
    n_iterations: int


class _Problem:
    """``max_{lambda >= 0} sum_l s_l g_l^2 w_l / (s_l + w_l) - sum_k lambda_k`` with ``w = C^T lambda``; a concave function.

    Parameters
    ----------
    targets : ndarray, shape (r,)
        The gains g without a budget.
    energies : ndarray, shape (r,)
        ``s_l > 0``.
    """

    def __init__(self, targets: Floats, energies: Floats) -> None:
        self.targets, self.energies = targets, energies

    def gains(self, pull: Floats) -> Floats:
        """The minimiser of the Lagrangian, where ``pull`` is w."""
        kept: Floats = self.targets * (self.energies / (self.energies + pull))
        return kept

    def value(self, pull: Floats, multipliers: Floats) -> float:
        lost = self.energies * self.targets**2 * (pull / (self.energies + pull))
        return float(lost.sum() - multipliers.sum())

    def curvature(self, pull: Floats) -> Floats:
        """How fast the squares of the gains fall with w."""
        steepness: Floats = 2 * self.targets**2 * self.energies**2 / (self.energies + pull) ** 3
        return steepness


def solve_dual(targets: Floats, energies: Floats, constraints: Floats) -> DualSolution:
    """Minimise ``sum_l s_l (g_l - targets_l)^2`` subject to ``C g^2 <= 1`` through its dual.

    Parameters
    ----------
    targets : ndarray, shape (r,)
        >= 0.
    energies : ndarray, shape (r,)
        s > 0.
    constraints : ndarray, shape (n, r)
        C >= 0.

    Returns
    -------
    DualSolution
    """
    unit = float((energies * targets**2).sum())  # the objective at g = 0, so that multipliers are near 1
    problem = _Problem(targets, energies / unit)
    chosen, multipliers, steps = np.zeros(0, dtype=np.intp), np.zeros(0), 0
    for _ in range(_ROUNDS):
        pull = constraints[chosen].T @ multipliers
        loads = constraints @ problem.gains(pull) ** 2
        loads[chosen] = 0.0
        violated = np.flatnonzero(loads > 1 + _TOLERANCE)
        if not violated.size and steps:
            break
        worst = violated[np.argsort(loads[violated])[::-1][:_ADDED]]
        kept = multipliers > 0
        chosen = np.concatenate([chosen[kept], worst])
        multipliers = np.concatenate([multipliers[kept], np.zeros(worst.size)])
        multipliers, taken = _ascend(problem, constraints[chosen], multipliers)
        steps += taken
    pull = constraints[chosen].T @ multipliers
    value = problem.value(pull, multipliers) * unit
    return DualSolution(problem.gains(pull), value, int(np.count_nonzero(multipliers)), steps)


def _ascend(problem: _Problem, rows: Floats, multipliers: Floats) -> tuple[Floats, int]:
    """Take Newton steps on the multipliers of these constraints, kept >= 0, until none helps."""
    for step in range(_NEWTON_STEPS):
        pull = rows.T @ multipliers
        slope = rows @ problem.gains(pull) ** 2 - 1
        if (np.where(multipliers > 0, np.abs(slope), slope) <= _TOLERANCE).all():
            return multipliers, step
        target = _newton_target((rows * problem.curvature(pull)) @ rows.T, slope, multipliers)
        moved = _line_search(problem, rows, multipliers, target, slope)
        if moved is None:
            return multipliers, step
        multipliers = moved
    return multipliers, _NEWTON_STEPS


def _newton_target(hessian: Floats, slope: Floats, multipliers: Floats) -> Floats:
    """Maximise the quadratic model of the dual over multipliers >= 0: non-negative least squares in a factor of the Hessian."""
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    hessian[np.diag_indices_from(hessian)] += _RIDGE * float(np.trace(hessian))
    upper = cholesky(hessian)
    sought = upper @ multipliers + solve_triangular(upper, slope, trans="T")
    return np.asarray(nnls(upper, sought, maxiter=50 * slope.size)[0], dtype=np.float64)


def _line_search(
    problem: _Problem, rows: Floats, multipliers: Floats, target: Floats, slope: Floats
) -> Floats | None:
    """Halve the step until the dual rises by a share of what its slope promises (Armijo); None if it never does."""
    before = problem.value(rows.T @ multipliers, multipliers)
    promised = float(slope @ (target - multipliers))
    length = 1.0
    while promised > 0 and length > 1e-12:
        candidate: Floats = multipliers + length * (target - multipliers)
        if problem.value(rows.T @ candidate, candidate) >= before + 1e-4 * length * promised:
            return candidate
        length /= 2
    return None
