"""Positions on an axis, checked: what NumPy would round, wrap around or take for a mask is refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import ShapeError


def checked_positions(given: ArrayLike, length: int, axis: str) -> NDArray[np.intp]:
    """Return positions on an axis as integers.

    Parameters
    ----------
    given : array-like of int
        From 0 to ``length - 1``; counting from the end is refused, since -1 is also what look-ups return for "not found".
    length : int
        Of the axis.
    axis : str
        ``"row"`` or ``"column"``, for the message.

    Raises
    ------
    ShapeError
        Fractions, booleans, text; a position outside the axis, which is named.

    Examples
    --------
    >>> checked_positions([2, 0], 3, "row")
    array([2, 0])
    >>> checked_positions([3], 3, "row")
    Traceback (most recent call last):
    ...
    likewise.errors.ShapeError: row position 3; expected positions from 0 to 2. Hint: positions are not ids
    """
    positions = np.asarray(given)
    if not positions.size:
        return positions.astype(np.intp)
    if positions.dtype.kind not in "iu":
        raise ShapeError(f"{axis} positions of type {positions.dtype}", "integers, counted from 0")
    outside = positions[(positions < 0) | (positions >= length)]
    if outside.size:
        raise ShapeError(
            f"{axis} position {outside[0]}", f"positions from 0 to {length - 1}", "positions are not ids"
        )
    return positions.astype(np.intp)


def checked_selection(given: ArrayLike, length: int, axis: str) -> NDArray[np.intp]:
    """Return positions, also those that a mask marks.

    Parameters
    ----------
    given : array-like of int, or of bool with one entry for each position
    length, axis
        See `checked_positions`.

    Raises
    ------
    ShapeError
        A mask of another length; else as `checked_positions`.
    """
    chosen = np.atleast_1d(given)
    if chosen.dtype != np.bool_:
        return checked_positions(chosen, length, axis)
    if chosen.shape != (length,):
        raise ShapeError(f"a mask of shape {chosen.shape}", f"one entry for each of {length} {axis}s")
    return np.flatnonzero(chosen)
