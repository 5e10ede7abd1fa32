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
from likewise.spectrum.orthonormal import Subspace, measured, orthonormalise, tall_product
from likewise.spectrum.proof import Proof
from likewise.spectrum.request import Request

_MAX_ROUNDS = 6  # each is a step of subspace iteration; float32 work needs one or two
_PROGRESS_TOL = 0.9  # of the last round's residual: what falls less will not arrive
_COLUMNS_AT_A_TIME = 16  # of a float64 copy
_NEIGHBOUR_TOL = 1e-5
"""Relative: Ritz values that far below the level are refined too, since they may end above it."""


@dataclass(frozen=True, eq=False)
class CandidateTriplets:
    """Approximate right singular vectors of everything above the threshold, and of what surrounds it."""

    right: AnyFloats  # (n, l)
    lowest: float  # values up to this one are not wanted: their vectors only help to refine the others
    proof: Proof
    subspace: Subspace | None = None  # what `right` is one step ahead of, if that was measured

    @classmethod
    def of(cls, subspace: Subspace, target: ConvergenceTarget, proof: Proof) -> CandidateTriplets:
        """Take a subspace one step of subspace iteration ahead, and remember what is wanted of it."""
        if proof.complete and target.unresolved:
            proof = Proof.failed(target.unresolved)
        # What may end above the level once it is refined, or what the proof cannot tell from it, has to come along.
        lowest = max(
            (1 - _NEIGHBOUR_TOL) * target.level - proof.eigenvalue_uncertainty, target.floor / 2, 0.0
        )
        # One product ahead for nothing: A^T A v / theta is v, with the errors along smaller singular values damped.
        usable = subspace.squares > target.floor / 2
        ahead = subspace.images[:, usable] / subspace.squares[usable]
        return cls(ahead, lowest**0.5, proof, subspace)


@dataclass(frozen=True, eq=False)
class Refined:
    """Singular triplets, largest first, in the precision that was asked for."""

    left: AnyFloats  # (m, k)
    values: NDArray[np.float64]  # (k,)
    right: AnyFloats  # (n, k)
    residuals: NDArray[
        np.float64
    ]  # (k,), ||A^T u - sigma v|| / sigma of these very vectors; 0 where both are 0

    @classmethod
    def rounded(
        cls,
        operator: RowOperator,
        dtype: np.dtype[Any],
        left: AnyFloats,
        values: NDArray[np.float64],
        right: AnyFloats,
        images: AnyFloats,
    ) -> Refined:
        """Round the vectors to a precision, and measure what is left; `images` are ``A^T left`` before."""
        rounded = left.astype(dtype, copy=False)
        if rounded.dtype != left.dtype:
            # A^T of the vectors that are returned, not of those before rounding: residuals are claimed of these.
            images = exact_adjoint(operator, rounded)
        right = right.astype(dtype, copy=False)
        return cls(rounded, values, right, _residuals(values, right, images))


def _residuals(values: NDArray[np.float64], right: AnyFloats, images: AnyFloats) -> NDArray[np.float64]:
    errors = np.linalg.norm(images - right * values, axis=0)
    return np.asarray(errors / np.where(values > 0, values, 1), np.float64)


def refine(operator: RowOperator, candidates: CandidateTriplets, request: Request) -> Refined:
    """Turn approximate right singular vectors into singular triplets.

    Alternates ``A V = U S W^T`` (Rayleigh-Ritz on A itself, so that small singular values keep their digits) and
    ``V = A^T U`` (a step of subspace iteration) until every residual is within the tolerance, or no round helps any more.
    Small matrices and sums over rows are float64 throughout; the first product with A has the working precision, which
    nearly always does. Rounding of ``A V`` costs ``eps sigma_1 / sigma``: where sigma_1 is so much larger that this shows,
    the product is repeated in float64, from the same vectors.
    """
    right: AnyFloats = candidates.right.astype(np.float64)
    dtype, last = request.dtype, np.inf
    for _ in range(_MAX_ROUNDS):
        triplets = _round(operator, right, candidates.lowest, dtype)
        _, values, *rest = triplets
        # Neighbours below the threshold are carried along but need not converge.
        wanted = _residuals(values, *rest)[values > request.threshold][: request.at_most]
        worst = wanted.max(initial=0.0)
        if worst <= request.tolerance or (dtype == np.float64 and worst > _PROGRESS_TOL * last):
            break
        # After a round in float32 the same vectors go through float64 first: it may be that only their product was inexact.
        if dtype == np.float64:
            right, last = triplets[3], worst
        dtype = np.dtype(np.float64)
    return Refined.rounded(operator, request.dtype, *triplets)


def _round(
    operator: RowOperator, right: AnyFloats, lowest: float, dtype: np.dtype[Any]
) -> tuple[AnyFloats, NDArray[np.float64], AnyFloats, AnyFloats]:
    """Make `right` orthonormal, in place, and return the triplets of A restricted to it, and ``A^T`` times the left vectors."""
    orthonormalise(right)
    left = operator.forward(right.astype(dtype))
    # A V = Q R and R = T S B, so A V = (Q T) S B: the left vectors are Q T, the right ones V B^T.
    turn, values, back = linalg.svd(orthonormalise(left), check_finite=False)
    wanted = values > lowest
    left, values = tall_product(left, turn[:, wanted]), values[wanted]
    return left, values, right @ back[wanted].T, exact_adjoint(operator, left)


def refine_right(operator: RowOperator, candidates: CandidateTriplets, request: Request) -> Refined:
    """Do what `refine` does and hold nothing of m rows: steps of subspace iteration on A^T A in float64. `left` of the result has no row.

    ``||A^T u - sigma v|| / sigma`` with ``u = A v / sigma`` is ``||A^T A v - sigma^2 v|| / sigma^2``. Through A^T A a singular value has
    an error of about ``eps sigma_1^2 / sigma``, so below 1e-6 sigma_1 digits are lost.
    """
    right: AnyFloats = candidates.right.astype(np.float64)
    last = np.inf
    for round_ in range(_MAX_ROUNDS):
        # The proof has measured the candidates already: the first round takes no pass.
        known = candidates.subspace if round_ == 0 else None
        subspace = measured(operator, right) if known is None else known
        values = np.sqrt(np.maximum(subspace.squares, 0.0))
        usable = values > candidates.lowest
        residuals = subspace.errors[usable] / subspace.squares[usable]
        worst = residuals[values[usable] > request.threshold][: request.at_most].max(initial=0.0)
        if worst <= request.tolerance or worst > _PROGRESS_TOL * last:
            break
        right, last = subspace.images[:, usable] / subspace.squares[usable], worst
    nothing = np.zeros((0, int(usable.sum())))
    return Refined(nothing, values[usable], subspace.vectors[:, usable], residuals)


def exact_adjoint(operator: RowOperator, left: AnyFloats) -> AnyFloats:
    """Return ``A^T left`` in float64, a few columns at a time: sums over all rows would lose digits in float32."""
    if left.dtype == np.float64:
        return operator.adjoint(left)
    blocks = range(0, left.shape[1], _COLUMNS_AT_A_TIME)
    return np.hstack(
        [np.zeros((operator.shape[1], 0))]
        + [
            operator.adjoint(left[:, start : start + _COLUMNS_AT_A_TIME].astype(np.float64))
            for start in blocks
        ]
    )
