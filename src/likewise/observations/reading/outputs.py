"""Outputs that were computed elsewhere, read from a file and put in the order of the individuals.

What a file holds is told by looking into it: numbers, one or more for each individual; two words, such as admit and reject; lists of recommended
items; or one line for each individual and item. What could be two of these is refused with the option that settles it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.errors import FileFormatError, InputError, ModelError, option
from likewise.observations.column_roles import ColumnRoles, is_output, long_columns
from likewise.observations.ids import as_id_array
from likewise.observations.index_alignment import on_others, places_in_file
from likewise.observations.outputs import checked_outputs
from likewise.observations.reading.columns import Column, as_columns, find_ids, listing, refuse_counts
from likewise.observations.reading.delimited import Taken, Wanted
from likewise.observations.reading.formats import ArrayFile, Tabular, open_file
from likewise.observations.reading.layouts import id_array, joined_ids
from likewise.observations.reading.numerals import could_be_number, could_be_numbers, is_usually_missing
from likewise.observations.reading.output_kinds import (
    REPAIR_CHANGED,
    OutputKind,
    OutputsFile,
    note_on_lists,
    of_lines,
    on_words,
    take_lists,
    two_valued,
)
from likewise.observations.reading.text import PLAIN_TEXT, TextOptions, check_choice, checked_text
from likewise.observations.reading.unpack import unpack

if TYPE_CHECKING:
    import polars as pl


def read_outputs(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_columns: Column | Sequence[Column] | None = None,
    output_columns: Column | Sequence[Column] | None = None,
    exclude: Column | Sequence[Column] | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> Floats:
    r"""Read one row of numbers for each individual: the `values` of `read_outputs_file`, which has the parameters and errors.

    Raises
    ------
    ModelError
        Also where the file holds lists of recommended items, which are not numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("applicant,score\nbea,0.2\nann,0.9\n")
    >>> read_outputs(file, ["ann", "bea"])
    array([0.9, 0.2])
    """
    read = read_outputs_file(
        path, row_ids, id_columns=id_columns, output_columns=output_columns, exclude=exclude, text=text
    )
    if read.kind == "top-n":
        raise ModelError(
            f"{read.roles.source} with lists of items in {listing(read.names)}",
            "outputs that are numbers",
            "compare lists by likewise.fairness.top_n_distance(read_outputs_file(path, row_ids).values); if these are numbers, give "
            "kind='numbers' to read_outputs_file",
        )
    return read.values


def read_outputs_file(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_columns: Column | Sequence[Column] | None = None,
    output_columns: Column | Sequence[Column] | None = None,
    exclude: Column | Sequence[Column] | None = None,
    usual_ids: Column | Sequence[Column] | None = None,
    kind: OutputKind | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> OutputsFile:
    r"""Read one row of outputs for each individual, and say which columns they come from.

    Parameters
    ----------
    path : path-like
        Delimited text with a header, JSON lines or Parquet, with a column of ids and one or more of outputs; lines can be in any
        order and may speak of others too. One line for each individual and item is taken apart: with a score for every item, numbers; with as many
        items for each, lists. Or ``.npy``, or ``.npz`` with an array ``outputs`` and perhaps ``row_ids``;
        without ids, rows are in the order of `row_ids`. What a file is, is found by looking into it.
    row_ids : array-like, shape (m,)
        The individuals, as in `ObservedMatrix`.
    id_columns : str, int, or sequence of them, optional
        What names the individuals; the parts of several are joined by ``/``. By default the column that is called like an id, or else the first.
    output_columns : str, int, or sequence of them, optional
        By default all others, if they may be outputs together.
    exclude : str, int, or sequence of them, optional
        Columns that are not outputs.
    usual_ids : str, int, or sequence of them, optional
        What names the individuals in the file of observations: used where this file has columns of these names, and nothing is said by `id_columns`.
    kind : {"numbers", "top-n"}, optional
        By default whole numbers, different within each row, under names such as rec1, rec2, are lists of items.
    text : TextOptions
        How delimited text is read.

    Returns
    -------
    OutputsFile
        Outputs in the order of `row_ids`, and which columns they come from.

    Raises
    ------
    FileFormatError
        Missing, empty, damaged, without such a column, with columns that may or may not be outputs, or with objects that would have to be unpickled.
    ModelError
        If an individual has no outputs, or several; or outputs that are not finite. The message says how many ids match.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("applicant,decision\nbea,reject\nann,admit\n")
    >>> read = read_outputs_file(file, ["ann", "bea"])
    >>> read.values, read.notes, read.roles.sentence()
    (array([1., 0.]), ("outputs: 'admit' counts as 1, 'reject' counts as 0",), "Read scores.csv: individuals from applicant, outputs from decision; 'admit' counts as 1, 'reject' counts as 0.")
    >>> _ = file.write_text("applicant,score\nbea,0.2\nann,0.9\n")
    >>> read_outputs_file(file, ["ann", "cy"])
    Traceback (most recent call last):
    ...
    likewise.errors.ModelError: scores.csv has outputs for 1 of 2 individuals, none for 'cy'; expected a row for each. Hint: its ids begin 'bea', 'ann'; keep the lines of the others out of the observations to look at these alone
    """
    check_choice("kind", kind, get_args(OutputKind))
    ask = _Asked(
        as_columns(id_columns, "id_columns"),
        as_columns(output_columns, "output_columns"),
        as_columns(exclude, "exclude"),
        as_columns(usual_ids, "usual_ids") or (),
        kind,
    )
    return _read(path, row_ids, ask, text)


def read_reference_file(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    usual_ids: Column | Sequence[Column] | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> OutputsFile:
    r"""Read the features that individuals are compared by, or the truth A: numbers alone, which stand in the place of the outputs.

    The file, its ids and its errors are those of `read_outputs_file`; columns of text, and a line for each individual and item that leaves some
    out, are refused as well.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("id,age,score\nbea,31,0.2\nann,40,0.9\n")
    >>> read_reference_file(file, ["ann", "bea"]).values.tolist()
    [[40.0, 0.9], [31.0, 0.2]]
    """
    usual = as_columns(usual_ids, "usual_ids") or ()
    return _read(path, row_ids, _Asked(None, None, None, usual, "numbers", "features"), text)


def _read(path: str | PathLike[str], row_ids: ArrayLike, ask: _Asked, text: TextOptions) -> OutputsFile:
    wanted = as_id_array(row_ids, "row_ids").tolist()
    source = unpack(path, ask.holds)
    file = open_file(source, checked_text(text), lambda _: True)
    if isinstance(file, ArrayFile):
        return _of_arrays(file, wanted, ask.holds)
    names = file.header or tuple(f"column {position}" for position in range(file.width))
    if ask.are_unsaid and (places := long_columns(names)) is not None:
        return of_lines(file, places, wanted, ask.holds)
    return _of_columns(file, ask, wanted)


@dataclass(frozen=True)
class _Asked:
    """What the caller said of a table of outputs."""

    ids: tuple[Column, ...] | None
    outputs: tuple[Column, ...] | None
    exclude: tuple[Column, ...] | None
    usual_ids: tuple[Column, ...]
    kind: OutputKind | None
    holds: Literal["outputs", "features"] = "outputs"

    @property
    def are_unsaid(self) -> bool:
        return self.ids is None and self.outputs is None and self.exclude is None


def _of_arrays(file: ArrayFile, wanted: Sequence[Any], holds: str) -> OutputsFile:
    arrays = file.arrays()
    if holds not in arrays and len(arrays) == 1:
        arrays = {holds: next(iter(arrays.values()))}
    if not {holds} <= set(arrays) <= {holds, "row_ids"}:
        raise FileFormatError(
            f"{file.name} with arrays {', '.join(list(arrays)[:12])}", f"{holds}, and perhaps row_ids"
        )
    ids, values = arrays.get("row_ids"), arrays[holds]
    if ids is not None and (values.ndim == 0 or ids.shape != values.shape[:1]):
        raise FileFormatError(
            f"{file.name} with row_ids of shape {ids.shape} for {holds} of shape {values.shape}",
            f"one id for each row of {holds}",
        )
    roles = ColumnRoles(file.name, None if ids is None else ("row_ids",), outputs=(holds,))
    if ids is not None:
        values = values[places_in_file(ids, wanted, file.name, holds)]
        roles = replace(roles, remarks=on_others(ids, wanted))
    values = checked_outputs(values, len(wanted), file.name, holds)
    return OutputsFile(values, roles, tuple(map(str, range(values.shape[1] if values.ndim > 1 else 1))))


def _of_columns(file: Tabular, ask: _Asked, wanted: Sequence[Any]) -> OutputsFile:
    """Read a row for each individual."""
    left_out = [file.position(column) for column in ask.exclude or ()]
    ids = find_ids(file.header, ask.ids, file.width, file.name, left_out, ask.usual_ids)
    outputs = _output_columns(file, ask, ids, left_out)
    labels, roles = file.names(outputs), file.roles(ids=ids, outputs=outputs)
    # Lists before numbers: ids of items are numbers, too, and their differences mean nothing.
    lists = take_lists(file, ids, outputs, ask.kind)
    taken, notes = (
        (lists, [note_on_lists(len(outputs))]) if lists else _numbers(file, ids, outputs, ask.holds)
    )
    frame = taken.frame
    if ask.outputs is None and lists is None and ask.holds == "outputs":
        if len(outputs) > 1:
            refuse_counts(file.header, outputs, frame, file.name, "an output", "output_columns")
        _refuse_unlike(file, outputs)
    names = np.asarray(joined_ids(frame, ids))
    first = (file.header or ("",))[ids[0]]
    # The first line was taken for names; an id there that is missing below was somebody's line.
    if ask.ids is None and first in {str(one) for one in wanted} - {str(name) for name in names.tolist()}:
        raise FileFormatError(
            f"{file.name} begins with the {ask.holds} of {first!r}", "a header first, such as id,score"
        )
    rows, others = places_in_file(names, wanted, file.name, ask.holds), on_others(names, wanted)
    if lists:
        items = np.stack([id_array(frame[str(position)]) for position in outputs], axis=1)
        return OutputsFile(items[rows], replace(roles, remarks=others), labels, "top-n", tuple(notes))
    values = frame.select(map(str, outputs)).to_numpy()[rows].astype(np.float64)
    values = values.ravel() if len(outputs) == 1 else values
    values = checked_outputs(values, len(wanted), file.name, ask.holds)
    told = [note.removeprefix("outputs: ") for note in notes]
    roles = replace(roles, remarks=(*told, *others))
    return OutputsFile(values, roles, labels, "numbers", (*taken.notes, *notes))


def _output_columns(file: Tabular, ask: _Asked, ids: Sequence[int], left_out: Sequence[int]) -> list[int]:
    """Return the positions of the outputs, as the caller said or all that are nothing else."""
    said = [file.position(column) for column in ask.outputs or ()]
    others = [position for position in range(file.width) if position not in (*ids, *left_out)]
    if ask.holds == "outputs" and len(others) > 1 and file.names(others)[-1] == REPAIR_CHANGED:
        others = others[:-1]
    outputs = said or others
    if not outputs:
        raise FileFormatError(
            f"{file.name} with the one column {file.names([0])[0]!r}",
            f"a column of ids and one of {ask.holds}",
        )
    if set(outputs) & {*ids, *left_out} or len(set(outputs)) < len(outputs):
        raise FileFormatError(
            f"columns {listing(file.names(outputs))} of {file.name} as outputs, ids or left out",
            "each column as one of these, once",
        )
    return outputs


def _numbers(
    file: Tabular, ids: Sequence[int], outputs: Sequence[int], holds: str
) -> tuple[Taken, list[str]]:
    """Take outputs as numbers; where each column holds one of two words, these count as 1 and 0."""
    import polars as pl

    try:
        return file.take(Wanted(ids=ids, numbers=outputs)), []
    # No numbers: perhaps two words, such as admit and reject. If not, the fault itself is told.
    except InputError as fault:
        taken = file.take(Wanted(ids=ids, texts=outputs))
        columns = [taken.frame[str(position)].str.strip_chars().fill_null("") for position in outputs]
        valued = [two_valued(column.to_list()) for column in columns]
        if any((column == "").any() for column in columns) or None in valued:
            if holds == "outputs":
                _refuse_gaps(file, ids, taken.frame, columns)
            told = (_on_other_columns, on_words) if holds == "outputs" else (_on_categories,)
            raise next(filter(None, (say(file, outputs, columns) for say in told)), fault) from None
        found = [pair for pair in valued if pair is not None]
        numbers = [
            pl.Series(str(position), values) for position, (values, _) in zip(outputs, found, strict=True)
        ]
        return Taken(taken.frame.with_columns(numbers)), list(dict.fromkeys(note for _, note in found))


def _refuse_gaps(
    file: Tabular, ids: Sequence[int], frame: pl.DataFrame, columns: Sequence[pl.Series]
) -> None:
    """Say who has none where all others have numbers, or one of two words: nobody can be compared by what is not there."""
    import polars as pl

    is_empty = [pl.Series(map(is_usually_missing, column.to_list()), dtype=pl.Boolean) for column in columns]
    known = [column.filter(~empty) for column, empty in zip(columns, is_empty, strict=True)]
    if not all(could_be_numbers(column) or two_valued(column.to_list()) for column in known):
        return
    lacking = np.logical_or.reduce([empty.to_numpy() for empty in is_empty])
    names = np.asarray(joined_ids(frame, ids))[lacking].tolist()
    if names:
        raise ModelError(
            f"{file.name}, where {len(names):,} of {frame.height:,} lines have no output: those of {listing(names)}",
            "one in every line",
            "leave who has none out of this file and of that of the individuals",
        )


def _on_other_columns(
    file: Tabular, outputs: Sequence[int], columns: Sequence[pl.Series]
) -> InputError | None:
    """Say which option names the outputs where columns of text stand beside numbers; a blank among numbers is a fault of its line."""
    names = file.names(outputs)
    filled = [column.filter(column != "") for column in columns]
    texts = [
        name
        for name, column in zip(names, filled, strict=True)
        if not len(column) or not could_be_numbers(column)
    ]
    numbers = [name for name in names if name not in texts]
    if not texts or not numbers:
        return None
    return FileFormatError(
        f"columns {listing(texts)} of {file.name}, which are not numbers, beside others that are",
        "to be told which are outputs",
        f"give {option('output_columns', repr(','.join(numbers)))}",
    )


def _on_categories(file: Tabular, places: Sequence[int], columns: Sequence[pl.Series]) -> InputError | None:
    """Say what to do with features that are words throughout; a word among numbers is a fault of its line."""
    words = [
        name
        for name, column in zip(file.names(places), columns, strict=True)
        if not any(map(could_be_number, column))
    ]
    if not words:
        return None
    return FileFormatError(
        f"words in {listing(words)} of {file.name}",
        "features that are numbers",
        "leave them out of the file, or compare numbers and words by GowerDistance in Python: reference=GowerDistance(table)",
    )


def _refuse_unlike(file: Tabular, outputs: Sequence[int]) -> None:
    """Raise where some columns are called like outputs and others are not: id,age,score has one output, not two."""
    names = file.names(outputs)
    called = [name for name in names if is_output(name)]
    if called and len(called) < len(names):
        raise FileFormatError(
            f"columns {listing(names)} of {file.name}, of which {listing(called)} looks like an output",
            "to be told which are outputs",
            f"give {option('output_columns', repr(','.join(called)))}",
        )
