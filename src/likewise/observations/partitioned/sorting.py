"""The second reading: the lines of each individual are brought together, in blocks of consecutive rows, each in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.engines import Engine
from likewise.errors import OutputError
from likewise.observations.partitioned.blocks import RowBlock, column_type, write_block
from likewise.observations.partitioned.parts import Parts
from likewise.observations.partitioned.survey import Survey
from likewise.observations.reading.layouts import id_array
from likewise.observations.table import Axis, DuplicateRule, compress

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

    Lines go to an unsorted file for each block first; these are sorted one by one, wherever the engine has room. A block has at least
    `entries_of_a_block` observations, but for the last. A pair that occurs more than once raises an `ObservationError` under the rule ``"error"``.
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
        block = np.searchsorted(edges, rows, side="right") - 1
        lines["row"] = rows - edges[block]
        lines["column"] = column_of(id_array(frame["item"]))
        lines["value"] = found.encoded(frame["value"].to_numpy().astype(np.float64))
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
