"""Files larger than memory from the command line: which options have a meaning there, an estimate and an audit from parts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from likewise.cli.options import MEASURING, READING, EstimatorOptions, MeasureOptions, ReadOptions
from likewise.cli.values import Whole, is_partitioned
from likewise.errors import InputError, option, printable
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.observations.partitioned import PartitionedMatrix
    from likewise.pipeline import AuditReport

_MEANINGFUL = ("user", "item", "rating", "value_range", "duplicates")
"""Options of reading that parts have."""


@Parameter(name="*", group="Larger than memory")
@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """For a folder of Parquet parts, a pattern in quotes, or one large file with one of these options: read in passes, they need not fit into memory.

    Parameters
    ----------
    engine
        Where the work runs: threads, processes, dask, ray, serial; dask=ADDRESS or ray=ADDRESS for a cluster that runs. By default threads.
    scratch
        Folder for the sorted copy, removed afterwards; workers on other machines must see it. By default that for temporary files.
    checkpoint
        Folder where the sums of each pass are written down: a command that was cut off goes on from there, given again as it was, to the same bits.
    """

    engine: str | None = None
    scratch: Path | None = None
    checkpoint: Path | None = None

    def wanted(self, ratings: Path) -> bool:
        """Return whether parts are meant: a folder, a pattern, or a file for which one of these options is given."""
        return self != type(self)() or is_partitioned(ratings)

    def read(self, ratings: Path, reading: ReadOptions, memory_limit: str | None = None) -> PartitionedMatrix:
        """Read the parts; an option of reading that has no meaning for parts raises an `InputError`."""
        from likewise.observations.partitioned import read_partitioned

        given = {field.name: getattr(reading, field.name) for field in fields(reading)}
        unused = [name for name in given if name not in _MEANINGFUL and given[name] != getattr(READING, name)]
        if unused:
            accepted = ", ".join(option(name, "") for name in _MEANINGFUL)
            raise InputError(
                f"{option(unused[0], repr(given[unused[0]]))} for Parquet parts", f"only {accepted}"
            )
        return read_partitioned(
            ratings,
            **{name: given[name] for name in _MEANINGFUL},
            engine=self.engine or "threads",
            memory_limit=memory_limit,
            scratch=self.scratch,
            checkpoint=self.checkpoint,
        )


@Parameter(name="*", group="Larger than memory")
@dataclass(frozen=True, kw_only=True)
class BlockOptions(EngineOptions):
    """As `EngineOptions`, with a limit for the process.

    Parameters
    ----------
    memory_limit
        What this process may take, such as 2GiB. By default most of what is free.
    """

    memory_limit: str | None = None


BLOCKS = BlockOptions()


@Parameter(name="*", group="Larger than memory")
@dataclass(frozen=True, kw_only=True)
class SearchOptions(EngineOptions):
    """As `EngineOptions`, with a search.

    Parameters
    ----------
    worst_within
        Look also for that many pairs with the largest ratios, among individuals who stand together in a block.
    """

    worst_within: Whole = None


SEARCH = SearchOptions()


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
        with blocks.read(ratings, reading, blocks.memory_limit) as observed:
            progress("estimate the matrix", 0, 1)
            fitted = estimator.fit(observed)
            if whole_rows:
                progress("write complete rows", 0, 1)
                fitted.transform_to_parquet(observed, out)
            else:
                fitted.estimate_.save(out)
            lines = [observed.roles.sentence()] if observed.roles is not None else []
            lines += [repr(observed), *observed.notes, *fitted.notes_, str(fitted.estimate_)]
            if hasattr(fitted, "completeness_"):
                lines.append(f"singular values {fitted.completeness_}")
            if hasattr(fitted, "passes_"):
                lines.append(f"{fitted.passes_} passes over the blocks")
    if not quiet:
        print(*map(printable, lines), f"{'Complete rows' if whole_rows else 'Factors'}: {out}", sep="\n")


_OF_PARTS = ("model", "hold_out", "least_shared", "reference", "norm")
"""Options of an audit that say what runs, and what individuals are compared by."""
_WITHOUT_EFFECT = ("groups", "group_column", "consistency", "missing_entries")
"""Options of measuring that need everybody."""


def audit_parts(
    ratings: Path,
    blocks: SearchOptions,
    asked: dict[str, Any],
    completing: EstimatorOptions,
    measuring: MeasureOptions,
    reading: ReadOptions,
    *,
    quiet: bool,
) -> AuditReport:
    """Audit individuals who are drawn from parts; `asked` has other options of the command by name, None where they were not given.

    Only some have a meaning here; the others raise an `InputError`.
    """
    from likewise.pipeline.partitioned import DRAWN_PAIRS, audit_partitioned

    given = {name: value for name, value in asked.items() if value is not None}
    unused = [name for name in given if name not in _OF_PARTS]
    unused += [name for name in _WITHOUT_EFFECT if getattr(measuring, name) != getattr(MEASURING, name)]
    if unused:
        expected = "what has a meaning for individuals who are drawn: take_rows brings them into memory"
        raise InputError(f"{option(unused[0], '')} for Parquet parts", expected)
    options = measuring.options()
    # All pairs of everybody, the default elsewhere, are out of reach here.
    options["pairs"] = DRAWN_PAIRS if measuring.pairs is None else measuring.pairs
    # The default limits pairs in memory; of parts it would be a limit of the whole process.
    limited = None if measuring.memory_limit == MEASURING.memory_limit else measuring.memory_limit
    estimator = completing.make_estimator(by_default="svt")
    with StepBars(quiet=quiet) as progress:
        progress("sort the parts", 0, 1)
        with blocks.read(ratings, reading, limited) as observed:
            return audit_partitioned(
                observed,
                estimator=estimator,
                worst_within=blocks.worst_within,
                random_state=completing.random_state,
                source=ratings.name,
                progress=progress,
                **{name: value for name, value in options.items() if name not in _WITHOUT_EFFECT},
                **given,
            )
