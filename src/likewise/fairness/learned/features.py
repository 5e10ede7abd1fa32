"""Numbers and categories of individuals as columns whose absolute differences add up to what differs, by feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise._typing import Floats, Indices
from likewise.errors import DistanceError
from likewise.fairness.distances.feature_table import column_names, kept_columns
from likewise.fairness.distances.rows import complete_rows
from likewise.observations.frames import distinct_columns, refuse_unreadable

MOST_KINDS = 50
"""Different values above which text is no category."""


@dataclass(frozen=True, eq=False)
class ComparedFeatures:
    """Features of individuals, each in units in which a usual difference is about 1."""

    names: tuple[str, ...]
    # (m, q): a number over its standard deviation; a category as one column for each of its values, one
    # half where it is that
    columns: Floats
    owner: Indices  # (q,), the feature that each column belongs to, increasing
    excluded: str  # which columns of the data count, in words

    @classmethod
    def read(cls, rows: Any, exclude: Sequence[Any] = ()) -> ComparedFeatures:
        """Read an array of numbers, or a data frame of numbers and categories.

        DistanceError for missing or infinite values; text of more than 50 different values; a feature without spread; an unknown column to exclude.
        ShapeError for fewer than two individuals.
        """
        if hasattr(rows, "tocsr"):
            raise DistanceError("a sparse matrix of features", "complete features, an array or a data frame")
        rows = rows if hasattr(rows, "columns") else complete_rows(rows)
        names = column_names(rows)
        kept, words = kept_columns(names, exclude)
        chosen = np.flatnonzero(kept).tolist()
        if hasattr(rows, "columns"):
            import narwhals as nw

            with distinct_columns():
                frame = nw.from_native(rows, eager_only=True)[:, chosen]
            refuse_unreadable(frame)
            blocks = [_column(frame.get_column(name)) for name in frame.columns]
        else:
            blocks = [_number(rows[:, position], position) for position in chosen]
        owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
        return cls(tuple(str(names[position]) for position in chosen), np.hstack(blocks), owner, words)

    def differences(self, left: Indices, right: Indices) -> Floats:
        """Return what differs between pairs by feature, shape (k, p): of a number the difference over its spread, of a category 0 or 1."""
        apart = np.abs(self.columns[left] - self.columns[right])
        starts = np.flatnonzero(np.r_[True, self.owner[1:] != self.owner[:-1]])
        summed: Floats = np.add.reduceat(apart, starts, axis=1)
        return summed


def _column(series: Any) -> Floats:
    import narwhals as nw

    if series.is_null().any():
        n = int(series.is_null().sum())
        raise DistanceError(
            f"{n:,} missing values in {series.name!r}", "complete features", "exclude it, or fill them"
        )
    if series.dtype.is_numeric():
        return _number(series.cast(nw.Float64).to_numpy().astype(np.float64), series.name)
    texts = np.asarray(series.to_numpy()).astype(str)
    kinds = np.unique(texts)
    if not 1 < kinds.size <= MOST_KINDS:
        raise DistanceError(
            f"{series.name!r} with {kinds.size:,} different values",
            f"a category of 2 to {MOST_KINDS}",
            "exclude it",
        )
    # Two different values differ in two columns, by a half in each: 1 in all.
    halves: Floats = np.where(texts[:, None] == kinds, 0.5, 0.0)
    return halves


def _number(values: Floats, name: Any) -> Floats:
    if not np.isfinite(values).all():
        raise DistanceError(
            f"missing or infinite values in {name!r}", "finite numbers", "exclude it, or fill them"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(values.std())
    if not np.isfinite(spread):
        raise DistanceError(f"{name!r}, whose values are too large to compare", "values in larger units")
    if not spread > 0:
        raise DistanceError(
            f"{name!r}, which is the same for everybody", "features that differ", "exclude it"
        )
    return values[:, None] / spread
