"""Distance on what two individuals both observed, as if the features they do not share differed equally."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._kernels import PairWalk, shared_differences
from likewise._typing import Floats
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.distances.observed import observed_values
from likewise.fairness.distances.sparse_pair_sums import co_observed_powers, shared_sums
from likewise.norms import Norm, norm_name, norm_order
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import WorkingRange


class CoObservedDistance(PairwiseDistance):
    """lq distance over the features that both individuals observed, rescaled to the number of all features.

    ``(n / |S| * sum over S of |a - b|^q)^(1/q)``, S the features that both observed; not defined (NaN) where they share fewer than
    `least_shared`. A semimetric: the triangle inequality can fail, because each pair is compared on other features.

    Parameters
    ----------
    observed : ObservedMatrix, or SciPy sparse of shape (n_individuals, n_features)
        An `ObservedMatrix` is put on `working_range` first; of a sparse matrix every stored entry is an observation.
    norm : {"l1", "l2"} or float, default "l1"
    working_range : {"symmetric", "unit"}, default "symmetric"
    least_shared : int, default 1
        How many features two individuals must share.
    exclude : sequence, optional
        Columns that do not count, by their ids; of a sparse matrix by position.
    row_ids : array-like, optional

    Raises
    ------
    DistanceError
        An unknown norm or column; NaN or infinite values; `least_shared` below 1.
    ShapeError
        Fewer than two individuals.

    Notes
    -----
    For l2 equal to `sklearn.metrics.pairwise.nan_euclidean_distances`. l1 runs on a compiled kernel, other norms in NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import ObservedMatrix
    >>> Z = ObservedMatrix(np.array([[1.0, np.nan, 5.0], [2.0, 2.0, np.nan]]), value_range=(1, 5))
    >>> CoObservedDistance(Z).between(np.array([0]), np.array([1]))      # 3 / 1 * |-1 - (-0.5)|
    array([1.5])
    """

    concurrent = True

    def __init__(
        self,
        observed: ObservedMatrix | Any,
        norm: Norm = "l1",
        *,
        working_range: WorkingRange = "symmetric",
        least_shared: int = 1,
        exclude: Sequence[Any] = (),
        row_ids: ArrayLike | None = None,
    ) -> None:
        if least_shared < 1:
            raise DistanceError(f"least_shared={least_shared!r}", "at least one feature in common")
        self.order, self.least_shared = norm_order(norm), least_shared
        taken = observed_values(observed, working_range, exclude, row_ids)
        self.values, self.row_ids, self.column_ids = taken.values, taken.row_ids, taken.column_ids
        self.n_individuals = self.values.shape[0]
        if self.values.nnz:  # no feature differs by more than all values do
            self.upper_bound = float(np.ptp(self.values.data)) * self.values.shape[1] ** (1 / self.order)
        self.description = DistanceDescription(
            f"{norm_name(self.order)} on co-observed features, rescaled to all of them",
            norm_name(self.order),
            columns=taken.columns,
            scaling=taken.scaling,
            missing=f"not compared; undefined where fewer than {least_shared} features are shared",
            axioms="semimetric",
        )

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        others = range(self.n_individuals)[first:last]
        counts, sums = shared_differences(self._walk, start, stop, others=others)
        if self.order != 1:
            sums = shared_sums(self.values, self._by_column, range(start, stop), others, self._power)
        return self._rescaled(counts, sums)

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        return self._rescaled(*co_observed_powers(self.values, left, right, self.order))

    def _power(self, a: Floats, b: Floats) -> Floats:
        powers: Floats = np.abs(a - b) ** self.order
        return powers

    def _rescaled(self, counts: NDArray[np.integer], powers: Floats) -> Floats:
        enough = counts >= self.least_shared
        means = np.divide(powers, counts, out=np.full(powers.shape, np.nan), where=enough)
        rescaled: Floats = (self.values.shape[1] * means) ** (1 / self.order)
        return rescaled

    @cached_property
    def _walk(self) -> PairWalk:
        return PairWalk.from_csr(self.values)

    @cached_property
    def _by_column(self) -> sparse.csc_array:
        return self.values.tocsc()
