"""Parse delimited text: quickly where it is written plainly, carefully where it is not, and with the first wrong line named."""

from __future__ import annotations

import contextlib
import math
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError, InputError, ObservationError, option
from likewise.observations.reading.numerals import Decimal, Notation, find_notation, note_on_missing
from likewise.observations.reading.text import DelimitedText

if TYPE_CHECKING:
    import polars as pl

_STANDARD_ERROR = 2


@dataclass(frozen=True)
class Wanted:
    """Which columns are read, by position, and as what."""

    ids: Sequence[int] = ()  # integers where every one is written as an integer is, else text
    numbers: Sequence[int] = ()
    texts: Sequence[int] = ()  # as they stand; null where nothing does
    gaps: bool = False  # whether a number may be missing
    hint: str = ""  # what to do where a number is none and none may be missing

    @property
    def all(self) -> list[int]:
        """Every position."""
        return [*self.ids, *self.numbers, *self.texts]


@dataclass(frozen=True, eq=False)
class Taken:
    """Columns that were read, named by position, what happened on the way, the decimal sign where the numbers show it, and which words count as missing."""

    frame: pl.DataFrame
    notes: list[str] = field(default_factory=list)
    decimal: Decimal | None = None
    words: list[str] = field(default_factory=list)


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


def parse(text: DelimitedText, wanted: Wanted) -> Taken:
    """Return the wanted columns, or raise with the line number and the content of the first line that is wrong."""
    notation, notes, words = Notation(missing=text.options.missing), list[str](), list[str]()
    if (frame := _read_quickly(text, wanted)) is None:
        frame, notation, notes, words = _read_carefully(text, wanted)
    decimal = notation.decimal if notes else None
    notes += _refuse_swallowed_lines(text, frame.height)
    # The parser fills up lines that end too early with nulls, and overlooks a separator at the very end.
    is_odd = frame[:, -1].null_count() > 0 or text.body.endswith(text.separator.encode())
    is_incomplete = _lacks_something(frame, wanted)
    if (is_odd or is_incomplete) and (fault := first_fault(text, wanted, notation)):
        raise fault
    if is_incomplete:
        raise FileFormatError(f"{text.name} with a field that is missing or not finite", "an id and a number")
    frame = frame.select(map(str, wanted.all)).with_columns(_as_integers(frame, wanted.ids))
    return Taken(frame, notes, decimal, words)


def _read_quickly(text: DelimitedText, wanted: Wanted) -> pl.DataFrame | None:
    """Read plain numbers, and ids that are integers or else text; None where that is not what the file has."""
    import polars as pl

    if text.options.decimal == "," or text.options.missing or not text.has_plain_quotes:
        return None
    kinds = [pl.Int64()] if wanted.ids and not _has_odd_integer(text) else []
    # Ids as integers first; where one is none, the fast parser fails, and all are read as text.
    for kind in (*kinds, pl.String()):
        schema = _schema(text, wanted.ids, kind) | {str(i): pl.Float64() for i in wanted.numbers}
        with contextlib.suppress(*polars_failures()), without_trace():
            frame = _read_as(text, schema)
            numbers = [frame[str(i)] for i in wanted.numbers]
            # NaN is a word for "missing"; null an empty field, or what a line that is too short does not have.
            is_odd = [column.is_nan().any() if wanted.gaps else column.null_count() > 0 for column in numbers]
            return None if any(is_odd) else frame
    return None


def _schema(text: DelimitedText, positions: Sequence[int], kind: pl.DataType) -> dict[str, pl.DataType]:
    import polars as pl

    return {str(i): pl.String() for i in range(text.width)} | {str(i): kind for i in positions}


def _read_as(text: DelimitedText, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(
        text.body, has_header=False, schema=schema, separator=text.separator, quote_char=text.quote
    )


def _read_carefully(
    text: DelimitedText, wanted: Wanted
) -> tuple[pl.DataFrame, Notation, list[str], list[str]]:
    """Read everything as text, and make numbers of it in the notation that the file has; notes on that, and on words that count as missing."""
    frame = _read_as_text(text, wanted)
    columns = [frame[str(i)] for i in wanted.numbers]
    options = text.options
    notation, notes = find_notation(columns, options.decimal, options.missing, text.name)
    converted = [notation.numbers(column) for column in columns]
    if any((numbers.is_null() & ~(is_missing & wanted.gaps)).any() for numbers, is_missing in converted):
        raise _explanation(text, wanted, notation, "a number that is none")
    words: list[str] = []
    if wanted.gaps:
        names = [f"column {i}" if text.header is None else text.header[i] for i in wanted.numbers]
        words = note_on_missing(zip(names, columns, (missing for _, missing in converted), strict=True))
    return frame.with_columns(numbers for numbers, _ in converted), notation, notes, words


def _read_as_text(text: DelimitedText, wanted: Wanted) -> pl.DataFrame:
    import polars as pl

    schema = _schema(text, (), pl.String())
    if not text.has_plain_quotes:
        return _read_odd_quotes(text, wanted, schema)
    try:
        with without_trace():
            return _read_as(text, schema)
    except polars_failures() as error:
        reason = str(error).partition("\n")[0]
        raise _explanation(text, wanted, Notation(missing=text.options.missing), reason) from error


def _read_odd_quotes(text: DelimitedText, wanted: Wanted, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """Split with Python, which follows quotes where the fast parser goes astray: inches beside quoted fields, backslashes."""
    import polars as pl

    notation = Notation(missing=text.options.missing)
    try:
        records = [record for _, record in text.records(strict=True)]
    except FileFormatError as error:
        fault = first_fault(text, wanted, notation)
        raise fault or FileFormatError(
            f"{text.name} has a quote that is never closed, or one that is followed by more of its field",
            "quotes around whole fields, doubled within",
            f"where quotes enclose nothing, give {option('quote', repr('none'))}",
        ) from error
    if any(len(record) != text.width for record in records):
        raise _explanation(text, wanted, notation, "lines of unlike length")
    # As the fast parser does, so that an empty field is nothing.
    rows = [[entry or None for entry in record] for record in records]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _refuse_swallowed_lines(text: DelimitedText, n_rows: int) -> list[str]:
    """Hold the rows that were read against the lines of the file: a quote may have enclosed lines that nobody meant it to.

    Return a note where fields span lines. Where the lines are as complete when quotes enclose nothing, nobody but the caller knows: a
    `FileFormatError`.
    """
    n_lines = text.n_lines
    if n_rows == n_lines:
        return []
    if text.quote is None:
        raise FileFormatError(f"{text.name}, of whose {n_lines:,} lines {n_rows:,} are read", "all of them")
    separator, quote = text.separator.encode(), text.quote.encode()
    # Without the quotes each line would be a full row, too: then the file can be read in two ways.
    complete = all(line.count(separator) == text.width - 1 for line in text.body.split(b"\n"))
    if complete and text.options.quote is None:
        lines = text.body.split(b"\n")
        first = next(k for k, line in enumerate(lines) if line.count(quote) % 2) + text.first_line
        raise FileFormatError(
            f"{text.name}, where a quote in line {first} encloses the end of the line: {n_rows:,} of {n_lines:,} lines are read, or all if quotes "
            "enclose nothing",
            "one reading",
            f"give {option('quote', repr('none'))} or {option('quote', repr(text.quote))}",
        )
    return [f"fields in quotes span lines: {n_rows:,} rows were read from {n_lines:,} lines"]


def first_fault(text: DelimitedText, wanted: Wanted, notation: Notation) -> InputError | None:
    """Return the error about the first line that is wrong, or None."""
    for line, record in text.records():
        if (fault := _fault(text, record, wanted, notation)) is not None:
            kind, what, *rest = fault
            return kind(f"line {line} of {text.name}, {text.as_in_file(record)}, has {what}", *rest)
    return None


def _fault(
    text: DelimitedText, record: list[str], wanted: Wanted, notation: Notation
) -> tuple[type[InputError], str, str, str] | None:
    if len(record) != text.width:
        return FileFormatError, f"{len(record)} fields", f"{text.width}, as in the first line", ""
    if any(not record[i].strip() for i in wanted.ids):
        return ObservationError, "no id", "an id in every line", ""
    for i in wanted.numbers:
        try:
            number = notation.number(record[i])
        except ValueError:
            return _no_number(text, record, i, wanted)
        is_nan = record[i].strip().lower() == "nan"
        if number is None and not (wanted.gaps or is_nan):
            return _no_number(text, record, i, wanted)
        if (number is None and not wanted.gaps) or (number is not None and not math.isfinite(number)):
            return ObservationError, f"the value {record[i]}", "a finite number", ""
    return None


def _no_number(
    text: DelimitedText, record: list[str], position: int, wanted: Wanted
) -> tuple[type[InputError], str, str, str]:
    """Name the column, if it has a name; in a table, where numbers may be missing, it may be none of the features."""
    what = f"{record[position]!r} where a number should be"
    hint = wanted.hint
    if text.header is not None:
        what += f", in column {text.header[position]!r}"
    if text.header is not None and wanted.gaps:
        hint = f"if it is not a feature, give {option('exclude', repr(text.header[position]))}, or name those that are: {option('columns')}"
        hint += (
            f"; categories are compared by {option('reference', repr('gower'))} beside {option('outputs')}"
        )
    return FileFormatError, what, "a number", hint


def _explanation(text: DelimitedText, wanted: Wanted, notation: Notation, reason: str) -> InputError:
    fault = first_fault(text, wanted, notation)
    return fault or FileFormatError(f"{text.name} cannot be parsed ({reason})", "delimited text")


def _lacks_something(frame: pl.DataFrame, wanted: Wanted) -> bool:
    """Return whether an id or a number is missing, or a number not finite."""
    import polars as pl

    ids, numbers = ([frame[str(i)] for i in positions] for positions in (wanted.ids, wanted.numbers))
    has_gap = any(column.null_count() for column in (*ids, *([] if wanted.gaps else numbers)))
    has_empty_id = any((column == "").any() for column in ids if column.dtype == pl.String)
    return has_gap or has_empty_id or not all(column.is_finite().all() for column in numbers)


def _as_integers(frame: pl.DataFrame, positions: Sequence[int]) -> list[pl.Series]:
    """Make integers of ids all of which are written as integers are, perhaps with blanks around; 007 and 1.0 stay text."""
    import polars as pl

    columns = []
    for ids in (frame[str(i)] for i in positions):
        if ids.dtype == pl.String:
            bare = ids.str.strip_chars()
            integers = bare.cast(pl.Int64, strict=False)
            columns.append(integers if (integers.cast(pl.String) == bare).fill_null(False).all() else ids)
    return columns


_CHUNK = 2**24


def _has_odd_integer(text: DelimitedText) -> bool:
    """Return whether any field starts with a plus, a minus and a zero, or a zero and a digit: as integers, 007 and +7 are 7."""
    starts = [b"\n", b" ", text.separator.encode(), (text.quote or '"').encode()]
    signs = [sign for sign in (b"+", b"-0") if sign in text.body]
    if any(start + sign in text.body for start in starts for sign in signs):
        return True
    if re.match(rb"\+|-0|0[0-9]", text.body):
        return True
    content = np.frombuffer(text.body, dtype=np.uint8)
    before_field = np.frombuffer(b"".join(starts), dtype=np.uint8)
    # Two bytes more than a step: each three neighbours lie whole in one of the chunks.
    chunks = (content[start : start + _CHUNK + 2] for start in range(0, content.size, _CHUNK))
    return any(_has_zero_and_digit(chunk, before_field) for chunk in chunks)


def _has_zero_and_digit(chunk: NDArray[np.uint8], before_field: NDArray[np.uint8]) -> bool:
    zero, nine = b"09"
    zeros = np.flatnonzero(chunk[1:-1] == zero) + 1
    following = chunk[zeros + 1]
    is_leading = np.isin(chunk[zeros - 1], before_field) & (following >= zero) & (following <= nine)
    return bool(is_leading.any())
