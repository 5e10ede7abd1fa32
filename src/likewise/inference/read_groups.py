"""Groups of individuals, read from a file and put in the order of the individuals."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import FileFormatError
from likewise.inference.align import positions_of
from likewise.observations.reading.layouts import id_array
from likewise.observations.reading.names import Column, position_of
from likewise.observations.reading.tabular import is_parquet, open_parquet, open_text
from likewise.observations.reading.unpack import unpack


def read_groups(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_column: Column = 0,
    group_column: Column = 1,
    encoding: str = "utf-8",
) -> NDArray[Any]:
    r"""Read a group for each individual, such as gender or an age band.

    Parameters
    ----------
    path : path-like
        Delimited text, with a header if a column is named, or Parquet; lines can be in any order and may speak of others too.
    row_ids : array-like, shape (m,)
        The individuals, as in `ObservedMatrix`.
    id_column : str or int, default 0
        By name, or by position counted from 0.
    group_column : str or int, default 1
    encoding : str

    Returns
    -------
    ndarray, shape (m,)
        In the order of `row_ids`.

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
    >>> read_groups(file, [1, 2]).tolist()
    ['F', 'M']
    """
    source = unpack(path)
    if is_parquet(source):
        file = open_parquet(source)
    else:
        # Where columns go by position a header does no harm: nobody has its first word for an id.
        named = any(isinstance(column, str) for column in (id_column, group_column))
        file = open_text(source, None, named, encoding)
    places = [position_of(column, file.header, file.width, file.name) for column in (id_column, group_column)]
    if places[0] == places[1]:
        raise FileFormatError(f"column {id_column!r} of {file.name} for ids and for groups", "two columns")
    frame = file.take(places, [], False)
    ids, groups = (id_array(frame[str(place)]) for place in places)
    wanted = np.asarray(row_ids, dtype=object).ravel().tolist()
    return np.asarray(groups)[positions_of(ids, wanted, file.name, "groups")]
