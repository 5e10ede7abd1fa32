"""Read pairs (individual, feature): what someone wants to know about."""

from __future__ import annotations

from os import PathLike
from typing import Any

from numpy.typing import NDArray

from likewise.errors import FileFormatError
from likewise.observations.reading.columns import Column, find_roles
from likewise.observations.reading.layouts import id_array
from likewise.observations.reading.tabular import Tabular, is_parquet, open_parquet, open_text
from likewise.observations.reading.text import recognise
from likewise.observations.reading.unpack import Source, unpack


def read_pairs(
    path: str | PathLike[str],
    *,
    user: Column | None = None,
    item: Column | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
) -> tuple[NDArray[Any], NDArray[Any]]:
    r"""Read a list of (individual, feature) pairs, one a line.

    Parameters
    ----------
    path : path-like
        Delimited text or Parquet, also inside gzip or zip.
    user, item : str or int, optional
        Columns by name, or by position counted from 0. By default found by their usual names; where the first line has no
        such names, it is a pair like the others and the first two fields are meant.
    separator : str, optional
        By default found in the first line.
    encoding : str

    Returns
    -------
    rows, columns : ndarray, shape (n_pairs,)
        Ids: integers where all are written as integers are, else text.

    Raises
    ------
    FileFormatError, ObservationError
        As `read_ratings`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("userId,movieId\n1,10\n2,20\n")
    >>> read_pairs(file)
    (array([1, 2]), array([10, 20]))
    """
    source = unpack(path, "pairs")
    wanted = {"user": user, "item": item}
    file = open_parquet(source) if is_parquet(source) else _open_text(source, wanted, separator, encoding)
    roles = _roles(file, wanted)
    frame = file.take(list(roles.values()), [], False)
    rows, columns = (id_array(frame[str(position)]) for position in roles.values())
    return rows, columns


def _open_text(
    source: Source, wanted: dict[str, Column | None], separator: str | None, encoding: str
) -> Tabular:
    """Take the first line for a header only if it names a user and an item, or the caller does: ids may be words too."""
    named = any(isinstance(column, str) for column in wanted.values())
    has_header = named or _names_both(source, separator, encoding)
    return open_text(source, separator, has_header, encoding)


def _names_both(source: Source, separator: str | None, encoding: str) -> bool:
    text = recognise(source, separator, False, encoding)
    _, first = next(text.records())
    try:
        find_roles(first, len(first), {"user": None, "item": None}, source.name)
    except FileFormatError:
        return False
    return True


def _roles(file: Tabular, wanted: dict[str, Column | None]) -> dict[str, int]:
    if file.header is None:
        wanted = {
            role: position if given is None else given
            for position, (role, given) in enumerate(wanted.items())
        }
    return find_roles(file.header, file.width, wanted, file.name)
