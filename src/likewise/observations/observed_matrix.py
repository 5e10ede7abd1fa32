"""What was observed: the matrix Z of Section 3, in which missing is not zero."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise.errors import ObservationError, ShapeError
from likewise.observations.convert import Table, to_table
from likewise.observations.triplets import DuplicateRule, assemble
from likewise.observations.value_range import Interval, ValueRange

Bounds = tuple[ArrayLike, ArrayLike]


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

    __slots__ = ("column_ids", "notes", "row_ids", "value_range", "values")

    values: sparse.csr_array
    value_range: ValueRange
    row_ids: NDArray[Any]
    column_ids: NDArray[Any]
    notes: tuple[str, ...]

    def __init__(
        self,
        values: Any,
        *,
        value_range: Bounds | ValueRange | Literal["per-column"] | None = None,
        row_ids: ArrayLike | None = None,
        column_ids: ArrayLike | None = None,
    ) -> None:
        self._fill(to_table(values, row_ids, column_ids), value_range, ())

    @classmethod
    def from_triplets(
        cls,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        *,
        shape: tuple[int, int] | None = None,
        value_range: Bounds | ValueRange | Literal["per-column"] | None = None,
        duplicates: DuplicateRule = "error",
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

        Returns
        -------
        ObservedMatrix

        Examples
        --------
        >>> Z = ObservedMatrix.from_triplets(["ann", "bob"], ["tea", "tea"], [4, 0], value_range=(0, 5))
        >>> Z.shape, list(Z.row_ids), Z.values.data
        ((2, 1), ['ann', 'bob'], array([4., 0.]))
        """
        table, notes = assemble(rows, columns, values, shape=shape, duplicates=duplicates)
        matrix = cls.__new__(cls)
        matrix._fill(table, value_range, notes)
        return matrix

    def _fill(
        self, table: Table, value_range: Bounds | ValueRange | Literal["per-column"] | None, notes: tuple[str, ...]
    ) -> None:
        """Check and freeze; the one place where attributes are set."""
        resolved, range_notes = _resolve_range(table, value_range)
        for array in (table.values.data, table.values.indices, table.values.indptr, table.row_ids, table.column_ids):
            array.flags.writeable = False
        attributes = {
            "values": table.values,
            "value_range": resolved,
            "row_ids": table.row_ids,
            "column_ids": table.column_ids,
            "notes": (*notes, *range_notes, *_empty_notes(table.values)),
        }
        for name, attribute in attributes.items():
            object.__setattr__(self, name, attribute)
