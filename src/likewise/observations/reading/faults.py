"""Find the first line that is wrong, and say what is wrong with it; slow, and only run where something is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from likewise.errors import FileFormatError, InputError, ObservationError
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
            kind, what, expected = fault
            return kind(f"line {line} of {text.name}, {text.as_in_file(record)}, has {what}", expected)
    return None


def _fault(
    text: DelimitedText, record: list[str], ids: Sequence[int], numbers: Sequence[int], gaps: bool
) -> tuple[type[InputError], str, str] | None:
    if len(record) != text.width:
        return FileFormatError, f"{len(record)} fields", f"{text.width}, as in the first line"
    if any(not record[i].strip() for i in ids):
        return ObservationError, "no id", "an id in every line"
    for i in numbers:
        if gaps and is_missing(record[i]):
            continue
        if not is_number(record[i]):
            return FileFormatError, f"{record[i]!r} where a number should be", "a number"
        if not math.isfinite(float(record[i])):
            return ObservationError, f"the value {record[i]}", "a finite number"
    return None
