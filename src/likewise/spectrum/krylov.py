"""What a growing Krylov space has to deliver, and when it is worth looking whether it does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise._typing import AnyFloats
from likewise.errors import SpectrumError
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import Basis, inner, rank_revealing_qr, subtract_product
from likewise.spectrum.request import Request

_RESOLUTION = 200.0
"""Units in the last place of ||A||^2 below which an eigenvalue of A^T A drowns in rounding."""


@dataclass(frozen=True)
class ConvergenceTarget:
    """What is wanted, as far as the present Ritz values tell."""

    wanted: int  # how many of the largest eigenvalues of A^T A
    level: float  # nothing above it may be missing: tau^2, or the smallest wanted where `at_most` decides
    floor: float  # eigenvalues below it drown in the rounding of the working precision
    unresolved: str = ""  # why nothing can be said of what was asked for; empty where the level is that

    @classmethod
    def of(cls, squares: NDArray[np.float64], request: Request, dtype: np.dtype[Any]) -> ConvergenceTarget:
        """Derive it from Ritz values, largest first."""
        floor = _RESOLUTION * float(np.finfo(dtype).eps) * max(float(squares[0]), 0.0)
        level = max(request.square, floor)
        wanted = int(np.count_nonzero(squares > level))
        if request.at_most is not None and wanted >= request.at_most:
            # The last that is wanted is the level now: only what is larger than it could be missing.
            level = float(squares[request.at_most - 1])
            return cls(request.at_most, level, floor)
        return cls(wanted, level, floor, "" if request.square >= floor else lost_below(request, floor))


def lost_threshold(request: Request) -> SpectrumError:
    """Make the error for a threshold whose square is mere rounding of A^T A."""
    return SpectrumError(
        f"the threshold {request.asked:g} is lost in the rounding of A^T A; use solver='dense'"
    )


def lost_below(request: Request, square: float) -> str:
    """Say below which singular value an eigenvalue of A^T A is mere rounding."""
    return f"below {request.as_given(square**0.5)} singular values are lost in the rounding of A^T A"


class LookSchedule:
    """Decides at which size of the space to look at the Ritz pairs again.

    Looking costs some 10 p^3 operations, so it should happen seldom; going too far costs passes over the matrix.
    Residuals fall geometrically once the space is large enough, which is extrapolated.
    """

    def __init__(self, first: int) -> None:
        self.next_size = first
        self._last: tuple[int, int, float] | None = None

    def stalled(self, wanted: int, excess: float) -> bool:
        """Whether the worst residual hardly fell since the last look: rounding is all that is left of it."""
        return self._last is not None and self._last[1] == wanted and excess > 0.5 * self._last[2]

    def plan(self, size: int, wanted: int, excess: float) -> None:
        """Set the next size, given how many eigenvalues are wanted and the worst residual over its tolerance."""
        growth = 0.2 * size
        # Two looks at the same number of wanted eigenvalues: log(excess) falls linearly with the size, and is to reach 0.
        # Two looks at one size, after a restart, tell no slope.
        again = self._last is not None and self._last[1] == wanted and size > self._last[0]
        if self._last is not None and again and 1 < excess < self._last[2]:
            slope = math.log(self._last[2] / excess) / (size - self._last[0])
            growth = min(0.9 * math.log(excess) / slope, 0.5 * size)
        self._last = (size, wanted, excess)
        # Below three columns for each wanted one nothing has ever converged.
        self.next_size = max(size + math.ceil(growth), min(3 * wanted, 2 * size))


def columns_that_fit(n: int, dtype: np.dtype[Any], memory_limit: float) -> int:
    """How many columns a Krylov space may have: basis, its combination, and three p x p float64 arrays."""
    per_column = 2 * n * dtype.itemsize
    # The positive root of 24 p^2 + per_column p = memory_limit.
    return min(n, int((math.sqrt(per_column**2 + 4 * 24 * memory_limit) - per_column) / 48))


_REORTHOGONALISE_TOL = 0.01  # of the product's size: directions smaller than that are orthogonalised again


@dataclass(frozen=True, eq=False)
class RitzPairs:
    """Approximate eigenpairs of ``A^T A``, largest first."""

    squares: NDArray[np.float64]  # (p,), Ritz values; the i-th is never above the i-th eigenvalue
    weights: NDArray[np.float64]  # (p, p), Ritz vectors are basis @ weights
    errors: NDArray[np.float64]  # (p,), norms of their residuals, in exact arithmetic


class BlockKrylov:
    """Orthonormal basis Q of a block Krylov space and ``T = Q^T A^T A Q``.

    The last block, the frontier, has not been multiplied yet: ``A^T A Q = Q T + frontier @ coupling``, the coupling
    reaching only from the columns that were multiplied last (all of them just after a restart). The columns of `start`, (n, b), span
    the first block.
    """

    def __init__(self, operator: RowOperator, start: AnyFloats) -> None:
        # From X to A^T A X; whoever wants other columns in the same pass puts something else here.
        self.multiply: Callable[[AnyFloats], AnyFloats] = operator.gram
        self.basis = Basis(operator.shape[1], start.dtype)
        self._projected = np.zeros((64, 64))
        self.frontier, _ = rank_revealing_qr(start, np.linalg.norm(start, axis=0))
        self._coupling, self._coupled_from = np.zeros((self.frontier.shape[1], 0), start.dtype), 0

    @property
    def size(self) -> int:
        """How many columns were multiplied."""
        return self.basis.size

    @property
    def exhausted(self) -> bool:
        """Whether the space is invariant: there is nothing left to multiply."""
        return not self.frontier.size

    def step(self) -> None:
        """Multiply the frontier and make what is new in the product the next one."""
        block, old = self.frontier, self.size
        image = self.multiply(block)
        scale = np.linalg.norm(image, axis=0)
        # A^T A is symmetric: along the block before, the image has the coefficients that the block was made with, and along the
        # block itself those of their inner product. These go first: then so little is left along the basis that one round of
        # Gram-Schmidt is exact. (Just after a restart every kept Ritz vector is coupled.)
        known, own = self._coupling.T, inner(block, image)
        subtract_product(image, block, own)
        self.basis.subtract(image, known, self._coupled_from)
        self.basis.append(block)
        coefficients = self.basis.project_out(image)
        coefficients[self._coupled_from : old] += known
        coefficients[old:] += own
        self._extend_projection(coefficients, old)
        self._coupled_from = old
        self._advance(image, scale)

    def _advance(self, remainder: AnyFloats, scale: NDArray[np.floating]) -> None:
        """Orthonormalise what is new; twice where it was so little that rounding against the basis shows."""
        fresh, coupling = rank_revealing_qr(remainder, scale)
        smallest = np.linalg.norm(coupling, axis=1).min(initial=np.inf)
        if smallest < _REORTHOGONALISE_TOL * scale.max(initial=0.0):
            self.basis.project_out(fresh)
            fresh, repair = rank_revealing_qr(fresh, np.ones(fresh.shape[1]))
            coupling = repair @ coupling
        # No more than n directions exist; what rounding leaves beyond them is dropped.
        room = self.basis.n - self.size
        self.frontier, self._coupling = fresh[:, :room], coupling[:room]

    def squares(self) -> NDArray[np.float64]:
        """Ritz values alone, largest first: several times cheaper than `ritz`."""
        return np.asarray(linalg.eigvalsh(self._projection, check_finite=False)[::-1], np.float64)

    def ritz(self) -> RitzPairs:
        """Eigenpairs of the projection."""
        squares, weights = linalg.eigh(self._projection, driver="evd", check_finite=False)
        squares, weights = squares[::-1], weights[:, ::-1]
        return RitzPairs(squares, weights, self._residual_norms(weights))

    @property
    def _projection(self) -> NDArray[np.float64]:
        return self._projected[: self.size, : self.size]

    def _residual_norms(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        # A^T A Q w - theta Q w = frontier @ (coupling @ w): the basis is orthonormal, so the small vector has the norm.
        return np.asarray(np.linalg.norm(self._coupling @ weights[self._coupled_from :], axis=0), np.float64)

    def vectors(self, pairs: RitzPairs, count: int) -> AnyFloats:
        """The first `count` Ritz vectors, shape (n, count)."""
        return self.basis.combine(pairs.weights[:, :count])

    def restart(self, pairs: RitzPairs, count: int) -> None:
        """Keep the first `count` Ritz vectors and the frontier, and forget the rest (thick restart)."""
        kept = self.vectors(pairs, count)
        # A^T A (Q W) = Q W Theta + frontier (coupling W): each Ritz vector keeps its own coupling to the frontier.
        self._coupling = self._coupling @ pairs.weights[self._coupled_from :, :count].astype(kept.dtype)
        self._coupled_from = 0
        self.basis = Basis(self.basis.n, self.basis.dtype)
        self.basis.append(kept)
        self._projected[:count, :count] = np.diag(pairs.squares[:count])

    def inject(self, block: AnyFloats) -> None:
        """Widen the frontier by directions that are not in the space yet."""
        block = block.astype(self.basis.dtype)
        scale = np.linalg.norm(block, axis=0)
        self.basis.project_out(block)
        for _ in range(2):
            block -= self.frontier @ (self.frontier.T @ block)
        fresh, _ = rank_revealing_qr(block, scale)
        fresh = fresh[:, : self.basis.n - self.size - self.frontier.shape[1]]
        self.frontier = np.hstack([self.frontier, fresh])
        # They come from outside the recurrence: nothing that was multiplied before points along them.
        silent = np.zeros((fresh.shape[1], self._coupling.shape[1]), self._coupling.dtype)
        self._coupling = np.vstack([self._coupling, silent])

    def _extend_projection(self, coefficients: NDArray[np.float64], old: int) -> None:
        new = self.size
        if new > self._projected.shape[0]:
            self._projected = np.pad(self._projected, (0, new))
        self._projected[:new, old:new] = coefficients
        self._projected[old:new, :new] = coefficients.T
        # The corner was computed twice, once for each side of its diagonal: the mean keeps T symmetric to the last bit.
        corner = coefficients[old:]
        self._projected[old:new, old:new] = (corner + corner.T) / 2
