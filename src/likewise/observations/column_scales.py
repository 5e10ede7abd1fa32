"""Columns of a table with scales of their own, for all of which one range was inferred: the narrow ones then hardly count."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ValueRangeWarning, option
from likewise.observations.observed_matrix import ObservedMatrix
from likewise.observations.value_range import MUCH_WIDER, column_extremes

_NAMED = 5


def warn_of_unlike_columns(observed: ObservedMatrix, stacklevel: int) -> None:
    """Say so, and which, where one inferred range squeezes columns into a corner of it; a range that was declared is meant so.

    The call that is shown beside the warning is `stacklevel` frames up, counted from 1, the caller of this function.
    """
    found = observed.value_range
    if not found.inferred or found.low.ndim or not observed.to_table().is_dense:
        return
    low, high = column_extremes(observed.values)
    # A column that is constant, or empty, has no scale to compare.
    widths = np.where(high > low, high - low, np.nan)
    if np.isnan(widths).all():
        return
    widest = int(np.nanargmax(widths))
    narrow = np.flatnonzero(widths * MUCH_WIDER < widths[widest])
    if not narrow.size:
        return
    warnings.warn(
        f"one value range, {found.low:g} to {found.high:g}, is inferred for all columns, so that columns whose own is narrow hardly count: "
        f"{_listed(observed, narrow, low, high)}, beside {_described(observed, widest, low, high)}. "
        f"Give {option('value_range', repr('per-column'))}, or the range that values can take.",
        ValueRangeWarning,
        stacklevel=stacklevel + 1,
    )


def _listed(
    observed: ObservedMatrix, columns: NDArray[np.intp], low: NDArray[np.float64], high: NDArray[np.float64]
) -> str:
    named = ", ".join(_described(observed, column, low, high) for column in columns[:_NAMED])
    return named + (f" and {columns.size - _NAMED} more" if columns.size > _NAMED else "")


def _described(
    observed: ObservedMatrix, column: int | np.intp, low: NDArray[np.float64], high: NDArray[np.float64]
) -> str:
    return f"{observed.column_ids[column]} ({low[column]:g} to {high[column]:g})"
