"""Outputs that were computed elsewhere, read from a file and put in the order of the individuals."""

from __future__ import annotations

import io
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.errors import FileFormatError
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.index_alignment import places_in_file
from likewise.observations.outputs import checked_outputs
from likewise.observations.reading.layouts import id_array
from likewise.observations.reading.tabular import Tabular, is_parquet, open_parquet, open_text
from likewise.observations.reading.unpack import ARRAY_DAMAGE, Source, is_npz, unpack

_NPY = b"\x93NUMPY"


@dataclass(frozen=True, eq=False)
class OutputsFile:
    """Outputs from a file, and how they were read.

    Parameters
    ----------
    values : ndarray, shape (m,) or (m, k)
        In the order of the individuals. One column of outputs in a table gives (m,).
    roles : ColumnRoles
        Which columns were read as what.
    names : tuple of str
        What each output is called; as many as there are columns of outputs.
    """

    values: Floats
    roles: ColumnRoles
    names: tuple[str, ...]


def read_outputs(path: str | PathLike[str], row_ids: ArrayLike, *, id_column: str | None = None) -> Floats:
    r"""Read one row of outputs for each individual: the `values` of `read_outputs_file`, which has the parameters and errors.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("applicant,score\nbea,0.2\nann,0.9\n")
    >>> read_outputs(file, ["ann", "bea"])
    array([0.9, 0.2])
    """
    return read_outputs_file(path, row_ids, id_column=id_column).values


def read_outputs_file(
    path: str | PathLike[str], row_ids: ArrayLike, *, id_column: str | None = None
) -> OutputsFile:
    r"""Read one row of outputs for each individual.

    Parameters
    ----------
    path : path-like
        Delimited text with a header or Parquet, with a column of ids and one or more of numbers; lines can be in any
        order and may speak of others too. Or ``.npy``, or ``.npz`` with an array ``outputs`` and perhaps ``row_ids``;
        without ids, rows are in the order of `row_ids`. What a file is, is found by looking into it.
    row_ids : array-like, shape (m,)
        The individuals, as in `ObservedMatrix`.
    id_column : str, optional
        The column of ids; by default the first.

    Returns
    -------
    OutputsFile
        Outputs in the order of `row_ids`, and which columns they come from.

    Raises
    ------
    FileFormatError
        Missing, empty, damaged, without such a column, or with objects that would have to be unpickled.
    ModelError
        If an individual has no outputs, or several; or outputs that are not finite. The message says how many ids match.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("applicant,score\nbea,0.2\nann,0.9\n")
    >>> read_outputs_file(file, ["ann", "bea"]).roles.sentence()
    'Read scores.csv: individuals from applicant, outputs from score.'
    >>> read_outputs_file(file, ["ann", "cy"])
    Traceback (most recent call last):
    ...
    likewise.errors.ModelError: scores.csv has outputs for 1 of 2 individuals, none for 'cy'; expected a row for each. Hint: its ids begin 'bea', 'ann'
    """
    source = unpack(path, "outputs")
    wanted = np.asarray(row_ids, dtype=object).ravel().tolist()
    ids, values, roles = _read(source, id_column, {str(one) for one in wanted})
    if ids is not None:
        values = values[places_in_file(ids, wanted, source.name)]
    values = checked_outputs(values, len(wanted), source.name)
    width = 1 if values.ndim == 1 else values.shape[1]
    names = roles.outputs if roles.outputs and len(roles.outputs) == width else map(str, range(width))
    return OutputsFile(values, roles, tuple(names))


_Read = tuple[NDArray[Any] | None, NDArray[Any], ColumnRoles]
"""Ids if there are any, outputs, and the columns they come from."""


def _read(source: Source, id_column: str | None, known: set[str]) -> _Read:
    if source.data.startswith(_NPY) or is_npz(source.data):
        return _read_arrays(source)
    if is_parquet(source):
        return _read_table(open_parquet(source), id_column)
    file = open_text(source, separator=None, has_header=True, encoding="utf-8")
    ids, values, roles = _read_table(file, id_column)
    first = (file.header or ("",))[0]
    if id_column is None and ids is not None and first in known - set(map(str, ids.tolist())):
        raise FileFormatError(
            f"{source.name} begins with the outputs of {first!r}", "a header first, such as id,score"
        )
    return ids, values, roles


def _read_arrays(source: Source) -> _Read:
    try:
        content = np.load(io.BytesIO(source.data), allow_pickle=False)
        arrays = {"outputs": content} if isinstance(content, np.ndarray) else dict(content)
    except ARRAY_DAMAGE as error:
        raise FileFormatError(f"{source.name} cannot be read ({error})", "arrays of numbers") from error
    if "outputs" not in arrays and len(arrays) == 1:
        arrays = {"outputs": next(iter(arrays.values()))}
    if not {"outputs"} <= set(arrays) <= {"outputs", "row_ids"}:
        raise FileFormatError(
            f"{source.name} with arrays {', '.join(arrays)}", "outputs, and perhaps row_ids"
        )
    ids, values = arrays.get("row_ids"), arrays["outputs"]
    if ids is not None and (values.ndim == 0 or ids.shape != values.shape[:1]):
        raise FileFormatError(
            f"{source.name} with row_ids of shape {ids.shape} for outputs of shape {values.shape}",
            "one id for each row of outputs",
        )
    roles = ColumnRoles(source.name, None if ids is None else ("row_ids",), outputs=("outputs",))
    return ids, values, roles


def _read_table(file: Tabular, id_column: str | None) -> _Read:
    names = file.header or ()
    if id_column is not None and id_column not in names:
        raise FileFormatError(
            f"{file.name} with columns {', '.join(names)}", f"a column {id_column!r} of ids"
        )
    if file.width < 2:
        raise FileFormatError(
            f"{file.name} with the one column {names[0]!r}", "a column of ids and one of outputs"
        )
    position = 0 if id_column is None else names.index(id_column)
    numbers = [other for other in range(file.width) if other != position]
    frame = file.take([position], numbers, False)
    values = frame.select(str(number) for number in numbers).to_numpy()
    roles = file.roles(ids=[position], outputs=numbers)
    return id_array(frame[str(position)]), values.ravel() if len(numbers) == 1 else values, roles
