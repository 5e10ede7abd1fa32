"""Files of what is known of individuals, or of columns, beside what was observed of them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from likewise.errors import FileFormatError
from likewise.observations.reading.columns import Column, as_columns, find_ids
from likewise.observations.reading.formats import open_columns
from likewise.observations.reading.mixed import read_table
from likewise.observations.reading.text import PLAIN_TEXT, TextOptions, checked_text
from likewise.observations.reading.unpack import unpack

if TYPE_CHECKING:
    import polars as pl


def read_features(
    path: str | PathLike[str],
    *,
    id_columns: Column | Sequence[Column] | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> pl.DataFrame:
    r"""Read a table with a header, one row for each individual (or for each column of the matrix): its id, and what is known of it.

    Parameters
    ----------
    path : path-like
        Delimited text with a header, JSON lines or Parquet.
    id_columns : str, int, or sequence of them, optional
        What names the rows; by default the one column that is called like an id, or else the first.
    text : TextOptions

    Returns
    -------
    polars.DataFrame
        A column ``id`` first; numbers and words, null where missing: what `with_features` takes.

    Raises
    ------
    FileFormatError
        As `read_table`; no column beside the ids.

    Examples
    --------
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
