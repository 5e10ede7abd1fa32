"""Choose and run a proof that a subspace holds every eigenvalue above a level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.spectrum.certificate import (
    FAILURE_PROBABILITY,
    TEST_WIDTH,
    chebyshev_test,
    degree_needed,
    eigenvalues_above,
)
from likewise.spectrum.goal import Goal
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.request import Request
from likewise.spectrum.result import Completeness, Floats
from likewise.spectrum.subspace import Subspace

INERTIA_SIDE = (
    1000  # columns up to which the deterministic count costs less than the passes of the randomised test
)
_COST_OF_DEFLATION = 2  # columns of a pass: deflating takes one in float64
_SHARE_OF_GAP = (
    0.1  # between tau^2 and the level that is tested, so that theta just below tau^2 stay decidable
)


@dataclass(frozen=True, eq=False)
class Proof:
    """Outcome of an attempt.

    Parameters
    ----------
    completeness : Completeness
    blur : float
        Eigenvalues closer below the level than this cannot be told from it.
    escaped : ndarray, shape (n, b), or None
        Vectors rich in what the subspace lacks, where the attempt found out that it lacks something.
    """

    completeness: Completeness
    blur: float = 0.0
    escaped: Floats | None = None

    @classmethod
    def failed(cls, reason: str, escaped: Floats | None = None) -> Proof:
        """No proof, and why."""
        return cls(Completeness(False, reason), escaped=escaped)

    @property
    def complete(self) -> bool:
        """Whether it is proved."""
        return self.completeness.proved


def prove(operator: RowOperator, subspace: Subspace, goal: Goal, outside: float, request: Request) -> Proof:
    """Prove that no eigenvalue of A^T A above the level is missing from `subspace`, by the cheapest way that works.

    Parameters
    ----------
    operator : RowOperator
    subspace : Subspace
        Whose vectors are deflated; those below the level belong to it too, they widen the gap.
    goal : Goal
    outside : float
        Estimate of the largest eigenvalue outside; decides only how much work it is.
    request : Request

    Returns
    -------
    Proof
    """
    level = goal.level
    if request.certificate != "random" and energy_proves(
        operator, subspace.squares, level, subspace.vectors.dtype
    ):
        reason = "the energy outside the triplets is below the threshold squared"
        return Proof(Completeness(True, reason), _blur(subspace, level, _missing(operator, subspace.squares)))
    if request.certificate == "inertia" or (
        request.certificate == "auto" and operator.shape[1] <= INERTIA_SIDE
    ):
        return _by_inertia(operator, subspace, level)
    if outside >= level:
        return Proof.failed("no gap below the threshold was found")
    return _by_chebyshev_test(operator, subspace, level, outside, request)


def _missing(operator: RowOperator, squares: NDArray[np.float64]) -> float:
    return float(operator.energy or 0.0) - float(squares.sum())


def _by_inertia(operator: RowOperator, subspace: Subspace, level: float) -> Proof:
    rounding = operator.shape[1] * float(np.finfo(np.float64).eps) * _largest(subspace, level)
    blur = rounding + _blur(subspace, level, level)
    count = eigenvalues_above(operator, level + blur)
    found = int(np.count_nonzero(subspace.squares > level))
    if count <= found:
        return Proof(Completeness(True, "inertia of A^T A - tau^2 I"), blur)
    return Proof.failed(f"inertia counts {count} above the threshold, {found} were found")


def _by_chebyshev_test(
    operator: RowOperator, subspace: Subspace, level: float, outside: float, request: Request
) -> Proof:
    tested = _tested(level, outside)
    test = chebyshev_test(
        operator,
        subspace.vectors.astype(request.dtype),
        _cut(level, outside),
        tested,
        request.rng,
        request.report,
    )
    if not test.passed:
        return Proof.failed("something above the threshold was missed", test.grown)
    reason = f"Chebyshev test of degree {test.degree} on independent random vectors"
    return Proof(Completeness(True, reason, FAILURE_PROBABILITY), _blur(subspace, level, tested))


def _tested(level: float, outside: float) -> float:
    return level - _SHARE_OF_GAP * (level - outside)


def _cut(level: float, outside: float) -> float:
    return max(outside, 0.02 * level)


def _largest(subspace: Subspace, level: float) -> float:
    return float(subspace.squares.max(initial=level))


def _blur(subspace: Subspace, level: float, bound: float) -> float:
    """Haynsworth: only the coupling of what lies below the level counts."""
    coupling = float(np.sum(subspace.errors[subspace.squares <= level] ** 2))
    return coupling / (level - bound) if bound < level else 0.0


def passes_needed(operator: RowOperator, level: float, outside: float) -> float:
    """Estimate how often a proof would read the matrix, given the largest eigenvalue `outside` the subspace."""
    if outside >= level:
        return np.inf
    return degree_needed(operator.shape[1], _cut(level, outside), _tested(level, outside))


def energy_proves(
    operator: RowOperator, squares: NDArray[np.float64], level: float, dtype: np.dtype[Any]
) -> bool:
    """Whether what these eigenvalues leave of ``||A||_F^2`` is below the level, rounding included."""
    if operator.energy is None:
        return False
    rounding = 8 * float(np.finfo(dtype).eps) * operator.energy
    return operator.energy == 0 or _missing(operator, squares) + rounding < level


def deflation_for_proof(
    operator: RowOperator, squares: NDArray[np.float64], goal: Goal, converged: int
) -> int:
    """How many of the converged pairs to deflate: each costs a column once, and widens the gap below the level."""
    outside = np.append(squares, 0.0)[goal.wanted : converged + 1]
    cost = [
        _COST_OF_DEFLATION * k + TEST_WIDTH * passes_needed(operator, goal.level, value)
        for k, value in enumerate(outside)
    ]
    return goal.wanted + int(np.argmin(cost))
