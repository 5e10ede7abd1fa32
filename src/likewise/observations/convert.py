"""From arrays, SciPy sparse matrices and data frames to a table of observations."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise.arrays import as_reals, ensure_axes_fit
from likewise.errors import ObservationError, ShapeError
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.frames import as_frame, column, lines_of, numbers_of
from likewise.observations.ids import as_id_array, counted_ids, label_axis
from likewise.observations.index_alignment import index_of
from likewise.observations.table import Axis, Table, Values, assemble, compress, float_type, index_type

if TYPE_CHECKING:
    import narwhals as nw


_OF_TRIPLETS = "ratings with ids are given as likewise.ObservedMatrix.from_triplets(users, items, ratings)"


def to_table(values: Any, row_ids: ArrayLike | None = None, column_ids: ArrayLike | None = None) -> Table:
    """Convert whatever holds observations; see `ObservedMatrix` for what is taken and raised."""
    if isinstance(values, str | PathLike):
        raise ObservationError(
            f"{str(values)!r} as observations",
            "an array, a sparse matrix or a data frame",
            f"read a file first: likewise.read_ratings({str(values)!r})",
        )
    if sparse.issparse(values):
        matrix = _from_sparse(values)
    elif (frame := as_frame(values)) is not None:
        if row_ids is None and column_ids is None and (roles := lines_of(frame)) is not None:
            return _from_lines(frame, roles)
        matrix = _from_dense(numbers_of(frame))
        row_ids = index_of(values) if row_ids is None else row_ids
        column_ids = frame.columns if column_ids is None else column_ids
    else:
        matrix = _from_dense(as_reals(values, "values", ObservationError, _OF_TRIPLETS))
    rows, columns = matrix.shape
    has_names = column_ids is not None and not np.issubdtype(as_id_array(column_ids).dtype, np.number)
    names = label_axis(column_ids, columns, "column")
    return Table(matrix, label_axis(row_ids, rows, "row"), names, has_named_features=has_names)


def _from_lines(frame: nw.DataFrame[Any], names: dict[str, str]) -> Table:
    """Read a frame with a line for each rating, as files are read."""
    users, items, ratings = (column(frame, names[role]) for role in ("user", "item", "rating"))
    left_out = tuple(str(name) for name in frame.columns if str(name) not in names.values())
    user, item, rating = ((names[role],) for role in ("user", "item", "rating"))
    roles = ColumnRoles("the data frame", user, item, rating, left_out=left_out)
    read = ", ".join(f"{role} from column {name!r}" for role, name in names.items())
    table = assemble(users, items, ratings, duplicates="error")
    return replace(table, roles=roles).with_note(f"each line of the data frame is one observation: {read}")


def _from_sparse(values: Any) -> Values:
    """Convert any sparse format so that each stored entry, also a zero, stays an observation."""
    if values.ndim != 2:
        raise ShapeError(f"a sparse array of {values.ndim} dimensions", "two: individuals x features")
    if values.dtype.kind not in "biuf":
        raise ObservationError(f"values of type {values.dtype}", "real numbers")
    ensure_axes_fit(values)
    if _is_padded(values) and not np.all(values.data):
        raise ObservationError(
            f"a {values.format} matrix that stores zeros",
            "a sparse format in which an observed zero differs from padding",
            "build it as csr or coo",
        )
    return _from_compressed(values) if values.format in ("csr", "csc") else _from_coordinates(values)


def _is_padded(values: Any) -> bool:
    """Return whether the format stores zeros of its own, which cannot be told from observed ones."""
    return values.format == "dia" or (
        isinstance(values, sparse.bsr_array | sparse.bsr_matrix) and values.blocksize != (1, 1)
    )


def _from_compressed(values: Any) -> Values:
    try:
        # A new object around the same arrays: SciPy trims what it checks, and SciPy's C code trusts what is not checked.
        checked = type(values)((values.data, values.indices, values.indptr), shape=values.shape)
        checked.check_format(full_check=True)
    except ValueError as error:
        raise _malformed(error) from error
    rows = checked.tocsr()
    index = index_type(max(rows.shape[1], rows.nnz))
    parts = (rows.data.astype(float_type(rows.dtype)), rows.indices.astype(index), rows.indptr.astype(index))
    matrix: Values = sparse.csr_array(parts, shape=rows.shape)
    return matrix if matrix.has_canonical_format else _from_coordinates(matrix)


def _malformed(error: ValueError) -> ObservationError:
    return ObservationError(f"a malformed sparse matrix ({error})", "indices within the shape")


def _from_coordinates(values: Any) -> Values:
    """Sort, and name duplicates, which SciPy would add up in silence."""
    try:
        triplets = values.tocoo()
        triplets = sparse.coo_array((triplets.data, triplets.coords), shape=triplets.shape)
    except ValueError as error:
        raise _malformed(error) from error
    row_axis, column_axis = (
        Axis(counted_ids(length), codes.astype(index_type(length)))
        for length, codes in zip(values.shape, triplets.coords, strict=True)
    )
    return compress(row_axis, column_axis, triplets.data.astype(float_type(values.dtype)))[0]


def _from_dense(array: NDArray[np.floating]) -> Values:
    if array.ndim != 2:
        raise ShapeError(f"an array of shape {array.shape}", "two dimensions: individuals x features")
    # By hand, as SciPy would drop observed zeros.
    observed = ~np.isnan(array)
    indptr = np.concatenate(([0], np.cumsum(observed.sum(axis=1))))
    kind = index_type(max(array.shape[1], int(indptr[-1])))
    indices = np.nonzero(observed)[1].astype(kind)
    return sparse.csr_array((array[observed], indices, indptr.astype(kind)), shape=array.shape)
