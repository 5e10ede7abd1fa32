"""Distances between complete rows: outputs of an algorithm, or the ground truth A."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.checks import checked_instance
from likewise.errors import ConstantOutputWarning, DistanceError, ShapeError, printable
from likewise.fairness.distances.cancellation import CancellationGuard, label_equal_rows
from likewise.fairness.distances.distance import (
    DistanceDescription,
    PairwiseDistance,
    check_magnitude,
    checked_pairs,
)
from likewise.norms import Norm, norm_name, norm_order, row_differences, row_norms
from likewise.observations.frames import column_names, refuse_text
from likewise.observations.index_alignment import row_labels

_NARROW = 8
"""Columns up to which l2 is measured by its definition."""

_COLUMNS = 64
"""So many columns at a time are gone over for their spread."""

_DECIDES = 0.9
"""Share of the variance from which on one of a few outputs is said to decide D."""

_EPSILON = float(np.finfo(np.float64).eps)
_ROUNDINGS = 64
_PROBED = 256
"""Pairs that tell how far apart outputs usually are."""


class RowDistance(PairwiseDistance):
    """lq distance between the rows of a complete matrix; between numbers, the absolute difference.

    Parameters
    ----------
    rows : array-like of float, shape (n_individuals,) or (n_individuals, n_features)
        Outputs, or complete features. Not copied if float64.
    norm : {"l1", "l2", "linf"} or float, default "l2"
        The q of lq, at least 1; ``"linf"`` is the largest difference.
    description : DistanceDescription, optional
        Replaces the one made from `norm`, where `rows` are the result of a transformation.
    row_ids : array-like, optional
        Names of the individuals.
    resolution : float, default 0
        Distances up to here are 0: below it, `rows` that come out of rounded arithmetic tell nothing.

    Raises
    ------
    ShapeError
        Fewer than two individuals, no feature, or more than two dimensions.
    DistanceError
        An unknown norm; values that are not numbers, NaN, or infinite: the rows are named. Sizes whose powers overflow or vanish.

    Notes
    -----
    l2 between rows of more than a few columns goes through a matrix product. Its relative error is at most 1e-9 and equal rows are
    at distance exactly 0: where the product cancels, the rows are subtracted (`likewise.fairness.distances.cancellation`).

    Examples
    --------
    >>> import numpy as np
    >>> D = RowDistance(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]))
    >>> D.block(0, 2)
    array([[0., 5., 3.],
           [5., 0., 4.]])
    """

    concurrent = True
    shown: Floats | None = None
    """What `rows` were made of, where they were transformed: what a reader knows them by."""

    names: NDArray[Any] | None = None
    """Of the columns of a data frame."""

    def __init__(
        self,
        rows: ArrayLike,
        norm: Norm = "l2",
        *,
        description: DistanceDescription | None = None,
        row_ids: ArrayLike | None = None,
        resolution: float = 0.0,
    ) -> None:
        self.resolution = resolution
        refuse_text(rows)
        self.names = column_names(rows)
        self.rows = complete_rows(rows)
        self.order = norm_order(norm)
        self.n_individuals = len(self.rows)
        if description is not None:
            checked_instance("description", description, DistanceDescription, "a DistanceDescription")
        self.description = description or _describe(self.order, self.rows.shape[1])
        self.row_ids = row_labels(row_ids, rows, self.n_individuals)
        largest = max(float(self.rows.max()), -float(self.rows.min()))
        # No norm is larger, and powers of norms must neither overflow nor vanish.
        check_magnitude("rows", largest * self.rows.shape[1] ** (1 / self.order), self.order)
        self.norms = row_norms(self.rows, self.order)

    @classmethod
    def of_outputs(cls, outputs: ArrayLike, norm: Norm = "l2") -> RowDistance:
        """Return l2, or another norm, between outputs, where what differs by no more than rounding is equal.

        Equal individuals often get outputs that were summed in another order. Distances of at most 64 times the unit of rounding of the
        largest output are therefore 0, and the description says so: over d = 0 they would make a ratio infinite that means nothing.
        """
        distance = cls(outputs, norm).rounded()
        distance.notes = (*distance.notes, *_note_on_units(distance))
        return distance

    def rounded(self) -> RowDistance:
        """Return the same distance, where rows that differ by no more than rounding are equal; see `of_outputs`."""
        distance = copy(self)
        # Outputs that come of one computation are rounded in units of the largest of them, however small
        # they are.
        distance.resolution = _ROUNDINGS * _EPSILON * float(self.norms.max())
        distance.description = replace(
            self.description,
            scaling=f"{self.description.scaling}; up to {distance.resolution:.2g}, as rounding leaves, counts as 0",
        )
        distance.notes = distance._hidden_differences()
        return distance

    def _hidden_differences(self) -> tuple[str, ...]:
        """Say, and warn, where one output of another size sets a resolution above which most others do not differ."""
        order = np.random.default_rng(0).permutation(self.n_individuals)[: 2 * _PROBED]
        left, right = order[0::2], order[1::2]
        differences = row_differences(self.rows, left[: right.size], right, self.order)
        differences = differences[differences > 0]
        usual = (
            _ROUNDINGS * _EPSILON * float(np.median(self.norms))
        )  # what rounding would hide without the largest outputs
        if not differences.size or np.median(differences) > self.resolution:
            return ()
        if np.median(differences) <= usual:
            return (
                f"outputs that differ by {np.median(differences):.2g}, as most do, count as equal: they are up to {self.norms.max():.3g}, and "
                "their last digits are rounding. If they are not, subtract what all have in common before anything is rounded",
            )
        note = (
            f"outputs up to {self.resolution:.2g} apart count as equal, as the largest output, {self.norms.max():.3g}, is rounded to that, and "
            "most outputs that differ are closer to each other: look at the largest outputs"
        )
        warnings.warn(note, ConstantOutputWarning, stacklevel=4)
        return (note,)

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        # A product of matrices is many times as fast, but cancels between close rows, which then are
        # measured again; of a few columns it gains little.
        if self.order == 2 and self.rows.shape[1] > _NARROW:
            return self._by_product(start, stop, first, last)
        return self._resolved(self._by_definition(start, stop, first, last))

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        return self._resolved(row_differences(self.rows, left, right, self.order))

    def taken(self, individuals: NDArray[np.intp]) -> RowDistance:
        """Return the same distance between some of the individuals, in the order given."""
        some = RowDistance(
            self.rows[individuals],
            self.order,
            description=self.description,
            row_ids=None if self.row_ids is None else self.row_ids[individuals],
            resolution=self.resolution,
        )
        some.upper_bound, some.notes = self.upper_bound, self.notes
        some.shown, some.names = None if self.shown is None else self.shown[individuals], self.names
        return some

    def relative_spread(self) -> float:
        """Return how much the most varied column varies; see `PairwiseDistance.relative_spread`."""
        blocks = range(0, self.rows.shape[1], _COLUMNS)
        return max(_relative_spread(self.rows[:, first : first + _COLUMNS]) for first in blocks)

    def unresolved(self) -> RowDistance:
        """Return the same distance without `resolution`."""
        same = copy(self)
        same.resolution = 0.0
        return same

    def _resolved(self, measured: Floats) -> Floats:
        if self.resolution:
            measured[measured <= self.resolution] = 0.0
        return measured

    def _by_definition(self, start: int, stop: int, first: int, last: int | None) -> Floats:
        metrics = {1.0: "cityblock", 2.0: "euclidean", inf: "chebyshev"}
        options: dict[str, Any] = (
            {"metric": metrics[self.order]} if self.order in metrics else {"p": self.order}
        )
        measured: NDArray[Any] = cdist(
            self.rows[start:stop], self.rows[first:last], **{"metric": "minkowski", **options}
        )
        return measured.astype(np.float64, copy=False)

    def _by_product(self, start: int, stop: int, first: int, last: int | None) -> Floats:
        """l2 by ``||x||^2 + ||y||^2 - 2 x.y`` on rows moved to their common mean, where less cancels."""
        products: Floats = self._centred[start:stop] @ self._centred[first:last].T
        return self._guard.distances(products, start, first, self.resolution)

    @cached_property
    def _centred(self) -> Floats:
        centred: Floats = self.rows - self.rows.mean(axis=0)
        return centred

    @cached_property
    def _guard(self) -> CancellationGuard:
        sizes = np.einsum("ij,ij->i", self._centred, self._centred)
        return CancellationGuard(
            sizes,
            lambda: label_equal_rows(self.rows),
            self.rows.shape[1],
            lambda i, j: row_differences(self.rows, i, j, 2.0) ** 2,
        )


def _note_on_units(outputs: RowDistance) -> list[str]:
    """Say which one of a few outputs decides D, where one does: they are compared in the units that they come in."""
    n_outputs = outputs.rows.shape[1]
    if not 1 < n_outputs <= _NARROW:
        return []
    variances = outputs.rows.var(axis=0)
    largest, total = int(variances.argmax()), variances.sum()
    if not total or variances[largest] < _DECIDES * total:
        return []
    name = f"column {largest}" if outputs.names is None else printable(outputs.names[largest])
    return [
        f"D is mostly that of {name}, which has {variances[largest] / total:.1%} of the variance of the {n_outputs} outputs: they are compared in the units that "
        "they come in. If it is not to decide alone, divide each output by its spread, or audit one at a time"
    ]


def _relative_spread(rows: Floats) -> float:
    """Return the largest standard deviation of a column over its root mean square; 0 where all are 0."""
    largest = np.abs(rows).max(axis=0)
    units = rows / np.where(largest > 0, largest, 1.0)  # there are sizes whose squares vanish
    squares = np.mean(units**2, axis=0)
    return float(np.sqrt(units.var(axis=0) / np.where(squares > 0, squares, 1.0)).max())


def _describe(order: float, n_columns: int) -> DistanceDescription:
    if n_columns == 1:
        return DistanceDescription("absolute difference", "absolute")
    return DistanceDescription(f"{norm_name(order)} between rows", norm_name(order))


def complete_rows(rows: ArrayLike) -> Floats:
    """Return rows as a float64 matrix without NaN or infinity."""
    table = as_floats(rows, "values", DistanceError, "one-hot encode classes")
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) < 2 or not table.shape[1]:
        raise ShapeError(f"rows of shape {np.shape(rows)}", "at least two individuals, shape (m,) or (m, k)")
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if bad.size:
        named = ", ".join(map(str, bad[:5])) + (", ..." if bad.size > 5 else "")
        raise DistanceError(
            f"NaN or infinite values in {bad.size} rows: {named}", "finite values in every row"
        )
    return table


class FactorDistance(RowDistance):
    """l2 distance between the rows of ``left @ right.T``, at the cost of r numbers a pair instead of n.

    With ``right = Q T`` and Q orthonormal, ``||(u_i - u_j) right^T||_2 = ||(u_i - u_j) T^T||_2``: the outputs are turned and the
    n - r directions that they do not use are dropped, which changes no distance.

    Parameters
    ----------
    left : array-like, shape (n_individuals, r)
    right : array-like, shape (n_outputs, r)
        For a `LowRankEstimate`: ``FactorDistance(estimate.left * estimate.shrunk_values, estimate.right)``. That is the estimate
        before it is clipped, in the method's working range. Clipping never makes an l2 distance larger, so its distances bound those of the
        clipped estimate from above.
    row_ids : array-like, optional

    Raises
    ------
    ShapeError
        Factors of different rank, fewer than two individuals, or no output.
    DistanceError
        Values that are not numbers, NaN, or infinite.

    Notes
    -----
    A metric on outputs, a pseudometric on `left` where `right` has dependent columns. The arithmetic is that of float64 whatever the
    factors come in, so that single precision costs no more than it had lost before. Beyond the error of `RowDistance`, at most
    ``8 r eps (||u_i|| + ||u_j||) ||right||_2``, eps = 2.2e-16.

    Examples
    --------
    >>> D = FactorDistance([[1.0, 0.0], [0.0, 2.0]], [[3.0, 0.0], [4.0, 0.0], [0.0, 6.0]])
    >>> D.between([0], [1]).round(12)           # rows (3, 4, 0) and (0, 0, 12)
    array([13.])
    """

    def __init__(self, left: ArrayLike, right: ArrayLike, *, row_ids: ArrayLike | None = None) -> None:
        self.left, self.right = complete_rows(left), _output_factors(right)
        if self.left.shape[1] != self.right.shape[1]:
            raise ShapeError(
                f"factors of shapes {self.left.shape} and {self.right.shape}", "as many columns in both"
            )
        triangle: Floats = np.asarray(np.linalg.qr(self.right, mode="r"))
        n_outputs, rank = self.right.shape
        description = DistanceDescription(
            f"l2 between outputs of rank {min(rank, n_outputs)}, from their factors, not clipped",
            "l2",
            columns=f"all {n_outputs}",
            axioms="pseudometric" if np.linalg.matrix_rank(triangle) < rank else "metric",
        )
        super().__init__(self.left @ triangle.T, "l2", description=description, row_ids=row_ids)

    def relative_spread(self) -> float:
        """Return how much the most varied output varies; see `PairwiseDistance.relative_spread`."""
        blocks = range(0, len(self.right), _COLUMNS)
        return max(_relative_spread(self.left @ self.right[first : first + _COLUMNS].T) for first in blocks)


def _output_factors(right: ArrayLike) -> Floats:
    """Return the factors of the outputs, of which there may be one only."""
    table = np.atleast_2d(as_floats(right, "factors of the outputs", DistanceError))
    return complete_rows(np.vstack([table, table]))[: len(table)]
