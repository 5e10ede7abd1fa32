"""What the caller of `read_ratings` says about a file, and which of it has no meaning for that file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError, option, unknown_name
from likewise.observations.convert import to_table
from likewise.observations.reading.columns import Column, find_roles, position_of
from likewise.observations.reading.tabular import Tabular
from likewise.observations.table import DuplicateRule, Table, assemble

if TYPE_CHECKING:
    import polars as pl

Layout = Literal["triplets", "wide", "grid"]
"""One line an observation; one row an individual, under a header; bare numbers, one row an individual."""

_MEANINGFUL = {
    "triplets": ("user", "item", "rating", "duplicates", "shape"),
    "wide": ("columns", "id_columns"),
    "grid": (),
    "matrix": (),
    "text": ("separator", "header", "encoding"),
}


@dataclass(frozen=True)
class Choices:
    """Arguments of `read_ratings` that say how a file is laid out, with their defaults."""

    format: Layout | None = None
    user: Column | None = None
    item: Column | None = None
    rating: Column | None = None
    columns: tuple[Column, ...] | None = None
    id_columns: tuple[Column, ...] = ()
    missing_value: float | None = None
    shape: tuple[int, int] | None = None
    duplicates: DuplicateRule = "error"
    separator: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.format not in (None, *get_args(Layout)):
            raise FileFormatError(*unknown_name("format", self.format, get_args(Layout)))
        if self.missing_value is not None and not _is_finite_number(self.missing_value):
            raise FileFormatError(
                option("missing_value", repr(self.missing_value)), "a finite number; NaN is missing anyway"
            )
        if self.separator is not None and not self.separator.strip("\r\n"):
            raise FileFormatError(f"separator {self.separator!r}", "one character or more, no line end")

    @property
    def roles(self) -> dict[str, Column | None]:
        """The columns of triplets."""
        return {"user": self.user, "item": self.item, "rating": self.rating}

    @property
    def has_header(self) -> bool | None:
        """Whether the first line names columns: as the caller says or implies; None to look."""
        if self.header is not None:
            return self.header
        names = (*self.roles.values(), *(self.columns or ()), *self.id_columns)
        if self.format == "wide" or any(isinstance(name, str) for name in names):
            return True
        return False if self.format == "grid" else None

    def layout(self, is_bare: bool) -> Layout:
        """Return the layout named, or the one that the other arguments and the first line suggest."""
        if self.format is not None:
            return self.format
        if self.columns is not None or self.id_columns:
            return "wide"
        return "grid" if is_bare and set(self.roles.values()) == {None} else "triplets"

    def refuse_idle(self, file: str, *kinds: str) -> None:
        """Raise if something was given that means nothing for a file of these kinds, so that no wish is ignored.

        Raises
        ------
        FileFormatError
        """
        meaningful = {"format", "missing_value", *(name for kind in kinds for name in _MEANINGFUL[kind])}
        for field in fields(self):
            if field.name not in meaningful and getattr(self, field.name) != field.default:
                accepted = ", ".join(option(name, "") for name in sorted(meaningful))
                raise FileFormatError(
                    f"{option(field.name, repr(getattr(self, field.name)))} for {file}, read as {kinds[0]}",
                    f"only {accepted}",
                )


def _is_finite_number(value: object) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


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
    table = replace(table, roles=file.roles(ids=[user], features=[item], values=[rating]))
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
    table = to_table(
        frame.select(map(str, features)), row_ids, [file.label(position) for position in features]
    )
    return replace(table, roles=file.roles(ids=ids, features=features))


def read_grid(file: Tabular, note_if_full: bool) -> Table:
    """Read one individual from each row of bare numbers."""
    columns = range(file.width)
    table = to_table(file.take([], columns, True), None, [file.label(position) for position in columns])
    table = replace(table, roles=file.roles(features=columns))
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
