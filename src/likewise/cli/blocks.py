"""Files larger than memory from the command line: which options have a meaning there, and an estimate from parts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

from likewise.cli.options import READING, EstimatorOptions, ReadOptions
from likewise.errors import InputError, option
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.observations.partitioned import PartitionedMatrix

_MEANINGFUL = ("user", "item", "rating", "value_range", "duplicates")
"""Options of reading that parts have."""


@Parameter(name="*", group="Larger than memory")
@dataclass(frozen=True, kw_only=True)
class BlockOptions:
    """For a folder of Parquet parts, or a pattern in quotes: they are read in passes, and need not fit into memory.

    Parameters
    ----------
    engine
        Where the work runs: threads, processes, dask, ray, serial; dask=ADDRESS or ray=ADDRESS for a cluster that runs. By default threads.
    memory_limit
        What this process may take, such as 2GiB. By default most of what is free.
    scratch
        Folder for the sorted copy, removed afterwards; workers on other machines must see it. By default that for temporary files.
    checkpoint
        Folder where the sums of each pass are written down: a command that was cut off goes on from there, given again as it was, to the same bits.
    """

    engine: str | None = None
    memory_limit: str | None = None
    scratch: Path | None = None
    checkpoint: Path | None = None

    def wanted(self, ratings: Path) -> bool:
        """Return whether parts are meant: a folder, a pattern, or a file for which one of these options is given."""
        from likewise.observations.partitioned.parts import is_partitioned

        return self != BLOCKS or is_partitioned(ratings)

    def read(self, ratings: Path, reading: ReadOptions) -> PartitionedMatrix:
        """Read the parts.

        Raises
        ------
        InputError
            An option of reading that has no meaning for parts.
        """
        from likewise.observations.partitioned import read_partitioned

        given = {field.name: getattr(reading, field.name) for field in fields(reading)}
        idle = [name for name in given if name not in _MEANINGFUL and given[name] != getattr(READING, name)]
        if idle:
            accepted = ", ".join(option(name, "") for name in _MEANINGFUL)
            raise InputError(f"{option(idle[0], repr(given[idle[0]]))} for Parquet parts", f"only {accepted}")
        return read_partitioned(
            ratings,
            **{name: given[name] for name in _MEANINGFUL},
            engine=self.engine or "threads",
            memory_limit=self.memory_limit,
            scratch=self.scratch,
            checkpoint=self.checkpoint,
        )


BLOCKS = BlockOptions()


def estimate_parts(
    ratings: Path,
    out: Path,
    blocks: BlockOptions,
    completing: EstimatorOptions,
    reading: ReadOptions,
    *,
    quiet: bool,
) -> None:
    """Estimate the matrix from parts; write its factors, or the complete rows."""
    whole_rows = out.suffix.lower() == ".parquet"
    estimator = completing.make_estimator(by_default="svt")
    with StepBars(quiet=quiet) as progress:
        progress("sort the parts", 0, 1)
        with blocks.read(ratings, reading) as observed:
            progress("estimate the matrix", 0, 1)
            fitted = estimator.fit(observed)
            if whole_rows:
                progress("write complete rows", 0, 1)
                fitted.transform_to_parquet(observed, out)
            else:
                fitted.estimate_.save(out)
            lines = [repr(observed), *observed.notes, *fitted.notes_, str(fitted.estimate_)]
            if hasattr(fitted, "passes_"):
                lines.append(
                    f"singular values {fitted.completeness_}, in {fitted.passes_} passes over the blocks"
                )
    if not quiet:
        from likewise.errors import printable

        print(*map(printable, lines), f"{'Complete rows' if whole_rows else 'Factors'}: {out}", sep="\n")
