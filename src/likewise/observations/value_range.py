"""The range that observed values live in, and the affine map between it and the method's own working range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.arrays import as_floats
from likewise.checks import checked_name
from likewise.errors import ObservationError, ShapeError, option
from likewise.observations.table import Table, Values, rows_of_entries

WorkingRange = Literal["symmetric", "unit"]
"""``"symmetric"`` is [-1, 1], the range of the theory (Section 3); ``"unit"`` is [0, 1], used in Experiment 2."""

Columns = NDArray[np.integer] | slice | None

_BOUNDS: dict[WorkingRange, tuple[float, float]] = {"symmetric": (-1.0, 1.0), "unit": (0.0, 1.0)}


MUCH_WIDER = 5.0
"""How many times as wide as another a column is that cannot be on the same scale, where most entries are observed."""

_ROUNDINGS = 4
"""As many roundings are in a value, the two ends of the range and their middle."""


@dataclass(frozen=True, eq=False)
class AffineScale:
    """The map ``x -> (x - shift) / factor`` from the user's units onto a working range of the method.

    Parameters
    ----------
    shift, factor : ndarray, shape () or (n_columns,)
        One number for all columns, or one for each.
    bounds : tuple of float
        The working range that the value range is mapped onto.
    """

    shift: NDArray[np.float64]
    factor: NDArray[np.float64]
    bounds: tuple[float, float]

    def forward(self, values: ArrayLike, columns: Columns = None) -> NDArray[np.float64]:
        """Map values in the user's units to the working range; `columns` says which column each value belongs to.

        What is 0 there but for rounding is 0, as a missing entry is once it is filled: 3.15 is in the middle of 2.2 to 4.1.
        """
        given = np.asarray(values)
        shift, factor = _of(self.shift, columns), _of(self.factor, columns)
        scaled: NDArray[np.float64] = (given - shift) / factor
        unit = np.finfo(given.dtype if given.dtype.kind == "f" else np.float64).eps
        # The rounding of a value at `shift`, in units of the working range: below it, no number can be told from 0.
        return np.where(np.abs(scaled) <= _ROUNDINGS * unit * (1 + np.abs(shift / factor)), 0.0, scaled)

    def forward_checked(self, table: Table) -> NDArray[np.float64]:
        """Map the values of rows that were not there when the range was fixed.

        Raises
        ------
        ObservationError
            A value is infinite, or outside the range: clipped, it would silently become another. The message names the first.
        """
        values = table.values
        _check_finite_values(table)
        scaled = self.forward(values.data, values.indices)
        low, high = self.bounds
        shift, factor = _of(self.shift, values.indices), _of(self.factor, values.indices)
        # As many roundings as `forward` and the ends themselves have, in the precision of the data.
        rounding = _ROUNDINGS * np.finfo(values.dtype).eps * (high - low + np.abs(shift / factor))
        if (wrong := np.flatnonzero((scaled < low - rounding) | (scaled > high + rounding))).size:
            column = values.indices[wrong[0]]
            ends = (self.backward(np.asarray(bound), column) for bound in self.bounds)
            raise ObservationError(
                f"{wrong.size:,} values of new rows outside the range of the fit, the first being {_named(table, wrong[0])}",
                "values from {:g} to {:g}".format(*ends),
                f"fit with the range that values can take: {option('value_range', '(low, high)')}",
            )
        # Only roundings are clipped here; whatever lies further out was refused above.
        return np.clip(scaled, low, high)

    def backward(self, values: ArrayLike, columns: Columns = None) -> NDArray[np.float64]:
        """Map values in the working range back to the user's units."""
        return np.asarray(values) * _of(self.factor, columns) + _of(self.shift, columns)


def _of(parameter: NDArray[np.float64], columns: Columns) -> NDArray[np.float64]:
    """Return the parameter of each column named; all of them, for whole rows, by default."""
    return parameter if parameter.ndim == 0 or columns is None else parameter[columns]


@dataclass(frozen=True, eq=False)
class ValueRange:
    """The smallest and largest value that an entry can take, in the user's units.

    Parameters
    ----------
    low, high : ndarray, shape () or (n_columns,)
        Bounds, one pair for all columns or one pair for each; finite, ``low < high``.
    inferred : bool
        True where the bounds are the smallest and largest value seen, not declared by the caller.

    Examples
    --------
    >>> stars = ValueRange.declared((1, 5))
    >>> stars.scale_to("symmetric").forward([1, 3, 5])
    array([-1.,  0.,  1.])
    >>> stars
    ValueRange(1 to 5)
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    inferred: bool = False

    @classmethod
    def declared(cls, bounds: tuple[ArrayLike, ArrayLike]) -> ValueRange:
        """Check a pair (low, high) of numbers or of arrays with one entry a column.

        Raises
        ------
        ObservationError
            If the pair is malformed, not finite, or not increasing.
        """
        try:
            low, high = (as_floats(bound, "a bound", ObservationError) for bound in bounds)
            low, high = np.broadcast_arrays(low, high)
        except (TypeError, ValueError) as error:
            raise ObservationError(
                f"value range {bounds!r}", "a pair (low, high)", "for example (1, 5)"
            ) from error
        with np.errstate(over="ignore", invalid="ignore"):
            # Half of it must not vanish either: that is the factor of the map to [-1, 1].
            width = high - low  # overflows for bounds near the largest number
        if low.ndim > 1 or not (np.isfinite(width) & (width / 2 > 0)).all():
            raise ObservationError(f"value range {bounds!r}", "finite bounds with low < high")
        return cls(low, high)

    def scale_to(self, working_range: WorkingRange) -> AffineScale:
        """Return the affine map from this range onto `working_range`."""
        checked_name("working_range", working_range, _BOUNDS, ObservationError)
        low, high = _BOUNDS[working_range]
        factor = (self.high - self.low) / (high - low)
        return AffineScale(np.asarray(self.low - low * factor), np.asarray(factor), (low, high))

    def __str__(self) -> str:
        origin = ", inferred from the data" if self.inferred else ""
        if self.low.ndim:
            return f"{self.low.size} columns, each its own{origin}"
        return f"{self.low:g} to {self.high:g}{origin}"

    def __repr__(self) -> str:
        return f"ValueRange({self})"


RangeChoice = tuple[ArrayLike, ArrayLike] | ValueRange | Literal["per-column"] | None
"""A declared range, or how to infer one."""


def resolve_range(table: Table, choice: RangeChoice) -> tuple[ValueRange, tuple[str, ...]]:
    """Return the value range of a table and the notes about it, having checked every observation.

    An `ObservationError` says that nothing was observed, that a value is not finite or outside the declared range, or that there is no spread to infer
    a range from; a `ShapeError`, that a declared range has another number of columns than the table.
    """
    _check_finite(table)
    if choice is None:
        return _infer(table)
    if isinstance(choice, str):
        return _infer_per_column(table, choice)
    declared = choice if isinstance(choice, ValueRange) else ValueRange.declared(choice)
    _check_within(table, declared)
    return declared, ()


def _check_finite(table: Table) -> None:
    rows, columns = table.values.shape
    if not table.values.nnz:
        raise ObservationError(
            f"a {rows} x {columns} matrix without an observation", "at least one observation"
        )
    _check_finite_values(table)


def _check_finite_values(table: Table) -> None:
    if (wrong := np.flatnonzero(~np.isfinite(table.values.data))).size:
        raise ObservationError(
            f"value {_named(table, wrong[0])}",
            "finite values",
            "leave out what is missing; every stored entry is an observation",
        )


def _check_within(table: Table, declared: ValueRange) -> None:
    data, columns = table.values.data, table.values.indices
    if declared.low.ndim and declared.low.size != table.values.shape[1]:
        raise ShapeError(
            f"{declared.low.size} value ranges for {table.values.shape[1]} columns",
            "one range, or one a column",
        )
    # Compared in the precision of the data: 0.1 in float32 is larger than 0.1 in float64.
    low, high = (np.asarray(bound, dtype=data.dtype) for bound in (declared.low, declared.high))
    if low.ndim:
        low, high = low[columns], high[columns]
    if (wrong := np.flatnonzero((data < low) | (data > high))).size:
        raise ObservationError(
            f"{wrong.size:,} values outside the declared range, the first being {_named(table, wrong[0])}",
            f"values in {declared!r}",
        )


def _named(table: Table, entry: np.intp) -> str:
    row, column = rows_of_entries(table.values)[entry], table.values.indices[entry]
    return f"{table.values.data[entry]:g} at ({table.row_ids[row]}, {table.column_ids[column]})"


def _infer(table: Table) -> tuple[ValueRange, tuple[str, ...]]:
    """Infer a range for each column of a table, and one for all columns of anything else.

    A missing entry counts as the middle of the range: one range for LSAT marks up to 48 and grades up to 4 would make a missing grade a 24.
    An array does not say whether it is a table, and keeps one range; where columns are much wider than others, estimators warn.
    """
    least, most = _spread(table.values.data)
    if least == most or not table.is_tabular:
        return range_of_all(least, most)
    low, high = _ends_of_columns(table.values)
    flat = low == high
    # A column of one value tells nothing of its scale: with that value in the middle it is 0, as what is missing.
    low[flat] -= (most - least) / 2
    high[flat] += (most - least) / 2
    return inferred_range(low, high), ("value range inferred from the data, for each column its own",)


def range_of_all(low: float, high: float) -> tuple[ValueRange, tuple[str, ...]]:
    """Return the range inferred for all columns from the smallest and the largest value, which must differ, and a note that says so."""
    if not low < high:
        raise ObservationError(
            f"observations that all equal {low:g}",
            "values that differ, or a declared range",
            f"give {option('value_range', '(low, high)')}",
        )
    inferred = inferred_range(np.asarray(low), np.asarray(high))
    return inferred, (f"value range inferred from the data: {low:g} to {high:g}",)


def _infer_per_column(table: Table, choice: str) -> tuple[ValueRange, tuple[str, ...]]:
    """Take the smallest and largest value of each column; a column without observations gets those of all columns."""
    if choice != "per-column":
        raise ObservationError(
            f"value range {choice!r}", "a pair (low, high) or 'per-column'", "for example (1, 5)"
        )
    low, high = _ends_of_columns(table.values)
    if (flat := np.flatnonzero(low >= high)).size:
        raise ObservationError(
            f"column {table.column_ids[flat[0]]} without spread: all its values equal {low[flat[0]]:g}",
            "at least two different values in each column",
            f"declare the range of every column: {option('value_range', '(lows, highs)')}",
        )
    return inferred_range(low, high), ("value range inferred from the data, for each column its own",)


def _ends_of_columns(values: Values) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and the largest value of each column; those of all where nothing is observed, so that any range is in their units."""
    low, high = column_extremes(values)
    empty = low > high
    low[empty], high[empty] = _spread(values.data)
    return low, high


def inferred_range(low: NDArray[np.float64], high: NDArray[np.float64]) -> ValueRange:
    """Return the range that values were found to have; ends too far apart for any number raise an `ObservationError`."""
    with np.errstate(over="ignore"):
        too_wide = np.flatnonzero(~np.isfinite(high - low))
    if too_wide.size:
        ends = " to ".join(f"{np.atleast_1d(end)[too_wide[0]]:g}" for end in (low, high))
        raise ObservationError(
            f"observations from {ends}, so far apart that no number holds the difference",
            "a narrower range",
            "look for a value that stands for missing, or use larger units",
        )
    return ValueRange(low, high, inferred=True)


def column_extremes(values: Values) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and largest observed value of each column; (inf, -inf) where nothing is observed."""
    n_columns = values.shape[1]
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    # Unbuffered, so that a column that occurs many times counts each time.
    np.minimum.at(low, values.indices, values.data)
    np.maximum.at(high, values.indices, values.data)
    return low, high


def _spread(data: NDArray[np.floating]) -> tuple[float, float]:
    return float(data.min()), float(data.max())
