"""What a growing Krylov space has to deliver, and when it is worth looking whether it does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.spectrum.request import Request

_RESOLVED = 200.0  # units in the last place of ||A||^2 below which an eigenvalue of A^T A drowns in rounding


@dataclass(frozen=True)
class Goal:
    """What is wanted, as far as the present Ritz values tell.

    Parameters
    ----------
    wanted : int
        How many of the largest eigenvalues of A^T A.
    level : float
        Nothing above it may be missing: tau^2, or the smallest wanted eigenvalue where `at_most` decides.
    floor : float
        Eigenvalues below it drown in the rounding of the working precision.
    resolved : bool
        Whether the level is what was asked for, not the floor.
    """

    wanted: int
    level: float
    floor: float
    resolved: bool

    @classmethod
    def of(cls, squares: NDArray[np.float64], request: Request, dtype: np.dtype[Any]) -> Goal:
        """Derive the goal from Ritz values, largest first."""
        floor = _RESOLVED * float(np.finfo(dtype).eps) * max(float(squares[0]), 0.0)
        level = max(request.square, floor)
        wanted = int(np.count_nonzero(squares > level))
        if request.at_most is not None and wanted >= request.at_most:
            level = float(squares[request.at_most - 1])
            return cls(request.at_most, level, floor, True)
        return cls(wanted, level, floor, request.square >= floor)

    @property
    def unresolved_reason(self) -> str:
        """Why nothing can be said below the floor."""
        return f"below {self.floor**0.5:.1e} singular values are lost in the rounding of A^T A"


class Pace:
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
        if self._last is not None and self._last[1] == wanted and 1 < excess < self._last[2]:
            slope = math.log(self._last[2] / excess) / (size - self._last[0])
            growth = min(0.9 * math.log(excess) / slope, 0.5 * size)
        self._last = (size, wanted, excess)
        # Below three columns for each wanted one nothing has ever converged.
        self.next_size = max(size + math.ceil(growth), min(3 * wanted, 2 * size))


def columns_that_fit(n: int, dtype: np.dtype[Any], memory_limit: float) -> int:
    """How many columns a Krylov space may have: basis, its combination, and three p x p float64 arrays."""
    per_column = 2 * n * dtype.itemsize
    return min(n, int((math.sqrt(per_column**2 + 4 * 24 * memory_limit) - per_column) / 48))
