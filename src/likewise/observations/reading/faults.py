"""Find the first line that is wrong, and say what is wrong with it; slow, and only run where something is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from likewise.errors import FileFormatError, InputError, ObservationError, option
from likewise.observations.reading.text import DelimitedText, is_missing, is_number


def first_fault(
    text: DelimitedText, ids: Sequence[int], numbers: Sequence[int], gaps: bool
) -> InputError | None:
    """Return the error about the first line that is wrong, or None.

    Parameters
    ----------
    text : DelimitedText
    ids, numbers : sequence of int
        Positions of the columns that are read.
    gaps : bool
        Whether numbers may be missing.
    """
    for line, record in text.records():
        if (fault := _fault(text, record, ids, numbers, gaps)) is not None:
            kind, what, *rest = fault
            return kind(f"line {line} of {text.name}, {text.as_in_file(record)}, has {what}", *rest)
    return None


def _fault(
    text: DelimitedText, record: list[str], ids: Sequence[int], numbers: Sequence[int], gaps: bool
) -> tuple[type[InputError], str, str, str] | None:
    if len(record) != text.width:
        return FileFormatError, f"{len(record)} fields", f"{text.width}, as in the first line", ""
    if any(not record[i].strip() for i in ids):
        return ObservationError, "no id", "an id in every line", ""
    for i in numbers:
        if gaps and is_missing(record[i]):
            continue
        if not is_number(record[i]):
            return _no_number(text, record, i, gaps)
        if not math.isfinite(float(record[i])):
            return ObservationError, f"the value {record[i]}", "a finite number", ""
    return None


def _no_number(
    text: DelimitedText, record: list[str], position: int, gaps: bool
) -> tuple[type[InputError], str, str, str]:
    """Name the column, if it has a name; in a table, where numbers may be missing, it may be none of the features."""
    what, hint = f"{record[position]!r} where a number should be", ""
    if text.header is not None:
        what += f", in column {text.header[position]!r}"
        hint = f"if it is no feature, name those that are: {option('columns')}" if gaps else ""
    return FileFormatError, what, "a number", hint
