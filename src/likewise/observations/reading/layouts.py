"""The three layouts of a file of columns: triplets, wide tables, grids of bare numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError, option
from likewise.observations.convert import to_table
from likewise.observations.reading.choices import Choices
from likewise.observations.reading.names import Column, find_roles, position_of
from likewise.observations.reading.tabular import Tabular
from likewise.observations.table import Table
from likewise.observations.triplets import assemble

if TYPE_CHECKING:
    import polars as pl


def read_triplets(file: Tabular, choices: Choices) -> Table:
    """Read one (user, item, rating) triplet from each line."""
    wanted = choices.roles
    roles = find_roles(file.header, file.width, wanted, file.name)
    user, item, rating = roles.values()
    frame = file.take([user, item], [rating], False)
    users, items = (id_array(frame[str(position)]) for position in (user, item))
    table = assemble(
        users,
        items,
        frame[str(rating)].to_numpy(),
        shape=choices.shape,
        duplicates=choices.duplicates,
        missing_value=choices.missing_value,
    )
    if file.header is None or None not in wanted.values():
        return table
    found = ", ".join(f"{role} from column {file.header[position]!r}" for role, position in roles.items())
    return table.with_note(f"read {found}")


def read_wide(file: Tabular, columns: Sequence[Column] | None, id_columns: Sequence[Column]) -> Table:
    """Read one individual from each row; empty cells are missing."""
    ids = [position_of(name, file.header, file.width, file.name) for name in id_columns]
    if columns is None:
        features = [position for position in range(file.width) if position not in ids]
    else:
        features = [position_of(name, file.header, file.width, file.name) for name in columns]
    if not features or set(features) & set(ids) or len(set(features)) < len(features):
        raise FileFormatError(
            f"{option('columns', repr(columns))} with {option('id_columns', repr(id_columns))}",
            "features, each once, that are not ids",
        )
    frame = file.take(ids, features, True)
    row_ids = _joined([id_array(frame[str(position)]) for position in ids])
    return to_table(
        frame.select(map(str, features)), row_ids, [file.label(position) for position in features]
    )


def read_grid(file: Tabular, note_if_full: bool) -> Table:
    """Read one individual from each row of bare numbers."""
    columns = range(file.width)
    table = to_table(file.take([], columns, True), None, [file.label(position) for position in columns])
    n_rows, n_columns = table.values.shape
    table = table.with_note(f"read as a grid of {n_rows:,} x {n_columns:,} numbers, each row an individual")
    if not note_if_full or table.values.nnz < n_rows * n_columns:
        return table
    return table.with_note("every cell counts as observed; if a value stands for missing, give missing_value")


def id_array(ids: pl.Series) -> NDArray[Any]:
    """Return a column of ids as integers, or as the Python objects that they are: text, or integers too large for NumPy."""
    if ids.dtype.is_integer():
        import polars as pl

        numbers = ids.cast(pl.Int64, strict=False) if "128" in str(ids.dtype) else ids
        if not numbers.null_count():
            return numbers.to_numpy()
    array = np.empty(len(ids), dtype=object)
    array[:] = ids.to_list()
    return array


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any] | list[str] | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return ["/".join(map(str, names)) for names in zip(*parts, strict=True)]
