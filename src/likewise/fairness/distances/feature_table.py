"""Leave out the columns that a reference distance must not see, for example protected attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.checks import checked_name
from likewise.errors import DistanceError, ShapeError, unknown_name
from likewise.fairness.distances.rows import complete_rows
from likewise.observations.frames import distinct_columns, refuse_text

_NAMED_AT_MOST = 5


def kept_columns(names: Sequence[Any], exclude: Sequence[Any]) -> tuple[NDArray[np.bool_], str]:
    """Return which columns stay, and say so in words. Names are those of columns; for an array without names, their positions.

    DistanceError for an unknown name, a name given as a bare string, or nothing left.

    >>> kept_columns(["race", "lsat", "ugpa"], ["race"])
    (array([False,  True,  True]), 'all but race')
    """
    if isinstance(exclude, str):
        raise DistanceError(f"exclude={exclude!r}", "a list of column names", f"exclude=[{exclude!r}]")
    if not isinstance(exclude, Sequence | np.ndarray):
        raise DistanceError(f"exclude of type {type(exclude).__name__}", "a list of column names")
    known_names = set(names)
    for name in exclude:
        if not _is_among(name, known_names):
            raise DistanceError(*unknown_name("column", name, [str(known) for known in names[:50]]))
    excluded = set(exclude)
    kept = np.array([name not in excluded for name in names], dtype=bool)
    if not kept.any():
        raise DistanceError("every column excluded", "at least one column left to compare individuals by")
    return kept, _in_words(exclude)


def _is_among(name: Any, names: set[Any]) -> bool:
    try:
        return name in names
    except (TypeError, ValueError):  # a list, an array or a record is nobody's name
        return False


def _in_words(exclude: Sequence[Any]) -> str:
    if not len(exclude):
        return "all"
    named = ", ".join(str(name) for name in exclude[:_NAMED_AT_MOST])
    more = len(exclude) - _NAMED_AT_MOST
    return f"all but {named}" + (f" and {more} more" if more > 0 else "")


Scaling = Literal["none", "standard", "range"]
"""``"standard"``: each column divided by its standard deviation; ``"range"``: by its largest minus its smallest value."""

_SPREADS: dict[str, Callable[..., Any]] = {"none": np.ones_like, "standard": np.std, "range": np.ptp}


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Complete numeric features of individuals, those for measuring and those of the reference data for fitting."""

    values: Floats  # (n_individuals, n_columns)
    fitted_on: Floats  # (n_reference, n_columns)
    columns: str  # which columns are left, in words
    names: NDArray[Any] | None  # of the columns that are left; None where they have none
    unscaled: Floats  # (n_individuals, n_columns), what a reader knows the values by

    @classmethod
    def read(cls, rows: Any, exclude: Sequence[Any] = (), fitted_on: Any = None) -> FeatureTable:
        """Read `rows`, and `fitted_on` (by default the same) with the same columns.

        DistanceError for a column that is not numeric; NaN or infinite values; an unknown column to exclude; no column left. ShapeError for fewer
        than two individuals, or reference data with other columns.
        """
        values, columns, names = _read(rows, exclude)
        reference = values if fitted_on is None else _read(fitted_on, exclude)[0]
        if reference.shape[1] != values.shape[1]:
            raise ShapeError(
                f"reference data with {reference.shape[1]} columns", f"{values.shape[1]}, as the individuals"
            )
        return cls(values, reference, columns, names, values)

    def scaled(self, scaling: Scaling) -> FeatureTable:
        """Divide every column by its spread in the reference data; a column without spread there stays as it is."""
        checked_name("scaling", scaling, _SPREADS, DistanceError)
        if scaling == "none":
            return self
        spread = _SPREADS[scaling](self.fitted_on, axis=0)
        divisor = np.where(spread > 0, spread, 1.0)
        return replace(self, values=self.values / divisor, fitted_on=self.fitted_on / divisor)


def scaling_in_words(scaling: Scaling) -> str:
    """Say what `scaling` did."""
    words = {
        "none": "none",
        "standard": "each column by its standard deviation in the reference data",
        "range": "each column by its range in the reference data",
    }
    return words[scaling]


def column_names(rows: Any) -> list[Any]:
    """Return the column names of a data frame, or the positions of an array's columns."""
    if (names := getattr(rows, "columns", None)) is not None:
        return list(names)
    shape = as_array(rows, "individuals", DistanceError).shape
    return list(range(shape[1] if len(shape) == 2 else 1))


def _read(rows: Any, exclude: Sequence[Any]) -> tuple[Floats, str, NDArray[Any] | None]:
    kept, columns = kept_columns(column_names(rows), exclude)
    if hasattr(rows, "columns"):
        import narwhals as nw

        with distinct_columns():
            frame = nw.from_native(rows, eager_only=True)[:, np.flatnonzero(kept).tolist()]
        refuse_text(frame)
        return complete_rows(frame.to_numpy()), columns, np.array(frame.columns, dtype=object)
    table = as_array(rows, "individuals", DistanceError)
    return complete_rows(table[:, kept] if table.ndim == 2 else table), columns, None
