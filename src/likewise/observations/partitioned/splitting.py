"""Some entries of every block held out, chosen by where they stand: the same on every engine, and in every run of one seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.observations.partitioned.blocks import RowBlock, scratch_folder, write_block
from likewise.observations.partitioned.matrix import PartitionedMatrix

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
    mixed = places + np.uint64((1 + seed * 0xD1342543DE82EF95) % 2**64)
    with np.errstate(over="ignore"):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
