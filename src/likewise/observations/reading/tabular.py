"""Delimited text and Parquet behind one face: columns, from which ids and numbers are taken."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from likewise.errors import FileFormatError, ObservationError
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.reading.delimited import parse, polars_failures, without_trace
from likewise.observations.reading.text import recognise
from likewise.observations.reading.unpack import Source

if TYPE_CHECKING:
    import polars as pl

_PARQUET = b"PAR1"
_TRIPLET_WIDTH = 4
"""The most fields of a triplet without header: user, item, rating, time."""


@dataclass(frozen=True, eq=False)
class Tabular:
    """A file of columns.

    Parameters
    ----------
    name : str
        What to call the file in messages.
    header : tuple of str or None
        The names of the columns, if they have any.
    width : int
        How many columns there are.
    is_bare : bool
        Whether it is text with blanks or tabs between more than the four fields of triplets, and without a header.
    take : callable
        ``take(ids, numbers, gaps)`` returns the columns at these positions as a frame, named by position;
        numbers may be missing if `gaps`.
    """

    name: str
    header: tuple[str, ...] | None
    width: int
    is_bare: bool
    take: Callable[[Sequence[int], Sequence[int], bool], pl.DataFrame]

    def label(self, position: int) -> str | int:
        """Return the name of a column, or its position where it has none."""
        return self.header[position] if self.header else position

    def names(self, positions: Iterable[int]) -> tuple[str, ...]:
        """Return what to call columns where people read it: their names, or "column 0", counted from 0."""
        return tuple(self.header[position] if self.header else f"column {position}" for position in positions)

    def roles(self, **roles: Sequence[int]) -> ColumnRoles:
        """Return which columns were read as what; all others were left out.

        Parameters
        ----------
        **roles : sequence of int
            The positions of each role of `ColumnRoles`.
        """
        used = {position for positions in roles.values() for position in positions}
        rest = [position for position in range(self.width) if position not in used]
        named = {role: self.names(positions) or None for role, positions in roles.items()}
        return ColumnRoles(self.name, left_out=self.names(rest), **named)


def is_parquet(source: Source) -> bool:
    """Return whether the file says that it is Parquet."""
    return source.data.startswith(_PARQUET)


def open_text(
    source: Source, separator: str | None, has_header: bool | None, encoding: str, of_triplets: bool = False
) -> Tabular:
    """Open delimited text; see `recognise`."""
    text = recognise(source, separator, has_header, encoding, of_triplets)
    is_bare = text.header is None and text.width > _TRIPLET_WIDTH and text.separator in (" ", "\t")
    return Tabular(text.name, text.header, text.width, is_bare, partial(parse, text))


def open_parquet(source: Source) -> Tabular:
    """Open a Parquet file.

    Raises
    ------
    FileFormatError
        Damaged, or without rows.
    """
    import polars as pl

    try:
        with without_trace():
            frame = pl.read_parquet(io.BytesIO(source.data))
    except polars_failures() as error:
        reason = str(error).partition("\n")[0]
        raise FileFormatError(f"{source.name} is damaged ({reason})", "a whole Parquet file") from error
    if not frame.height:
        raise FileFormatError(f"{source.name} has no rows", "at least one observation")
    return Tabular(source.name, tuple(frame.columns), frame.width, False, partial(_take, frame, source.name))


def _take(
    frame: pl.DataFrame, name: str, ids: Sequence[int], numbers: Sequence[int], gaps: bool
) -> pl.DataFrame:
    import polars as pl

    for position in numbers:
        if not (frame.dtypes[position].is_numeric() or frame.dtypes[position] == pl.Boolean):
            column = f"column {frame.columns[position]!r} of {name}"
            raise FileFormatError(f"{column}, of type {frame.dtypes[position]}", "numbers")
    for position in [*ids, *([] if gaps else numbers)]:
        if (missing := frame[:, position].is_null().arg_max()) is not None and frame[
            :, position
        ].null_count():
            column = f"column {frame.columns[position]!r} of {name}"
            raise ObservationError(
                f"{column} has nothing in row {missing} (counted from 0)", "a value in each row"
            )
    return frame.select(
        [frame[:, i].alias(str(i)) for i in ids] + [_as_float(frame[:, i]).alias(str(i)) for i in numbers]
    )


def _as_float(column: pl.Series) -> pl.Series:
    import polars as pl

    return column if column.dtype == pl.Float32 else column.cast(pl.Float64)
