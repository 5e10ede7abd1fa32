"""What a solver hands over, and how it becomes singular triplets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise.spectrum.goal import Goal
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import orthonormalise
from likewise.spectrum.proof import Proof
from likewise.spectrum.request import Request
from likewise.spectrum.result import Floats
from likewise.spectrum.slabs import multiply_in_place
from likewise.spectrum.subspace import Subspace

_ROUNDS = 6  # each is a step of subspace iteration; float32 work needs one or two
_NEAR = 1e-5  # relative: Ritz values that far below the level are refined too, since they may end above it


@dataclass(frozen=True, eq=False)
class Found:
    """Right singular vectors of everything above the threshold, not yet refined.

    Parameters
    ----------
    right : ndarray, shape (n, k)
    proof : Proof
    """

    right: Floats
    proof: Proof

    @classmethod
    def of(cls, subspace: Subspace, goal: Goal, proof: Proof) -> Found:
        """Take from a subspace what may be above the level, one step of subspace iteration ahead."""
        if proof.complete and not goal.resolved:
            proof = Proof.failed(goal.unresolved_reason)
        near = subspace.squares > max((1 - _NEAR) * goal.level - proof.blur, goal.floor / 2, 0.0)
        return cls(subspace.images[:, near] / subspace.squares[near], proof)


@dataclass(frozen=True, eq=False)
class Refined:
    """Singular triplets in float64, largest first, with relative residuals ``||A^T u - sigma v|| / sigma``."""

    left: Floats
    values: NDArray[np.float64]
    right: Floats
    residuals: NDArray[np.float64]


def refine(operator: RowOperator, right: Floats, request: Request) -> Refined:
    """Turn approximate right singular vectors into singular triplets, in float64 whatever they were computed in.

    Alternates ``A V = U S W^T`` (Rayleigh-Ritz on A itself, so that small singular values keep their digits) and
    ``V = A^T U`` (a step of subspace iteration) until every residual is within the tolerance.

    Parameters
    ----------
    operator : RowOperator
    right : ndarray, shape (n, k)
    request : Request

    Returns
    -------
    Refined
    """
    images: Floats = right.astype(np.float64)
    for _ in range(_ROUNDS):
        triplets, images = _round(operator, images)
        wanted = triplets.residuals[triplets.values > request.threshold][: request.at_most]
        if wanted.max(initial=0.0) <= request.tolerance:
            break
    return triplets


def _round(operator: RowOperator, right: Floats) -> tuple[Refined, Floats]:
    orthonormalise(right)
    left = operator.forward(right)
    turn, values, back = linalg.svd(orthonormalise(left), check_finite=False)
    multiply_in_place(left, turn)
    multiply_in_place(right, back.T)
    images = operator.adjoint(left)
    residuals = np.linalg.norm(images - right * values, axis=0) / np.where(values > 0, values, 1)
    return Refined(left, values, right, residuals), images
