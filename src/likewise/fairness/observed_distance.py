"""The paper's reference distance: lq between rows of observations, a missing entry read as 0."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise.errors import DistanceError, ShapeError
from likewise.fairness.cancellation import CancellationGuard, label_equal_rows
from likewise.fairness.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.item_walk import shared_changes
from likewise.fairness.norms import Norm, norm_name, norm_order, row_differences
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import Interval

Floats = NDArray[np.float64]


class ObservedDistance(PairwiseDistance):
    """lq distance between zero-filled rows of observations: d on Z, as in ``IF_1(Z)`` of Section 6.

    Parameters
    ----------
    observed : ObservedMatrix, or SciPy sparse of shape (n_individuals, n_features)
        An `ObservedMatrix` is put on `interval` first; a sparse matrix is taken as it is.
    norm : {"l1", "l2"} or float, default "l1"
        The q of lq, at least 1.
    interval : {"symmetric", "unit"}, default "symmetric"
        Under ``"symmetric"`` a missing entry counts as the middle of the value range, under ``"unit"`` as its low end.
    row_ids : array-like, optional
        Names of the individuals; by default those of `observed`.

    Raises
    ------
    DistanceError
        An unknown norm, or values that are NaN or infinite.
    ShapeError
        Fewer than two individuals.

    Notes
    -----
    A metric on zero-filled rows. Every distance has a relative error of at most 1e-9 and equal rows are at distance exactly 0.
    Cost of all pairs: the sum of squared numbers of observations per feature, not m^2 n.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import ObservedMatrix
    >>> Z = ObservedMatrix(np.array([[1.0, np.nan, 5.0], [1.0, 2.0, np.nan]]), value_range=(1, 5))
    >>> ObservedDistance(Z).block(0, 1)      # symmetric: (-1, missing, 1) against (-1, -0.5, missing)
    array([[0. , 1.5]])
    """

    def __init__(
        self,
        observed: ObservedMatrix | Any,
        norm: Norm = "l1",
        *,
        interval: Interval = "symmetric",
        row_ids: ArrayLike | None = None,
    ) -> None:
        self.order = norm_order(norm)
        self.values, scaling = _zero_filled(observed, interval)
        self.n_individuals = self.values.shape[0]
        ids = observed.row_ids if isinstance(observed, ObservedMatrix) and row_ids is None else row_ids
        self.row_ids = None if ids is None else np.asarray(ids)
        missing = {
            "symmetric": "the middle of the value range (0)",
            "unit": "the low end of the value range (0)",
        }
        self.description = DistanceDescription(
            f"{norm_name(self.order)} between zero-filled observations",
            norm_name(self.order),
            scaling=scaling,
            missing=missing[interval] if isinstance(observed, ObservedMatrix) else "0",
        )

    def block(self, start: int, stop: int, first: int = 0) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        powers = shared_changes(self.values, self._by_column, start, stop, first, self.order)
        powers += self._guard.sizes[start:stop, None]
        powers += self._guard.sizes[first:]
        self._guard.repair(powers, start, first)
        return powers if self.order == 1 else powers ** (1 / self.order)

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        return row_differences(self.values, left, right, self.order)

    @cached_property
    def _by_column(self) -> sparse.csc_array:
        return self.values.tocsc()

    @cached_property
    def _guard(self) -> CancellationGuard:
        sizes = np.asarray((abs(self.values) ** self.order).sum(axis=1), dtype=np.float64)
        terms = 2 * int(np.diff(self.values.indptr).max(initial=0))
        return CancellationGuard(
            sizes, label_equal_rows(self.values), terms, lambda i, j: self.between(i, j) ** self.order
        )


def _zero_filled(observed: ObservedMatrix | Any, interval: Interval) -> tuple[sparse.csr_array, str]:
    """Return the values to be read with missing entries as 0, and how they were scaled."""
    if isinstance(observed, ObservedMatrix):
        values, scaling = observed.scaled(interval).zero_filled(), f"value range to the {interval} interval"
    elif sparse.issparse(observed):
        values, scaling = sparse.csr_array(observed), "as given"
    else:
        raise DistanceError(
            f"observations of type {type(observed).__name__}", "an ObservedMatrix or a SciPy sparse matrix"
        )
    if values.shape[0] < 2:
        raise ShapeError(f"{values.shape[0]} individual", "at least two, in rows")
    if not np.isfinite(values.data).all():
        raise DistanceError("NaN or infinite observations", "finite values; leave a missing entry out")
    values = values.astype(np.float64)
    values.sum_duplicates()
    return values, scaling
