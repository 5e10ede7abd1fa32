"""How a proved bound compares with pairs whose distances were measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError, ShapeError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairCheck:
    """How a bound compares with pairs whose distances were measured.

    Parameters
    ----------
    n_pairs, n_violated : int
        Pairs compared, and pairs whose output distance exceeds the bound.
    largest_excess : float
        Largest output distance minus bound; negative where every pair has room, ``-inf`` without pairs.
    largest_share : float
        Largest output distance over bound: 1 means that a pair attains the bound. 0 without pairs.
    """

    n_pairs: int
    n_violated: int
    largest_excess: float
    largest_share: float

    @property
    def holds(self) -> bool:
        """Whether no pair exceeds the bound."""
        return self.n_violated == 0

    def __str__(self) -> str:
        return f"{self.n_violated:,} of {self.n_pairs:,} pairs exceed the bound; the closest reaches {self.largest_share:.1%} of it"


def check_pairs(bounds: Floats, outputs: Floats) -> PairCheck:
    """Compare output distances with the bound of each pair; equal shapes."""
    excess = outputs - bounds
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(outputs > 0, outputs / bounds, 0.0)
    return PairCheck(
        n_pairs=outputs.size,
        n_violated=int((excess > 0).sum()),
        largest_excess=float(excess.max(initial=-np.inf)),
        largest_share=float(shares.max(initial=0.0)),
    )


def checked_distances(inputs: ArrayLike, outputs: ArrayLike) -> tuple[Floats, Floats]:
    """Return both distances of every pair as arrays.

    Raises
    ------
    ShapeError
        If their shapes differ.
    InputError
        If a distance is negative, infinite or NaN.
    """
    both = _finite(inputs), _finite(outputs)
    if both[0].shape != both[1].shape:
        raise ShapeError(
            f"distances of shapes {both[0].shape} and {both[1].shape}", "one of each for every pair"
        )
    return both


def _finite(distances: ArrayLike) -> Floats:
    checked = np.asarray(distances, dtype=np.float64)
    wrong = int((~(np.isfinite(checked) & (checked >= 0))).sum())
    if wrong:
        hint = "leave out pairs whose distance is not defined"
        raise InputError(f"{wrong} distances that are negative, infinite or NaN", "finite numbers >= 0", hint)
    return checked
