"""Distance between records of mixed types: numbers, categories, and missing entries."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.checks import checked_whole
from likewise.errors import DistanceError, ShapeError
from likewise.fairness.distances.distance import DistanceDescription, PairwiseDistance, checked_pairs
from likewise.fairness.distances.feature_table import kept_columns
from likewise.observations.frames import distinct_columns, refuse_unreadable
from likewise.observations.index_alignment import id_column, row_labels

if TYPE_CHECKING:
    import narwhals as nw


class GowerDistance(PairwiseDistance):
    """Mean over features of how much two records differ, in [0, 1]; defined on the features that both have.

    A numeric feature contributes ``|a - b|`` over its range in the reference data, cut at 1; a category (text, boolean,
    categorical) 0 if equal, else 1. A feature that either record misses (null or NaN) is left out of the mean; the
    distance is not defined (NaN) where fewer than `least_shared` are left.

    Parameters
    ----------
    frame : data frame of any library that narwhals knows, shape (n_individuals, n_features)
    exclude : sequence of str, optional
        Columns that do not count, for example protected attributes.
    fitted_on : data frame, optional
        Reference data that ranges are taken from; by default `frame`.
    row_ids : array-like, optional
        By default the column that is called like an id, such as ``name``, and has another one in each row; or else the index.
    least_shared : int or "half", default 1
        How many features both records must have; ``"half"`` of what two records both have on average, rounded up, which audits take: two records
        that share hardly a feature can look equal by chance.

    Raises
    ------
    DistanceError
        No data frame; an unknown column; a column that is neither numeric nor a category; infinite values; `least_shared` below 1.
    ShapeError
        Fewer than two individuals.

    Notes
    -----
    Without missing entries a metric on records, as a sum of metrics; a semimetric with them, since pairs are then
    compared on different features. A numeric feature without spread in the reference data contributes 0 or 1, like a category.

    References
    ----------
    Gower, "A general coefficient of similarity and some of its properties", Biometrics 1971.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 30, 60], "job": ["cook", "cook", "nurse"]})
    >>> GowerDistance(people).block(0, 1)        # (10/40 + 0) / 2 and (40/40 + 1) / 2
    array([[0.   , 0.125, 1.   ]])
    """

    concurrent = True
    upper_bound = 1.0

    def __init__(
        self,
        frame: Any,
        *,
        exclude: Sequence[str] = (),
        fitted_on: Any = None,
        row_ids: ArrayLike | None = None,
        least_shared: int | Literal["half"] = 1,
    ) -> None:
        table = _frame(frame)
        named = id_column(table) if row_ids is None else None
        if named is not None and named not in exclude:
            table, row_ids = table.drop(named), table.get_column(named).to_list()
            self.notes = (f"individuals are called as in column {named!r}",)
        if len(table) < 2:
            raise ShapeError(f"{len(table)} individual", "at least two, in rows")
        kept, columns = kept_columns(table.columns, exclude)
        names = [name for name, keep in zip(table.columns, kept, strict=True) if keep]
        refuse_unreadable(table[:, np.flatnonzero(kept).tolist()])
        reference = table if fitted_on is None else _frame(fitted_on)
        self.features = np.stack([_encoded(table, reference, name) for name in names])
        self.names, self._table = names, table
        self.ranges = {name: _spread(reference, name) for name in names}
        self.n_individuals = len(table)
        self.row_ids = row_labels(row_ids, frame, self.n_individuals)
        self.least_shared = _least_shared(least_shared, self.features)
        missing = bool(np.isnan(self.features).any())
        self.description = DistanceDescription(
            "Gower",
            "mean of differences per feature",
            columns=columns,
            scaling="numbers by their range in the reference data, categories equal or not",
            missing=_left_out(self.least_shared) if missing else "none missing",
            axioms="semimetric" if missing else "pseudometric" if len(exclude) else "metric",
        )

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        return self._mean_difference(self.features[:, start:stop, None], self.features[:, None, first:last])

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        return self._mean_difference(self.features[:, left], self.features[:, right])

    def taken(self, individuals: NDArray[np.intp]) -> GowerDistance:
        """Return the same distance between some of the individuals, in the order given."""
        some = copy(self)
        some.features, some._table = self.features[:, individuals], self._table[individuals.tolist()]
        some.n_individuals = len(individuals)
        some.row_ids = None if self.row_ids is None else self.row_ids[individuals]
        return some

    def lacked_by(self, individuals: NDArray[np.intp]) -> tuple[str, ...]:
        """Return the features that all of these records lack; see `PairwiseDistance.lacked_by`."""
        if not len(individuals):
            return ()
        lacked = np.flatnonzero(np.isnan(self.features[:, individuals]).all(axis=1))
        return tuple(str(self.names[k]) for k in lacked)

    def sharing(self, least_shared: int) -> Self:
        """Return the same distance, defined where two records both have at least so many features."""
        other = copy(self)
        other.least_shared = _least_shared(least_shared, self.features)
        if np.isnan(self.features).any():
            other.description = replace(self.description, missing=_left_out(other.least_shared))
        return other

    @property
    def blanks(self) -> NDArray[np.bool_]:
        """What is missing, shape (n_features, n_individuals)."""
        return np.isnan(self.features)

    def values_of(self, k: int) -> list[float | str]:
        """Return what is recorded of an individual, as it was given; NaN where something is missing."""
        row = zip(self._table[:, self.names].row(k), self.features[:, k], strict=True)
        return [float("nan") if np.isnan(code) else _as_given(value) for value, code in row]

    def _mean_difference(self, left: Floats, right: Floats) -> Floats:
        """Average over features, one at a time, so that no array holds pairs times features; equal is 0, 1 is the most."""
        shape = np.broadcast_shapes(left.shape[1:], right.shape[1:])
        total, count = np.zeros(shape), np.zeros(shape)
        for a, b in zip(left, right, strict=True):
            difference = np.minimum(np.abs(a - b), 1.0)
            both = ~np.isnan(difference)
            np.add(total, difference, out=total, where=both)
            count += both
        mean: Floats = np.divide(total, count, out=np.full(shape, np.nan), where=count >= self.least_shared)
        return mean


def _least_shared(asked: object, features: Floats) -> int:
    """Return how many features two records must share: as many as asked for, or half of what two share on average."""
    if not (isinstance(asked, str) and asked == "half"):
        return checked_whole("least_shared", asked, 1, len(features), error=DistanceError, or_else="'half'")
    known, m = np.count_nonzero(~np.isnan(features), axis=1), features.shape[1]
    # Of all ordered pairs, known (known - 1) share a feature that so many records have.
    shared = float((known * (known - 1)).sum()) / (m * (m - 1))
    half: int = ceil(shared / 2)
    return max(1, half)


def _left_out(least_shared: int) -> str:
    few = f"; undefined where they share fewer than {least_shared}" if least_shared > 1 else ""
    return f"features that either record misses are left out{few}"


def _as_given(value: Any) -> float | str:
    return str(value) if isinstance(value, bool | str) or not hasattr(value, "__float__") else float(value)


def _frame(data: Any) -> nw.DataFrame[Any]:
    """Recognise a data frame of any library."""
    import narwhals as nw

    try:
        with distinct_columns():
            return nw.from_native(data, eager_only=True)
    except TypeError as error:
        given = f"individuals of type {type(data).__name__}"
        raise DistanceError(given, "a data frame", "for an array of numbers use feature_distance") from error


def _encoded(table: nw.DataFrame[Any], reference: nw.DataFrame[Any], name: str) -> Floats:
    """Return a column as floats, NaN where missing: numbers over their range, categories as whole numbers."""
    if name not in reference.columns:
        raise DistanceError(f"reference data without the column {name!r}", "the columns of the individuals")
    if not table.get_column(name).dtype.is_numeric():
        return _category_numbers(table, name)
    values, spread = _numbers(table, name), _spread(reference, name)
    # Without spread in the reference data any difference is as large as can be.
    return values / spread if spread > 0 else _as_categories(values, np.isnan(values))


def _spread(reference: nw.DataFrame[Any], name: str) -> float:
    """Return the range of a number in the reference data; 0 of a category."""
    if not reference.get_column(name).dtype.is_numeric():
        return 0.0
    known = _numbers(reference, name)
    known = known[~np.isnan(known)]
    return float(np.ptp(known)) if known.size else 0.0


def _numbers(frame: nw.DataFrame[Any], name: str) -> Floats:
    import narwhals as nw

    values = frame.get_column(name).cast(nw.Float64).to_numpy().astype(np.float64)
    if np.isinf(values).any():
        raise DistanceError(f"infinite values in column {name!r}", "finite or missing values")
    return np.asarray(values)


def _category_numbers(frame: nw.DataFrame[Any], name: str) -> Floats:
    import narwhals as nw

    kind = frame.get_column(name).dtype
    if kind not in (nw.String, nw.Boolean, nw.Categorical, nw.Enum) and not isinstance(kind, nw.Enum):
        raise DistanceError(
            f"column {name!r} of type {kind}",
            "numbers, text, booleans or categories",
            "exclude or convert it",
        )
    return _as_categories(
        frame.get_column(name).to_numpy().astype(str), frame.get_column(name).is_null().to_numpy()
    )


def _as_categories(values: NDArray[Any], missing: NDArray[np.bool_]) -> Floats:
    """Number different values, so that any two of them are at least 1 apart."""
    numbers = np.full(len(values), np.nan)
    numbers[~missing] = np.unique(values[~missing], return_inverse=True)[1]
    return numbers
