"""Every pair that breaks the limit, as a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import BinaryIO

import numpy as np

from likewise._kernels import beyond_rounding, excesses, pair_ratios
from likewise._typing import Floats
from likewise.fairness import PairwiseDistance
from likewise.fairness.exact.blocks import Block, units
from likewise.writing import PathLike, spreadsheet_safe, write_file

COLUMNS = ("arm", "left", "right", "reference_distance", "output_distance", "ratio", "excess")


def write_violating_pairs(
    path: PathLike,
    outputs: Mapping[str, PairwiseDistance],
    references: Mapping[str, PairwiseDistance],
    lipschitz: float,
) -> None:
    """Write a line for each pair with ``D > L d``, arm by arm.

    Parameters
    ----------
    path : path-like
        Its columns are `COLUMNS`; `excess` is ``D - L d``. Text that a spreadsheet would run as a formula begins with an apostrophe.
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
            for row in _violating(output, references[name], lipschitz):
                lines.writerow([spreadsheet_safe(cell) for cell in (name, *row)])
        text.detach()

    write_file(path, write)


def _violating(
    output: PairwiseDistance, reference: PairwiseDistance, lipschitz: float
) -> Iterator[tuple[object, ...]]:
    """Yield the two ids, d, D, ratio and excess of each violating pair, in the order of the pairs."""
    ids = np.arange(reference.n_individuals) if reference.row_ids is None else reference.row_ids
    for unit in units(reference.n_individuals):
        for block in unit.cut():
            d, D = _measured(block, reference), _measured(block, output)
            excess = beyond_rounding(excesses(D, d, lipschitz), D)
            found = np.flatnonzero(excess > 0)  # not where d is not defined
            left, right = block.people(found)
            columns = (
                ids[left],
                ids[right],
                d[found],
                D[found],
                pair_ratios(D[found], d[found]),
                excess[found],
            )
            yield from zip(*(column.tolist() for column in columns), strict=True)
    for distance in (output, reference):
        distance.release()


def _measured(block: Block, distance: PairwiseDistance) -> Floats:
    measured: Floats = block.pairs_of(distance.block(block.start, block.stop, block.first, block.last))
    return measured
