"""Complete rows of observations in blocks, written where the engine has room: `fold_in` for rows that stay where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.engines.checkpoint import digest_of
from likewise.errors import EstimatorError, ShapeError
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.partitioned.blocks import BlockReader, RowBlock
from likewise.writing import PathLike, staged_folder, write_file

_PART_BYTES = 32 << 20
"""Of the complete rows of one file."""
_COPIES = 4
"""Of those rows that exist while a file is made: themselves, the frame, what is compressed, what is written."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows of a block, and the file where their estimate goes."""

    block: RowBlock
    start: int
    stop: int
    ids: NDArray[Any]
    path: str

    def __str__(self) -> str:
        return f"rows {self.start:,} to {self.stop:,}"


def write_complete_rows(estimate: LowRankEstimate, observed: PartitionedMatrix, folder: PathLike) -> None:
    """Write the estimate of every row; see `MatrixEstimator.transform_to_parquet`."""
    _check(estimate, observed)
    names = _names(observed)
    reading = observed.engine.n_workers if observed.engine.name == "threads" else 1
    observed.room(float(_COPIES * reading * _PART_BYTES), "complete rows")
    # Rows are folded in, so no worker needs the vectors of all individuals.
    features = estimate.without_rows()
    kept = observed.engine.kept_folder(_key(features, observed, names))
    with staged_folder(folder, kept) as staging:
        parts = (part for part in _parts(observed, str(staging)) if not Path(part.path).exists())
        for _ in observed.engine.map(_write, parts, (observed.reader, features, names)):
            pass


def _key(features: LowRankEstimate, observed: PartitionedMatrix, names: list[str]) -> str:
    """Return a fingerprint of all that the files depend on, so that none of another estimate is taken for one of this."""
    ids = observed.row_ids.tolist() if observed.row_ids.dtype.kind == "O" else observed.row_ids
    numbers = features.right, features.singular_values, features.shrunk_values, features.column_offsets
    how = features.scale, features.folding, observed.reader, _PART_BYTES
    return digest_of((numbers, how, names, ids, list(observed.blocks)))


def _check(estimate: LowRankEstimate, observed: PartitionedMatrix) -> None:
    if not isinstance(observed, PartitionedMatrix):
        raise EstimatorError(
            f"{type(observed).__name__} to write complete rows of",
            "observations that read_partitioned read",
            "transform returns the rows of what is in memory",
        )
    if not np.array_equal(observed.column_ids, estimate.column_ids):
        raise ShapeError(
            f"{observed.shape[1]:,} features, others than in the fit",
            f"the {estimate.shape[1]:,} features of the fit, by the same ids",
        )


def _names(observed: PartitionedMatrix) -> list[str]:
    """What the columns are called: that of the ids as in the observations, unless a feature has that name."""
    features = [str(name) for name in observed.column_ids.tolist()]
    told = None if observed.roles is None else observed.roles.ids
    ids = told[0] if told else "individual"
    while ids in features:
        ids = f"{ids}_id"
    return [ids, *features]


def _parts(observed: PartitionedMatrix, folder: str) -> Iterator[_Rows]:
    step, number = max(1, _PART_BYTES // (8 * observed.shape[1])), 0
    for block in observed.blocks:
        for start in range(block.start, block.stop, step):
            stop = min(start + step, block.stop)
            yield _Rows(block, start, stop, observed.row_ids[start:stop], f"{folder}/{number:08}.parquet")
            number += 1


def _write(rows: _Rows, told: tuple[BlockReader, LowRankEstimate, list[str]]) -> None:
    import polars as pl

    reader, features, names = told
    block = rows.block
    observed = reader.read(block)[rows.start - block.start : rows.stop - block.start]
    complete = features.fold_in(observed)
    columns = [pl.Series(names[0], rows.ids.tolist() if rows.ids.dtype.kind == "O" else rows.ids)]
    columns += [pl.Series(name, values) for name, values in zip(names[1:], complete.T.copy(), strict=True)]
    frame = pl.DataFrame(columns)
    write_file(rows.path, frame.write_parquet)
