"""What every source of observations is turned into before it is checked: values and ids."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Values: TypeAlias = sparse.csr_array[Any, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Table:
    """Observations with the names of their rows and columns, and what happened on the way.

    Parameters
    ----------
    values : scipy.sparse.csr_array, shape (n_individuals, n_features)
        Float64 or float32, sorted, without duplicates, owned by the table.
    row_ids, column_ids : ndarray
    notes : tuple of str
        What the reader of a result should know about how the table came to be.
    """

    values: Values
    row_ids: NDArray[Any]
    column_ids: NDArray[Any]
    notes: tuple[str, ...] = ()

    def with_note(self, note: str) -> Table:
        """Return the same table with one thing more to know about it."""
        return replace(self, notes=(*self.notes, note))


def float_type(dtype: np.dtype[Any]) -> type[np.float32 | np.float64]:
    """Return the type that observations are kept in: float32 if given so, else float64."""
    return np.float32 if dtype == np.float32 else np.float64


def index_type(largest: int) -> type[np.int32 | np.int64]:
    """Return the shortest type that SciPy's sparse arrays can hold an index in."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def rows_of_entries(values: Values) -> NDArray[np.integer]:
    """Return the row of each stored entry, in storage order."""
    return np.repeat(np.arange(values.shape[0], dtype=values.indices.dtype), np.diff(values.indptr))


def keep_entries(values: Values, kept: NDArray[np.bool_]) -> Values:
    """Return a matrix of the same shape with some of the stored entries, marked in storage order."""
    kept_before = np.concatenate(([0], np.cumsum(kept)))
    indptr = kept_before[values.indptr].astype(values.indptr.dtype)
    return type(values)((values.data[kept], values.indices[kept], indptr), shape=values.shape)


def with_data(values: Values, data: NDArray[np.floating]) -> Values:
    """Return a matrix with the same entries stored, but other values."""
    return type(values)((data, values.indices, values.indptr), shape=values.shape)


def without_value(table: Table, missing: float | None) -> Table:
    """Return a table in which the entries that equal `missing` are missing."""
    if missing is None:
        return table
    kept = is_observed(table.values.data, missing)
    remaining = replace(table, values=keep_entries(table.values, kept))
    return remaining.with_note(note_on_missing(kept, missing))


def is_observed(numbers: NDArray[np.floating], missing: float) -> NDArray[np.bool_]:
    """Mark the numbers that differ from the one that stands for missing."""
    observed: NDArray[np.bool_] = numbers != numbers.dtype.type(missing)
    return observed


def note_on_missing(kept: NDArray[np.bool_], missing: float) -> str:
    """Say how many numbers stood for missing."""
    return f"{np.count_nonzero(~kept):,} entries equal to {missing:g} count as missing"


def notes_on_size(values: Values) -> list[str]:
    """Say what is allowed but surprising: rows or columns without observation, or a single one."""
    rows, columns = values.shape
    empty_rows = np.count_nonzero(np.diff(values.indptr) == 0)
    empty_columns = columns - np.count_nonzero(np.bincount(values.indices, minlength=columns))
    candidates = {
        f"{empty_rows:,} of {rows:,} rows have no observation": empty_rows > 0,
        f"{empty_columns:,} of {columns:,} columns have no observation": empty_columns > 0,
        "there is one individual only": rows == 1,
        "there is one feature only": columns == 1,
    }
    return [note for note, holds in candidates.items() if holds]
