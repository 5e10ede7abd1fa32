"""Values that are probably no values, such as a code for "missing", and columns on scales of their own: what a warning is due for."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.errors import Note, ValueRangeWarning, option
from likewise.observations.observed_matrix import ObservedMatrix
from likewise.observations.table import Table, Values, keep_entries
from likewise.observations.value_range import MUCH_WIDER, column_extremes

_FREQUENT, _FEWEST_CODES = 0.01, 5
"""Share and number of the observations from which on one value far outside is a code, and no mistake in typing."""

_MOST = 0.9
"""Share of the columns with such a value in which it must lie far outside."""

_SAMPLE = 10_000
"""About how many values are looked at first."""

_BULK = (0.05, 0.95)
"""Between which quantiles the bulk of the values lies."""

_FEWEST_COLUMNS = 4
"""How many columns there must be besides one for it to have a scale of its own."""

_FEWEST_VALUES = 3
"""How many other values there must be for 0 or -1 to be doubted: of 0 and 1, both are values."""

_NOT_RATED = (0.0, -1.0)

_LONGEST_SCALE, _FEWEST_ON_SCALE = 25, 50
"""How many values the others have at most, and how many there are at least, for one far beyond them to be doubted: of counts and amounts, and of few, the largest often is."""


def doubts(table: Table, *, of_table: bool) -> list[str]:
    """Return what is so doubtful of the values that a warning is due, with the option that settles it.

    In a table, where each row was one individual, a column may be there that is not a feature.
    """
    values = table.values
    if not values.nnz or not np.isfinite(values.data).all():
        return []
    found = []
    if (code := _code(values)) is not None:
        found.append(
            f"{np.mean(values.data == code):.0%} of the values are {code:g}, far from all others: if it stands for missing, give "
            f"{option('missing_value', f'{code:g}')}; if it is a value, give {option('value_range', '(low, high)')}"
        )
    if of_table and (column := lonely_column(values, code)) is not None:
        name = table.column_ids[column : column + 1].tolist()[0]
        found.append(
            f"column {name!r} has a scale of its own, far outside that of the other {values.shape[1] - 1} columns: if it is not a feature, "
            f"give {option('exclude', repr(name))}; if it is one, {option('value_range', repr('per-column'))}"
        )
    return found


def note_on_lowest(data: Floats) -> list[str]:
    """Return a note where 0 or -1 may say that a line of ratings is not a rating."""
    if not data.size or (lowest := _not_rated(data)) is None:
        return []
    others = data[data > lowest]
    missing = option("missing_value", f"{lowest:g}")
    rated = option("value_range", f"({lowest:g}, {others.max():g})")
    told = (
        f"{np.mean(data == lowest):.0%} of the ratings are {lowest:g} and the others {others.min():g} to {others.max():g}: if {lowest:g} "
        f"stands for not rated, give {missing}; if it is a rating, give {rated}"
    )
    return [Note(told)]


def doubt_of_lone(data: Floats) -> list[str]:
    """Return a doubt, where few ratings lie beyond all others by more than these are apart, as after a slip of the finger."""
    for extreme, sign in ((data.max(), 1.0), (data.min(), -1.0)) if data.size else ():
        others = data[data != extreme]
        n_lone = data.size - others.size
        if others.size < _FEWEST_ON_SCALE or n_lone >= max(_FREQUENT * data.size, _FEWEST_CODES):
            continue
        low, high = float(others.min()), float(others.max())
        beyond = sign * (extreme - (high if sign > 0 else low))
        # Farther beyond the others than these are apart, and these are few values: a scale.
        if beyond > high - low > 0 and _FEWEST_VALUES <= np.unique(others).size <= _LONGEST_SCALE:
            told = (
                f"{n_lone:,} of the ratings {'is' if n_lone == 1 else 'are'} {extreme:g} and the others {low:g} to {high:g}: if that is a slip, leave such lines out; if it "
                f"stands for not rated, give {option('missing_value', f'{extreme:g}')}; if it is a rating, give {option('value_range', f'({min(low, extreme):g}, {max(high, extreme):g})')}"
            )
            return [told]
    return []


def _not_rated(data: Floats) -> float | None:
    """Return 0 or -1 where it is the lowest value, the others are 1 and more (0 and more, if it is -1), and there are several."""
    lowest = float(data.min())
    if lowest not in _NOT_RATED:
        return None
    others = data[data > lowest]
    return None if not others.size or _are_few(others) or others.min() < lowest + 1 else lowest


def _are_few(values: Floats) -> bool:
    """Return whether there are too few different values to doubt another one; mostly the first thousand tell."""
    return np.unique(values[:1000]).size < _FEWEST_VALUES and np.unique(values).size < _FEWEST_VALUES


def _code(values: Values) -> float | None:
    """Return a value that is frequent and lies outside the other values of its columns by more than their whole width."""
    # A sample proposes, which is quick and mostly finds none; all values decide.
    for code in _candidates(values.data[:: max(1, values.nnz // _SAMPLE)]):
        is_code = values.data == code
        if is_code.sum() >= max(_FREQUENT * is_code.size, _FEWEST_CODES) and _lies_outside(
            values, is_code, code
        ):
            return float(code)
    return None


def _candidates(sample: Floats) -> list[float]:
    """Return the frequent values of a sample that lie outside the bulk of its other values by more than its width: quick, and mostly none."""
    values, count = np.unique(sample, return_counts=True)
    found = []
    for code in values[count >= max(_FREQUENT / 2 * sample.size, 2)].tolist():
        low, high = np.quantile(sample[sample != code], _BULK) if values.size > 1 else (code, code)
        if code > high + (high - low) or code < low - (high - low):
            found.append(code)
    return found


def _lies_outside(values: Values, is_code: NDArray[np.bool_], code: float) -> bool:
    rest = keep_entries(values, ~is_code)
    if _are_few(rest.data):
        return False
    low, high = column_extremes(rest)
    has_code = np.bincount(values.indices[is_code], minlength=low.size) > 0
    judged = has_code & (high > low)
    if not judged.any():  # columns of one value each: judged together
        low, high, judged = rest.data.min(keepdims=True), rest.data.max(keepdims=True), np.array([True])
    width = high[judged] - low[judged]
    outside = (code > high[judged] + width) | (code < low[judged] - width)
    return bool(outside.mean() >= _MOST)


def lonely_column(values: Values, code: float | None = None) -> int | None:
    """Return the one column whose values reach far out of what all the others have in common, if there is one.

    A `code` for "missing" is left aside: in a published grid of ratings from -10 to 10, 99 where nobody rated, the first column counts the ratings.
    """
    kept = values if code is None else keep_entries(values, values.data != code)
    low, high = column_extremes(kept)
    seen = np.flatnonzero(high >= low)
    if seen.size <= _FEWEST_COLUMNS:
        return None
    for bottoms, tops in ((low, high), (-high, -low)):  # far above the others, then far below
        column = int(seen[np.argmax(tops[seen])])
        others = seen[seen != column]
        bottom, top = bottoms[others].min(), tops[others].max()
        if top > bottom and tops[column] > top + (top - bottom):
            is_lonely = _lies_beyond(kept, column, low[others].min(), high[others].max())
            return column if is_lonely and _are_alike(bottoms[others], tops[others]) else None
    return None


def _lies_beyond(values: Values, column: int, bottom: float, top: float) -> bool:
    """Return whether most of a column lies outside what the others have in common; a single value does not make it another scale."""
    own = values.data[values.indices == column]
    return bool(np.mean((own < bottom) | (own > top)) > 1 / 2)


def _are_alike(low: Floats, high: Floats) -> bool:
    """Return whether columns share a scale: nearly all of them overlap the middle half of their common range."""
    bottom, top = low.min(), high.max()
    quarter = (top - bottom) / 4
    return bool(np.mean((high >= bottom + quarter) & (low <= top - quarter)) >= _MOST)


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
    # NaN compares as false: a column without a scale is not narrow.
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
