"""Read pairs (individual, feature): what someone wants to know about."""

from __future__ import annotations

from os import PathLike
from typing import Any

from numpy.typing import NDArray

from likewise.observations.reading.columns import Column
from likewise.observations.reading.delimited import Wanted
from likewise.observations.reading.formats import open_columns
from likewise.observations.reading.layouts import Choices, id_array, roles_of_pairs
from likewise.observations.reading.text import TextOptions
from likewise.observations.reading.unpack import unpack


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
        Delimited text, JSON lines or Parquet, also inside gzip or zip; ``~`` is the home folder, ``-`` standard input.
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
    choices = Choices(
        format="pairs", user=user, item=item, text=TextOptions(separator=separator, encoding=encoding)
    )
    file = open_columns(unpack(path, "pairs"), choices.text, choices.is_header)
    positions = list(roles_of_pairs(file, choices).values())
    frame = file.take(Wanted(ids=positions)).frame
    rows, columns = (id_array(frame[str(position)]) for position in positions)
    return rows, columns
