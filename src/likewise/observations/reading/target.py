"""A target, what outputs should have told of everybody, read from a file and put in the order of the individuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike, NDArray

from likewise.observations.column_names import long_columns
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.reading.columns import Column
from likewise.observations.reading.formats import ArrayFile, open_file
from likewise.observations.reading.groups import read_labels
from likewise.observations.reading.text import PLAIN_TEXT, TextOptions
from likewise.observations.reading.unpack import unpack


@dataclass(frozen=True, eq=False)
class TargetFile:
    """A target from a file, and how it was read.

    Parameters
    ----------
    values : ndarray, shape (m,)
        In the order of the individuals; None where it is unknown.
    roles : ColumnRoles
        Which columns were read as what.
    """

    values: NDArray[Any]
    roles: ColumnRoles


def read_target_file(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_columns: Column | Sequence[Column] | None = None,
    target_column: Column | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> TargetFile:
    r"""Read what outputs should have told of each individual.

    Parameters
    ----------
    path : path-like
        As `read_groups_file` reads it; what is empty or says NA is unknown.
    row_ids : array-like, shape (m,)
        The individuals, as in `ObservedMatrix`.
    id_columns : str, int, or sequence of them, optional
        As in `read_groups_file`.
    target_column : str or int, optional
        By default the only one beside the ids; of a file without names the second.
    text : TextOptions
        How delimited text is read.

    Returns
    -------
    TargetFile

    Raises
    ------
    FileFormatError
        Missing, empty, damaged, or without such a column.
    ModelError
        If an individual has no line, or several.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "later.csv"
    >>> _ = file.write_text("id,hired\nbea,no\nann,yes\ncy,\n")
    >>> read_target_file(file, ["ann", "bea", "cy"]).values.tolist()
    ['yes', 'no', None]
    """
    values, roles = read_labels(path, row_ids, id_columns, target_column, text, "target")
    return TargetFile(values, roles)


def is_long(path: str | PathLike[str], text: TextOptions = PLAIN_TEXT) -> bool:
    r"""Return whether a file has a line with a value for each individual and item, under names that say so.

    Raises
    ------
    FileFormatError
        Missing, empty or damaged.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "later.csv"
    >>> _ = file.write_text("user,item,rating\nann,7,5\n")
    >>> is_long(file)
    True
    """
    file = open_file(unpack(path, "target"), text, lambda _: True)
    if isinstance(file, ArrayFile) or file.header is None:
        return False
    return "rating" in (long_columns(file.header) or {})
