"""Distances between complete feature rows: scaled lq, Mahalanobis, and one blind to sensitive directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.errors import DistanceError, ShapeError
from likewise.fairness.distances.distance import DistanceDescription, check_magnitude
from likewise.fairness.distances.feature_table import FeatureTable, Scaling, scaling_in_words
from likewise.fairness.distances.rows import RowDistance
from likewise.norms import Norm, norm_name, norm_order
from likewise.observations.index_alignment import row_labels

_EPSILON = float(np.finfo(np.float64).eps)


def feature_distance(
    rows: Any,
    norm: Norm = "l2",
    *,
    exclude: Sequence[Any] = (),
    scaling: Scaling = "none",
    fitted_on: Any = None,
    row_ids: ArrayLike | None = None,
) -> RowDistance:
    """Lq distance between complete numeric features.

    Parameters
    ----------
    rows : array-like or data frame, shape (n_individuals, n_features)
    norm : {"l1", "l2", "linf"} or float, default "l2"
    exclude : sequence, optional
        Columns that do not count, for example protected attributes: names of a frame, positions of an array.
    scaling : {"none", "standard", "range"}, default "none"
        What every column is divided by.
    fitted_on : like `rows`, optional
        Reference data that the scaling is taken from; by default `rows`.
    row_ids : array-like, optional

    Returns
    -------
    RowDistance
        A metric; with excluded columns a pseudometric.

    Raises
    ------
    DistanceError
        An unknown norm, scaling or column; a column that is not numeric; NaN or infinite values.
    ShapeError
        Fewer than two individuals; reference data with other columns.

    Examples
    --------
    >>> d = feature_distance([[160.0, 3.0, 1.0], [170.0, 4.0, 0.0]], "l1", exclude=[2], scaling="range")
    >>> d.between([0], [1]), d.description.columns
    (array([2.]), 'all but 2')
    """
    table = FeatureTable.read(rows, exclude, fitted_on).scaled(scaling)
    name = norm_name(norm_order(norm))
    description = DistanceDescription(
        f"{name} between features",
        name,
        columns=table.columns,
        scaling=scaling_in_words(scaling),
        axioms="pseudometric" if len(exclude) else "metric",
    )
    distance = RowDistance(
        table.values, norm, description=description, row_ids=row_labels(row_ids, rows, len(table.values))
    )
    distance.shown, distance.names = table.unscaled, table.names
    return distance


def mahalanobis_distance(
    rows: Any, *, exclude: Sequence[Any] = (), fitted_on: Any = None, row_ids: ArrayLike | None = None
) -> RowDistance:
    """Mahalanobis distance ``sqrt((x - y)^T C^+ (x - y))``, C the covariance of the reference data.

    A true metric, not its square; a pseudometric where C is singular: directions without variance do not count.

    Parameters
    ----------
    rows : array-like or data frame, shape (n_individuals, n_features)
    exclude : sequence, optional
        Columns that do not count: names of a frame, positions of an array.
    fitted_on : like `rows`, optional
        Reference data that C is taken from, with ``n_reference - 1`` in its denominator; by default `rows`.
    row_ids : array-like, optional

    Returns
    -------
    RowDistance

    Raises
    ------
    DistanceError, ShapeError
        See `feature_distance`; also if no column varies in the reference data.

    References
    ----------
    Mahalanobis, "On the generalised distance in statistics", 1936.

    Examples
    --------
    >>> import numpy as np
    >>> d = mahalanobis_distance(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0]]))
    >>> d.between([0], [3])       # sqrt(2^2 / (4/3) + 4^2 / (16/3))
    array([2.44948974])
    """
    table = FeatureTable.read(rows, exclude, fitted_on)
    check_magnitude("reference data", float(np.abs(table.fitted_on).max()))
    centred = table.fitted_on - table.fitted_on.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    # Smaller ones are rounding of 0; a direction without variance does not count (pseudo-inverse).
    varying = sizes > max(centred.shape) * _EPSILON * sizes[0]
    if not varying.any():
        raise DistanceError("reference data in which no column varies", "at least one column that does")
    # C = V diag(s^2 / (n - 1)) V^T, so ||V^T x / deviation||^2 = x^T C^+ x.
    deviations = sizes[varying] / np.sqrt(len(centred) - 1)
    full_rank = int(varying.sum()) == table.values.shape[1] and not len(exclude)
    description = DistanceDescription(
        "Mahalanobis",
        "l2 after whitening",
        columns=table.columns,
        scaling=f"covariance of {len(centred):,} reference rows, rank {varying.sum()} of {table.values.shape[1]}",
        axioms="metric" if full_rank else "pseudometric",
    )
    return RowDistance(
        table.values @ (directions[varying].T / deviations),
        "l2",
        description=description,
        row_ids=row_labels(row_ids, rows, len(table.values)),
    )


def projected_distance(
    rows: Any,
    *,
    directions: ArrayLike | None = None,
    attributes: ArrayLike | None = None,
    exclude: Sequence[Any] = (),
    scaling: Scaling = "none",
    fitted_on: Any = None,
    row_ids: ArrayLike | None = None,
) -> RowDistance:
    """Fair metric ``||(I - P)(x - y)||_2`` that does not see sensitive directions; P projects onto their span.

    Parameters
    ----------
    rows : array-like or data frame, shape (n_individuals, n_features)
    directions : array-like, shape (n_features,) or (n_directions, n_features), optional
        Sensitive directions, in the scaled features.
    attributes : array-like, shape (n_reference,) or (n_reference, n_attributes), optional
        Numeric sensitive attributes of the reference data instead: the directions are then the coefficients of the
        least squares regression of each attribute on the features, the direction that best predicts it.
    exclude, scaling, fitted_on, row_ids
        See `feature_distance`.

    Returns
    -------
    RowDistance
        A pseudometric: two rows that differ only along sensitive directions are at distance 0.

    Raises
    ------
    DistanceError
        Both or neither of `directions` and `attributes`; no direction that is not zero; all directions; and see `feature_distance`.
    ShapeError
        Directions or attributes that do not fit.

    References
    ----------
    Yurochkin, Bower, Sun, "Training individually fair ML models with sensitive subspace robustness", ICLR 2020.

    Examples
    --------
    >>> d = projected_distance([[0.0, 1.0, 5.0], [0.0, 4.0, 9.0]], directions=[0.0, 0.0, 1.0])
    >>> d.between([0], [1])
    array([3.])
    """
    table = FeatureTable.read(rows, exclude, fitted_on).scaled(scaling)
    if (directions is None) == (attributes is None):
        raise DistanceError("both or neither of directions and attributes", "exactly one of them")
    sensitive = (
        _regression(table, attributes)
        if directions is None
        else np.atleast_2d(as_floats(directions, "directions", DistanceError))
    )
    basis = _orthonormal_rows(sensitive, table.values.shape[1])
    largest = float(np.linalg.norm(table.values, axis=1).max())
    description = DistanceDescription(
        f"l2 after projecting out {len(basis)} sensitive direction(s)",
        "l2",
        columns=table.columns,
        scaling=scaling_in_words(scaling),
        axioms="pseudometric",
    )
    return RowDistance(
        table.values - (table.values @ basis.T) @ basis,
        "l2",
        description=description,
        row_ids=row_labels(row_ids, rows, len(table.values)),
        # What is left of a direction that was projected out is rounding of this size.
        resolution=8 * table.values.shape[1] * _EPSILON * largest,
    )


def _regression(table: FeatureTable, attributes: ArrayLike | None) -> Floats:
    """Return the least squares coefficients of each attribute on the features of the reference data."""
    target = as_floats(attributes, "attributes", DistanceError)
    target = target[:, None] if target.ndim == 1 else target
    if len(target) != len(table.fitted_on):
        raise ShapeError(
            f"{len(target)} attribute rows", f"one for each of {len(table.fitted_on)} reference rows"
        )
    centred = table.fitted_on - table.fitted_on.mean(axis=0)
    coefficients = np.linalg.lstsq(centred, target - target.mean(axis=0), rcond=None)[0]
    return np.asarray(coefficients.T, dtype=np.float64)


def _orthonormal_rows(directions: Floats, n_columns: int) -> Floats:
    """Return an orthonormal basis of the span of the directions."""
    if directions.ndim != 2 or directions.shape[1] != n_columns:
        raise ShapeError(
            f"sensitive directions of shape {directions.shape}", f"{n_columns} columns, one for each feature"
        )
    if not np.isfinite(directions).all():
        raise DistanceError("a sensitive direction with NaN or infinite entries", "finite numbers")
    _, sizes, basis = np.linalg.svd(directions, full_matrices=False)
    # Directions that others span already come out as rounding of 0.
    kept = sizes > max(directions.shape) * _EPSILON * sizes[0]
    if not kept.any() or kept.sum() == n_columns:
        raise DistanceError(
            f"sensitive directions that span {kept.sum()} of {n_columns} dimensions",
            "some, but not all of them",
        )
    return np.asarray(basis[kept], dtype=np.float64)
