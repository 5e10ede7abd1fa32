"""Parse delimited text with polars: fast where all is well, and precise about the first line where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError
from likewise.observations.reading.faults import MISSING_WORDS, first_fault
from likewise.observations.reading.text import DelimitedText

if TYPE_CHECKING:
    import polars as pl

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
    import polars as pl

    id_type = pl.String() if _has_leading_zero(text) else pl.Int64()
    try:
        frame = _read(text, ids, numbers, id_type, gaps)
    except pl.exceptions.PolarsError:
        frame = _read_with_text_ids(text, ids, numbers, gaps)
    if _is_suspicious(frame, ids, numbers, gaps) and (fault := first_fault(text, ids, numbers, gaps)):
        raise fault
    integers = [_as_integers(frame[str(i)]) for i in ids]
    return frame.select(str(i) for i in (*ids, *numbers)).with_columns(integers)


def _read(
    text: DelimitedText, ids: Sequence[int], numbers: Sequence[int], id_type: pl.DataType, gaps: bool
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


def _read_with_text_ids(
    text: DelimitedText, ids: Sequence[int], numbers: Sequence[int], gaps: bool
) -> pl.DataFrame:
    import polars as pl

    try:
        return _read(text, ids, numbers, pl.String(), gaps)
    except pl.exceptions.PolarsError as error:
        fault = first_fault(text, ids, numbers, gaps)
        reason = str(error).partition("\n")[0]
        raise fault or FileFormatError(
            f"{text.name} cannot be parsed ({reason})", "delimited text"
        ) from error


def _is_suspicious(frame: pl.DataFrame, ids: Sequence[int], numbers: Sequence[int], gaps: bool) -> bool:
    """Return whether a line may be at fault: the parser fills up lines that end too early with nulls."""
    needed = [*ids, *([] if gaps else numbers)]
    may_end_early = frame[:, -1].null_count() > 0
    has_gap = any(frame[str(i)].null_count() for i in needed)
    return (
        may_end_early or has_gap or (not gaps and not all(frame[str(i)].is_finite().all() for i in numbers))
    )


def _as_integers(ids: pl.Series) -> pl.Series:
    """Make integers of ids all of which are written as integers are; 007 and 1.0 stay text."""
    import polars as pl

    if ids.dtype != pl.String:
        return ids
    integers = ids.cast(pl.Int64, strict=False)
    return integers if (integers.cast(pl.String) == ids).fill_null(False).all() else ids


def _has_leading_zero(text: DelimitedText) -> bool:
    """Return whether any field starts with a zero and another digit: as an integer, 007 would be the same as 7."""
    content = np.frombuffer(text.body, dtype=np.uint8)
    before_field = np.frombuffer(f'\n{text.separator}"'.encode(), dtype=np.uint8)
    chunks = (content[start : start + _CHUNK + 2] for start in range(0, content.size, _CHUNK))
    starts_with_it = text.body[:1] == b"0" and text.body[1:2].isdigit()
    return starts_with_it or any(_has_zero_and_digit(chunk, before_field) for chunk in chunks)


def _has_zero_and_digit(chunk: NDArray[np.uint8], before_field: NDArray[np.uint8]) -> bool:
    zero, nine = b"09"
    zeros = np.flatnonzero(chunk[1:-1] == zero) + 1
    following = chunk[zeros + 1]
    is_leading = np.isin(chunk[zeros - 1], before_field) & (following >= zero) & (following <= nine)
    return bool(is_leading.any())
