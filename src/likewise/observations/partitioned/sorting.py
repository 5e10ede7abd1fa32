"""The two readings of all parts: what there is, checked on the way; then the lines of each individual brought together, in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.engines import Engine
from likewise.errors import ObservationError, OutputError
from likewise.observations.partitioned.blocks import RowBlock, column_type, write_block
from likewise.observations.partitioned.parts import Parts
from likewise.observations.reading.layouts import id_array
from likewise.observations.table import Axis, DuplicateRule, compress
from likewise.observations.value_range import RangeChoice, ValueRange

if TYPE_CHECKING:
    import polars as pl


ENTRIES_OF_A_BLOCK = 1 << 21
"""Fixed, whatever the engine and the memory: blocks decide the order of sums."""
_DENSE_SPAN = 8
"""Integer ids are looked up in a table while their span is at most this many times their number."""


def sorted_blocks(
    parts: Parts,
    found: Survey,
    folder: Path,
    engine: Engine,
    duplicates: DuplicateRule,
    entries_of_a_block: int = ENTRIES_OF_A_BLOCK,
) -> tuple[tuple[RowBlock, ...], tuple[str, ...]]:
    """Write every observation to the file of its block, sorted by row and column, and note what became of duplicates.

    Lines go to an unsorted file for each block first; these are sorted one by one, wherever the engine has room. A block has about
    `entries_of_a_block` observations, and never a part of a row. A pair that occurs more than once raises an `ObservationError` under the rule ``"error"``.
    """
    edges = block_edges(found.counts, entries_of_a_block)
    _distribute(parts, found, folder, edges)
    unsorted = [
        _Unsorted(str(folder), number, int(start), found.row_ids[start:stop])
        for number, (start, stop) in enumerate(pairwise(edges))
    ]
    told = (found.column_ids, found.levels, duplicates)
    results = []
    for lines, result in zip(unsorted, engine.map(_sorted, unsorted, told), strict=True):
        # Not by the task: a worker that is killed after its work is done has it done again.
        _unsorted_path(folder, lines.number).unlink()
        results.append(result)
    n_repeated = sum(repeated for _, repeated in results)
    verb = "averaged" if duplicates == "mean" else f"the {duplicates} was kept"
    notes = (f"{n_repeated:,} lines repeated a pair; {verb}",) if n_repeated else ()
    return tuple(block for block, _ in results), notes


def block_edges(counts: NDArray[np.int64], entries_of_a_block: int) -> NDArray[np.int64]:
    """Cut rows into blocks that reach a number of entries; rows are never cut.

    >>> block_edges(np.array([3, 3, 10, 1, 1]), 6)
    array([0, 2, 3, 5])
    """
    ends = np.cumsum(counts)
    # A row belongs to the block in which its entries begin.
    block = (ends - counts) // entries_of_a_block
    return np.concatenate([np.flatnonzero(np.diff(block, prepend=-1)), [counts.size]]).astype(np.int64)


def _distribute(parts: Parts, found: Survey, folder: Path, edges: NDArray[np.int64]) -> None:
    record = _record(found.column_ids.size, found.value_type)
    row_of, column_of = _positions(found.row_ids), _positions(found.column_ids)
    for _, _, frame in parts.batches():
        rows = row_of(id_array(frame["user"]))
        lines = np.empty(rows.size, record)
        # The last edge that is not beyond the row is where its block begins.
        block = np.searchsorted(edges, rows, side="right") - 1
        lines["row"] = rows - edges[block]
        lines["column"] = column_of(id_array(frame["item"]))
        lines["value"] = found.encoded(frame["value"].to_numpy().astype(np.float64))
        # Stable: lines of one pair stay in the order of the file, which decides what first and last mean.
        order = np.argsort(block, kind="stable")
        cuts = np.flatnonzero(np.diff(block[order])) + 1
        for chosen in np.split(order, cuts):
            _append(_unsorted_path(folder, int(block[chosen[0]])), lines[chosen])


def _append(path: Path, lines: NDArray[Any]) -> None:
    try:
        with path.open("ab") as file:
            file.write(lines.tobytes())
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}; the sorted copy is removed") from error


def _record(n_columns: int, value_type: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype([("row", np.uint32), ("column", column_type(n_columns)), ("value", value_type)])


def _unsorted_path(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.unsorted"


@dataclass(frozen=True, eq=False)
class _Unsorted:
    """The lines of a block, as they came."""

    folder: str
    number: int
    start: int
    row_ids: NDArray[Any]

    def __str__(self) -> str:
        return f"block {self.number}"


def _sorted(unsorted: _Unsorted, told: tuple[NDArray[Any], Any, DuplicateRule]) -> tuple[RowBlock, int]:
    """Sort the lines of a block, and write them; return how many were merged."""
    column_ids, levels, duplicates = told
    path = _unsorted_path(Path(unsorted.folder), unsorted.number)
    found = Survey(unsorted.row_ids, column_ids, np.zeros(0, np.int64), (0.0, 0.0), levels)
    lines = np.fromfile(path, _record(column_ids.size, found.value_type))
    rows, columns = (
        Axis(ids, lines[name].astype(np.int32))
        for ids, name in ((unsorted.row_ids, "row"), (column_ids, "column"))
    )
    values, _ = compress(rows, columns, found.decoded(lines["value"]), duplicates)
    counts, kind = np.diff(values.indptr), column_type(column_ids.size)
    written = counts, values.indices.astype(kind), found.encoded(values.data)
    block = write_block(path.with_suffix(".rows"), unsorted.start, *written)
    return block, lines.size - block.n_entries


def _positions(ids: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[np.int64]]:
    """Return what finds the positions of ids among sorted ones: by a table, a search, or by name."""
    if ids.dtype.kind == "O":
        place = {name: position for position, name in enumerate(ids.tolist())}
        return lambda given: np.fromiter((place[name] for name in given.tolist()), np.int64, given.size)
    span, low = int(ids[-1]) - int(ids[0]), ids[:1].astype(np.int64)  # which wraps as the differences do
    if span > _DENSE_SPAN * ids.size:
        return lambda given: np.searchsorted(ids, given)
    table = np.zeros(span + 1, np.int64)
    table[ids.astype(np.int64) - low] = np.arange(ids.size)
    return lambda given: table[given.astype(np.int64) - low]


_MOST_LEVELS = 256
"""Different values that are written as one byte each: ratings have five or ten."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What the parts hold."""

    row_ids: NDArray[Any]  # sorted, as `column_ids` are
    column_ids: NDArray[Any]
    counts: NDArray[np.int64]  # (m,), lines of each individual
    extremes: tuple[float, float]  # the smallest and the largest value
    levels: Floats | None  # (k,), all values, increasing, where there are few; else None

    @property
    def value_type(self) -> np.dtype[Any]:
        """What a value is written as."""
        return np.dtype(np.float64 if self.levels is None else np.uint8)

    def encoded(self, values: Floats) -> NDArray[Any]:
        """Return what is written of values."""
        if self.levels is None:
            return values
        return np.searchsorted(self.levels, values).astype(np.uint8)

    def decoded(self, stored: NDArray[Any]) -> Floats:
        """Return the values of what was written."""
        return np.asarray(stored if self.levels is None else self.levels[stored], dtype=np.float64)


def survey(parts: Parts, declared: ValueRange | None, few: int = _MOST_LEVELS) -> Survey:
    """Read all lines once; up to `few` different values are written as codes.

    An `ObservationError` refuses parts without a line, an id or a value that is missing or not finite, and a value outside the declared range.
    """
    import polars as pl

    users: list[pl.DataFrame] = []
    items: list[pl.DataFrame] = []
    low, high = np.inf, -np.inf
    levels: Floats | None = np.zeros(0)
    for path, first, frame in parts.batches():
        values = _checked(path, first, frame, declared)
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        if levels is not None:
            levels = np.union1d(levels, values)
            # Once there are too many, they are not looked for any more: values are then written themselves.
            levels = levels if levels.size <= few else None
        users = _piled(users, frame.group_by("user").agg(pl.len().cast(pl.Int64)), _summed)
        items = _piled(items, frame.select("item").unique(), _united)
    if not users:
        raise ObservationError(f"no line in {parts.source}", "at least one")
    people = _summed(users).sort("user")
    return Survey(
        id_array(people["user"]),
        id_array(_united(items).sort("item")["item"]),
        people["len"].to_numpy().astype(np.int64),
        (low, high),
        levels,
    )


def _piled(
    pile: list[pl.DataFrame], found: pl.DataFrame, merged: Callable[[list[pl.DataFrame]], pl.DataFrame]
) -> list[pl.DataFrame]:
    """Put what a batch has on a pile whose frames at least halve from one to the next, so that each line is merged a few times only, however many batches there are."""
    pile = [*pile, found]
    while len(pile) > 1 and pile[-2].height < 2 * pile[-1].height:
        pile = [*pile[:-2], merged(pile[-2:])]
    return pile


def _summed(counts: list[pl.DataFrame]) -> pl.DataFrame:
    """Add up the numbers of lines of each individual."""
    import polars as pl

    return pl.concat(counts).group_by("user").agg(pl.col("len").sum())


def _united(items: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(items).unique()


def _checked(path: Path, first: int, frame: pl.DataFrame, declared: ValueRange | None) -> Floats:
    """Return the values of a batch; each check names the part and the line of the first offender."""
    for name, expected in (
        ("user", "an id for every observation"),
        ("item", "an id for every observation"),
        ("value", "a value in every line"),
    ):
        missing = frame[name].is_null()
        if name != "value" and frame[name].dtype.is_float():
            missing |= frame[name].is_nan()
        if missing.any():
            line = first + int(missing.arg_max() or 0)
            raise ObservationError(f"the {name} of line {line:,} of {path} is missing", expected)
    values = frame["value"].to_numpy().astype(np.float64)
    if (wrong := np.flatnonzero(~np.isfinite(values))).size:
        raise ObservationError(
            _named(path, first, frame, wrong[0]), "finite values", "leave out what is missing"
        )
    if declared is not None:
        outside = np.flatnonzero((values < declared.low) | (values > declared.high))
        if outside.size:
            raise ObservationError(_named(path, first, frame, outside[0]), f"values in {declared!r}")
    return values


def _named(path: Path, first: int, frame: pl.DataFrame, line: np.intp) -> str:
    user, item, value = frame.row(int(line))
    return f"value {value:g} at ({user}, {item}), line {first + int(line):,} of {path}"


def chosen_range(choice: RangeChoice) -> ValueRange | None:
    """Return the range that is declared; None where it is to be inferred.

    A range for each column is refused: it would need a pass over all columns of all blocks.
    """
    if choice is None:
        return None
    if isinstance(choice, str):
        raise ObservationError(f"value range {choice!r} for a partitioned file", "a pair (low, high)")
    declared = choice if isinstance(choice, ValueRange) else ValueRange.declared(choice)
    if declared.low.ndim:
        raise ObservationError("a range for each column of a partitioned file", "one pair (low, high)")
    return declared
