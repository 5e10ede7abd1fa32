"""Observations whose rows lie in blocks on disk: what is known of them without reading, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.engines import Engine
from likewise.errors import MemoryLimitError, ObservationError, option
from likewise.memory import format_bytes
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.index_alignment import checked_positions
from likewise.observations.observed_matrix import ObservedMatrix
from likewise.observations.partitioned.blocks import BlockReader, RowBlock, scratch_folder, write_block
from likewise.observations.table import Table, Values
from likewise.observations.value_range import ValueRange, WorkingRange

_STANDING = 320 << 20
"""Bytes that Python with its libraries takes before anything is read."""
_A_LINE = 48
"""Bytes of an entry of a block while it is worked on, its sorting included."""


@dataclass(frozen=True, eq=False)
class PartitionedMatrix:
    """Sparse, noisy observations that are read block by block; made by `read_partitioned`.

    It stands for an `ObservedMatrix` where an algorithm needs passes over the rows and nothing else. The blocks are a sorted copy in a
    folder of its own, which `close`, or the end of a ``with``, removes.

    Attributes
    ----------
    blocks : tuple of RowBlock
        Consecutive rows; all of them together are the matrix.
    reader : BlockReader
    value_range : ValueRange
    row_ids, column_ids : ndarray
        Sorted.
    engine : Engine
        Where work on blocks runs.
    memory_limit : float or None
        Bytes that this process may take, with its libraries; None for what is free.
    notes : tuple of str
        What the reader of a result should know.
    roles : ColumnRoles or None
        Which columns were read as what.
    owns_engine : bool
        Whether the engine was begun for this matrix, and ends with it.
    estimates_rows : bool
        Whether a fit makes the estimate of these individuals; without, only what others can be folded into, and no array has m rows.
    """

    blocks: tuple[RowBlock, ...]
    reader: BlockReader
    value_range: ValueRange
    row_ids: NDArray[Any]
    column_ids: NDArray[Any]
    engine: Engine
    memory_limit: float | None = None
    notes: tuple[str, ...] = ()
    roles: ColumnRoles | None = None
    folder: TemporaryDirectory[str] | None = None
    owns_engine: bool = False
    estimates_rows: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        """(n_individuals, n_features)."""
        return self.row_ids.size, self.column_ids.size

    @property
    def n_observed(self) -> int:
        """How many entries are observed, ``|Omega|``."""
        return sum(block.n_entries for block in self.blocks)

    @property
    def observed_fraction(self) -> float:
        """``p_hat = |Omega| / (m n)``, in (0, 1]."""
        rows, columns = self.shape
        return self.n_observed / (rows * columns)

    def on(self, working_range: WorkingRange) -> BlockReader:
        """Return what reads blocks on a working range of the method."""
        scale = self.value_range.scale_to(working_range)
        if self.reader.levels is not None:
            levels = np.clip(scale.forward(self.reader.levels), *scale.bounds)
            return replace(self.reader, levels=levels)
        return replace(self.reader, shift=float(scale.shift), factor=float(scale.factor), bounds=scale.bounds)

    def row_blocks(self) -> Iterator[tuple[slice, Values]]:
        """Yield (row slice, rows in the user's units), a block at a time."""
        for block in self.blocks:
            yield slice(block.start, block.stop), self.reader.read(block)

    def take_rows(self, rows: ArrayLike) -> ObservedMatrix:
        """Return some of the individuals, in the order given, as observations in memory.

        Parameters
        ----------
        rows : array-like of int
            Positions.

        Returns
        -------
        ObservedMatrix
            All columns; value range and notes as here.

        Raises
        ------
        ShapeError
            A position that is no integer from 0 to m - 1.
        """
        from scipy import sparse

        chosen = checked_positions(rows, self.shape[0], "row")
        order = np.argsort(chosen, kind="stable")
        starts = np.array([block.start for block in self.blocks])
        # The last block that begins at the row or before it; sorted, so that each block is read once.
        owner = np.searchsorted(starts, chosen[order], side="right") - 1
        wanted = [
            (self.blocks[number], chosen[order[owner == number]] - self.blocks[number].start)
            for number in np.unique(owner)
        ]
        taken = sparse.vstack(list(self.engine.map(_taken, wanted, self.reader)), format="csr")
        back = np.empty(order.size, np.intp)
        # The inverse of the sorting, which gives the caller's order back.
        back[order] = np.arange(order.size)
        table = Table(taken[back], self.row_ids[chosen], self.column_ids.copy(), self.notes, self.roles)
        return ObservedMatrix.from_table(table, self.value_range)

    def in_memory(self) -> ObservedMatrix:
        """Return all of it as an `ObservedMatrix`."""
        return self.take_rows(np.arange(self.shape[0]))

    def without_rows(self, rows: ArrayLike, *, estimates_rows: bool = True) -> Self:
        """Return the other individuals, in blocks of their own beside these; use the result in a ``with`` too, inside the one of this.

        Parameters
        ----------
        rows : array-like of int
            Positions of those who are left out. All columns stay, also one in which nobody is left.
        estimates_rows : bool, default True
            Whether a fit makes the estimate of those who stay; False where others are folded into it, and memory is short.

        Returns
        -------
        PartitionedMatrix

        Raises
        ------
        ShapeError
            A position that is no integer from 0 to m - 1.
        ObservationError
            Nobody would be left.
        OutputError
            The copy cannot be written.
        """
        kept = np.ones(self.shape[0], dtype=bool)
        kept[checked_positions(rows, self.shape[0], "row")] = False
        if not kept.any():
            raise ObservationError(f"{kept.size:,} individuals, all of whom are left out", "one who stays")
        folder = scratch_folder(None if self.folder is None else str(Path(self.folder.name).parent))
        # How many are kept before each row: the new position of the first row of a block.
        starts = np.cumsum(kept) - kept
        wanted = [
            (block, kept[block.start : block.stop], int(starts[block.start]), folder.name)
            for block in self.blocks
            if kept[block.start : block.stop].any()
        ]
        try:
            blocks = tuple(self.engine.map(_kept, wanted))
        except BaseException:
            folder.cleanup()
            raise
        return replace(
            self,
            blocks=blocks,
            row_ids=self.row_ids[kept],
            folder=folder,
            owns_engine=False,
            estimates_rows=estimates_rows,
        )

    def room(self, state: float, what: str) -> float:
        """Return how many bytes are left of the memory limit for the state of an algorithm.

        Parameters
        ----------
        state : float
            Bytes that it needs at the least.
        what : str

        Raises
        ------
        MemoryLimitError
            If the limit is smaller than what is needed; it says how much that is.
        """
        from likewise.memory import available_memory

        in_hand = self.engine.n_workers if self.engine.name == "threads" else 1
        standing = (
            _STANDING
            + 8 * sum(self.shape)
            + _A_LINE * in_hand * max(block.n_entries for block in self.blocks)
        )
        # A fifth is left to the system and to what NumPy takes for a moment.
        limit = standing + 0.8 * available_memory() if self.memory_limit is None else self.memory_limit
        if standing + state > limit:
            raise MemoryLimitError(
                f"{what} need {format_bytes(standing + state)} with the blocks in hand, {format_bytes(limit)} may be used; raise {option('memory_limit', '')}"
            )
        return limit - standing

    def close(self) -> None:
        """Remove the sorted copy, and end what was begun for it; the matrix can then not be read any more."""
        self.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.owns_engine:
            self.engine.__exit__(kind, error, trace)
        if self.folder is not None:
            self.folder.cleanup()

    def __repr__(self) -> str:
        rows, columns = self.shape
        size = f"{rows:,} individuals x {columns:,} features, {self.n_observed:,} observed ({self.observed_fraction:.3%})"
        return f"PartitionedMatrix({size}, {self.value_range!r}, {len(self.blocks)} blocks on {self.engine.name})"


def _kept(wanted: tuple[RowBlock, NDArray[np.bool_], int, str], _: None) -> RowBlock:
    block, kept, start, folder = wanted
    counts, columns, codes = block.arrays()
    entries = np.repeat(kept, counts)
    path = Path(folder) / Path(block.path).name
    return write_block(path, start, counts[kept], columns[entries], codes[entries])


def _taken(wanted: tuple[RowBlock, NDArray[np.intp]], reader: BlockReader) -> Values:
    block, rows = wanted
    return reader.read(block)[rows]


BlockPair = tuple[RowBlock, RowBlock]
"""The entries of some rows that are seen, and those that are held out."""


@contextmanager
def split_entries(
    observed: PartitionedMatrix, share: float, seed: int
) -> Iterator[tuple[PartitionedMatrix, tuple[BlockPair, ...]]]:
    """Split the entries of each block in two: yield the matrix without what is held out, all rows and columns, and the pairs of blocks.

    They are in files beside those of the matrix that the end of the ``with`` removes. Whether an entry is held out follows from a hash of the
    seed, its row and its column; their share is in (0, 1). A row of which all would be keeps all.
    """
    beside = None if observed.folder is None else str(Path(observed.folder.name).parent)
    with scratch_folder(beside) as name:
        told = observed.shape[1], share, seed, name
        pairs = tuple(observed.engine.map(_split, observed.blocks, told))
        seen = tuple(pair[0] for pair in pairs)
        yield replace(observed, blocks=seen, folder=None, owns_engine=False), pairs


def _split(block: RowBlock, told: tuple[int, float, int, str]) -> BlockPair:
    n_columns, share, seed, folder = told
    counts, columns, codes = block.arrays()
    rows = np.repeat(np.arange(block.n_rows), counts)
    places = (rows + block.start).astype(np.uint64) * np.uint64(n_columns) + columns.astype(np.uint64)
    hidden = hashed(places, seed) < share
    # Of rows that lose all, everything is given back: an individual who was never seen is not estimated.
    of_rows = np.bincount(rows[hidden], minlength=block.n_rows)
    hidden &= (of_rows < counts)[rows]
    of_rows[of_rows == counts] = 0

    def written(kind: str, kept: NDArray[np.bool_], sizes: NDArray[Any]) -> RowBlock:
        path = Path(folder) / f"{Path(block.path).stem}.{kind}"
        return write_block(path, block.start, sizes, columns[kept], codes[kept])

    return written("seen", ~hidden, counts - of_rows), written("held-out", hidden, of_rows)


def hashed(places: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each place, spread evenly (Steele, Lea, Flood, "SplitMix", OOPSLA 2014).

    >>> hashed(np.arange(3, dtype=np.uint64), 0).round(3)
    array([0.883, 0.432, 0.026])
    """
    # Seeds shift the places by multiples of an odd constant: those of small seeds lie far apart.
    mixed = places + np.uint64((1 + seed * 0xD1342543DE82EF95) % 2**64)
    with np.errstate(over="ignore"):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    # The upper 53 bits: as many as a double holds, so that no value rounds up to 1.
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
