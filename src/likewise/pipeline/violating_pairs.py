"""Every pair that breaks the limit, as a file, the worst first."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from heapq import merge
from itertools import islice
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import beyond_rounding, excesses, pair_ratios
from likewise._typing import Floats
from likewise.fairness import PairwiseDistance
from likewise.fairness.exact.blocks import Block, units
from likewise.writing import PathLike, spreadsheet_safe, write_file

_RUN = 1 << 22
"""Pairs that are sorted in memory, 48 bytes each; more are sorted in parts, which wait in a file."""

_TAKEN = 1 << 12
"""Pairs of each part that are read at once."""

_PAIR = np.dtype([(name, float) for name in ("ratio", "D", "d", "excess")] + [("left", int), ("right", int)])
_Pairs = NDArray[Any]

COLUMNS = ("arm", "left", "right", "reference_distance", "output_distance", "ratio", "excess")


def write_violating_pairs(
    path: PathLike,
    outputs: Mapping[str, PairwiseDistance],
    references: Mapping[str, PairwiseDistance],
    lipschitz: float,
) -> None:
    """Write a line for each pair with ``D > L d``, arm by arm, the largest ratio first; numbers have 7 digits.

    Parameters
    ----------
    path : path-like
        Its columns are `COLUMNS`; `excess` is ``D - L d``; `ratio` is inf where d is 0. Text that a spreadsheet would run as a formula begins with an apostrophe.
    outputs, references : mapping of str to PairwiseDistance
        D and d of each arm.
    lipschitz : float
        L.

    Raises
    ------
    OutputError
        The file cannot be written.
    """

    def write(stream: BinaryIO) -> None:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(COLUMNS)
        for name, output in outputs.items():
            for rows in _worst_first(_violating(output, references[name], lipschitz)):
                for row in _cells(rows, references[name]):
                    lines.writerow([spreadsheet_safe(cell) for cell in (name, *row)])
        text.detach()

    write_file(path, write)


def _cells(rows: _Pairs, reference: PairwiseDistance) -> Iterator[tuple[object, ...]]:
    """Yield the two ids, d, D, ratio and excess of pairs, as they are written."""
    ids = np.arange(reference.n_individuals) if reference.row_ids is None else reference.row_ids
    named = (ids[rows[side]].tolist() for side in ("left", "right"))
    numbers = ([f"{value:.7g}" for value in rows[name].tolist()] for name in ("d", "D", "ratio", "excess"))
    yield from zip(*named, *numbers, strict=True)


def _worst_first(found: Iterator[_Pairs]) -> Iterator[_Pairs]:
    """Yield pairs by ratio, the largest first; ties by D, then by position. What is more than `_RUN` is sorted in parts, which are merged."""
    waiting: list[_Pairs] = []
    sizes, size = [], 0
    with TemporaryFile() as stream:
        for rows in found:
            waiting.append(rows)
            size += rows.size
            if size >= _RUN:  # as much as may be held: sorted, it waits in a file
                stream.write(_sorted(waiting).tobytes())
                sizes.append(size)
                waiting, size = [], 0
        last = _sorted(waiting)
        if not sizes:
            yield last
            return
        stream.flush()
        parts = [*np.split(np.memmap(stream, _PAIR, "r"), np.cumsum(sizes)[:-1]), last]
        # The same order as `_sorted`, by the columns of a pair: ratio, D, then who is left and right.
        in_order = merge(*map(_one_by_one, parts), key=lambda pair: (-pair[0], -pair[1], *pair[4:]))
        while some := list(islice(in_order, _TAKEN)):
            yield np.array(some, _PAIR)


def _sorted(parts: list[_Pairs]) -> _Pairs:
    rows = np.concatenate([np.zeros(0, _PAIR), *parts])
    return rows[np.lexsort((rows["right"], rows["left"], -rows["D"], -rows["ratio"]))]


def _one_by_one(part: _Pairs) -> Iterator[tuple[float, ...]]:
    for start in range(0, part.size, _TAKEN):
        yield from part[start : start + _TAKEN].tolist()


def _violating(output: PairwiseDistance, reference: PairwiseDistance, lipschitz: float) -> Iterator[_Pairs]:
    """Yield the violating pairs, block by block."""
    for unit in units(reference.n_individuals):
        for block in unit.cut():
            d, D = _measured(block, reference), _measured(block, output)
            # What rounding of D alone can make is no violation.
            excess = beyond_rounding(excesses(D, d, lipschitz), D)
            found = np.flatnonzero(excess > 0)  # not where d is not defined
            rows = np.empty(found.size, _PAIR)
            rows["left"], rows["right"] = block.people(found)
            rows["d"], rows["D"], rows["excess"] = d[found], D[found], excess[found]
            rows["ratio"] = pair_ratios(D[found], d[found])
            yield rows
    for distance in (output, reference):
        distance.release()


def _measured(block: Block, distance: PairwiseDistance) -> Floats:
    measured: Floats = block.pairs_of(distance.block(block.start, block.stop, block.first, block.last))
    return measured
