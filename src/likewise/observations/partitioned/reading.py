"""Read a partitioned file: survey it, sort it into blocks, and check everything on the way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import get_args

from likewise.checks import checked_name, checked_path
from likewise.engines import Engine, engine_of
from likewise.engines.checkpoint import Remembering
from likewise.engines.choice import EngineChoice
from likewise.errors import ObservationError
from likewise.memory import bytes_of
from likewise.observations.partitioned.blocks import BlockReader, RowBlock, scratch_folder
from likewise.observations.partitioned.matrix import PartitionedMatrix
from likewise.observations.partitioned.parts import Parts
from likewise.observations.partitioned.sorting import ENTRIES_OF_A_BLOCK, chosen_range, sorted_blocks, survey
from likewise.observations.reading.columns import Column
from likewise.observations.table import DuplicateRule
from likewise.observations.value_range import RangeChoice, range_of_all


def read_partitioned(
    source: str | PathLike[str],
    *,
    user: Column | None = None,
    item: Column | None = None,
    rating: Column | None = None,
    value_range: RangeChoice = None,
    duplicates: DuplicateRule = "error",
    engine: EngineChoice = "threads",
    memory_limit: float | str | None = None,
    scratch: str | PathLike[str] | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> PartitionedMatrix:
    """Read observations that need not fit into memory: Parquet parts, or text such as CSV, one observation a line, in any order.

    All lines are read twice, a bounded number at a time: to see who and what there is, and to bring the lines of each individual
    together, wherever they lie. What comes of it is a sorted copy in a folder of its own, three bytes an observation where there are few
    different values and up to 65,536 features; every later pass reads that.

    Parameters
    ----------
    source : path-like
        A folder, of which all ``*.parquet`` are parts, also below it; a pattern such as ``"ratings/*.parquet"``; or one file. Text is in UTF-8; separator and
        header are found by looking, and no field holds a line end.
    user, item, rating : str or int, optional
        Columns, by name or by position counted from 0; by default found by their usual names. All parts must have them, of one type.
    value_range : (low, high) or ValueRange, optional
        The range that a value can take; by default the smallest and largest that occur.
    duplicates : {"error", "first", "last", "mean"}
        What to do where a pair occurs more than once; the order is that of the names of the parts, and of their lines.
    engine : str, Engine or distributed.Client
        Where work on blocks runs; see `likewise.engines.engine_of`. All engines give the same bits.
    memory_limit : float or str, optional
        Bytes that this process may take, or a size such as ``"2 GiB"``.
    scratch : path-like, optional
        Where the sorted copy is made, by default in the system's folder for temporary files. Workers on other machines must see it.
    checkpoint : path-like, optional
        A folder where the sums of each pass are written down: a run that was cut off, as by the loss of a scheduler, goes on from there when
        it is begun again with the same options and seeds, to the same bits. What was written is removed at the end of the ``with``.

    Returns
    -------
    PartitionedMatrix
        To be used in a ``with``, whose end removes the sorted copy; its `notes` say where that is.

    Raises
    ------
    FileFormatError
        No parts; a part that is damaged, was changed, or has other columns or types than the first.
    ObservationError
        Ids or values missing; values that are not finite, outside the range, or all equal; repeated pairs.
    OutputError
        The sorted copy cannot be written, as on a full disk; what was written is removed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars as pl
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pl.DataFrame({"user": ["bob", "ann"], "item": [1, 1], "rating": [5, 2]}).write_parquet(folder / "1.parquet")
    >>> pl.DataFrame({"user": ["ann"], "item": [2], "rating": [4]}).write_parquet(folder / "2.parquet")
    >>> with read_partitioned(folder, value_range=(1, 5)) as Z:
    ...     Z.shape, Z.n_observed, Z.in_memory().to_dense(missing=0)
    ((2, 2), 3, array([[2., 4.],
           [5., 0.]]))
    """
    checked_name("rule for duplicates", duplicates, get_args(DuplicateRule), ObservationError)
    checked_path("source", source)
    for name, path in (("scratch", scratch), ("checkpoint", checkpoint)):
        if path is not None:
            checked_path(name, path, "None")
    return _read(
        Parts.found(source, user, item, rating),
        value_range,
        duplicates,
        engine,
        memory_limit,
        scratch,
        checkpoint=checkpoint,
        owns_engine=checkpoint is not None or isinstance(engine, str),
    )


def _read(
    parts: Parts,
    value_range: RangeChoice,
    duplicates: DuplicateRule,
    engine: EngineChoice,
    memory_limit: float | str | None,
    scratch: str | PathLike[str] | None,
    entries_of_a_block: int = ENTRIES_OF_A_BLOCK,
    *,
    checkpoint: str | PathLike[str] | None = None,
    owns_engine: bool = False,
) -> PartitionedMatrix:
    limit = None if memory_limit is None else bytes_of(memory_limit)
    declared, folder = chosen_range(value_range), scratch_folder(scratch)
    with ExitStack() as undone:
        undone.callback(folder.cleanup)
        running = _begun(engine, checkpoint)
        undone.callback(running.close)  # before the files go that its tasks write
        # The mean of two values may be none of those that occur.
        found = survey(parts, declared, *[0] * (duplicates == "mean"))
        if declared is None:
            range_of_all(*found.extremes)  # values that all are equal need no sorting to be refused
        where = Path(folder.name)
        blocks, merged = sorted_blocks(parts, found, where, running, duplicates, entries_of_a_block)
        reader = BlockReader(found.column_ids.size, found.levels)
        # Of a pair that occurs twice one value was left out, or both.
        extremes = _extremes(blocks, reader, running) if merged and declared is None else found.extremes
        resolved, notes = (declared, ()) if declared is not None else range_of_all(*extremes)
        undone.pop_all()
    told = (*parts.notes, *notes, *merged, _copied(parts, blocks, folder.name))
    return PartitionedMatrix(
        blocks,
        reader,
        resolved,
        found.row_ids,
        found.column_ids,
        running,
        limit,
        told,
        parts.roles,
        folder,
        owns_engine,
    )


def _begun(engine: EngineChoice, checkpoint: str | PathLike[str] | None) -> Engine:
    """Begin an engine, which remembers its sums if there is a folder for them."""
    running = engine_of(engine)
    if checkpoint is None:
        return running
    try:
        return Remembering(running, checkpoint)
    except BaseException:
        running.close()
        raise


def _copied(parts: Parts, blocks: Sequence[RowBlock], folder: str) -> str:
    """Say where the sorted copy is."""
    n_bytes = sum(Path(block.path).stat().st_size for block in blocks)
    n_parts = f"{len(parts.paths):,} part{'s' * (len(parts.paths) > 1)}"
    return f"{n_parts}, sorted by individual in {folder} ({n_bytes:,} bytes), which is removed afterwards"


def _extremes(blocks: Sequence[RowBlock], reader: BlockReader, engine: Engine) -> tuple[float, float]:
    """Return the smallest and the largest value of sorted blocks."""
    lows, highs = zip(*engine.map(_ends, blocks, reader), strict=True)
    return min(lows), max(highs)


def _ends(block: RowBlock, reader: BlockReader) -> tuple[float, float]:
    values = reader.read(block).data
    return float(values.min()), float(values.max())
