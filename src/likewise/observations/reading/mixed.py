"""Features of people or of columns from a file: numbers and categories, as distances such as Gower's and estimators take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError, option
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.ids import label_axis
from likewise.observations.reading.columns import Column, as_columns, find_ids, refuse_counts
from likewise.observations.reading.delimited import Wanted
from likewise.observations.reading.doubtful_columns import remarks_on
from likewise.observations.reading.formats import open_columns
from likewise.observations.reading.layouts import feature_columns, joined_ids
from likewise.observations.reading.numerals import Notation, find_notation
from likewise.observations.reading.text import PLAIN_TEXT, TextOptions, checked_text
from likewise.observations.reading.unpack import unpack

if TYPE_CHECKING:
    import polars as pl

_NUMERIC = 0.5
"""Share of the cells that are numbers from which on a column with others is a damaged column of numbers, and no category."""


@dataclass(frozen=True, eq=False)
class MixedTable:
    """A table of people as it was read."""

    frame: pl.DataFrame  # (m, n_features), numbers are Float64, categories String; null where missing
    row_ids: NDArray[Any]  # (m,), from the columns of ids, or 0, 1, 2...
    roles: ColumnRoles
    notes: tuple[str, ...]  # which columns are categories, and what else was found


def read_table(
    path: str | PathLike[str],
    *,
    columns: Column | Sequence[Column] | None = None,
    id_columns: Column | Sequence[Column] | None = None,
    exclude: Column | Sequence[Column] | None = None,
    categories: Column | Sequence[Column] | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> MixedTable:
    r"""Read a table with one row for each individual, whose features are numbers or categories.

    Parameters
    ----------
    path : path-like
        Delimited text with a header, JSON lines or Parquet.
    columns : str, int, or sequence of them, optional
        The features; by default all but `id_columns` and `exclude`, as in `read_ratings`.
    id_columns : str, int, or sequence of them, optional
        What names the individuals; the parts of several are joined by ``/``.
    exclude : str, int, or sequence of them, optional
        Columns that are not features.
    categories : str, int, or sequence of them, optional
        Features that are categories although they are written in digits, such as a code of a region.
    text : TextOptions
        How delimited text is read.

    Returns
    -------
    MixedTable

    Raises
    ------
    FileFormatError
        As `read_ratings`; also a column that is mostly numbers, but not always.
    ObservationError
        Individuals that share an id.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("name,age,job\nann,20,cook\nbea,?,nurse\n")
    >>> people = read_table(file, id_columns="name")
    >>> people.frame.rows(), people.row_ids.tolist()
    ([(20.0, 'cook'), (None, 'nurse')], ['ann', 'bea'])
    >>> people.roles.sentence()
    "Read people.csv: individuals from name, numbers from age, categories from job; 1 cell of age that says '?' counts as missing."
    """
    import polars as pl

    file = open_columns(unpack(path, "individuals"), checked_text(text), lambda _: True)
    named = {"columns": columns, "id_columns": id_columns, "exclude": exclude}
    ids, features = feature_columns(file, *(as_columns(given, name) for name, given in named.items()))
    as_said = {file.position(name) for name in as_columns(categories, "categories") or ()}
    taken = file.take(Wanted(ids=ids, texts=features))
    read = [
        _feature(taken.frame[str(position)], file.label(position), text, position in as_said, file.name)
        for position in features
    ]
    names = [column.name for column, _ in read]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise FileFormatError(
            f"{file.name} with columns that share a name: {', '.join(map(repr, repeated))}",
            "distinct column names",
        )
    frame = pl.DataFrame([column for column, _ in read])
    if columns is None:
        numbered = frame.rename(dict(zip(frame.columns, map(str, features), strict=True)))
        refuse_counts(file.header, features, numbered, file.name, "a feature", "columns")
    joined = joined_ids(taken.frame, ids)
    row_ids = np.arange(frame.height) if joined is None else label_axis(joined, frame.height, "row")
    words = [column.name for column in frame if column.dtype == pl.String]
    notes = [*taken.notes, *(note for _, found in read for note in found)]
    notes += [f"categories: {', '.join(words)}"] if words else []
    roles = file.roles(ids=ids or None, features=features)
    remarks = remarks_on(taken.frame.select(map(str, features)), frame, file.names([*as_said]))
    roles = replace(roles, remarks=remarks, categories=tuple(words))
    return MixedTable(frame, row_ids, roles, tuple(notes))


def _feature(
    texts: pl.Series, label: str | int, options: TextOptions, is_category: bool, file: str
) -> tuple[pl.Series, list[str]]:
    """Return one column as numbers if it holds them, else as categories."""
    name = str(label)
    notation, notes = Notation(missing=options.missing), list[str]()
    if not is_category:
        notation, notes = find_notation([texts], options.decimal, options.missing, file)
    numbers, is_missing = notation.numbers(texts)
    is_word = numbers.is_null() & ~is_missing
    if not is_category and not is_word.any():
        return numbers.alias(name), notes
    n_words, n_known = int(is_word.sum()), int((~is_missing).sum())
    if not is_category and n_words < _NUMERIC * n_known:
        first = texts.filter(is_word)[0]
        raise FileFormatError(
            f"column {name!r} of {file}, of whose {n_known:,} cells {n_words:,} are not numbers, such as {first!r}",
            "numbers, or categories",
            f"give {option('missing', repr(first))} if that stands for missing, or {option('categories', repr(name))}",
        )
    return texts.str.strip_chars().set(is_missing, None).alias(name), []


def read_features(
    path: str | PathLike[str],
    *,
    id_columns: Column | Sequence[Column] | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> pl.DataFrame:
    r"""Read a table with a header, one row for each individual (or for each column of the matrix): its id, and what is known of it.

    A column ``id`` comes first, then numbers and words, null where missing: what `with_features` takes. By default the id is the one column that
    is called like one, or else the first. Errors are those of `read_table`, and a `FileFormatError` where there is no column beside the ids.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = file.write_text("movieId,year,genres\n1,1995,Comedy|War\n2,?,War\n")
    >>> read_features(file).rows()
    [(1, 1995.0, 'Comedy|War'), (2, None, 'War')]
    """
    import polars as pl

    file = open_columns(unpack(path, "individuals"), checked_text(text), lambda _: True)
    ids = find_ids(file.header, as_columns(id_columns, "id_columns"), file.width, file.name)
    if file.width <= len(ids):
        raise FileFormatError(f"{file.name} with a column of ids alone", "features beside the ids")
    table = read_table(path, id_columns=ids, text=text)
    return table.frame.insert_column(0, pl.Series("id", table.row_ids.tolist()))
