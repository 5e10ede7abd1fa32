"""Complete the matrix and keep the factors, or predict single entries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from likewise.cli.options import (
    COMPLETING,
    READING,
    EstimatorOptions,
    NewPath,
    Number,
    ReadOptions,
    refuse_to_overwrite,
)
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.estimation import EntryIntervals, LowRankEstimate, MatrixEstimator
    from likewise.observations import ObservedMatrix

_TABLES = (".csv", ".parquet")


def estimate(
    ratings: Path,
    /,
    *,
    out: NewPath,
    pairs: Path | None = None,
    confidence: Number = None,
    quiet: Annotated[bool, Parameter(negative=())] = False,
    completing: EstimatorOptions = COMPLETING,
    reading: ReadOptions = READING,
) -> None:
    """Complete the matrix; write its factors, or predictions for a list of pairs.

    Parameters
    ----------
    ratings
        File of observations.
    out
        File to write: factors go to .npz (read them with likewise.LowRankEstimate.load), predictions to .csv or .parquet.
    pairs
        File of pairs (individual, feature), one a line, to predict.
    confidence
        With --pairs: add columns lower and upper, an interval for what would be observed at each pair. At least this share of such intervals
        holds, such as 0.95. A tenth of the observations is set aside to measure how wide they must be; the estimates are made without it.
    quiet
        Print nothing but errors and warnings.
    """
    from likewise.writing import check_file

    _check_kind(out, pairs)
    _check_confidence(confidence, pairs)
    refuse_to_overwrite([ratings, pairs], [out])
    check_file(out)
    estimator = completing.make_estimator()
    with StepBars(quiet=quiet) as progress:
        progress("read the file", 0, 1)
        observed = reading.read(ratings)
        wanted = None if pairs is None else _Pairs.read(pairs, observed)
        progress("estimate the matrix", 0, 1)
        completed, intervals = _completed(estimator, observed, confidence, completing.random_state)
        if wanted is None:
            completed.save(out)
        else:
            wanted.write(completed, intervals, out)
    if not quiet:
        print(completed)
        if intervals is not None:
            print(intervals)
        print(f"{'Factors' if wanted is None else 'Predictions'}: {out}")


def _completed(
    estimator: MatrixEstimator, observed: ObservedMatrix, confidence: float | None, random_state: int
) -> tuple[LowRankEstimate, EntryIntervals | None]:
    """Return the estimate; where a confidence is given, the one that the intervals are about."""
    from likewise.estimation import entry_intervals

    if confidence is None:
        return estimator.fit(observed).estimate_, None
    intervals = entry_intervals(observed, estimator, confidence=confidence, random_state=random_state)
    return intervals.estimate, intervals


def _check_confidence(confidence: float | None, pairs: Path | None) -> None:
    """Fail before the work, not after it."""
    from likewise.checks import checked_confidence
    from likewise.errors import InputError

    if confidence is None:
        return
    checked_confidence(confidence)
    if pairs is None:
        raise InputError(
            f"--confidence {confidence:g} without --pairs", "--pairs FILE, whose entries get intervals"
        )


def _check_kind(out: Path, pairs: Path | None) -> None:
    from likewise.errors import InputError

    kind = out.suffix.lower()
    if pairs is None and kind != ".npz":
        raise InputError(f"--out {out}", "a file ending in .npz", "give --pairs to predict single entries")
    if pairs is not None and kind not in _TABLES:
        raise InputError(f"--out {out} for predictions", f"a file ending in {' or '.join(_TABLES)}")


class _Pairs:
    """Pairs to predict, with their positions, found before the matrix is estimated."""

    def __init__(self, ids: tuple[Any, Any], positions: tuple[Any, Any]) -> None:
        self.ids, self.positions = ids, positions

    @classmethod
    def read(cls, path: Path, observed: ObservedMatrix) -> _Pairs:
        from likewise.observations import read_pairs
        from likewise.observations.index_alignment import positions_of

        rows, columns = read_pairs(path)
        row_positions = positions_of(rows, observed.row_ids, "row")
        return cls((rows, columns), (row_positions, positions_of(columns, observed.column_ids, "column")))

    def write(self, completed: LowRankEstimate, intervals: EntryIntervals | None, out: Path) -> None:
        import polars as pl

        from likewise.writing import write_file

        rows, columns = (ids.tolist() for ids in self.ids)
        predicted = {"estimate": completed.entries(*self.positions)}
        if intervals is not None:
            predicted |= dict(zip(("lower", "upper"), intervals.entries(*self.positions).T, strict=True))
        frame = pl.DataFrame({"row": rows, "column": columns, **predicted})
        write_file(out, frame.write_csv if out.suffix.lower() == ".csv" else frame.write_parquet)
