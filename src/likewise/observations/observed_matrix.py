"""What was observed: the matrix Z of Section 3, in which missing is not zero."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.arrays import as_array, as_reals
from likewise.errors import ObservationError, ShapeError
from likewise.memory import ensure_fits
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.convert import to_table
from likewise.observations.features import SideInformation
from likewise.observations.index_alignment import checked_selection
from likewise.observations.table import (
    DuplicateRule,
    Table,
    Values,
    assemble,
    notes_on_size,
    rows_of_entries,
    with_data,
)
from likewise.observations.times import as_times
from likewise.observations.value_range import RangeChoice, ValueRange, WorkingRange, resolve_range


class ObservedMatrix:
    """Sparse, noisy observations of a matrix whose rows are individuals.

    An entry that is stored is an observation, also where its value is zero; an entry that is not stored is missing.

    Parameters
    ----------
    values : array-like, SciPy sparse matrix or array, or data frame; shape (n_individuals, n_features)
        Rows are individuals. In a dense array or a data frame NaN (or null) marks a missing entry; in a sparse
        matrix every stored entry is an observation. Frames of any library that narwhals knows are taken.
    value_range : (low, high) or ValueRange or "per-column", optional
        The range that a value *can* take, in the units of `values`: two numbers, or two arrays with one entry a
        column. ``"per-column"`` infers one range for each column. By default one range for all columns is inferred,
        and `notes` says so.
    row_ids, column_ids : array-like, optional
        Names of the individuals and of the features, of any type. By default those of the data frame, or 0, 1, 2...

    Attributes
    ----------
    values : scipy.sparse.csr_array, shape (n_individuals, n_features)
        Float64 (or float32, if given so), sorted, without duplicates; read-only.
    value_range : ValueRange
    row_ids, column_ids : ndarray
    shape : tuple of int
    n_observed : int
        How many entries are observed, ``|Omega|``.
    observed_fraction : float
        ``p_hat = |Omega| / (m n)``, in (0, 1].
    notes : tuple of str
        What the reader of a result should know: an inferred range, empty rows or columns, merged duplicates.
    roles : ColumnRoles or None
        Which columns of a file were read as what; None for observations from memory.
    side : SideInformation
        What is known of rows and columns beside the values; see `with_features`.
    times : ndarray, shape (n_observed,), or None
        When each observation was made; NaN where that is unknown. See `with_times`.

    Raises
    ------
    ObservationError
        Nothing observed; infinite values; a value outside the declared range; all values equal and no range given.
    ShapeError
        Not two-dimensional; ids that do not fit.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 3.

    Examples
    --------
    >>> import numpy as np
    >>> Z = ObservedMatrix(np.array([[1.0, np.nan], [0.0, 5.0]]), value_range=(0, 5))
    >>> Z.n_observed, Z.observed_fraction
    (3, 0.75)
    >>> Z.values.data
    array([1., 0., 5.])
    """

    __slots__ = (
        "_scaled",
        "_source_notes",
        "column_ids",
        "roles",
        "row_ids",
        "side",
        "times",
        "value_range",
        "values",
    )

    values: Values
    value_range: ValueRange
    row_ids: NDArray[Any]
    column_ids: NDArray[Any]
    roles: ColumnRoles | None
    side: SideInformation
    times: Floats | None
    _source_notes: tuple[str, ...]
    _scaled: dict[WorkingRange, ObservedMatrix]

    def __init__(
        self,
        values: Any,
        *,
        value_range: RangeChoice = None,
        row_ids: ArrayLike | None = None,
        column_ids: ArrayLike | None = None,
    ) -> None:
        table = to_table(values, row_ids, column_ids)
        self._freeze(table, *resolve_range(table, value_range))

    @classmethod
    def from_triplets(
        cls,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        *,
        shape: tuple[int, int] | None = None,
        value_range: RangeChoice = None,
        duplicates: DuplicateRule = "error",
        times: ArrayLike | None = None,
    ) -> ObservedMatrix:
        """Build from one (individual, feature, value) triplet for each observation.

        Parameters
        ----------
        rows, columns : array-like, shape (n_observed,)
            Ids of any type. Without `shape` the ids that occur, sorted, become the rows and columns. With `shape`
            the ids are integers: positions counted from 1 if no id is 0 and every id is at most the shape, else from 0.
        values : array-like of float, shape (n_observed,)
        shape : (int, int), optional
            Fix the size, for individuals or features that have no observation.
        value_range : see the class
        duplicates : {"error", "first", "last", "mean"}
            What to do where a pair occurs more than once.
        times : array-like of numbers or dates, shape (n_observed,), optional
            When each was observed; NaN or NaT where that is unknown.

        Returns
        -------
        ObservedMatrix

        Examples
        --------
        >>> Z = ObservedMatrix.from_triplets(["ann", "bob"], ["tea", "tea"], [4, 0], value_range=(0, 5))
        >>> Z.shape, list(Z.row_ids), Z.values.data
        ((2, 1), ['ann', 'bob'], array([4., 0.]))
        """
        table = assemble(rows, columns, values, shape=shape, duplicates=duplicates, times=as_times(times))
        return cls.from_table(table, value_range)

    @classmethod
    def from_table(cls, table: Table, value_range: RangeChoice = None) -> ObservedMatrix:
        """Check what a reader of files made, and take it over."""
        return cls.of_checked(table, *resolve_range(table, value_range))

    @classmethod
    def of_checked(cls, table: Table, value_range: ValueRange, notes: tuple[str, ...] = ()) -> ObservedMatrix:
        """Take over a table that was checked before."""
        matrix = cls.__new__(cls)
        matrix._freeze(table, value_range, notes)
        return matrix

    def _freeze(self, table: Table, value_range: ValueRange, notes: tuple[str, ...]) -> None:
        """Take over a checked table; the one place where attributes are set."""
        values = table.values
        times = [] if table.times is None else [table.times]
        # What is shared by matrices that were made from one another must not change under any of them.
        for array in (values.data, values.indices, values.indptr, table.row_ids, table.column_ids, *times):
            array.flags.writeable = False
        # SciPy would otherwise look, or sort in place, the first time it is asked for a product.
        values.has_canonical_format = True
        names = ("values", "row_ids", "column_ids", "roles", "times")
        kept = {name: getattr(table, name) for name in names} | {"value_range": value_range, "_scaled": {}}
        kept |= {"side": table.side or SideInformation(), "_source_notes": (*table.notes, *notes)}
        for name, attribute in kept.items():
            object.__setattr__(self, name, attribute)

    def stored_parts(self) -> dict[str, Any]:
        """Return what `from_stored_parts` makes the same matrix of; see `likewise.save`."""
        return {"table": self.to_table(), "value_range": self.value_range}

    @classmethod
    def from_stored_parts(cls, parts: dict[str, Any]) -> ObservedMatrix:
        """Return the matrix that `stored_parts` described, checked again."""
        return cls.from_table(parts["table"], parts["value_range"])

    @property
    def shape(self) -> tuple[int, int]:
        """(n_individuals, n_features)."""
        return self.values.shape

    @property
    def n_observed(self) -> int:
        """How many entries are observed, ``|Omega|``."""
        return int(self.values.nnz)

    @property
    def observed_fraction(self) -> float:
        """``p_hat = |Omega| / (m n)``, in (0, 1]."""
        return self.n_observed / (self.shape[0] * self.shape[1])

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of a result should know: an inferred range, merged duplicates, empty rows and columns."""
        return (*self._source_notes, *self.side.notes, *notes_on_size(self.values))

    def positions(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Return the row and the column of each observation, in the order of ``values.data``."""
        return rows_of_entries(self.values), self.values.indices

    def zero_filled(self) -> Values:
        """Return the values, to be read with missing entries as 0, as Section 4.1 does (step 1).

        Scale first: 0 is the middle of the range only on the ``"symmetric"`` working range.

        Returns
        -------
        scipy.sparse.csr_array, shape (n_individuals, n_features)
            Read-only, not a copy.
        """
        return self.values

    def to_dense(self, missing: float = 0.0) -> NDArray[np.floating]:
        """Return a dense array in which `missing` stands for what was not observed.

        By default that is 0, which whoever reads the array takes for an observation: an estimator that is fitted to it sees nothing missing.
        Fit the `ObservedMatrix` itself, or ``to_dense(missing=numpy.nan)``.

        Parameters
        ----------
        missing : float, default 0
            For example NaN.

        Returns
        -------
        ndarray, shape (n_individuals, n_features)

        Raises
        ------
        MemoryLimitError
            If the array would not fit into the memory that is available.

        Examples
        --------
        >>> ObservedMatrix(np.array([[1.0, np.nan], [0.0, 5.0]])).to_dense(missing=np.nan)
        array([[ 1., nan],
               [ 0.,  5.]])
        """
        rows, columns = self.shape
        size, what = rows * columns * self.values.dtype.itemsize, f"a dense {rows:,} x {columns:,} array"
        ensure_fits(size, what, "zero_filled(), which stays sparse, or some rows of it")
        dense = np.full(self.shape, missing, dtype=self.values.dtype)
        dense[self.positions()] = self.values.data
        return dense

    def scaled(self, working_range: WorkingRange = "symmetric") -> ObservedMatrix:
        """Return the observations on a working range of the method, which then is its value range.

        Parameters
        ----------
        working_range : {"symmetric", "unit"}
            [-1, 1] or [0, 1].

        Returns
        -------
        ObservedMatrix
            Same entries, ids and floating-point type. It is made once and kept: the next call returns the same object.

        Examples
        --------
        >>> Z = ObservedMatrix(np.array([[1.0, np.nan], [3.0, 5.0]]), value_range=(1, 5))
        >>> Z.scaled().values.data, Z.scaled("unit").values.data
        (array([-1.,  0.,  1.]), array([0. , 0.5, 1. ]))
        """
        scale = self.value_range.scale_to(working_range)
        if working_range not in self._scaled:
            mapped = scale.forward(self.values.data, self.values.indices)
            # Rounding may step over an end by one unit in the last place. What is clipped needs no further check.
            data = np.clip(mapped, *scale.bounds).astype(self.values.dtype)
            table = replace(self.to_table(), values=with_data(self.values, data))
            self._scaled[working_range] = self.of_checked(table, ValueRange.declared(scale.bounds))
        return self._scaled[working_range]

    def with_values(self, values: ArrayLike, value_range: RangeChoice = None) -> ObservedMatrix:
        """Return a matrix with the same entries observed, but other values.

        Parameters
        ----------
        values : array-like, shape (n_observed,)
            In the order of ``values.data``; kept in the floating-point type of this matrix.
        value_range : see the class
            By default that of this matrix.

        Returns
        -------
        ObservedMatrix

        Raises
        ------
        ObservationError
            If a value is not finite or lies outside the range.
        ShapeError
            If there is not one value for each observation.
        """
        data = as_reals(values, "values", ObservationError).astype(self.values.dtype)
        if data.shape != self.values.data.shape:
            raise ShapeError(f"values of shape {data.shape}", f"one for each of {self.n_observed} observed")
        chosen = self.value_range if value_range is None else value_range
        return self.from_table(replace(self.to_table(), values=with_data(self.values, data)), chosen)

    def keep(self, observations: NDArray[np.bool_]) -> ObservedMatrix:
        """Return a matrix of the same shape in which only some of the observations are left.

        Parameters
        ----------
        observations : ndarray of bool, shape (n_observed,)
            True for each observation to keep, in the order of ``values.data``.

        Returns
        -------
        ObservedMatrix

        Raises
        ------
        ObservationError
            If none is left.
        ShapeError
            If there is not one True or False for each observation.
        """
        marked = as_array(observations, "a mask", ShapeError)
        if marked.shape != self.values.data.shape or marked.dtype != np.bool_:
            given = f"a mask of shape {marked.shape} and type {marked.dtype}"
            raise ShapeError(given, f"True or False for each of {self.n_observed} observations")
        if not marked.any():
            raise ObservationError("no observation to keep", "at least one")
        return self.of_checked(self.to_table().keep(marked), self.value_range)

    def take_rows(self, rows: ArrayLike) -> ObservedMatrix:
        """Return some of the individuals, in the order given.

        Parameters
        ----------
        rows : array-like of int or of bool
            Positions, or a mask.

        Returns
        -------
        ObservedMatrix
            All columns; value range and notes as here.

        Raises
        ------
        ObservationError
            If none of these individuals has an observation.
        ShapeError
            A position that is not an integer on the axis, or a mask of another length.
        """
        chosen = checked_selection(rows, self.shape[0], "row")
        table = self.to_table().take_rows(chosen)
        if not table.values.nnz:
            raise ObservationError(f"{chosen.size} individuals without an observation", "at least one")
        return self.of_checked(table, self.value_range)

    def to_table(self) -> Table:
        """Return values, ids and notes as readers of files make them, to be shared and not changed."""
        ids = self.row_ids, self.column_ids
        return Table(self.values, *ids, self._source_notes, self.roles, side=self.side, times=self.times)

    def __repr__(self) -> str:
        rows, columns = self.shape
        head = f"ObservedMatrix({rows:,} individuals x {columns:,} features, {self.n_observed:,} observed"
        summary = f"{head} ({self.observed_fraction:.3%}), {self.value_range!r})"
        return "\n".join([summary, *(f"  note: {note}" for note in self.notes)])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an ObservedMatrix cannot be changed (tried to set {name!r})")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"an ObservedMatrix cannot be changed (tried to delete {name!r})")

    def __reduce__(self) -> tuple[Any, ...]:
        return ObservedMatrix.of_checked, (self.to_table(), self.value_range)


def as_observed(values: Any) -> ObservedMatrix:
    """Return observations as they are, or make them of what the constructor of `ObservedMatrix` takes."""
    return values if isinstance(values, ObservedMatrix) else ObservedMatrix(values)
