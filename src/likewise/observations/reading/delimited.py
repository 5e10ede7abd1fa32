"""What polars does where a file is damaged in a way that it did not foresee: it panics, and prints a trace of its own."""

from __future__ import annotations

import contextlib
import math
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError, InputError, ObservationError, option
from likewise.observations.reading.text import MISSING_WORDS, DelimitedText, is_missing, is_number

if TYPE_CHECKING:
    import polars as pl

_STANDARD_ERROR = 2


def polars_failures() -> tuple[type[BaseException], ...]:
    """Return what polars raises about a file that it cannot read."""
    import polars as pl

    return pl.exceptions.PolarsError, pl.exceptions.PanicException


@contextmanager
def without_trace() -> Iterator[None]:
    """Hold back what is written to standard error within, and drop it if polars panics: the error says it all.

    The trace is written by compiled code, past `sys.stderr`, so the file descriptor itself is pointed elsewhere for the time.
    """
    import polars as pl

    with tempfile.TemporaryFile() as held:
        kept = os.dup(_STANDARD_ERROR)
        os.dup2(held.fileno(), _STANDARD_ERROR)
        is_trace = False
        try:
            yield
        except pl.exceptions.PanicException:
            is_trace = True
            raise
        finally:
            os.dup2(kept, _STANDARD_ERROR)
            os.close(kept)
            if not is_trace:
                held.seek(0)
                os.write(_STANDARD_ERROR, held.read())


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


_CHUNK = 2**24


def parse(
    text: DelimitedText, ids: Sequence[int], numbers: Sequence[int], gaps: bool = False
) -> pl.DataFrame:
    """Return the columns at the given positions, named by position.

    Parameters
    ----------
    text : DelimitedText
    ids : sequence of int
        Columns of ids: integers where every one is written as an integer is, else text.
    numbers : sequence of int
        Columns of numbers.
    gaps : bool
        Whether a number may be missing: an empty field or a word such as NA.

    Raises
    ------
    FileFormatError, ObservationError
        With the line number and the content of the first line that is wrong.
    """
    if text.quote and text.body.count(text.quote.encode()) % 2:
        raise _explanation(text, ids, numbers, gaps, "a quote that is never closed")
    frame = _read(text, ids, numbers, gaps)
    # The parser fills up lines that end too early with nulls, and overlooks a separator at the very end.
    is_odd = frame[:, -1].null_count() > 0 or text.body.endswith(text.separator.encode())
    is_incomplete = _lacks_something(frame, ids, [] if gaps else numbers)
    if (is_odd or is_incomplete) and (fault := first_fault(text, ids, numbers, gaps)):
        raise fault
    if is_incomplete:
        raise FileFormatError(f"{text.name} with a field that is missing or not finite", "an id and a number")
    integers = [_as_integers(frame[str(i)]) for i in ids]
    return frame.select(str(i) for i in (*ids, *numbers)).with_columns(integers)


def _read(text: DelimitedText, ids: Sequence[int], numbers: Sequence[int], gaps: bool) -> pl.DataFrame:
    """Try integer ids, which are far quicker, before text."""
    import polars as pl

    if not _has_odd_integer(text):
        with contextlib.suppress(*polars_failures()):
            return _read_as(pl.Int64(), text, ids, numbers, gaps)
    try:
        return _read_as(pl.String(), text, ids, numbers, gaps)
    except polars_failures() as error:
        raise _explanation(text, ids, numbers, gaps, str(error).partition("\n")[0]) from error


def _read_as(
    id_type: pl.DataType, text: DelimitedText, ids: Sequence[int], numbers: Sequence[int], gaps: bool
) -> pl.DataFrame:
    import polars as pl

    schema: dict[str, pl.DataType] = {str(i): pl.String() for i in range(text.width)}
    schema |= {str(i): id_type for i in ids}
    schema |= {str(i): pl.Float64() for i in numbers}
    return pl.read_csv(
        text.body,
        has_header=False,
        schema=schema,
        separator=text.separator,
        quote_char=text.quote,
        null_values=list(MISSING_WORDS) if gaps else None,
    )


def _explanation(
    text: DelimitedText, ids: Sequence[int], numbers: Sequence[int], gaps: bool, reason: str
) -> InputError:
    fault = first_fault(text, ids, numbers, gaps)
    return fault or FileFormatError(f"{text.name} cannot be parsed ({reason})", "delimited text")


def _lacks_something(frame: pl.DataFrame, ids: Sequence[int], numbers: Sequence[int]) -> bool:
    """Return whether an id or a number is missing, or a number not finite."""
    import polars as pl

    has_gap = any(frame[str(i)].null_count() for i in (*ids, *numbers))
    has_empty_id = any((frame[str(i)] == "").any() for i in ids if frame[str(i)].dtype == pl.String)
    return has_gap or has_empty_id or not all(frame[str(i)].is_finite().all() for i in numbers)


def _as_integers(ids: pl.Series) -> pl.Series:
    """Make integers of ids all of which are written as integers are; 007 and 1.0 stay text."""
    import polars as pl

    if ids.dtype != pl.String:
        return ids
    integers = ids.cast(pl.Int64, strict=False)
    return integers if (integers.cast(pl.String) == ids).fill_null(False).all() else ids


def _has_odd_integer(text: DelimitedText) -> bool:
    """Return whether any field starts with a plus, a minus and a zero, or a zero and a digit: as integers, 007 and +7 are 7."""
    starts = [b"\n", text.separator.encode(), b'"']
    signs = [sign for sign in (b"+", b"-0") if sign in text.body]
    if any(start + sign in text.body for start in starts for sign in signs):
        return True
    if re.match(rb"\+|-0|0[0-9]", text.body):
        return True
    content = np.frombuffer(text.body, dtype=np.uint8)
    before_field = np.frombuffer(b"".join(starts), dtype=np.uint8)
    chunks = (content[start : start + _CHUNK + 2] for start in range(0, content.size, _CHUNK))
    return any(_has_zero_and_digit(chunk, before_field) for chunk in chunks)


def _has_zero_and_digit(chunk: NDArray[np.uint8], before_field: NDArray[np.uint8]) -> bool:
    zero, nine = b"09"
    zeros = np.flatnonzero(chunk[1:-1] == zero) + 1
    following = chunk[zeros + 1]
    is_leading = np.isin(chunk[zeros - 1], before_field) & (following >= zero) & (following <= nine)
    return bool(is_leading.any())
