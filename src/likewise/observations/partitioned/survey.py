"""The first reading of all parts: who and what occurs, how often, and which values; everything is checked on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.errors import ObservationError
from likewise.observations.partitioned.parts import Parts
from likewise.observations.reading.layouts import id_array
from likewise.observations.value_range import RangeChoice, ValueRange

if TYPE_CHECKING:
    import polars as pl

_MOST_LEVELS = 256
"""Different values that are written as one byte each: ratings have five or ten."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What the parts hold."""

    row_ids: NDArray[Any]  # sorted, as `column_ids` are
    column_ids: NDArray[Any]
    counts: NDArray[np.int64]  # (m,), lines of each individual
    extremes: tuple[float, float]  # the smallest and the largest value
    levels: Floats | None  # (k,), all values, increasing, where there are few; else None

    @property
    def value_type(self) -> np.dtype[Any]:
        """What a value is written as."""
        return np.dtype(np.float64 if self.levels is None else np.uint8)

    def encoded(self, values: Floats) -> NDArray[Any]:
        """Return what is written of values."""
        if self.levels is None:
            return values
        return np.searchsorted(self.levels, values).astype(np.uint8)

    def decoded(self, stored: NDArray[Any]) -> Floats:
        """Return the values of what was written."""
        return np.asarray(stored if self.levels is None else self.levels[stored], dtype=np.float64)


def survey(parts: Parts, declared: ValueRange | None, few: int = _MOST_LEVELS) -> Survey:
    """Read all lines once; up to `few` different values are written as codes.

    An `ObservationError` refuses parts without a line, an id or a value that is missing or not finite, and a value outside the declared range.
    """
    import polars as pl

    users: list[pl.DataFrame] = []
    items: list[pl.DataFrame] = []
    low, high = np.inf, -np.inf
    levels: Floats | None = np.zeros(0)
    for path, first, frame in parts.batches():
        values = _checked(path, first, frame, declared)
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        if levels is not None:
            levels = np.union1d(levels, values)
            levels = levels if levels.size <= few else None
        users = _piled(users, frame.group_by("user").agg(pl.len().cast(pl.Int64)), _summed)
        items = _piled(items, frame.select("item").unique(), _united)
    if not users:
        raise ObservationError(f"no line in {parts.source}", "at least one")
    people = _summed(users).sort("user")
    return Survey(
        id_array(people["user"]),
        id_array(_united(items).sort("item")["item"]),
        people["len"].to_numpy().astype(np.int64),
        (low, high),
        levels,
    )


def _piled(
    pile: list[pl.DataFrame], found: pl.DataFrame, merged: Callable[[list[pl.DataFrame]], pl.DataFrame]
) -> list[pl.DataFrame]:
    """Put what a batch has on a pile whose frames at least halve from one to the next, so that each line is merged a few times only, however many batches there are."""
    pile = [*pile, found]
    while len(pile) > 1 and pile[-2].height < 2 * pile[-1].height:
        pile = [*pile[:-2], merged(pile[-2:])]
    return pile


def _summed(counts: list[pl.DataFrame]) -> pl.DataFrame:
    """Add up the numbers of lines of each individual."""
    import polars as pl

    return pl.concat(counts).group_by("user").agg(pl.col("len").sum())


def _united(items: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(items).unique()


def _checked(path: Path, first: int, frame: pl.DataFrame, declared: ValueRange | None) -> Floats:
    """Return the values of a batch; each check names the part and the line of the first offender."""
    for name, expected in (
        ("user", "an id for every observation"),
        ("item", "an id for every observation"),
        ("value", "a value in every line"),
    ):
        missing = frame[name].is_null()
        if name != "value" and frame[name].dtype.is_float():
            missing |= frame[name].is_nan()
        if missing.any():
            line = first + int(missing.arg_max() or 0)
            raise ObservationError(f"the {name} of line {line:,} of {path} is missing", expected)
    values = frame["value"].to_numpy().astype(np.float64)
    if (wrong := np.flatnonzero(~np.isfinite(values))).size:
        raise ObservationError(
            _named(path, first, frame, wrong[0]), "finite values", "leave out what is missing"
        )
    if declared is not None:
        outside = np.flatnonzero((values < declared.low) | (values > declared.high))
        if outside.size:
            raise ObservationError(_named(path, first, frame, outside[0]), f"values in {declared!r}")
    return values


def _named(path: Path, first: int, frame: pl.DataFrame, line: np.intp) -> str:
    user, item, value = frame.row(int(line))
    return f"value {value:g} at ({user}, {item}), line {first + int(line):,} of {path}"


def chosen_range(choice: RangeChoice) -> ValueRange | None:
    """Return the range that is declared; None where it is to be inferred.

    A range for each column is refused: it would need a pass over all columns of all blocks.
    """
    if choice is None:
        return None
    if isinstance(choice, str):
        raise ObservationError(f"value range {choice!r} for a partitioned file", "a pair (low, high)")
    declared = choice if isinstance(choice, ValueRange) else ValueRange.declared(choice)
    if declared.low.ndim:
        raise ObservationError("a range for each column of a partitioned file", "one pair (low, high)")
    return declared
