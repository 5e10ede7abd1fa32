"""Columns of features as they are given, under their names, and the ids that their rows carry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.errors import ObservationError, ShapeError, some_of
from likewise.observations.column_roles import KNOWN, is_id, plain_name
from likewise.observations.frames import as_frame
from likewise.observations.ids import is_unknown, objects
from likewise.observations.index_alignment import row_labels_of
from likewise.observations.times import number_of

if TYPE_CHECKING:
    import narwhals as nw

_BETWEEN = "|"
"""What stands between the words of a cell that holds several, such as ``Action|Comedy``."""


def labelled_columns(
    given: Any, ids: NDArray[Any], axis: str
) -> tuple[list[tuple[str, NDArray[Any]]], list[Any] | None]:
    """Return the columns under their names, and the ids that the rows carry."""
    if isinstance(given, Mapping):
        listed = {str(name): _listed(column) for name, column in given.items()}
        _check_lengths({name: len(column) for name, column in listed.items()}, axis)
        found = {name: column.tolist() for name, column in listed.items() if _names(name, axis)}
        label, labels = _label_of(found, ids, axis, others=False)
        return [(name, column) for name, column in listed.items() if name != label], labels
    frame = as_frame(given)
    if frame is not None:
        found = {
            str(name): frame.get_column(name).to_list() for name in frame.columns if _names(str(name), axis)
        }
        label, labels = _label_of(found, ids, axis)
        others = [name for name in frame.columns if str(name) != label]
        named = row_labels_of(given) if label is None else labels
        return [(str(name), _cells(frame.get_column(name))) for name in others], named
    if isinstance(given, str | PathLike):
        raise ShapeError(
            f"{given!r} as {axis} features", "a table", "read the file first, as polars.read_csv does"
        )
    array = as_array(given, f"{axis} features", ShapeError)
    labels = row_labels_of(given) if array.ndim == 1 else None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ShapeError(
            f"{axis} features of shape {array.shape}", f"a row for each {axis} of the observations"
        )
    return [(str(place), array[:, place]) for place in range(array.shape[1])], labels


def _check_lengths(lengths: dict[str, int], axis: str) -> None:
    if len(different := sorted(set(lengths.values()), reverse=True)) > 1:
        raise ShapeError(
            f"columns of {axis} features with {' and '.join(map(str, different[:2]))} rows",
            "as many rows in each",
        )


def _names(name: str, axis: str) -> bool:
    """Return whether a column is called what names individuals are called, or, beside columns of a matrix, what items are called."""
    return is_id(name) or (axis == "column" and KNOWN["item"].fullmatch(plain_name(name)) is not None)


def _label_of(
    found: dict[str, list[Any]], ids: NDArray[Any], axis: str, others: bool = True
) -> tuple[str | None, list[Any] | None]:
    """Return which of the columns that are called like ids names the rows, and the names; whole numbers that were read as fractions are whole.

    Where `others` is False, names of others altogether are refused. An `ObservationError` also says where a column has mostly ids of the
    observations, but some of them twice.
    """
    known, fallback = set(map(str, ids.tolist())), None
    for name, cells in found.items():
        listed = [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]
        texts = [str(cell) for cell in listed]
        shared = len(known.intersection(texts))
        # Most of the shorter side are ids of the observations: no chance, so the column names rows.
        is_known = 2 * shared > min(len(texts), len(known))
        is_fraction = any(isinstance(cell, float) for cell in listed if not is_unknown(cell))
        if is_known and len(set(texts)) < len(texts):
            raise ObservationError(
                f"{axis} features with an id twice in column {name!r}",
                "each id once",
                "drop that column if it holds no ids",
            )
        if len(set(texts)) == len(texts) and not is_fraction:
            if is_known:
                return name, listed
            # Called like an id, and each another: it may name rows of others, if nothing better comes.
            fallback = fallback or (name, listed)
    return fallback if fallback is not None and others else (None, None)


def _listed(column: Any) -> NDArray[Any]:
    """Return a column as an array of objects; NumPy would make text of a list of words and numbers."""
    if isinstance(column, np.ndarray):
        return column
    try:
        listed = list(column)
    except TypeError as error:
        raise ShapeError(
            f"a column of features of type {type(column).__name__}", "a list of cells"
        ) from error
    return objects(listed)


def _cells(column: nw.Series[Any]) -> NDArray[Any]:
    import narwhals as nw

    if column.dtype == nw.Boolean or column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return objects(column.to_list())


def numbers_of(name: str, cells: NDArray[Any]) -> Floats | None:
    """Return a column of numbers, dates or spans of time as numbers, NaN where one is missing; None where a cell is something else.

    Complex numbers, records and infinite numbers raise an `ObservationError`.
    """
    if cells.dtype.kind in "cV" or any(isinstance(cell, complex) for cell in cells.tolist()):
        raise ObservationError(f"feature {name!r} of complex numbers or records", "numbers, words or dates")
    numbers = cells if cells.dtype.kind in "biuf" else _numbers_of_objects(cells)
    if numbers is not None and np.isinf(found := np.asarray(numbers, dtype=np.float64)).any():
        raise ObservationError(
            f"feature {name!r} with infinite values", "finite numbers; NaN where one is missing"
        )
    return None if numbers is None else found


def words_of_cells(name: str, cells: NDArray[Any]) -> list[set[str] | None]:
    """Return the words of each cell: of ``Action|Comedy``, and of a list, each counts; None where it is missing; cells with fields are refused.

    >>> [sorted(words or ()) for words in words_of_cells("genre", np.array(["Action|Comedy", None, 3.0], dtype=object))]
    [['Action', 'Comedy'], [], ['3']]
    """
    return [_words(name, cell) for cell in cells.tolist()]


def _words(name: str, cell: Any) -> set[str] | None:
    if isinstance(cell, Mapping):
        raise ObservationError(
            f"feature {name!r} whose cells hold fields of their own",
            "numbers, words or dates",
            "give a column to each field",
        )
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        return {word for part in cell for word in _words(name, part) or ()}
    if is_unknown(cell) or not str(cell).strip():
        return None
    # Whole numbers that were read as fractions, because others are missing, are whole.
    text = str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)
    return {word.strip() for word in text.split(_BETWEEN)}


def _numbers_of_objects(cells: NDArray[Any]) -> Floats | None:
    if cells.dtype.kind in "mM":  # NumPy would give those in nanoseconds as whole numbers
        cells = cells.astype(f"{cells.dtype.kind}8[us]")
    known = [None if is_unknown(cell) else cell for cell in cells.tolist()]
    if not all(cell is None or isinstance(cell, Real | Decimal | date | timedelta) for cell in known):
        return None
    return np.array([np.nan if cell is None else number_of(cell) for cell in known])


_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_NAMED = 4


def note_on_numbers_as_text(columns: Sequence[tuple[str, NDArray[Any]]], axis: str) -> tuple[str, ...]:
    """Say which features are categories although every word in them is a number: codes, or measurements read as text."""
    found = [name for name, cells in columns if _is_text_of_numbers(cells)]
    shown = some_of(found, _NAMED, str)
    told = f"{axis} features with numbers written as text are taken as categories: {shown}; convert measurements to numbers first"
    return (told,) if found else ()


def _is_text_of_numbers(cells: NDArray[Any]) -> bool:
    listed = [cell for cell in cells.tolist() if not is_unknown(cell) and str(cell).strip()]
    return bool(listed) and all(isinstance(cell, str) and _NUMBER.fullmatch(cell) for cell in listed)
