"""Options of outputs that were computed elsewhere: their files, their target, and which wishes contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cyclopts import Parameter

from likewise.cli.values import STANDARD_STREAM, Column, Columns, OldPath
from likewise.errors import InputError, option

if TYPE_CHECKING:
    from likewise.observations.reading import GroupsFile, TargetFile


@Parameter(name="*", group="Outputs computed elsewhere")
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Files of outputs, instead of a model that runs here.

    Parameters
    ----------
    outputs
        File of outputs computed elsewhere, instead of a model: a row for each individual.
    outputs_without
        The same, to be compared with others: without pre-processing.
    outputs_with
        With pre-processing.
    output_columns
        Columns of these files that are outputs, separated by commas; by default all but the id.
    target
        File with what the outputs should have told of each individual, such as who repaid: their accuracy against it is measured. Of lists of items
        and scores of all items a file of ratings, user,item,rating, that were not used to make them.
        With --model, what a classifier or regressor learns of each individual.
    target_column
        Column of the target: of that file, or, without one, of the file of outputs itself; with --model of the file of individuals.
    item_groups
        Where outputs are lists of items: file with a group for each item, such as its genre, to share out exposure by.
    distance_from
        File of people's answers from which d is learned: left,right,similar (yes or no), or anchor,closer,farther; and perhaps judge.
    """

    outputs: OldPath | None = None
    outputs_without: OldPath | None = None
    outputs_with: OldPath | None = None
    output_columns: Columns = None
    target: OldPath | None = None
    target_column: Column = None
    item_groups: OldPath | None = None
    distance_from: OldPath | None = None

    def has_target(self) -> bool:
        """Return whether there is a target: for outputs to be held against, or for a model to learn."""
        return self.target is not None or self.target_column is not None

    def target_file(self, individuals: Path) -> Path | None:
        """Return where the target is: in its own file, in that of the outputs, in that of the individuals where a model learns it, or nowhere."""
        if self.target is not None or self.target_column is None:
            return self.target
        return next((path for path in self.files().values() if path is not None), individuals)

    def columns_left_out(self, path: Path) -> tuple[str | int, ...] | None:
        """Return the column of a file of outputs that is the target, not an output."""
        if self.target_column is None or self.target not in (None, path):
            return None
        return (self.target_column,)

    def read_target(self, path: Path, row_ids: Any, id_columns: Sequence[str | int] | None) -> TargetFile:
        """Read the target in the order of the individuals."""
        from likewise.observations.reading import read_target_file

        if path == STANDARD_STREAM:
            raise InputError("--target-column of standard input, which is read once", "--target FILE")
        return read_target_file(path, row_ids, id_columns=id_columns, target_column=self.target_column)

    def read_item_groups(self, items: Any) -> GroupsFile | None:
        """Read the groups of items, if any, in the order of the items."""
        from likewise.observations.reading import read_groups_file

        return None if self.item_groups is None else read_groups_file(self.item_groups, items)

    def checked(self, reference: str | None, norm: str | None) -> Self:
        """Raise where d is learned from answers and there is nothing to hold against it, or another d is chosen."""
        if self.distance_from is None:
            return self
        if not any(self.files().values()):
            raise InputError(
                f"{option('distance_from', '')} without {option('outputs', '')}",
                "a file of outputs to compare with it",
            )
        chosen = {"reference": reference, "norm": norm}
        others = [option(name, "") for name, value in chosen.items() if value is not None]
        if others:
            raise InputError(f"{' and '.join(others)} beside {option('distance_from', '')}", "one distance")
        return self

    def files(self) -> dict[str, Path | None]:
        """Return the file of each arm."""
        return {"outputs": self.outputs, "without": self.outputs_without, "with": self.outputs_with}

    def files_read(
        self, individuals: Path, groups: Path | None, **others: Path | None
    ) -> dict[str, Path | None]:
        """Return every file of an audit by what it is read as."""
        return {
            "observations": individuals,
            "groups": groups,
            "target": self.target,
            "item groups": self.item_groups,
            "answers": self.distance_from,
            **self.files(),
            **others,
        }


OUTPUTS = OutputOptions()
