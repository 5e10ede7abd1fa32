"""The column of a file that says when each observation was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise._typing import Floats
from likewise.errors import FileFormatError, ObservationError, option
from likewise.observations.reading.columns import Column, position_of
from likewise.observations.reading.formats import Tabular
from likewise.observations.reading.numerals import is_usually_missing

if TYPE_CHECKING:
    import polars as pl


def times_position(file: Tabular, column: Column | None, taken: Sequence[int]) -> list[int]:
    """Return the position of the column of times; nothing where none was named.

    Raises
    ------
    FileFormatError
        No such column, or one that is something else already.
    """
    if column is None:
        return []
    position = position_of(column, file.header, file.width, file.name)
    if position in taken:
        raise FileFormatError(
            f"{option('time', repr(column))} of {file.name}", "a column that is no user, item or rating"
        )
    return [position]


def times_of(column: pl.Series, file: str) -> Floats:
    """Return times as numbers: as they are, or of dates such as 2024-05-31 or 2024-05-31T12:00:00 the seconds since 1970.

    Parameters
    ----------
    column : polars.Series
        Numbers, dates, or text.
    file : str
        For the message.

    Returns
    -------
    ndarray
        NaN where a time is missing.

    Raises
    ------
    FileFormatError
        Neither a number nor a date; the message shows the first such.
    ObservationError
        No time at all.
    """
    import polars as pl

    text = column.cast(pl.String)
    words = {word for word in text.drop_nulls().unique().to_list() if is_usually_missing(word)}
    text = text.set(text.is_in(sorted(words)), None) if words else text
    numbers = text.cast(pl.Float64, strict=False)
    if text.null_count() == len(text):
        raise ObservationError(f"no time that is known in {file}", "at least one")
    if numbers.null_count() > text.null_count():
        numbers = min(_seconds(text), numbers, key=pl.Series.null_count)
    odd = text.filter(numbers.is_null() & text.is_not_null())
    if len(odd):
        raise FileFormatError(
            f"a time {odd[0]!r} in {file}",
            "numbers, such as seconds, or dates such as 2024-05-31 or 2024-05-31T12:00:00",
        )
    return np.asarray(numbers.to_numpy(), np.float64)


def _seconds(text: pl.Series) -> pl.Series:
    """Read dates with or without the time of the day; null where there is none."""
    import polars as pl

    plain = text.str.strip_chars().str.replace(" ", "T", literal=True).str.strip_suffix("Z")
    whole = pl.when(plain.str.contains("T", literal=True)).then(plain).otherwise(plain + "T00:00:00")
    stamps = pl.select(
        whole.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
    ).to_series()
    return stamps.cast(pl.Int64).cast(pl.Float64) / 1e6
