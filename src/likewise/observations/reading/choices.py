"""What the caller of `read_ratings` says about a file, and which of it has no meaning for that file."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Real
from typing import Literal, get_args

from likewise.errors import FileFormatError, option, unknown_name
from likewise.observations.reading.names import Column
from likewise.observations.triplets import DuplicateRule

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
