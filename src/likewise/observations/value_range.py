"""The range that observed values live in, and the affine map between it and the method's own interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import ObservationError, unknown_name

Interval = Literal["symmetric", "unit"]
"""``"symmetric"`` is [-1, 1], the interval of the theory (Section 3); ``"unit"`` is [0, 1], used in Experiment 2."""

Columns = NDArray[np.integer] | slice | None

_BOUNDS: dict[Interval, tuple[float, float]] = {"symmetric": (-1.0, 1.0), "unit": (0.0, 1.0)}


_ROUNDINGS = 4
"""As many roundings are in a value, the two ends of the range and their middle."""


@dataclass(frozen=True, eq=False)
class AffineScale:
    """The map ``x -> (x - shift) / factor`` from the user's units onto an interval of the method.

    Parameters
    ----------
    shift, factor : ndarray, shape () or (n_columns,)
        One number for all columns, or one for each.
    bounds : tuple of float
        The interval that the value range is mapped onto.
    """

    shift: NDArray[np.float64]
    factor: NDArray[np.float64]
    bounds: tuple[float, float]

    def forward(self, values: ArrayLike, columns: Columns = None) -> NDArray[np.float64]:
        """Map values in the user's units to the interval; `columns` says which column each value belongs to.

        What is 0 there but for rounding is 0, as a missing entry is once it is filled: 3.15 is in the middle of 2.2 to 4.1.
        """
        given = np.asarray(values)
        shift, factor = _of(self.shift, columns), _of(self.factor, columns)
        scaled: NDArray[np.float64] = (given - shift) / factor
        unit = np.finfo(given.dtype if given.dtype.kind == "f" else np.float64).eps
        return np.where(np.abs(scaled) <= _ROUNDINGS * unit * (1 + np.abs(shift / factor)), 0.0, scaled)

    def backward(self, values: ArrayLike, columns: Columns = None) -> NDArray[np.float64]:
        """Map values in the interval back to the user's units."""
        return np.asarray(values) * _of(self.factor, columns) + _of(self.shift, columns)


def _of(parameter: NDArray[np.float64], columns: Columns) -> NDArray[np.float64]:
    """Return the parameter of each column named; all of them, for whole rows, by default."""
    return parameter if parameter.ndim == 0 or columns is None else parameter[columns]


@dataclass(frozen=True, eq=False)
class ValueRange:
    """The smallest and largest value that an entry can take, in the user's units.

    Parameters
    ----------
    low, high : ndarray, shape () or (n_columns,)
        Bounds, one pair for all columns or one pair for each; finite, ``low < high``.
    inferred : bool
        True where the bounds are the smallest and largest value seen, not declared by the caller.

    Examples
    --------
    >>> stars = ValueRange.declared((1, 5))
    >>> stars.scale_to("symmetric").forward([1, 3, 5])
    array([-1.,  0.,  1.])
    >>> stars
    ValueRange(1 to 5)
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    inferred: bool = False

    @classmethod
    def declared(cls, bounds: tuple[ArrayLike, ArrayLike]) -> ValueRange:
        """Check a pair (low, high) of numbers or of arrays with one entry a column.

        Raises
        ------
        ObservationError
            If the pair is malformed, not finite, or not increasing.
        """
        try:
            low, high = (np.asarray(bound, dtype=np.float64) for bound in bounds)
            low, high = np.broadcast_arrays(low, high)
        except (TypeError, ValueError) as error:
            raise ObservationError(
                f"value range {bounds!r}", "a pair (low, high)", "for example (1, 5)"
            ) from error
        with np.errstate(over="ignore", invalid="ignore"):
            width = high - low  # overflows for bounds near the largest number
        if low.ndim > 1 or not (np.isfinite(width) & (width / 2 > 0)).all():
            raise ObservationError(f"value range {bounds!r}", "finite bounds with low < high")
        return cls(low, high)

    def scale_to(self, interval: Interval) -> AffineScale:
        """Return the affine map from this range onto `interval`."""
        if interval not in _BOUNDS:
            raise ObservationError(*unknown_name("interval", interval, _BOUNDS))
        low, high = _BOUNDS[interval]
        factor = (self.high - self.low) / (high - low)
        return AffineScale(np.asarray(self.low - low * factor), np.asarray(factor), (low, high))

    def __str__(self) -> str:
        origin = ", inferred from the data" if self.inferred else ""
        if self.low.ndim:
            return f"{self.low.size} columns, each its own{origin}"
        return f"{self.low:g} to {self.high:g}{origin}"

    def __repr__(self) -> str:
        return f"ValueRange({self})"
