"""How close and how far apart two individuals can be, whatever values their missing entries have."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse

from likewise._typing import Floats, Indices
from likewise.arrays import as_floats
from likewise.errors import DistanceError, ShapeError, unknown_name
from likewise.fairness.distances.distance import DistanceDescription, PairwiseDistance, checked_pairs
from likewise.norms import Norm, norm_name, norm_order, rooted
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import WorkingRange

End = Literal["least", "largest"]

_WORDS = {"least": "as close as they can be", "largest": "as far apart as they can be"}
_ENTRIES_AT_ONCE = 1 << 21  # compared at a time: 16 MiB, several times


class CompletionDistance(PairwiseDistance):
    """The least or the largest lq distance between two rows over all values that their missing entries may have.

    Each entry lies in an interval of its own: an observed one is a point, a missing one anything in the value range, or in the interval that the
    caller gives. Entries are free of each other, so both ends are attained, feature by feature: the least difference of two intervals is the
    gap between them, the largest the span of both.

    Parameters
    ----------
    observed : ObservedMatrix, shape (m, n)
    end : {"least", "largest"}
    norm : {"l1", "l2", "linf"} or float, default "l1"
    working_range : {"symmetric", "unit"}, default "symmetric"
        Distances are those of `ObservedDistance` with the same one.
    intervals : (ndarray, ndarray), each of shape (m, n), optional
        Lower and upper ends of every entry in the user's units; those of observed entries are not read. They are cut at the value range.

    Raises
    ------
    ShapeError
        Intervals of another shape.
    DistanceError
        An unknown norm; an interval that ends before it begins, or is not a number.

    Examples
    --------
    On [-1, 1] the first row is (-1, ?), the second (0, 1): d is at least 1, at most 1 + 2.

    >>> Z = ObservedMatrix(np.array([[1.0, np.nan], [3.0, 5.0]]), value_range=(1, 5))
    >>> [CompletionDistance(Z, end).between(np.array([0]), np.array([1])).item() for end in ("least", "largest")]
    [1.0, 3.0]
    """

    concurrent = True

    def __init__(
        self,
        observed: ObservedMatrix,
        end: End,
        norm: Norm = "l1",
        *,
        working_range: WorkingRange = "symmetric",
        intervals: tuple[Floats, Floats] | None = None,
    ) -> None:
        if not isinstance(end, str) or end not in _WORDS:
            raise DistanceError(*unknown_name("end", end, _WORDS))
        if not isinstance(observed, ObservedMatrix):
            raise DistanceError(
                f"observations of type {type(observed).__name__}", "an ObservedMatrix, with its value range"
            )
        self.end, self.order = end, norm_order(norm)
        self.n_individuals, self.row_ids = observed.shape[0], observed.row_ids
        self.column_ids = observed.column_ids
        self.values = observed.scaled(working_range).values
        self.bounds = observed.value_range.scale_to(working_range).bounds
        self.intervals = None if intervals is None else _checked_intervals(observed, working_range, intervals)
        self.description = DistanceDescription(
            f"{norm_name(self.order)} between rows {_WORDS[end]}",
            norm_name(self.order),
            scaling=f"value range to the {working_range} working range",
            missing="any value of the range" if intervals is None else "any value of its interval",
            axioms="semimetric",
        )

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        end = self.n_individuals if last is None else last
        measured = np.empty((stop - start, end - first))
        low, high = self._ends(np.arange(start, stop))
        step = max(1, _ENTRIES_AT_ONCE // max(1, low.size))
        for begin in range(first, end, step):
            others = np.arange(begin, min(begin + step, end))
            other_low, other_high = self._ends(others)
            differences = _spread(self.end, low[:, None], high[:, None], other_low, other_high)
            measured[:, others - first] = self._normed(differences)
        return measured

    def between(self, left: Indices, right: Indices) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        measured = np.empty(len(left))
        step = max(1, _ENTRIES_AT_ONCE // self.values.shape[1])
        for first in range(0, len(left), step):
            pairs = slice(first, first + step)
            measured[pairs] = self._normed(self.of_features(left[pairs], right[pairs]))
        return measured

    def of_features(self, left: Indices, right: Indices) -> Floats:
        """Return the difference in each feature, shape (n_pairs, n)."""
        return _spread(self.end, *self._ends(left), *self._ends(right))

    def _ends(self, rows: Indices) -> tuple[Floats, Floats]:
        """Return the least and the largest value of every entry of some rows, on the working range."""
        if self.intervals is None:
            low, high = (np.full((len(rows), self.values.shape[1]), float(end)) for end in self.bounds)
        else:
            low, high = (end[rows] for end in self.intervals)
        observed = sparse.coo_array(self.values[rows])
        # What was observed is a point.
        low[observed.row, observed.col] = high[observed.row, observed.col] = observed.data
        return low, high

    def _normed(self, differences: Floats) -> Floats:
        return rooted(differences, self.order)


def _spread(end: End, low: Floats, high: Floats, other_low: Floats, other_high: Floats) -> Floats:
    """Return the gap between two intervals, or the span of both."""
    if end == "largest":
        return np.maximum(high - other_low, other_high - low)
    # Overlapping intervals have a value in common: no gap.
    return np.maximum(np.maximum(low - other_high, other_low - high), 0.0)


def _checked_intervals(
    observed: ObservedMatrix, working_range: WorkingRange, intervals: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return the intervals on the working range, cut where it ends."""
    m, n = observed.shape
    if not isinstance(intervals, tuple | list) or len(intervals) != 2:
        raise DistanceError("intervals that are no pair", "two arrays: lower and upper ends")
    given = [as_floats(end, "the ends of intervals", DistanceError) for end in intervals]
    if any(end.shape != (m, n) for end in given):
        raise ShapeError(f"intervals of shapes {[end.shape for end in given]}", f"({m}, {n}) each")
    scale = observed.value_range.scale_to(working_range)
    columns = np.broadcast_to(np.arange(n), (m, n))
    low, high = (np.clip(scale.forward(end, columns), *scale.bounds) for end in given)
    wrong = ~(low <= high)
    wrong[observed.positions()] = False  # these are points, whatever is given for them
    if wrong.any():
        raise DistanceError("an interval that ends before it begins, or is NaN", "lower <= upper")
    return low, high
