"""What a solver hands over, and how it becomes singular triplets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise._typing import AnyFloats
from likewise.spectrum.krylov import ConvergenceTarget
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import orthonormalise
from likewise.spectrum.proof import Proof
from likewise.spectrum.request import Request
from likewise.spectrum.subspace import Subspace
from likewise.spectrum.threaded_blas import tall_product

_ROUNDS = 6  # each is a step of subspace iteration; float32 work needs one or two
_COLUMNS = 16  # of a float64 copy
_NEAR = 1e-5  # relative: Ritz values that far below the level are refined too, since they may end above it


@dataclass(frozen=True, eq=False)
class CandidateTriplets:
    """Approximate right singular vectors of everything above the threshold, and of what surrounds it.

    Parameters
    ----------
    right : ndarray, shape (n, l)
    lowest : float
        Singular values up to this one are not wanted: their vectors only help to refine the others.
    proof : Proof
    """

    right: AnyFloats
    lowest: float
    proof: Proof

    @classmethod
    def of(cls, subspace: Subspace, goal: ConvergenceTarget, proof: Proof) -> CandidateTriplets:
        """Take a subspace one step of subspace iteration ahead, and remember what is wanted of it."""
        if proof.complete and not goal.resolved:
            proof = Proof.failed(goal.unresolved_reason)
        lowest = max((1 - _NEAR) * goal.level - proof.blur, goal.floor / 2, 0.0)
        usable = subspace.squares > goal.floor / 2
        return cls(subspace.images[:, usable] / subspace.squares[usable], lowest**0.5, proof)


@dataclass(frozen=True, eq=False)
class Refined:
    """Singular triplets, largest first, with relative residuals ``||A^T u - sigma v|| / sigma``."""

    left: AnyFloats
    values: NDArray[np.float64]
    right: AnyFloats
    residuals: NDArray[np.float64]


def refine(operator: RowOperator, found: CandidateTriplets, request: Request) -> Refined:
    """Turn approximate right singular vectors into singular triplets.

    Alternates ``A V = U S W^T`` (Rayleigh-Ritz on A itself, so that small singular values keep their digits) and
    ``V = A^T U`` (a step of subspace iteration) until every residual is within the tolerance. Small matrices and sums
    over rows are float64 throughout; the first product with A has the working precision, which nearly always does.

    Parameters
    ----------
    operator : RowOperator
    found : CandidateTriplets
    request : Request

    Returns
    -------
    Refined
    """
    images: AnyFloats = found.right.astype(np.float64)
    dtype = request.dtype
    for _ in range(_ROUNDS):
        triplets, images = _round(operator, images, found.lowest, dtype)
        wanted = triplets.residuals[triplets.values > request.threshold][: request.at_most]
        if wanted.max(initial=0.0) <= request.tolerance:
            break
        dtype = np.dtype(np.float64)
    return triplets


def _round(
    operator: RowOperator, right: AnyFloats, lowest: float, dtype: np.dtype[Any]
) -> tuple[Refined, AnyFloats]:
    orthonormalise(right)
    left = operator.forward(right.astype(dtype))
    turn, values, back = linalg.svd(orthonormalise(left), check_finite=False)
    wanted = values > lowest
    left, right, values = tall_product(left, turn[:, wanted]), right @ back[wanted].T, values[wanted]
    images = _exact_adjoint(operator, left)
    residuals = np.linalg.norm(images - right * values, axis=0) / values
    return Refined(left, values, right, residuals), images


def _exact_adjoint(operator: RowOperator, left: AnyFloats) -> AnyFloats:
    """Return ``A^T left`` in float64, a few columns at a time: sums over all rows would lose digits in float32."""
    if left.dtype == np.float64:
        return operator.adjoint(left)
    blocks = range(0, left.shape[1], _COLUMNS)
    return np.hstack(
        [np.zeros((operator.shape[1], 0))]
        + [operator.adjoint(left[:, start : start + _COLUMNS].astype(np.float64)) for start in blocks]
    )
