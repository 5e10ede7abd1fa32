"""Groups of individuals, read from a file and put in the order of the individuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import FileFormatError
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.index_alignment import places_in_file
from likewise.observations.reading.columns import Column, Numeral, position_of
from likewise.observations.reading.layouts import id_array
from likewise.observations.reading.tabular import Tabular, is_parquet, open_parquet, open_text
from likewise.observations.reading.unpack import Source, unpack


@dataclass(frozen=True, eq=False)
class GroupsFile:
    """Groups from a file, and how they were read.

    Parameters
    ----------
    values : ndarray, shape (m,)
        In the order of the individuals.
    roles : ColumnRoles
        Which columns were read as what.
    """

    values: NDArray[Any]
    roles: ColumnRoles


def read_groups(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_column: Column | Sequence[Column] = 0,
    group_column: Column = 1,
    encoding: str = "utf-8",
) -> NDArray[Any]:
    r"""Read a group for each individual: the `values` of `read_groups_file`, which has the parameters and errors.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "users.dat"
    >>> _ = file.write_text("2::M::56\n1::F::18\n")
    >>> read_groups(file, [1, 2]).tolist()
    ['F', 'M']
    """
    return read_groups_file(
        path, row_ids, id_column=id_column, group_column=group_column, encoding=encoding
    ).values


def read_groups_file(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_column: Column | Sequence[Column] = 0,
    group_column: Column = 1,
    encoding: str = "utf-8",
) -> GroupsFile:
    r"""Read a group for each individual, such as gender or an age band.

    Parameters
    ----------
    path : path-like
        Delimited text, with a header if a column is named, or Parquet; lines can be in any order and may speak of others too.
    row_ids : array-like, shape (m,)
        The individuals, as in `ObservedMatrix`.
    id_column : str, int, or sequence of them, default 0
        By name, or by position counted from 0; the parts of several are joined by ``/``, as `read_ratings` joins them.
    group_column : str or int, default 1
    encoding : str

    Returns
    -------
    GroupsFile
        Groups in the order of `row_ids`, and which columns they come from.

    Raises
    ------
    FileFormatError
        Missing, empty, damaged, or without such a column.
    ModelError
        If an individual has no group, or several; the message says how many ids match.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "users.dat"
    >>> _ = file.write_text("2::M::56\n1::F::18\n")
    >>> read_groups_file(file, [1, 2]).roles.sentence()
    'Read users.dat: individuals from column 0, groups from column 1; left out: column 2.'
    """
    id_columns = (id_column,) if isinstance(id_column, str | int) else tuple(id_column)
    source = unpack(path, "groups")
    if is_parquet(source):
        file = open_parquet(source)
    else:
        file = _open_text(source, (*id_columns, group_column), encoding)
    places = [
        position_of(column, file.header, file.width, file.name) for column in (*id_columns, group_column)
    ]
    if len(set(places)) < len(places):
        raise FileFormatError(
            f"columns {(*id_columns, group_column)} of {file.name}", "different columns for ids and groups"
        )
    frame = file.take(places, [], False)
    *parts, groups = (id_array(frame[str(place)]) for place in places)
    ids = (
        parts[0]
        if len(parts) == 1
        else np.array(["/".join(map(str, part)) for part in zip(*parts, strict=True)])
    )
    wanted = np.asarray(row_ids, dtype=object).ravel().tolist()
    values = np.asarray(groups)[places_in_file(ids, wanted, file.name, "groups")]
    return GroupsFile(values, file.roles(ids=places[:-1], groups=places[-1:]))


def _open_text(source: Source, columns: Sequence[Column], encoding: str) -> Tabular:
    """Take the first line for a header if a column is named; else it does no harm, since nobody has its first word for an id."""
    named = any(isinstance(column, str) for column in columns)
    file = open_text(source, None, named, encoding)
    if named or not any(isinstance(column, Numeral) and column >= file.width for column in columns):
        return file
    return open_text(source, None, True, encoding)
