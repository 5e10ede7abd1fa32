"""A delimited text file that need not fit into memory: laid out as its first lines say, then parsed some megabytes at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from likewise.errors import FileFormatError, option
from likewise.observations.reading.columns import Column, find_roles
from likewise.observations.reading.delimited import Wanted, parse
from likewise.observations.reading.layouts import Choices
from likewise.observations.reading.numerals import Decimal
from likewise.observations.reading.text import DelimitedText, TextOptions, recognise
from likewise.observations.reading.unpack import Source, compression_of

if TYPE_CHECKING:
    import polars as pl

_OPTIONS = frozenset({"user", "item", "rating", "value_range", "duplicates"})
"""Of the reading in pieces."""
_BYTES = 16 << 20
"""Of text that are parsed at a time."""


@dataclass(frozen=True)
class TextFile:
    """One observation a line, in UTF-8, no line end within a field."""

    path: Path
    separator: str
    header: tuple[str, ...] | None
    width: int  # fields of a line
    positions: tuple[int, ...]  # of the user, the item and the rating

    @classmethod
    def found(cls, path: Path, user: Column | None, item: Column | None, rating: Column | None) -> Self:
        """Find out from its first lines how a file is laid out.

        A `FileFormatError` says that it is not delimited text, or without a column that is needed.
        """
        choices, first = Choices(user=user, item=item, rating=rating), next(_pieces(path), b"")
        if (packed := compression_of(first)) is not None:
            raise FileFormatError(
                f"{path} is compressed ({packed})",
                "text or Parquet, which can be read in pieces",
                f"unpack it first{_IN_MEMORY}",
            )
        with _without_options_of_memory():
            text = recognise(Source(str(path), first), TextOptions(), choices.is_header)
        roles = roles_of(text.header, text.width, choices.roles, str(path))
        return cls(path, text.shown_separator, text.header, text.width, tuple(roles.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called; by their positions where there is no header."""
        return self.header or tuple(f"column {position}" for position in range(self.width))

    def frames(self, kinds: list[pl.DataType] | None = None) -> Iterator[tuple[int, pl.DataFrame]]:
        """Yield the number of a line, and the user, item and rating of it and of those after it, a bounded number at a time.

        `kinds` are those of the ids in files before: text, or whole numbers. The first line that is wrong is named by number and content.
        """
        wanted = Wanted(self.positions[:2], self.positions[2:])
        first, decimal, fraction = 1, None, None
        for piece in _pieces(self.path):
            if piece.strip():
                with _without_options_of_memory():
                    text = self._laid_out(piece, first, decimal)
                    taken = parse(text, wanted)
                frame = taken.frame.select(map(str, self.positions))
                if decimal is None:
                    decimal = taken.decimal
                    if decimal == "," and fraction is not None:
                        raise FileFormatError(
                            f"decimal commas in {self.path}, from line {text.first_line:,} on, after numbers such as {fraction:g}",
                            "one decimal sign from the beginning",
                            "put a line with a decimal comma first, or read the file into memory",
                        )
                    # What points meant so far: commas further on would change what was read before.
                    fraction = _fraction(frame) if fraction is None else fraction
                # The first lines decide for all: ids must not be numbers here and text there.
                kinds = kinds or frame.dtypes[:2]
                yield text.first_line, self._of_kinds(frame, kinds, text.first_line)
            first += piece.count(b"\n")

    def _laid_out(self, piece: bytes, first: int, decimal: Decimal | None) -> DelimitedText:
        has_header = first == 1 and self.header is not None
        options = TextOptions(separator=self.separator, header=has_header, decimal=decimal)
        text = recognise(Source(str(self.path), piece), options, lambda _: has_header)
        text = replace(text, first_line=text.first_line + first - 1)
        if text.width != self.width:
            raise FileFormatError(
                f"line {text.first_line:,} of {self.path} with {text.width} fields",
                f"{self.width}, as in the first line",
            )
        return text

    def _of_kinds(self, frame: pl.DataFrame, kinds: list[pl.DataType], first: int) -> pl.DataFrame:
        """Return ids of the kind that the first lines have: text, or whole numbers."""
        import polars as pl

        for name, kind in zip(frame.columns, kinds, strict=False):
            if frame[name].dtype != kind:
                if kind != pl.String():
                    raise FileFormatError(
                        f"ids of {self.path}, line {first:,} and after, some of which are text",
                        "whole numbers, as in the lines before, or the files",
                        "put a line with such an id first, then all are text; or read the file into memory",
                    )
                frame = frame.with_columns(pl.col(name).cast(pl.String))
        return frame


_IN_MEMORY = ", or read the file into memory: read_ratings in Python, no engine on the command line"
_MENTIONED = re.compile("\x01(\\w+)\x02")


_USUAL = "write the file in the usual way, with points, commas and UTF-8"


def roles_of(
    names: Sequence[str] | None, width: int, wanted: dict[str, Column | None], file: str
) -> dict[str, int]:
    """Return what `find_roles` does, with advice in its errors that parts can follow."""
    named = ", ".join(option(role) for role in wanted)
    with _without_options_of_memory(f"name the columns, {named}, where one line is one observation"):
        return find_roles(names, width, wanted, file)


@contextmanager
def _without_options_of_memory(advice: str = _USUAL) -> Iterator[None]:
    """Let errors not advise options that only the reading into memory has, such as the decimal sign."""
    try:
        yield
    except FileFormatError as error:
        hint = error.marked.partition(" Hint: ")[2]
        if _OPTIONS.issuperset(_MENTIONED.findall(hint)):
            raise
        raise FileFormatError(
            error.given, error.expected, f"{advice}{_IN_MEMORY}, and there: {hint}"
        ) from error


def _fraction(frame: pl.DataFrame) -> float | None:
    """Return the first value that is no whole number."""
    values = frame[:, -1].to_numpy()
    found = values[values != values.round()]
    return float(found[0]) if found.size else None


def is_text(path: Path) -> bool:
    """Return whether a file is not Parquet, neither by its name nor by its first bytes."""
    if path.suffix.lower() == ".parquet":
        return False
    with path.open("rb") as file:
        return file.read(4) != b"PAR1"


def _pieces(path: Path) -> Iterator[bytes]:
    """Yield whole lines, some megabytes at a time."""
    try:
        with path.open("rb") as file:
            while piece := file.read(_BYTES):
                # To the end of the line that the cut went through.
                yield piece + file.readline()
    except OSError as error:
        raise FileFormatError(
            f"{path} cannot be read ({error.strerror})", "a file of observations"
        ) from error
