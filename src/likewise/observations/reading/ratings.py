"""Observations from a file, and to one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

from numpy.typing import NDArray

from likewise.errors import Note, ValueRangeWarning
from likewise.observations.convert import to_table
from likewise.observations.doubtful_values import (
    doubt_of_lone,
    doubts,
    note_on_lowest,
    warn_of_unlike_columns,
)
from likewise.observations.observed_matrix import ObservedMatrix, as_observed
from likewise.observations.reading.columns import Column
from likewise.observations.reading.formats import ArrayFile, open_file
from likewise.observations.reading.layouts import Choices, Layout, read_triplets, read_wide
from likewise.observations.reading.text import Quote, TextOptions
from likewise.observations.reading.unpack import Source, unpack
from likewise.observations.table import DuplicateRule, Table, without_value
from likewise.observations.value_range import RangeChoice
from likewise.writing import PathLike as WritablePath
from likewise.writing import spreadsheet_safe, write_file


def read_ratings(
    path: str | PathLike[str],
    *,
    format: Layout | None = None,
    user: Column | None = None,
    item: Column | None = None,
    rating: Column | None = None,
    time: Column | None = None,
    columns: Sequence[Column] | None = None,
    id_columns: Column | Sequence[Column] | None = None,
    exclude: Column | Sequence[Column] | None = None,
    missing_value: float | None = None,
    missing: Sequence[str] | None = None,
    value_range: RangeChoice = None,
    shape: tuple[int, int] | None = None,
    duplicates: DuplicateRule = "error",
    separator: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
    decimal: Literal[".", ","] | None = None,
    quote: Quote | None = None,
) -> ObservedMatrix:
    r"""Read observations from a file; most files need nothing but their path.

    Four layouts are read. **Triplets**, one line an observation: MovieLens ``ratings.dat`` (``::``, with or without
    time) and ``u.data`` (tabs), Netflix blocks, JSON lines, any delimited text with or without a header, Parquet. **Pairs**, the same without a
    value, as of clicks: only if the caller says so. **Wide** tables, one row an individual under a header, as of applicants and their marks: name
    the ``columns``. **Grids** of bare numbers, one row an individual. Besides, ``.npz`` files of `scipy.sparse.save_npz`, and ``.npy``. Any of
    these may be inside gzip or zip. The content tells what a file is, not its name.

    Parameters
    ----------
    path : path-like
        ``~`` is the home folder, ``-`` standard input.
    format : {"triplets", "pairs", "wide", "grid"}, optional
        The layout, where looking goes wrong: a grid of three or four columns looks like triplets. With ``"pairs"`` each line is a value of 1 on
        the range 0 to 1.
    user, item, rating : str or int, optional
        Columns of triplets, by name or by position counted from 0. By default found by their usual names (``userId``,
        ``movie_id``, ``stars``...), or, where there is no header, the first three.
    time : str or int, optional
        Column of triplets that says when each observation was made, in numbers or as dates such as ``2024-05-31T12:00:00``. Not read by default.
    columns : sequence of str or int, optional
        The features of a wide table or a grid, in this order. By default all but `id_columns` and `exclude`; a column that looks like an id, an
        index or a count of rows is then refused. An empty cell is missing, and so is NA, null, ? and the like.
    id_columns : str, int, or sequence of them, optional
        What names the individuals of a wide table; several are joined by ``/``. By default rows are numbered from 0.
    exclude : str, int, or sequence of them, optional
        Columns of a wide table that are not features.
    missing_value : float, optional
        A number that stands for "missing", such as 0 in a grid. Without it every number is an observation. It is taken out before `duplicates` are
        looked for, so an observation wins over a missing value of the same pair.
    missing : sequence of str, optional
        Words that stand for "missing", in place of the usual ones. In triplets, where none do by default, such lines are left out.
    value_range : (low, high), ValueRange, or "per-column", optional
        See `ObservedMatrix`.
    shape : (int, int), optional
        Size of the matrix for triplets with integer ids; see `ObservedMatrix.from_triplets`.
    duplicates : {"error", "first", "last", "mean"}
        What to do where triplets repeat a pair.
    separator : str, optional
        What separates fields, one character or more. By default found in the first line.
    header : bool, optional
        Whether the first line names the columns. By default found by looking for numbers in it.
    encoding : str
    decimal : {".", ","}, optional
        What separates decimals; the other one, a blank or an apostrophe may separate thousands. By default found from the numbers.
    quote : {'"', "'", "none"}, optional
        What encloses fields. By default ``"`` if any field starts with it.

    Returns
    -------
    ObservedMatrix
        With the ids of the file: integers where all are written as integers are, else text. Its `roles` say which columns were read as what, its
        `notes` what was found or inferred.

    Raises
    ------
    FileFormatError
        Missing, a directory, empty, binary, damaged, in another encoding or layout; with the first offending line.
    ObservationError
        Ids missing; repeated pairs; values that are not finite, outside the range, or all equal.
    ShapeError
        Ids that do not fit `shape`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ratings.dat"
    >>> _ = file.write_text("1::10::5::978300760\n1::20::0::978302109\n2::10::3::978301968\n")
    >>> read_ratings(file, value_range=(0, 5))
    ObservedMatrix(2 individuals x 2 features, 3 observed (75.000%), ValueRange(0 to 5))
    >>> read_ratings(file, value_range=(0, 5), time=3).times
    array([9.78300760e+08, 9.78302109e+08, 9.78301968e+08])
    """
    choices = Choices(
        format=format,
        user=user,
        item=item,
        rating=rating,
        time=time,
        columns=columns,  # type: ignore[arg-type]  # made a tuple there
        id_columns=id_columns,  # type: ignore[arg-type]
        exclude=exclude,  # type: ignore[arg-type]
        missing_value=missing_value,
        shape=shape,
        duplicates=duplicates,
        text=TextOptions(separator, header, encoding, decimal, quote, missing),  # type: ignore[arg-type]
    )
    table, layout = _read(unpack(path), choices)
    if value_range is None:
        table, value_range = _questioned(table, layout, choices)
    observed = ObservedMatrix.from_table(table, value_range)
    if layout == "wide":
        warn_of_unlike_columns(observed, stacklevel=2)
    return observed


def _questioned(table: Table, layout: str, choices: Choices) -> tuple[Table, RangeChoice]:
    """Note and warn of values that are probably none, where the caller declared no range; return the range that pairs have."""
    if layout == "pairs":
        # Each line counts as 1, of which nothing could be inferred.
        return table, (0, 1)
    found = doubts(table, of_table=layout in ("wide", "grid") and choices.columns is None)
    if layout == "triplets" and not found:
        found = doubt_of_lone(table.values.data)
    for doubt in found:
        warnings.warn(doubt, ValueRangeWarning, stacklevel=3)
    notes: list[str] = [Note(doubt) for doubt in found]
    if not found and choices.missing_value is None and layout == "triplets":
        notes = note_on_lowest(table.values.data)
    return replace(table, notes=(*table.notes, *notes)), None


def _read(source: Source, choices: Choices) -> tuple[Table, Layout | Literal["matrix"]]:
    file = open_file(source, choices.text, choices.is_header)
    if isinstance(file, ArrayFile):
        choices.refuse_without_effect(file.name, "matrix")
        return without_value(to_table(file.matrix()), choices.missing_value), "matrix"
    layout = choices.layout(file)
    choices.refuse_without_effect(file.name, layout, *["text"] * file.is_text)
    if layout in ("triplets", "pairs"):
        return read_triplets(file, choices), layout
    return read_wide(file, choices, layout), layout


def write_ratings(path: WritablePath, observed: ObservedMatrix | Any) -> None:
    """Write a line ``user,item,rating`` and then one line for each observation, which `read_ratings` reads.

    Parameters
    ----------
    path : path-like
        An existing file is replaced.
    observed : ObservedMatrix, or what its constructor takes
        Ids are written as text; before one that a spreadsheet would run as a formula, such as ``=1+1``, stands an apostrophe. Individuals and
        features without an observation, and the value range, are not in such a file.

    Raises
    ------
    OutputError
        The file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> write_ratings(file, ObservedMatrix([[5.0, float("nan")], [3.0, 1.0]], row_ids=["ann", "bob"]))
    >>> print(file.read_text(), end="")
    user,item,rating
    ann,0,5.0
    bob,0,3.0
    bob,1,1.0
    """
    import polars as pl

    observed = as_observed(observed)
    rows, columns = observed.positions()
    frame = pl.DataFrame(
        {
            "user": _plain(observed.row_ids[rows]),
            "item": _plain(observed.column_ids[columns]),
            "rating": observed.values.data,
        }
    )
    write_file(path, frame.write_csv)


def _plain(ids: NDArray[Any]) -> list[Any]:
    return [spreadsheet_safe(str(name)) for name in ids.tolist()] if ids.dtype == object else ids.tolist()
