"""Distances between rows of observations: zero-filled, or on what both individuals observed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from likewise._kernels import PairWalk, absolute_differences, shared_differences, squared_differences
from likewise._typing import Floats
from likewise.arrays import as_array, ensure_axes_fit, without_duplicates
from likewise.checks import checked_instance, checked_whole
from likewise.errors import DistanceError, ShapeError
from likewise.fairness.distances.cancellation import CancellationGuard, label_equal_rows, sums_are_exact
from likewise.fairness.distances.distance import (
    DistanceDescription,
    PairwiseDistance,
    check_magnitude,
    checked_pairs,
)
from likewise.fairness.distances.feature_table import kept_columns
from likewise.norms import Norm, norm_name, norm_order, power_sums, row_differences
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import WorkingRange

_ENTRIES_AT_ONCE = 1 << 21
"""Of rows that are compared by their largest difference: 16 MiB."""


@dataclass(frozen=True, eq=False)
class ObservedValues:
    """What was observed, as a distance takes it."""

    # (n_individuals, n_kept_columns), sorted, without duplicates; a stored entry is an observation
    values: sparse.csr_array
    column_ids: NDArray[Any]  # (n_kept_columns,); of a sparse matrix positions
    scaling: str  # what was done to the values, in words
    columns: str  # which columns are left, in words
    row_ids: NDArray[Any] | None


def observed_values(
    observed: Any, working_range: WorkingRange, exclude: Sequence[Any] = (), row_ids: ArrayLike | None = None
) -> ObservedValues:
    """Scale an `ObservedMatrix`, or take a SciPy sparse matrix as it is; leave columns out.

    DistanceError for another type; NaN or infinite values; an unknown column; no column left. ShapeError for fewer than two individuals.
    """
    values: Any = observed
    if isinstance(observed, ObservedMatrix):
        scaled = observed.scaled(working_range)
        values, names, scaling = (
            scaled.values,
            scaled.column_ids,
            f"value range to the {working_range} working range",
        )
        row_ids = observed.row_ids if row_ids is None else row_ids
    elif sparse.issparse(observed):
        ensure_axes_fit(observed)
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
        None if row_ids is None else as_array(row_ids, "row_ids", DistanceError),
    )


def _sound(matrix: Any) -> sparse.csr_array:
    """Return a float64 csr_array, sorted, of at least two rows of finite values."""
    values = sparse.csr_array(matrix, dtype=np.float64, copy=False)
    if values.shape[0] < 2:
        raise ShapeError(f"{values.shape[0]} individual", "at least two, in rows")
    if not np.isfinite(values.data).all():
        raise DistanceError("NaN or infinite observations", "finite values; leave a missing entry out")
    check_magnitude("observations", float(np.abs(values.data).max(initial=0)) * values.shape[1])
    return without_duplicates(values)


class _OnObservations(PairwiseDistance):
    """What distances have in common that are made of rows of observations."""

    concurrent = True
    values: sparse.csr_array
    column_ids: NDArray[Any]

    def _take(
        self, observed: Any, working_range: WorkingRange, exclude: Sequence[Any], row_ids: ArrayLike | None
    ) -> ObservedValues:
        taken = observed_values(observed, working_range, exclude, row_ids)
        self.values, self.row_ids, self.column_ids = taken.values, taken.row_ids, taken.column_ids
        self.n_individuals = self.values.shape[0]
        return taken

    @cached_property
    def _walk(self) -> PairWalk:
        return PairWalk.from_csr(self.values)

    @cached_property
    def _by_column(self) -> sparse.csc_array:
        return self.values.tocsc()


class ObservedDistance(_OnObservations):
    """lq distance between zero-filled rows of observations: d on Z, as in ``IF_1(Z)`` of Section 6.

    Parameters
    ----------
    observed : ObservedMatrix, or SciPy sparse of shape (n_individuals, n_features)
        An `ObservedMatrix` is put on `working_range` first; a sparse matrix is taken as it is.
    norm : {"l1", "l2", "linf"} or float, default "l1"
        The q of lq, at least 1; ``"linf"`` is the largest difference.
    working_range : {"symmetric", "unit"}, default "symmetric"
        Under ``"symmetric"`` a missing entry counts as the middle of the value range, under ``"unit"`` as its low end.
    exclude : sequence, optional
        Columns that do not count, by their ids; of a sparse matrix by position.
    row_ids : array-like, optional
        Names of the individuals; by default those of `observed`.
    description : DistanceDescription, optional
        Replaces the one made from the above, where `observed` encodes something else.

    Raises
    ------
    DistanceError
        An unknown norm or column; NaN or infinite values.
    ShapeError
        Fewer than two individuals.

    Notes
    -----
    A metric on zero-filled rows. Every distance has a relative error of at most 1e-9 and equal rows are at distance exactly 0.
    Cost of all pairs: the sum of squared numbers of observations per feature, not m^2 n; of linf, which is no sum, m^2 n.

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
        working_range: WorkingRange = "symmetric",
        exclude: Sequence[Any] = (),
        row_ids: ArrayLike | None = None,
        description: DistanceDescription | None = None,
    ) -> None:
        self.order = norm_order(norm)
        taken = self._take(observed, working_range, exclude, row_ids)
        missing = {
            "symmetric": "the middle of the value range (0)",
            "unit": "the low end of the value range (0)",
        }
        if description is not None:
            checked_instance("description", description, DistanceDescription, "a DistanceDescription")
        self.description = description or DistanceDescription(
            f"{norm_name(self.order)} between zero-filled observations",
            norm_name(self.order),
            columns=taken.columns,
            scaling=taken.scaling,
            missing=missing[working_range] if isinstance(observed, ObservedMatrix) else "0",
            axioms="pseudometric" if len(exclude) else "metric",
        )

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        if self.order == inf:
            return self._largest(range(start, stop), range(self.n_individuals)[first:last])
        powers = self._expanded_powers(range(start, stop), range(self.n_individuals)[first:last])
        if not self._exact:
            self._guard.repair(powers, start, first)
        if self.order == 2:
            return np.sqrt(powers, out=powers)
        return powers if self.order == 1 else powers ** (1 / self.order)

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        return row_differences(self.values, left, right, self.order)

    def _largest(self, rows: range, others: range) -> Floats:
        """Return the largest difference over all features, some features at a time."""
        measured = np.zeros((len(rows), len(others)))
        # A maximum over parts of the features is that over all, so no dense m x n array is made.
        step = max(1, _ENTRIES_AT_ONCE // (len(rows) + len(others)))
        for start in range(0, self.values.shape[1], step):
            some = self._by_column[:, start : start + step].tocsr()
            left, right = (some[part.start : part.stop].toarray() for part in (rows, others))
            np.maximum(measured, cdist(left, right, "chebyshev"), out=measured)
        return measured

    def _expanded_powers(self, rows: range, others: range) -> Floats:
        """Return q-th powers from what the rows have in common, exact but for cancellation."""
        if self.order == 1:
            return absolute_differences(self._walk, rows.start, rows.stop, others=others)
        if self.order == 2:
            return squared_differences(self._walk, rows.start, rows.stop, others=others)
        sizes = self._guard.sizes
        # ||x - y||^q is size + size but on shared features, where |a|^q + |b|^q becomes |a - b|^q: cost by
        # what is shared, not by n.
        changes = shared_sums(self.values, self._by_column, rows, others, self._change)
        return changes + np.add.outer(sizes[rows.start : rows.stop], sizes[others.start : others.stop])

    def _change(self, a: Floats, b: Floats) -> Floats:
        """Return what sharing a feature changes: ``|a - b|^q`` instead of ``|a|^q + |b|^q``."""
        changes: Floats = np.abs(a - b) ** self.order - np.abs(a) ** self.order - np.abs(b) ** self.order
        return changes

    @cached_property
    def _exact(self) -> bool:
        return sums_are_exact(self.values.data, power_sums(self.values, self.order).max(), self.order)

    @cached_property
    def _guard(self) -> CancellationGuard:
        sizes = power_sums(self.values, self.order)
        terms = 2 * int(np.diff(self.values.indptr).max(initial=0))
        return CancellationGuard(
            sizes,
            lambda: label_equal_rows(self.values),
            terms,
            lambda i, j: self.between(i, j) ** self.order,
        )


class CoObservedDistance(_OnObservations):
    """lq distance over the features that both individuals observed, rescaled to the number of all features.

    ``(n / |S| * sum over S of |a - b|^q)^(1/q)``, S the features that both observed; not defined (NaN) where they share fewer than
    `least_shared`. A semimetric: the triangle inequality can fail, because each pair is compared on other features.

    Parameters
    ----------
    observed : ObservedMatrix, or SciPy sparse of shape (n_individuals, n_features)
        An `ObservedMatrix` is put on `working_range` first; of a sparse matrix every stored entry is an observation.
    norm : {"l1", "l2", "linf"} or float, default "l1"
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
    Under linf the largest difference in a feature that both observed, where nothing is rescaled. For l2 equal to `sklearn.metrics.pairwise.nan_euclidean_distances`. l1 runs on a compiled kernel, other norms in NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import ObservedMatrix
    >>> Z = ObservedMatrix(np.array([[1.0, np.nan, 5.0], [2.0, 2.0, np.nan]]), value_range=(1, 5))
    >>> CoObservedDistance(Z).between(np.array([0]), np.array([1]))      # 3 / 1 * |-1 - (-0.5)|
    array([1.5])
    """

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
        checked_whole("least_shared", least_shared, error=DistanceError)
        self.order, self.least_shared = norm_order(norm), least_shared
        taken = self._take(observed, working_range, exclude, row_ids)
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
        if self.order == inf:  # the largest of what two share is no sum, over which a kernel could walk
            return super().block(start, stop, first, last)
        counts, sums = shared_differences(self._walk, start, stop, others=others)
        if self.order != 1:
            sums = shared_sums(self.values, self._by_column, range(start, stop), others, self._power)
        return self._rescaled(counts, sums)

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        return self._rescaled(*co_observed_powers(self.values, left, right, self.order))

    def _power(self, a: Floats, b: Floats) -> Floats:
        powers: Floats = np.abs(a - b) ** self.order
        return powers

    def _rescaled(self, counts: NDArray[np.integer], powers: Floats) -> Floats:
        enough = counts >= self.least_shared
        if self.order == inf:
            return np.where(enough, powers, np.nan)
        # As if the features that were not shared differed as much, on average, as those that were.
        means = np.divide(powers, counts, out=np.full(powers.shape, np.nan), where=enough)
        rescaled: Floats = (self.values.shape[1] * means) ** (1 / self.order)
        return rescaled


Term = Callable[[Floats, Floats], Floats]


def shared_sums(
    by_row: sparse.csr_array, by_column: sparse.csc_array, rows: range, others: range, term: Term
) -> Floats:
    """Sum ``term(a, b)`` over the features that both individuals observed, shape (n_rows, n_others), for any order q.

    For l1 and l2 there are compiled kernels. `by_row` and `by_column` hold the same observations; `term` takes two vectors of them.
    """
    n_individuals = by_row.shape[0]
    sums = np.empty((len(rows), len(others)))
    for line, i in enumerate(rows):
        mine = slice(by_row.indptr[i], by_row.indptr[i + 1])
        # Everybody who observed one of i's features, list after list; i's own value is repeated along each.
        lists = by_column[:, by_row.indices[mine]]
        terms = term(np.repeat(by_row.data[mine], np.diff(lists.indptr)), lists.data)
        everyone = np.bincount(lists.indices, weights=terms, minlength=n_individuals)
        sums[line] = everyone[others.start : others.stop]
    return sums


_PAIRS_AT_ONCE = 4096


def co_observed_powers(
    values: sparse.csr_array, left: NDArray[np.intp], right: NDArray[np.intp], order: float = 1.0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count the features that both individuals of each pair observed, and sum ``|a - b|^q`` over them; both (n_pairs,).

    A stored zero is an observation. The sum is 0 where nothing is shared; of linf it is the largest ``|a - b|``.

    >>> Z = sparse.csr_array(([0.0, 1.0, 0.5, 2.0], ([0, 0, 1, 1], [0, 1, 0, 2])), shape=(2, 3))
    >>> co_observed_powers(Z, np.array([0]), np.array([1]))
    (array([1]), array([0.5]))
    """
    pattern = sparse.csr_array((np.ones_like(values.data), values.indices, values.indptr), shape=values.shape)
    counts, powers = np.zeros(len(left), dtype=np.int64), np.zeros(len(left))
    for k in range(0, len(left), _PAIRS_AT_ONCE):
        part = slice(k, k + _PAIRS_AT_ONCE)
        i, j = left[part], right[part]
        counts[part] = pattern[i].multiply(pattern[j]).sum(axis=1)
        # a on what both observed, less b there: what only one observed is multiplied away.
        differences = values[i].multiply(pattern[j]) - values[j].multiply(pattern[i])
        powers[part] = power_sums(sparse.csr_array(differences), order)
    return counts, powers
