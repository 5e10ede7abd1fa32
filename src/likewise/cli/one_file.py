"""One file for all: where that of the individuals holds outputs, target or groups too, each of its columns is one thing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from likewise.errors import InputError, option

if TYPE_CHECKING:
    from likewise.cli.options import MeasureOptions, ReadOptions
    from likewise.cli.output_options import OutputOptions
    from likewise.observations.column_roles import ColumnRoles

_TABLES = ("wide", "grid")
"""Layouts with a row for each individual, which alone have columns that can be left out."""


@dataclass(frozen=True)
class OneFile:
    """What the file of the individuals holds beside their features, as far as its columns were named."""

    path: Path
    others: tuple[tuple[str, str | int], ...]  # the option that named each column, and the column

    @classmethod
    def of(cls, path: Path, asked: OutputOptions, measuring: MeasureOptions) -> Self:
        """Find the columns of outputs, of the target and of the groups that were named in this file."""
        named: list[tuple[str, str | int]] = []
        if any(is_same(path, file) for file in asked.files().values()):
            named += [("output_columns", column) for column in asked.output_columns or ()]
        if asked.target_column is not None and is_same(path, asked.target_file(path)):
            named.append(("target_column", asked.target_column))
        if measuring.group_column is not None and is_same(path, measuring.groups):
            named.append(("group_column", measuring.group_column))
        return cls(path, tuple(named))

    def features(self, reading: ReadOptions, *, mixed_table: bool) -> ReadOptions:
        """Return how individuals are read: without these columns, unless their features were named; an output or the target among those is refused."""
        for name, column in self.others:
            if column in (reading.columns or ()) and name in _NEVER_FEATURES:
                given = f"{option(name, repr(column))} among {option('columns', '')}"
                raise InputError(given, f"features without {_NEVER_FEATURES[name]}")
        of_rows = mixed_table or _is_of_rows(reading)
        is_learned = [name for name, _ in self.others] == ["target_column"]
        if reading.columns is not None or not self.others or not (of_rows or is_learned):
            return reading
        return replace(reading, exclude=(*(reading.exclude or ()), *(column for _, column in self.others)))

    def not_outputs(self, file: Path, reading: ReadOptions) -> tuple[str | int, ...] | None:
        """Return the columns of a file of outputs that are none: the features and groups of the same file, where no outputs were named.

        Where features were not named either, an `InputError` asks which columns are outputs.
        """
        if not is_same(self.path, file) or any(name == "output_columns" for name, _ in self.others):
            return None
        if reading.columns is None and _is_of_rows(reading):
            raise InputError(
                f"{file.name} as individuals and as outputs",
                "to be told which of its columns are outputs",
                f"give {option('output_columns')}; they are then not features",
            )
        others = (*(column for name, column in self.others), *(reading.columns or ()))
        return others or None

    def told(self, roles: ColumnRoles, role: str, reading: ReadOptions) -> ColumnRoles:
        """Return the columns of a file with a remark on those that are no features because they are something else; `reading` is how individuals are read."""
        names = [
            str(column) for name, column in self.others if name == role and column in (reading.exclude or ())
        ]
        if roles.source != self.path.name or not names:
            return roles
        is_feature = "is not a feature" if len(names) == 1 else "are not features"
        return replace(roles, remarks=(*roles.remarks, f"{', '.join(names)} {is_feature} here"))


_NEVER_FEATURES = {"output_columns": "what is audited", "target_column": "what is to be learned"}


def is_same(path: Path, other: Path | None) -> bool:
    """Return whether two paths lead to one file."""
    return other is not None and path.resolve() == other.resolve()


def _is_of_rows(reading: ReadOptions) -> bool:
    return reading.format in _TABLES or bool(reading.id_columns or reading.exclude)
