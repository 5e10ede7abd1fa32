"""Coordinates whose distance bounds d from below: signed norms, principal components, distances to pivots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from likewise._typing import Floats
from likewise.fairness.distances.cancellation import RELATIVE_ERROR
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.observed import ObservedDistance
from likewise.fairness.distances.rows import RowDistance

_CANDIDATES = 32


def pivot_distances(distance: PairwiseDistance, n_pivots: int) -> Floats:
    """Measure everybody against some pivots, shape (n_individuals, n_pivots): a central individual, then those farthest from all pivots so far."""
    m = distance.n_individuals
    drawn = np.unique(np.random.default_rng(0).integers(m, size=_CANDIDATES))
    among = distance.between(*(ends.ravel() for ends in np.meshgrid(drawn, drawn, indexing="ij")))
    # Nobody is far from a central pivot, so the way over it bounds distances closely; those at the rim tell apart
    # who is equally far from it.
    pivot = int(drawn[among.reshape(drawn.size, -1).mean(axis=1).argmin()])
    measured: list[Floats] = []
    while len(measured) < n_pivots:
        measured.append(distance.block(pivot, pivot + 1)[0])
        pivot = int(np.min(measured, axis=0).argmax())
    return np.stack(measured, axis=1)


_FINE_GROUPS = 8
"""Of features, each with two coordinates: 16 numbers a person bound d more closely than two, and are still few beside the entries of a row."""
_DIRECTIONS = 4
"""At most 4,096 leaves are twelve halvings, three of each of four sides: more sides would not be halved more than once or twice."""
_DIRECTION_SAMPLE = 256
"""Rows that the directions are found from. Any orthonormal directions are valid; good ones need no more rows."""
_PIVOTS = 3
"""Of a metric that only its distances tell; each costs d from one individual to all others."""
_ROWS_AT_ONCE = 1 << 14
_ROUNDING = 1e-12
"""Of a coordinate, as a share of the largest: far above the unit of rounding, 1.1e-16, times the terms that a norm adds up."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Points whose lq distance, less what rounding may have added, never exceeds the distance that they stand for."""

    points: Floats  # (n_individuals, n_coordinates)
    order: float  # q; infinite for the maximum
    loss: float  # what is taken off every bound, beside a share of 1e-9

    def taken(self, individuals: NDArray[np.intp]) -> Coordinates:
        """Return those of some individuals, in their order."""
        return Coordinates(self.points[individuals], self.order, self.loss)

    def bounds(self, left: slice, right: slice) -> Floats:
        """Return lower bounds on the distances between two ranges of individuals."""
        metrics: dict[float, dict[str, Any]] = {
            1.0: {"metric": "cityblock"},
            2.0: {"metric": "euclidean"},
            np.inf: {"metric": "chebyshev"},
        }
        how = metrics.get(self.order, {"metric": "minkowski", "p": self.order})
        return self.safe(cdist(self.points[left], self.points[right], **how))

    def safe(self, bounds: NDArray[Any]) -> Floats:
        """Take off what rounding may have added."""
        lower: Floats = bounds * (1 - 2 * RELATIVE_ERROR)
        lower -= self.loss
        return np.maximum(lower, 0.0, out=lower)


def coarse_coordinates(distance: PairwiseDistance) -> Coordinates | None:
    """Return very few coordinates, in which individuals can be parted into boxes; None where the axioms allow no bound.

    Zero-filled observations: the lq norms of the positive and of the negative values. Complete rows: themselves where they are short; under l2
    their leading principal components. Any other metric: distances to a few pivots.
    """
    if isinstance(distance, ObservedDistance):
        return _made(_signed_norms(distance.values, distance.order, 1), distance.order)
    # What d is measured between bounds it best; a projection on orthonormal directions only shortens l2.
    if isinstance(distance, RowDistance) and distance.rows.shape[1] <= _DIRECTIONS:
        return _made(distance.rows, distance.order, distance.resolution)
    if isinstance(distance, RowDistance) and distance.order == 2:
        return _made(_leading_components(distance.rows), 2.0, distance.resolution)
    if distance.description.axioms not in ("metric", "pseudometric"):
        return None
    # |d(x, p) - d(y, p)| <= d(x, y) for every pivot p: their maximum is a linf distance of the coordinates.
    return _made(pivot_distances(distance, _PIVOTS), np.inf, getattr(distance, "resolution", 0.0))


def fine_coordinates(distance: PairwiseDistance) -> Coordinates | None:
    """Return coordinates that bound single pairs closely; None where distances themselves cost no more."""
    if isinstance(distance, ObservedDistance):
        return _made(_signed_norms(distance.values, distance.order, _FINE_GROUPS), distance.order)
    return None


def _made(points: Floats, order: float, resolution: float = 0.0) -> Coordinates:
    """Allow for the rounding of points, which subtracting them brings out, and for distances that count as 0."""
    rounding = _ROUNDING * points.shape[1] * float(np.abs(points).max(initial=0.0))
    return Coordinates(points, order, rounding + resolution)


def _signed_norms(values: sparse.csr_array, order: float, n_groups: int) -> Floats:
    """Return the lq norms of the positive and of the negative values of each row in each of some groups of features.

    They bound: in each feature ``|a - b|^q >= |a+ - b+|^q + |a- - b-|^q`` (under linf the larger of both), and in each group norms differ by no
    more than what they are of.
    """
    m, n = values.shape
    # Groups are drawn, so that each has its part of the features that people observed.
    group = np.random.default_rng(0).permutation(n) % n_groups
    norms = np.empty((m, 2 * n_groups))
    for start in range(0, m, _ROWS_AT_ONCE):
        ends = values.indptr[start : start + _ROWS_AT_ONCE + 1]
        part, n_rows = slice(ends[0], ends[-1]), len(ends) - 1
        entries = values.data[part]
        rows = np.repeat(np.arange(n_rows), np.diff(ends))
        places = (rows * n_groups + group[values.indices[part]]) * 2 + (entries < 0)
        sizes: Floats = np.zeros(n_rows * 2 * n_groups)
        if order == np.inf:
            np.maximum.at(sizes, places, np.abs(entries))
        else:
            # The sum of q-th powers of each row, group and sign at once; its root is their lq norm.
            sizes += np.bincount(places, np.abs(entries) ** order, sizes.size) ** (1 / order)
        norms[start : start + n_rows] = sizes.reshape(n_rows, -1)
    return norms


def _leading_components(rows: Floats) -> Floats:
    """Project on the leading principal directions of some rows: any orthonormal directions shorten l2 distances."""
    chosen = np.random.default_rng(0).integers(len(rows), size=_DIRECTION_SAMPLE)
    centre = rows[chosen].mean(axis=0)
    directions = np.linalg.svd(rows[chosen] - centre, full_matrices=False)[2][:_DIRECTIONS]
    projected: Floats = (rows - centre) @ directions.T
    return projected
