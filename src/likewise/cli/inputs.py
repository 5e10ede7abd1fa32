"""The files of an audit: individuals, outputs and groups, which columns they come from, and what they were exactly."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.cli.one_file import OneFile, is_same
from likewise.cli.options import MeasureOptions, ReadOptions
from likewise.cli.output_options import OutputOptions
from likewise.cli.values import STANDARD_STREAM
from likewise.errors import DistanceError, FileFormatError, InputError, ObservationError, option
from likewise.fairness import (
    GowerDistance,
    PairwiseDistance,
    distance_by_name,
    feature_distance,
    learn_distance,
    named_output_distance,
    rank_biased_distance,
    top_n_distance,
)
from likewise.fairness.distances.lists import ListDistance
from likewise.fairness.distances.named_outputs import OF_DISTRIBUTIONS
from likewise.observations import ObservedMatrix
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.frames import are_listed
from likewise.observations.index_alignment import positions_of
from likewise.observations.reading import (
    OutputsFile,
    TextOptions,
    is_long,
    read_answers,
    read_outputs_file,
    read_table,
)
from likewise.observations.reading.columns import listing
from likewise.observations.reading.outputs import read_reference_file
from likewise.observations.value_range import ValueRange
from likewise.pipeline import AuditReport
from likewise.pipeline.measurement import Measurement
from likewise.report.checks import with_checks
from likewise.report.records import FileRecord

_TIMED_ROWS = 64
_PASSES = 2
"""Pairs are gone over twice: for their distances, and for what is made of them."""

_MUCH = 10**7
"""Pairs of individuals, or entries, from which on an audit says what memory it will need."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What was read from files."""

    source: str  # what to call the file of the individuals
    individuals: ObservedMatrix | PairwiseDistance
    outputs: Mapping[str, Any]  # by arm; none where a model is to run
    groups: NDArray[Any] | None
    target: NDArray[Any] | ObservedMatrix | None  # of lists and of scores of items a matrix of ratings
    item_groups: Mapping[Any, Any] | None  # the group of each item
    columns: tuple[ColumnRoles, ...]  # of each file beside that of the observations
    notes: tuple[str, ...]  # what the readers of these files noticed

    @classmethod
    def read(
        cls,
        path: Path,
        asked: OutputOptions,
        measuring: MeasureOptions,
        reading: ReadOptions,
        *,
        mixed_table: bool,
    ) -> Self:
        """Read every file that was named; as a table of numbers and categories where `mixed_table`, of which d is Gower's or learned from answers."""
        one = OneFile.of(path, asked, measuring)
        reading = one.features(reading, mixed_table=mixed_table)
        read = read_mixed if mixed_table else _numbers
        individuals, columns, notes = read(path, reading, asked.distance_from)
        ids = individuals.row_ids
        assert ids is not None  # files name everybody, or count them
        outputs = {}
        for arm, file in asked.files().items():
            if file is not None:
                found = read_outputs_file(
                    file,
                    ids,
                    output_columns=asked.output_columns,
                    exclude=asked.columns_left_out(file) or one.not_outputs(file, reading),
                    usual_ids=reading.id_columns,
                )
                _refuse_undistributed(found, measuring.output_distance, ids)
                outputs[arm] = _as_outputs(found, measuring.output_distance, asked.output_columns)
                columns.append(one.told(found.roles, "output_columns", reading))
                notes += found.notes
        groups = measuring.read_groups(ids, reading.id_columns)
        target, of_target = _target(asked, path, reading, ids, outputs)
        items = asked.read_item_groups(names := _items(individuals, outputs))
        labels = [] if groups is None else [one.told(groups.roles, "group_column", reading)]
        labels += [] if items is None else [replace(items.roles, ids=(), features=items.roles.ids)]
        columns += [*labels, *([] if of_target is None else [of_target])]
        return cls(
            "standard input" if path == STANDARD_STREAM else path.name,
            individuals,
            outputs,
            None if groups is None else groups.values,
            target,
            None if items is None else dict(zip(names, items.values.tolist(), strict=True)),
            tuple(columns),
            tuple(notes),
        )

    def reference(
        self, name: str | None, path: Path | None, norm: str | None, reading: ReadOptions
    ) -> tuple[str | PairwiseDistance | None, Self]:
        """Return what d is, or is taken from: a name, or the distance between the rows of a file; and what was read so far, with that file's columns."""
        if path is None:
            return name, self
        ids = self.individuals.row_ids
        assert ids is not None
        found = read_reference_file(path, ids, usual_ids=reading.id_columns)
        d = feature_distance(
            found.values.reshape(len(found.values), -1), "l2" if norm is None else norm, row_ids=ids
        )
        d.names = np.array(found.names, dtype=object)
        d.description = replace(d.description, name=f"{d.name} of {path.name}")
        roles = replace(found.roles, outputs=None, features=found.names)
        return d, replace(self, columns=(*self.columns, roles), notes=(*self.notes, *found.notes))

    def test(self, path: Path | None, reading: ReadOptions) -> tuple[ObservedMatrix | None, Self]:
        """Return the observations of a test, if any, which are held against these; and what was read so far, with that file's columns."""
        if path is None:
            return None, self
        assert isinstance(self.individuals, ObservedMatrix)  # a test of anything else was refused
        try:
            found = _within_range_of(self.individuals, path, reading)
        except ObservationError as fault:
            raise fault.found_in(path.name) from None
        roles = () if found.roles is None else (found.roles,)
        return found, replace(self, columns=(*self.columns, *roles))

    def arguments(self, measuring: MeasureOptions) -> dict[str, Any]:
        """Return the arguments of `likewise.audit` that say what is measured: from files, and from options."""
        files = {"outputs": self.outputs or None, "groups": self.groups, "target": self.target}
        files |= {"item_groups": self.item_groups}
        return files | {"source": self.source} | measuring.options()

    def plan(self, measuring: MeasureOptions) -> list[str]:
        """Say what will be measured on what, and what memory and time that takes."""
        shape, runs_model = self._shape(), not self.outputs
        measurement = Measurement(**measuring.options())
        lines = [f"{self.source}: {shape[0]:,} individuals"]
        if isinstance(self.individuals, ObservedMatrix):
            lines[0] += f", {shape[1]:,} features, {self.individuals.n_observed:,} observations"
            lines += [] if self.individuals.roles is None else [self.individuals.roles.sentence()]
        lines += [roles.sentence() for roles in self.columns]
        lines += [f"memory: {measurement.needed_memory(shape, runs_model=runs_model)}"]
        return [*lines, f"time: {self._time(measuring, runs_model)}"]

    def _time(self, measuring: MeasureOptions, runs_model: bool) -> str:
        """Measure some pairs, and say how long all of them take."""
        d = self.individuals
        if isinstance(d, ObservedMatrix):
            d = distance_by_name("observed", d)
        rows = min(_TIMED_ROWS, d.n_individuals)
        # What a distance makes on the first call, once for all, is not part of a pair's time.
        d.block(0, 1)
        started = time.process_time()
        d.block(0, rows)
        each = (time.process_time() - started) / (rows * d.n_individuals)
        n_pairs = d.n_individuals * (d.n_individuals - 1) // 2 if measuring.pairs is None else measuring.pairs
        n_arms = 2 if runs_model else len(self.outputs)
        seconds = each * n_pairs * (1 + n_arms) * _PASSES
        model = "; estimator and model, which take longer, on top" if runs_model else ""
        return f"about {max(1, round(seconds)):,} s of processor for {n_pairs:,} pairs, from {rows * d.n_individuals:,} that were measured{model}"

    def _shape(self) -> tuple[int, int]:
        if isinstance(self.individuals, ObservedMatrix):
            return self.individuals.shape
        return self.individuals.n_individuals, 0

    def tell_memory(self, measuring: MeasureOptions, *, quiet: bool) -> None:
        """Say on standard error what the audit will need, where that is much."""
        shape = self._shape()
        if not quiet and shape[0] * max(shape) > _MUCH:
            measurement = Measurement(**measuring.options())
            print(f"needs {measurement.needed_memory(shape, runs_model=not self.outputs)}", file=sys.stderr)

    def named_in(
        self, report: AuditReport, read: Mapping[str, Path | None], checks: Sequence[str]
    ) -> AuditReport:
        """Return the report with the columns of every file, the files with their checksums, the command, and what became of checks."""
        data = replace(
            report.data,
            columns=(*report.data.columns, *self.columns),
            notes=(*report.data.notes, *self.notes),
        )
        files = tuple(
            _recorded(role, path) for role, path in read.items() if path is not None and path.is_file()
        )
        return with_command(replace(report, data=data), checks, files)


def with_command(
    report: AuditReport, checks: Sequence[str], files: tuple[FileRecord, ...] = ()
) -> AuditReport:
    """Return the report with the command that made it, the files that it read, and what became of checks."""
    assert report.provenance is not None
    command = shlex.join(["likewise", *sys.argv[1:]]) if sys.argv[1:] else None
    provenance = replace(report.provenance, command=command, files=files)
    return with_checks(replace(report, provenance=provenance), checks)


def _numbers(
    path: Path, reading: ReadOptions, _: object
) -> tuple[ObservedMatrix, list[ColumnRoles], list[str]]:
    """Read observations, which say themselves what was read of their file."""
    return reading.read(path), [], []


def read_mixed(
    path: Path, reading: ReadOptions, answers: Path | None
) -> tuple[PairwiseDistance, list[ColumnRoles], list[str]]:
    """Read a table of numbers and categories; d is Gower's distance, or learned from answers."""
    reading.refuse_features("a table of numbers and categories")
    text = TextOptions(
        reading.separator, reading.header, reading.encoding, reading.decimal, reading.quote, reading.missing
    )
    table = read_table(
        path, columns=reading.columns, id_columns=reading.id_columns, exclude=reading.exclude, text=text
    )
    if answers is None:
        return (
            GowerDistance(table.frame, row_ids=table.row_ids, least_shared="half"),
            [table.roles],
            list(table.notes),
        )
    said = read_answers(answers, text=text)
    learned = learn_distance(
        table.frame, pairs=said.pairs, triplets=said.triplets, judges=said.judges, row_ids=table.row_ids
    )
    return learned, [table.roles, said.roles], [*table.notes, learned.in_words()]


def _target(
    asked: OutputOptions,
    individuals: Path,
    reading: ReadOptions,
    ids: NDArray[Any],
    outputs: Mapping[str, Any],
) -> tuple[NDArray[Any] | ObservedMatrix | None, ColumnRoles | None]:
    """Read the target and its columns: ratings where outputs are lists, or where its file has a line for each individual and item; else a value for everybody."""
    path = asked.target_file(individuals)
    if path is None:
        return None, None
    lists = any(isinstance(values, PairwiseDistance) for values in outputs.values())
    if outputs and asked.target_column is None and (lists or is_long(path)):
        ratings = reading.read(path)
        return ratings, _told_if_audited(ratings.roles, is_same(path, individuals))
    found = asked.read_target(path, ids, reading.id_columns)
    for arm, file in asked.files().items():
        shared = set(found.roles.target or ()) & set(getattr(outputs.get(arm), "columns", ()))
        if shared and is_same(path, file):
            raise InputError(
                f"{listing([*shared])} of {path.name} as output and as target",
                "a target from elsewhere: what the outputs should have told",
                f"name another column of it, {option('target_column')}, or leave {option('target', '')} out",
            )
    return found.values, found.roles


def _told_if_audited(roles: ColumnRoles | None, is_audited: bool) -> ColumnRoles | None:
    """Say of a target that is what is audited, too, that outputs may have been made from it."""
    if roles is None or not is_audited:
        return roles
    told = "the target is what is audited, too: the error of outputs that were made from it is too small"
    return replace(roles, remarks=(*roles.remarks, told))


def _within_range_of(known: ObservedMatrix, path: Path, reading: ReadOptions) -> ObservedMatrix:
    """Read more observations of the same features, whose values have the range of those: a test of full marks alone tells of no range.

    Other features, and a value outside that range, raise an `ObservationError` that names the file.
    """
    anything = ValueRange(np.asarray(-np.inf), np.asarray(np.inf))
    found = replace(reading, value_range=anything, row_features=None, column_features=None).read(path)
    places = positions_of(found.column_ids, known.column_ids, "column")
    # Compared in the precision of the data: 0.1 in float32 is larger than 0.1 in float64.
    low, high = (
        np.broadcast_to(end, known.shape[1])[places].astype(found.values.dtype)
        for end in (known.value_range.low, known.value_range.high)
    )
    (rows, columns), values = found.positions(), found.values.data
    wrong = np.flatnonzero((values < low[columns]) | (values > high[columns]))
    if wrong.size:
        row, column, value = (each[wrong[0]] for each in (rows, columns, values))
        counted = "1 value" if wrong.size == 1 else f"{wrong.size:,} values"
        raise ObservationError(
            f"{counted} outside the range of the observations{':' if wrong.size == 1 else ', the first being'} "
            f"{value:g} at ({found.row_ids[row]}, {found.column_ids[column]})",
            f"values from {low[column]:g} to {high[column]:g}",
            f"if there can be others, declare the range: {option('value_range', '(low, high)')}",
        )
    return found


def _items(individuals: Any, outputs: Mapping[str, Any]) -> list[Any]:
    """Return the ids of all items: those observed, and those that are listed."""
    known = list(individuals.column_ids.tolist()) if isinstance(individuals, ObservedMatrix) else []
    listed = [values.lists for values in outputs.values() if isinstance(values, ListDistance)]
    every = [*known, *(item for lists in listed for item in np.unique(lists).tolist())]
    # Of items that are written alike the first is kept, which is the observed one: a later key overwrites.
    return list({str(item): item for item in reversed(every)}.values())[::-1]


def _as_outputs(found: OutputsFile, output_distance: str | None, named: object) -> Any:
    """Return outputs under their names, so that worst pairs can be explained by them; lists as what they are.

    Whole numbers that are called like places of a list, but repeat, raise a `FileFormatError`, unless their columns were named as outputs.
    """
    if found.kind == "top-n":
        compare = rank_biased_distance if output_distance == "rbo" else top_n_distance
        return compare(found.values)
    are_places = are_listed(found.names) and not (found.values % 1).any()
    if are_places and not named:
        raise FileFormatError(
            f"{found.roles.source} with columns called like lists of items ({listing(found.names)}) in which an item stands twice",
            "different items in each list",
            f"if these are numbers, name them: {option('output_columns')}",
        )
    if are_places or len(set(found.names)) < len(found.names):
        return found.values
    columns = found.values.reshape(len(found.values), -1).T
    return pl.DataFrame(dict(zip(found.names, columns, strict=True)))


def _refuse_undistributed(found: OutputsFile, output_distance: str | None, ids: NDArray[Any]) -> None:
    """Raise where rows are to be compared as probabilities and are none, naming file and individual."""
    if found.kind != "numbers" or output_distance not in OF_DISTRIBUTIONS:
        return
    try:
        named_output_distance(output_distance, found.values, row_ids=ids)
    except DistanceError as fault:
        raise fault.found_in(found.roles.source) from None


def _recorded(role: str, path: Path) -> FileRecord:
    with path.open("rb") as stream:
        checksum = file_digest(stream, "sha256").hexdigest()
    named = (
        role
        if role in ("observations", "groups", "target", "item groups", "answers", "reference", "test")
        else "outputs"
    )
    return FileRecord(named, path.name, path.stat().st_size, checksum)
