"""What every source of observations is turned into before it is checked: values and ids."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.arrays import as_reals
from likewise.checks import checked_name
from likewise.errors import ObservationError, ShapeError, option
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.ids import as_id_array, counted_ids, factorize

if TYPE_CHECKING:
    from likewise.observations.features import SideInformation

Values: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"


_DENSE = 0.5
"""Share of observed entries above which most are: the widths of columns can be compared, as of a film that few rated they cannot."""


@dataclass(frozen=True, eq=False)
class Table:
    """Observations with the names of their rows and columns, and what happened on the way."""

    # (n_individuals, n_features), float64 or float32, sorted, without duplicates, owned by the table
    values: Values
    row_ids: NDArray[Any]
    column_ids: NDArray[Any]
    notes: tuple[str, ...] = ()  # what the reader of a result should know about how the table came to be
    roles: ColumnRoles | None = None  # which columns of a file were read as what
    # columns are features with names of their own, as in a data frame of applicants
    has_named_features: bool = False
    side: SideInformation | None = None  # what is known of rows and columns beside the values
    times: Floats | None = None  # (n_observed,), in the order of ``values.data``; NaN where unknown

    @property
    def is_tabular(self) -> bool:
        """Whether each column is a feature on a scale of its own: it has a name, and most individuals have a value.

        Ratings of films are no such table, also where each film has a column: of a film that few rated, few values were seen, and all
        have one scale.
        """
        return self.has_named_features and self.is_dense

    @property
    def is_dense(self) -> bool:
        """Whether most entries are observed."""
        rows, columns = self.values.shape
        return self.values.nnz > _DENSE * rows * columns

    def keep(self, observations: NDArray[np.bool_]) -> Table:
        """Return the same table with some of the observations, marked in the order of ``values.data``."""
        times = None if self.times is None else self.times[observations]
        return replace(self, values=keep_entries(self.values, observations), times=times)

    def take_rows(self, rows: NDArray[np.integer]) -> Table:
        """Return some of the individuals, in the order given."""
        return replace(
            self,
            values=self.values[rows],
            row_ids=self.row_ids[rows],
            column_ids=self.column_ids.copy(),
            side=None if self.side is None else self.side.take_rows(rows),
            times=None if self.times is None else with_data(self.values, self.times)[rows].data,
        )

    def with_note(self, note: str) -> Table:
        """Return the same table with one thing more to know about it."""
        return replace(self, notes=(*self.notes, note))


def float_type(dtype: np.dtype[Any]) -> type[np.float32 | np.float64]:
    """Return the type that observations are kept in: float32 if given so, else float64."""
    return np.float32 if dtype == np.float32 else np.float64


def index_type(largest: int) -> type[np.int32 | np.int64]:
    """Return the shortest type that SciPy's sparse arrays can hold an index in."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def rows_of_entries(values: Values) -> NDArray[np.integer]:
    """Return the row of each stored entry, in storage order."""
    return np.repeat(np.arange(values.shape[0], dtype=values.indices.dtype), np.diff(values.indptr))


def keep_entries(values: Values, kept: NDArray[np.bool_]) -> Values:
    """Return a matrix of the same shape with some of the stored entries, marked in storage order."""
    # How many entries are kept before each one: what a row begins at in the smaller matrix.
    kept_before = np.concatenate(([0], np.cumsum(kept)))
    indptr = kept_before[values.indptr].astype(values.indptr.dtype)
    return type(values)((values.data[kept], values.indices[kept], indptr), shape=values.shape)


def with_data(values: Values, data: NDArray[np.floating]) -> Values:
    """Return a matrix with the same entries stored, but other values."""
    return type(values)((data, values.indices, values.indptr), shape=values.shape)


def without_value(table: Table, missing: float | None) -> Table:
    """Return a table in which the entries that equal `missing` are missing."""
    if missing is None:
        return table
    kept = is_observed(table.values.data, missing)
    return table.keep(kept).with_note(note_on_missing(kept, missing))


def is_observed(numbers: NDArray[np.floating], missing: float) -> NDArray[np.bool_]:
    """Mark the numbers that differ from the one that stands for missing."""
    observed: NDArray[np.bool_] = numbers != numbers.dtype.type(missing)
    return observed


def note_on_missing(kept: NDArray[np.bool_], missing: float) -> str:
    """Say how many numbers stood for missing."""
    return f"{np.count_nonzero(~kept):,} entries equal to {missing:g} count as missing"


def notes_on_size(values: Values) -> list[str]:
    """Say what is allowed but surprising: rows or columns without observation, or a single one."""
    rows, columns = values.shape
    empty_rows = np.count_nonzero(np.diff(values.indptr) == 0)
    empty_columns = columns - np.count_nonzero(np.bincount(values.indices, minlength=columns))
    candidates = {
        f"{empty_rows:,} of {rows:,} rows have no observation": empty_rows > 0,
        f"{empty_columns:,} of {columns:,} columns have no observation": empty_columns > 0,
        "there is one individual only": rows == 1,
        "there is one feature only": columns == 1,
    }
    return [note for note, holds in candidates.items() if holds]


DuplicateRule = Literal["error", "first", "last", "mean"]
"""What to do where a pair (individual, feature) occurs more than once."""

_LONGEST = 2**62
"""Of an axis; its ids would fill any memory long before."""

_SHOWN = 3
"""How many offending pairs an error names."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The ids of one axis and, for each triplet, its position on it."""

    ids: NDArray[Any]
    codes: NDArray[np.integer]

    def at(self, triplets: NDArray[np.bool_]) -> Axis:
        """Return the positions of some of the triplets, on the same axis."""
        return Axis(self.ids, self.codes[triplets])


def assemble(
    rows: ArrayLike,
    columns: ArrayLike,
    values: ArrayLike,
    *,
    shape: tuple[int, int] | None = None,
    duplicates: DuplicateRule = "error",
    missing_value: float | None = None,
    times: Floats | None = None,
) -> Table:
    """Turn triplets into a table; see `ObservedMatrix.from_triplets` for the meaning of the parameters, and for its errors.

    A triplet whose value is `missing_value` observes nothing, so it repeats no pair and comes neither first nor last; its individual and
    feature stay.
    """
    checked_name("rule for duplicates", duplicates, get_args(DuplicateRule), ObservationError)
    row_names, column_names, numbers = (
        as_id_array(rows),
        as_id_array(columns),
        as_reals(values, "values", ObservationError),
    )
    if numbers.ndim != 1:
        raise ObservationError(f"values of shape {numbers.shape}", "one real number for each observation")
    lengths = (row_names.size, column_names.size, numbers.size)
    if times is not None and times.shape != numbers.shape:
        raise ShapeError(f"times of shape {times.shape}", f"one for each of {numbers.size:,} values")
    if len(set(lengths)) > 1:
        raise ShapeError(
            "{} rows, {} columns and {} values".format(*lengths), "one of each for every observation"
        )
    if not numbers.size:
        raise ObservationError("no observation", "at least one")
    row_axis, column_axis, notes = _axes(row_names, column_names, shape)
    if missing_value is not None:
        kept = is_observed(numbers, missing_value)
        row_axis, column_axis, numbers = row_axis.at(kept), column_axis.at(kept), numbers[kept]
        times = None if times is None else times[kept]
        notes = (*notes, note_on_missing(kept, missing_value))
    matrix, merged = compress(row_axis, column_axis, numbers, duplicates)
    if times is not None:  # merged as the values are
        times = compress(row_axis, column_axis, times, duplicates)[0].data
    return Table(matrix, row_axis.ids, column_axis.ids, (*notes, *merged), times=times)


def _axes(
    rows: NDArray[Any], columns: NDArray[Any], shape: tuple[int, int] | None
) -> tuple[Axis, Axis, tuple[str, ...]]:
    if shape is None:
        return Axis(*factorize(rows, "row")), Axis(*factorize(columns, "column")), ()
    _check_shape(shape)
    for ids, axis in ((rows, "row"), (columns, "column")):
        if ids.dtype.kind not in "iu":
            raise ShapeError(
                f"shape {shape} with {axis} ids such as {ids[0]!r}", "integer ids where a shape is given"
            )
    # Both axes are counted alike: an item 0 without a rating is likelier than users counted from 0 and items from 1.
    origin = 1 if min(rows.min(), columns.min()) > 0 else 0
    note = f"ids are counted from {origin}, as {'no' if origin else 'an'} id is 0"
    return _counted(rows, shape[0], origin, "row"), _counted(columns, shape[1], origin, "column"), (note,)


def _check_shape(shape: tuple[int, int]) -> None:
    try:
        lengths = [operator.index(length) for length in shape] if isinstance(shape, tuple | list) else []
        is_size = len(lengths) == 2 and all(0 < length <= _LONGEST for length in lengths)
    except TypeError:
        is_size = False
    if not is_size:
        raise ShapeError(f"shape {shape!r}", "two positive integers (n_individuals, n_features)")


def _counted(ids: NDArray[np.integer], length: int, origin: int, axis: str) -> Axis:
    low, high = int(ids.min()), int(ids.max())
    if low < origin or high >= length + origin:
        wrong = low if low < origin else high
        raise ShapeError(
            f"{axis} id {wrong} for {length} {axis}s", f"ids from {origin} to {length - 1 + origin}"
        )
    return Axis(counted_ids(length, origin), (ids - origin).astype(index_type(length)))


def compress(
    rows: Axis, columns: Axis, numbers: NDArray[np.floating], duplicates: DuplicateRule = "error"
) -> tuple[Values, tuple[str, ...]]:
    """Sort triplets into CSR and say what became of duplicates.

    SciPy adds duplicates up, so that fewer entries than triplets betray them at no further cost.
    """
    shape = (rows.ids.size, columns.ids.size)
    matrix = sparse.coo_array((numbers, (rows.codes, columns.codes)), shape=shape).tocsr()
    # Pairs are told apart only now: most data have none twice, and sorting them would cost more.
    n_merged = numbers.size - matrix.nnz
    if not n_merged:
        return matrix, ()
    order, starts = _group_pairs(rows.codes, columns.codes)
    counts = np.diff(starts, append=order.size)
    if duplicates == "error":
        raise _duplicate_error(rows, columns, order[starts[counts > 1]])
    matrix.data = _merge(numbers[order], starts, counts, duplicates).astype(numbers.dtype)
    repeated = int((counts > 1).sum())
    verb = "averaged" if duplicates == "mean" else f"the {duplicates} was kept"
    return matrix, (f"{repeated:,} {'pair' if repeated == 1 else 'pairs'} occurred more than once; {verb}",)


def _group_pairs(
    rows: NDArray[np.integer], columns: NDArray[np.integer]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the order that sorts triplets by pair, kept in order within one, and where each pair starts."""
    # A stable sort: of one pair, what came first stays first.
    order = np.lexsort((columns, rows))
    differs = (np.diff(rows[order]) != 0) | (np.diff(columns[order]) != 0)
    return order, np.flatnonzero(np.concatenate(([True], differs)))


def _merge(
    grouped: NDArray[np.floating],
    starts: NDArray[np.intp],
    counts: NDArray[np.intp],
    duplicates: DuplicateRule,
) -> NDArray[np.floating]:
    if duplicates == "first":
        return grouped[starts]
    if duplicates == "last":
        ends: NDArray[np.intp] = starts + counts
        return grouped[ends - 1]
    return np.asarray(np.add.reduceat(grouped, starts, dtype=np.float64) / counts)


def _duplicate_error(rows: Axis, columns: Axis, firsts: NDArray[np.intp]) -> ObservationError:
    shown = np.sort(firsts)[:_SHOWN]
    pairs = ", ".join(f"({rows.ids[rows.codes[k]]}, {columns.ids[columns.codes[k]]})" for k in shown)
    return ObservationError(
        f"{firsts.size:,} {'pair occurs' if firsts.size == 1 else 'pairs occur'} more than once, the first being {pairs}",
        "each pair (individual, feature) once",
        f"choose {', '.join(option('duplicates', repr(rule)) for rule in ('first', 'last'))} or {option('duplicates', repr('mean'))}",
    )
