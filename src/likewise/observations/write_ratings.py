"""Write observations as the plainest of the files that are read: one line an observation."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from likewise.observations.observed_matrix import ObservedMatrix, as_observed
from likewise.writing import PathLike, spreadsheet_safe, write_file


def write_ratings(path: PathLike, observed: ObservedMatrix | Any) -> None:
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
