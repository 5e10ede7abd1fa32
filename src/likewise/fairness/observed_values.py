"""Observations as a distance takes them: on an interval, without the columns that must not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise.errors import DistanceError, ShapeError
from likewise.fairness.columns import kept_columns
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import Interval


@dataclass(frozen=True, eq=False)
class ObservedValues:
    """What was observed, as a distance takes it.

    Parameters
    ----------
    values : csr_array of float64, shape (n_individuals, n_kept_columns)
        Sorted, without duplicates; a stored entry is an observation.
    column_ids : ndarray, shape (n_kept_columns,)
        Names of the columns; of a sparse matrix their positions.
    scaling, columns : str
        What was done to the values, and which columns are left, in words.
    row_ids : ndarray or None
    """

    values: sparse.csr_array
    column_ids: NDArray[Any]
    scaling: str
    columns: str
    row_ids: NDArray[Any] | None


def observed_values(
    observed: Any, interval: Interval, exclude: Sequence[Any] = (), row_ids: ArrayLike | None = None
) -> ObservedValues:
    """Scale an `ObservedMatrix`, or take a SciPy sparse matrix as it is; leave columns out.

    Raises
    ------
    DistanceError
        Another type; NaN or infinite values; an unknown column; no column left.
    ShapeError
        Fewer than two individuals.
    """
    values: Any = observed
    if isinstance(observed, ObservedMatrix):
        scaled = observed.scaled(interval)
        values, names, scaling = scaled.values, scaled.column_ids, f"value range to the {interval} interval"
        row_ids = observed.row_ids if row_ids is None else row_ids
    elif sparse.issparse(observed):
        names, scaling = np.arange(values.shape[1]), "as given"
    else:
        given = f"observations of type {type(observed).__name__}"
        raise DistanceError(given, "an ObservedMatrix or a SciPy sparse matrix")
    kept, columns = kept_columns(names.tolist(), exclude)
    sound = _sound(values)
    return ObservedValues(
        sound if kept.all() else sparse.csr_array(sound[:, kept]),
        np.asarray(names)[kept],
        scaling,
        columns,
        None if row_ids is None else np.asarray(row_ids),
    )


def _sound(matrix: Any) -> sparse.csr_array:
    """Return a float64 csr_array, sorted, of at least two rows of finite values."""
    values = sparse.csr_array(matrix, dtype=np.float64, copy=False)
    if values.shape[0] < 2:
        raise ShapeError(f"{values.shape[0]} individual", "at least two, in rows")
    if not np.isfinite(values.data).all():
        raise DistanceError("NaN or infinite observations", "finite values; leave a missing entry out")
    if values.has_canonical_format:
        return values
    values = values.copy()
    values.sum_duplicates()
    return values
