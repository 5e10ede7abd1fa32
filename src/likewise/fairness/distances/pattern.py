"""Distance between rows of observations in which the empty entry is a point of its own: a metric on Z, where zero-filling makes none."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._kernels import PairWalk, absolute_differences, shared_differences
from likewise._typing import Floats, Indices
from likewise.arrays import as_floats
from likewise.checks import checked_positive
from likewise.errors import DistanceError, ShapeError
from likewise.fairness.distances.distance import (
    DistanceDescription,
    PairwiseDistance,
    check_magnitude,
    checked_pairs,
)
from likewise.fairness.distances.observed import co_observed_powers, observed_values
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import WorkingRange


class PatternDistance(PairwiseDistance):
    """l1 between rows, an empty entry at distance c from every value: ``sum |z_j - z'_j|`` over what both observed, plus c for each entry of one.

    Zero-filling puts a missing entry on top of an observed 0, so that rows which no algorithm takes for equal are at distance 0. Here they are not. This is the
    distance for which estimates by regression have a proved constant (`likewise.certificates.regression.certify_regression`).

    Parameters
    ----------
    observed : ObservedMatrix, or SciPy sparse of shape (n_individuals, n_features)
        An `ObservedMatrix` is put on `working_range` first; of a sparse matrix every stored entry is an observation.
    empty : float, default 1
        c. At least half the working range, or half the range of the values of a sparse matrix that go beyond it: with less, going from one value to another by way of "empty"
        would be a short cut, and d no metric.
    feature_weights : array-like, shape (n_features,), optional
        Multiply what each feature adds; >= 0, all 1 by default.
    empty_weights : array-like, shape (n_features,), optional
        Multiply c for each feature; `feature_weights` by default.
    working_range : {"symmetric", "unit"}, default "symmetric"
    row_ids : array-like, optional

    Raises
    ------
    DistanceError
        c below half the range, with the triangle that breaks; weights below 0; NaN or infinite values; distances too large for the numbers of a computer.
    ShapeError
        Not a weight for each feature; fewer than two individuals.

    Examples
    --------
    >>> Z = ObservedMatrix(np.array([[1.0, np.nan, 5.0], [3.0, 2.0, np.nan]]), value_range=(1, 5))
    >>> PatternDistance(Z, empty=1.5).between(np.array([0]), np.array([1]))      # |-1 - 0| + 2 * 1.5
    array([4.])
    """

    concurrent = True

    def __init__(
        self,
        observed: ObservedMatrix | Any,
        empty: float = 1.0,
        *,
        feature_weights: ArrayLike | None = None,
        empty_weights: ArrayLike | None = None,
        working_range: WorkingRange = "symmetric",
        row_ids: ArrayLike | None = None,
    ) -> None:
        taken = observed_values(observed, working_range, (), row_ids)
        self.row_ids, self.column_ids = taken.row_ids, taken.column_ids
        self.n_individuals, n = taken.values.shape
        weights = _checked_weights(feature_weights, n)
        of_empty = weights if empty_weights is None else _checked_weights(empty_weights, n)
        self.empty = checked_positive("empty", empty, error=DistanceError)
        bounds = _bounds(taken.values.data, working_range)
        _ensure_metric(self.empty, weights, of_empty, bounds, taken.column_ids)
        largest = max(float(weights.max()) * max(map(abs, bounds)), self.empty * float(of_empty.max()))
        check_magnitude("weights, or the distance of the empty entry,", largest * n)
        self.values = _with(taken.values, taken.values.data * weights[taken.values.indices])
        self.pattern = _with(taken.values, self.empty * of_empty[taken.values.indices])
        self.description = DistanceDescription(
            f"l1 with the empty entry as a point, {self.empty:g} from every value",
            "l1",
            scaling=taken.scaling,
            missing=f"a point at distance {self.empty:g} from every value",
            axioms="metric" if weights.all() and of_empty.all() else "pseudometric",
        )

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        others = range(self.n_individuals)[first:last]
        _, sums = shared_differences(self._walk, start, stop, others=others)
        # Zero-filled patterns differ by c wherever just one of the two observed, and nowhere else.
        sums += absolute_differences(self._pattern_walk, start, stop, others=others)
        return sums

    def between(self, left: Indices, right: Indices) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        _, shared = co_observed_powers(self.values, left, right, 1)
        alone = abs(self.pattern[left] - self.pattern[right]).sum(axis=1)
        return np.asarray(shared + alone)

    @cached_property
    def _walk(self) -> PairWalk:
        return PairWalk.from_csr(self.values)

    @cached_property
    def _pattern_walk(self) -> PairWalk:
        return PairWalk.from_csr(self.pattern)


def _with(values: sparse.csr_array, data: Floats) -> sparse.csr_array:
    return sparse.csr_array((data, values.indices, values.indptr), shape=values.shape)


def _checked_weights(weights: ArrayLike | None, n: int) -> Floats:
    if weights is None:
        return np.ones(n)
    checked = as_floats(weights, "weights", DistanceError)
    if checked.shape != (n,):
        raise ShapeError(f"weights of shape {checked.shape}", f"({n},), one for each feature")
    if not (np.isfinite(checked) & (checked >= 0)).all():
        raise DistanceError("weights that are negative, NaN or infinite", "finite numbers >= 0")
    return checked


_ROUNDING = 1e-9
"""By which scaled values may lie outside the working range."""


def _bounds(values: Floats, working_range: WorkingRange) -> tuple[float, float]:
    """Return what values lie between: the working range, or where some lie outside, as only a sparse matrix has them, the least and the largest."""
    low, high = (-1.0, 1.0) if working_range == "symmetric" else (0.0, 1.0)
    if not values.size or (low - _ROUNDING <= values.min() and values.max() <= high + _ROUNDING):
        return low, high
    return float(values.min()), float(values.max())


def _ensure_metric(
    empty: float, weights: Floats, of_empty: Floats, bounds: tuple[float, float], names: NDArray[Any]
) -> None:
    """Refuse an empty entry so near to both ends of the values that it is a short cut between them."""
    low, high = bounds
    half = (high - low) / 2
    # Between the ends of the range the straight way is 2 half w, by way of "empty" 2 c w': the second must
    # not be shorter.
    missing = half * weights * (1 - 1e-12) - empty * of_empty
    if not (missing > 0).any():
        return
    k = int(missing.argmax())
    where = "" if np.ptp(weights) == 0 and np.ptp(of_empty) == 0 else f" in feature {names.tolist()[k]!r}"
    counted = weights > 0
    enough = of_empty[counted] > 0
    needed = half * float(np.max(weights[counted][enough] / of_empty[counted][enough], initial=1.0))
    raise DistanceError(
        f"empty={empty!r}, for which d({low:g}, {high:g}) = {weights[k] * (high - low):g} exceeds d({low:g}, empty) + d(empty, {high:g}) = "
        f"{2 * empty * of_empty[k]:g}{where}",
        f"a number >= {needed:g}, half the range of the values"
        if enough.all()
        else "weights of the empty entry above 0 where those of features are",
    )
