"""Distances between class probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats, Mask
from likewise.arrays import as_floats
from likewise.errors import DistanceError, printable
from likewise.fairness.distances.distance import DistanceDescription
from likewise.fairness.distances.rows import RowDistance, complete_rows
from likewise.observations.index_alignment import row_labels


def total_variation_distance(probabilities: ArrayLike, *, row_ids: ArrayLike | None = None) -> RowDistance:
    """Total variation ``1/2 sum_c |p_c - q_c|`` between class probabilities; in [0, 1], a metric.

    Parameters
    ----------
    probabilities : array-like, shape (n_individuals, n_classes) or (n_individuals,)
        Rows that sum to 1; a vector holds the probability of the positive one of two classes.
    row_ids : array-like, optional

    Returns
    -------
    RowDistance

    Raises
    ------
    DistanceError
        NaN, an entry outside [0, 1], or a row that does not sum to 1.
    ShapeError
        Fewer than two individuals.

    Examples
    --------
    >>> total_variation_distance([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]).between([0], [1])
    array([0.5])
    """
    table = _distributions(probabilities, row_ids)
    description = DistanceDescription("total variation between class probabilities", "half of l1")
    return _within_one(RowDistance(table / 2, "l1", description=description, row_ids=row_ids), table)


def hellinger_distance(probabilities: ArrayLike, *, row_ids: ArrayLike | None = None) -> RowDistance:
    """Hellinger distance ``sqrt(1/2 sum_c (sqrt(p_c) - sqrt(q_c))^2)`` between class probabilities; in [0, 1], a metric.

    Parameters
    ----------
    probabilities, row_ids
        See `total_variation_distance`.

    Returns
    -------
    RowDistance

    Raises
    ------
    DistanceError, ShapeError
        See `total_variation_distance`.

    Notes
    -----
    Rare classes count more than under total variation, which lies between its square and sqrt(2) times it.

    Examples
    --------
    >>> hellinger_distance([[1.0, 0.0], [0.36, 0.64]]).between([0], [1]).round(6)  # sqrt(1 - sqrt(0.36))
    array([0.632456])
    """
    table = _distributions(probabilities, row_ids)
    description = DistanceDescription(
        "Hellinger distance between class probabilities", "l2", scaling="roots, over sqrt(2)"
    )
    rows = np.sqrt(table) / np.sqrt(2)
    return _within_one(RowDistance(rows, "l2", description=description, row_ids=row_ids), table)


def wasserstein_distance(
    probabilities: ArrayLike, positions: ArrayLike | None = None, *, row_ids: ArrayLike | None = None
) -> RowDistance:
    """Wasserstein-1 distance between probabilities of ordered classes, such as grades: how far probability has to be moved, in classes.

    ``sum_k |P(class <= k) - Q(class <= k)| (x_{k+1} - x_k)``: what is moved by two classes counts twice as much as what is moved by one.

    Parameters
    ----------
    probabilities : array-like, shape (n_individuals, n_classes) or (n_individuals,)
        Rows that sum to 1, classes in their order; a vector holds the probability of the upper one of two.
    positions : array-like, shape (n_classes,), optional
        Where the classes lie, increasing; by default 0, 1, 2, ...
    row_ids : array-like, optional

    Returns
    -------
    RowDistance
        A metric, at most the distance between the first and the last class.

    Raises
    ------
    DistanceError
        No distributions (see `total_variation_distance`); positions that do not increase, or are not one for each class.
    ShapeError
        Fewer than two individuals.

    Examples
    --------
    >>> wasserstein_distance([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]).between([0], [1])  # half by one class, half by two
    array([1.5])
    """
    table = _distributions(probabilities, row_ids)
    places = (
        np.arange(table.shape[1]) if positions is None else as_floats(positions, "positions", DistanceError)
    )
    if places.shape != (table.shape[1],) or not (np.diff(places) > 0).all() or not np.isfinite(places).all():
        raise DistanceError(
            f"positions of shape {places.shape}", f"{table.shape[1]} increasing numbers, one for each class"
        )
    # On a line, W1 is the area between the two cumulative distributions.
    cumulative = np.cumsum(table, axis=1)[:, :-1] * np.diff(places)
    rows = cumulative if cumulative.shape[1] else np.zeros((len(table), 1))  # one class: nothing to move
    description = DistanceDescription(
        "Wasserstein-1 distance between probabilities of ordered classes",
        "l1",
        scaling="sums up to each class",
    )
    distance = RowDistance(rows, "l1", description=description, row_ids=row_ids)
    distance.upper_bound, distance.shown = float(places[-1] - places[0]), table
    return distance


def _distributions(probabilities: ArrayLike, row_ids: ArrayLike | None) -> Floats:
    """Return one distribution for each individual, or raise DistanceError."""
    table = complete_rows(probabilities)
    table = np.hstack([1 - table, table]) if table.shape[1] == 1 else table
    bad = np.flatnonzero(~are_distributions(table))
    if bad.size:
        ids = row_labels(row_ids, probabilities, len(table))
        first = f"row {bad[0]}" if ids is None else f"the row of individual {printable(ids[bad[0]])}"
        more = f" (and {bad.size - 1:,} more)" if bad.size > 1 else ""
        raise DistanceError(
            f"{first}{more} is not a probability distribution",
            "entries in [0, 1] that sum to 1",
        )
    return table


def are_distributions(table: Floats) -> Mask:
    """Say of each row whether its entries are in [0, 1] and sum to 1."""
    # Half of the digits of single precision, in which many models compute their probabilities.
    off = np.abs(table.sum(axis=1) - 1) > np.sqrt(np.finfo(np.float32).eps)
    within = ((table >= 0) & (table <= 1)).all(axis=1)
    return np.asarray(within & ~off)


def _within_one(distance: RowDistance, probabilities: Floats) -> RowDistance:
    distance.upper_bound, distance.shown = 1.0, probabilities
    return distance
