"""One dispatcher for every file: formats that say by their content what they are, and delimited text for the rest.

Whatever the format, what comes out is a `Tabular`, from which ratings, pairs, outputs, groups and tables of applicants take the columns
that they need, or an `ArrayFile` without columns. A format is three things, so one more is a few lines: `register_format`.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.errors import (
    FileFormatError,
    InputError,
    LikewiseError,
    MissingDependencyError,
    ObservationError,
)
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.reading.columns import Column, position_of
from likewise.observations.reading.delimited import Taken, Wanted, parse, without_trace
from likewise.observations.reading.numerals import find_notation
from likewise.observations.reading.parquet_pages import impossible_page
from likewise.observations.reading.text import IsHeader, TextOptions, recognise
from likewise.observations.reading.unpack import Source, is_npz, is_workbook
from likewise.stored import ARRAY_DAMAGE

if TYPE_CHECKING:
    import polars as pl

_TRIPLET_WIDTH = 4
"""The most fields of a triplet without header: user, item, rating, time."""


@dataclass(frozen=True, eq=False)
class Tabular:
    """A file of columns."""

    name: str  # what to call the file in messages
    header: tuple[str, ...] | None  # the names of the columns, if they have any
    width: int  # how many columns there are
    take: Callable[[Wanted], Taken]  # returns the columns that a `Wanted` names
    is_text: bool = False  # whether options of text have a meaning
    # text with blanks or tabs between more than the four fields of triplets, and without a header
    is_bare: bool = False

    def label(self, position: int) -> str | int:
        """Return the name of a column, or its position where it has none."""
        return self.header[position] if self.header else position

    def position(self, column: Column) -> int:
        """Return the position of a column that the caller named or numbered; see `position_of`."""
        return position_of(column, self.header, self.width, self.name)

    def names(self, positions: Iterable[int]) -> tuple[str, ...]:
        """Return what to call columns where people read it: their names, or "column 0", counted from 0."""
        return tuple(self.header[position] if self.header else f"column {position}" for position in positions)

    def roles(self, **roles: Sequence[int] | None) -> ColumnRoles:
        """Return which columns were read as what, from the positions of each role of `ColumnRoles`; all others were left out."""
        used = {position for positions in roles.values() for position in positions or ()}
        rest = [position for position in range(self.width) if position not in used]
        named: dict[str, Any] = {
            role: None if found is None else self.names(found) for role, found in roles.items()
        }
        return ColumnRoles(self.name, left_out=self.names(rest), **named)


@dataclass(frozen=True, eq=False)
class ArrayFile:
    """A file of arrays, without columns: .npy, or .npz of `numpy.savez` or `scipy.sparse.save_npz`. Nothing in it is executed."""

    name: str
    data: bytes

    def matrix(self) -> Any:
        """Return the sparse matrix that `scipy.sparse.save_npz` wrote.

        What is damaged or not a sparse matrix, and object arrays, which would have to be unpickled, raise a `FileFormatError`.
        """
        try:
            return sparse.load_npz(io.BytesIO(self.data))  # never unpickles
        except ARRAY_DAMAGE as error:
            raise FileFormatError(
                f"{self.name} holds no sparse matrix ({error})", "a file written by scipy.sparse.save_npz"
            ) from error

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name; that of .npy is called ``outputs``; damaged ones and object arrays raise a `FileFormatError`."""
        try:
            content = np.load(io.BytesIO(self.data), allow_pickle=False)
            return {"outputs": content} if isinstance(content, np.ndarray) else dict(content)
        except ARRAY_DAMAGE as error:
            raise FileFormatError(f"{self.name} cannot be read ({error})", "arrays of numbers") from error


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    name : str
        For messages.
    recognises : callable
        ``recognises(data)`` tells, from the bytes of the file, out of gzip and zip, whether it is of this format.
    read : callable
        ``read(data)`` returns a data frame of any library that narwhals knows.
    """

    name: str
    recognises: Callable[[bytes], bool]
    read: Callable[[bytes], Any]


_REGISTERED: dict[str, Format] = {}


def register_format(name: str, recognises: Callable[[bytes], bool], read: Callable[[bytes], Any]) -> None:
    r"""Teach every reader of files one more format; a format that is registered last is asked first.

    An installed package does it without a call, by an entry point of the group ``likewise.formats`` whose value is a `Format`.

    Parameters
    ----------
    name : str
        For messages. A name that is registered already is replaced.
    recognises : callable
        ``recognises(data)`` tells from the bytes of a file, out of gzip and zip, whether it is of this format.
    read : callable
        ``read(data)`` returns a data frame of any library that narwhals knows: then it is read as any table is, by the names of its columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars as pl
    >>> from likewise.observations import read_ratings
    >>> def read(data):
    ...     return pl.DataFrame([json.loads(line) for line in data.splitlines()[1:]], schema=["user", "item", "rating"], orient="row")
    >>> register_format("rows of JSON", lambda data: data.startswith(b"#rows"), read)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ratings.rows"
    >>> _ = file.write_text('#rows\n["ann", "tea", 5]\n["bob", "tea", 1]\n')
    >>> read_ratings(file).shape
    (2, 1)
    """
    _REGISTERED.pop(name, None)
    _REGISTERED[name] = Format(name, recognises, read)


@cache
def _installed() -> tuple[Format, ...]:
    return tuple(point.load() for point in entry_points(group="likewise.formats"))


def open_file(source: Source, options: TextOptions, is_header: IsHeader) -> Tabular | ArrayFile:
    """Find out what a file is; `is_header` tells whether the fields of a first line of text name its columns.

    What is damaged, empty, or of no format raises a `FileFormatError`.
    """
    if source.data.startswith(b"\x93NUMPY") or is_npz(source.data):
        return ArrayFile(source.name, source.data)
    for known in (*reversed(_REGISTERED.values()), *_installed(), *_BUILT_IN):
        if known.recognises(source.data):
            return _of_frame(source, known)
    text = recognise(source, options, is_header)
    is_bare = text.header is None and text.width > _TRIPLET_WIDTH and text.separator in (" ", "\t")
    return Tabular(text.name, text.header, text.width, partial(parse, text), is_text=True, is_bare=is_bare)


def open_columns(source: Source, options: TextOptions, is_header: IsHeader) -> Tabular:
    """Do the same for what needs columns: a file of arrays raises a `FileFormatError` too."""
    file = open_file(source, options, is_header)
    if isinstance(file, ArrayFile):
        raise FileFormatError(
            f"{file.name}, a file of arrays", "a table with columns: text, Parquet, JSON lines"
        )
    return file


def _of_frame(source: Source, known: Format) -> Tabular:
    import narwhals as nw
    import polars as pl

    try:
        with without_trace():
            frame = nw.from_native(known.read(source.data), eager_only=True).to_polars()
    except InputError as error:
        raise type(error)(f"{source.name}: {error.given}", error.expected, error.hint) from error
    except LikewiseError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # a format of others may raise anything
        reason = str(error).partition("\n")[0]
        raise FileFormatError(
            f"{source.name} is damaged ({reason})", f"a whole file of {known.name}"
        ) from error
    if not frame.height:
        raise FileFormatError(f"{source.name} has no rows", "at least one observation")
    return Tabular(source.name, tuple(frame.columns), frame.width, partial(_take, frame, source.name))


def _take(frame: pl.DataFrame, name: str, wanted: Wanted) -> Taken:
    """Take columns of a frame as `parse` takes them of text: ids and numbers are there in each row."""
    import polars as pl

    for position in [*wanted.ids, *([] if wanted.gaps else wanted.numbers)]:
        missing = frame[:, position].is_null()
        if missing.any():
            column, row = f"column {frame.columns[position]!r} of {name}", missing.arg_max()
            raise ObservationError(
                f"{column} has nothing in row {row} (counted from 0)", "a value in each row"
            )
    ids = [frame[:, i].alias(str(i)) for i in wanted.ids]
    numbers, notes = _numbers(frame, name, wanted)
    texts = [_as_text(frame[:, i], name).alias(str(i)) for i in wanted.texts]
    return Taken(pl.DataFrame([*ids, *numbers, *texts]), notes)


def _numbers(frame: pl.DataFrame, name: str, wanted: Wanted) -> tuple[list[pl.Series], list[str]]:
    """Return columns as numbers; text, as JSON may have, is read as numbers in text files are."""
    import polars as pl

    numbers, notes = list[pl.Series](), list[str]()
    for position in wanted.numbers:
        column, what = frame[:, position], f"column {frame.columns[position]!r} of {name}, of type "
        if column.dtype == pl.String:
            notation, found = find_notation([column], None, None, name)
            converted, is_missing = notation.numbers(column)
            notes += found
            if (converted.is_null() & ~(is_missing & wanted.gaps)).any():
                raise FileFormatError(what + str(column.dtype), "numbers")
        elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
            converted = column if column.dtype == pl.Float32 else column.cast(pl.Float64)
        else:
            raise FileFormatError(what + str(column.dtype), "numbers")
        numbers.append(converted.alias(str(position)))
    return numbers, notes


def _as_text(column: pl.Series, name: str) -> pl.Series:
    import polars as pl

    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise FileFormatError(f"column {column.name!r} of {name}, of type {column.dtype}", "numbers or text")
    return column.cast(pl.String)


def _read_parquet(data: bytes) -> pl.DataFrame:
    import polars as pl

    if impossible := impossible_page(data):
        raise FileFormatError(f"a damaged page ({impossible})", "a whole file of Parquet")
    return pl.read_parquet(io.BytesIO(data))


def _read_workbook(data: bytes) -> pl.DataFrame:
    import polars as pl

    try:
        # All rows decide what a column holds: by the first thousand, text further down would be missing without a word.
        return pl.read_excel(io.BytesIO(data), infer_schema_length=None, raise_if_empty=False)
    except ImportError as error:
        raise MissingDependencyError(
            "reading .xlsx needs fastexcel: pip install 'likewise[excel]', or save the sheet as CSV"
        ) from error


def _is_json_lines(data: bytes) -> bool:
    if not data.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(data.lstrip().partition(b"\n")[0]), dict)
    except (ValueError, RecursionError):
        return False


def _read_json_lines(data: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)


_BLOCK = re.compile(rb"\s*[0-9]+:[ \t]*\r?\n\s*[0-9]+,")


def _read_blocks(data: bytes) -> pl.DataFrame:
    """Read the Netflix Prize files: a line ``1:`` names the film, the lines below it a customer, a rating and a date each."""
    import polars as pl

    lines = pl.Series("line", data.decode().split("\n")).str.strip_chars()
    frame = pl.DataFrame({"line": lines, "place": np.arange(1, len(lines) + 1)}).filter(pl.col("line") != "")
    is_film = pl.col("line").str.contains("^[0-9]+:$")
    film = pl.when(is_film).then(pl.col("line").str.strip_suffix(":")).forward_fill().alias("movie")
    fields = pl.col("line").str.split_exact(",", 2).struct.rename_fields(["customer", "rating", "date"])
    ratings = frame.with_columns(film).filter(~is_film).with_columns(fields.alias("fields")).unnest("fields")
    numbers = [
        pl.col("customer", "movie").cast(pl.Int64, strict=False),
        pl.col("rating").cast(pl.Float64, strict=False),
    ]
    read = ratings.with_columns(numbers)
    wrong = read.filter(pl.any_horizontal(pl.col("customer", "rating").is_null()))
    if wrong.height:
        line, place = wrong["line"][0], wrong["place"][0]
        raise FileFormatError(f"line {place}, {line!r}", "CUSTOMER,RATING,DATE below a line such as '1:'")
    return read.select("customer", "movie", "rating", "date")


def _refuse_json(_: bytes) -> Any:
    raise FileFormatError(
        "one array of JSON", "JSON lines: one object a line", "jq -c '.[]' writes an array so"
    )


def _refuse_old_workbook(_: bytes) -> Any:
    raise FileFormatError(
        "a workbook of Excel before 2007, or another old Office file", ".xlsx or text", "save it as CSV"
    )


_BUILT_IN = (
    Format("Parquet", lambda data: data.startswith(b"PAR1"), _read_parquet),
    Format("Excel", is_workbook, _read_workbook),
    Format("Excel before 2007", lambda data: data.startswith(b"\xd0\xcf\x11\xe0"), _refuse_old_workbook),
    Format("JSON lines", _is_json_lines, _read_json_lines),
    Format("JSON", lambda data: re.match(rb"\s*\[\s*\{", data) is not None, _refuse_json),
    Format("Netflix blocks", lambda data: _BLOCK.match(data) is not None, _read_blocks),
)
