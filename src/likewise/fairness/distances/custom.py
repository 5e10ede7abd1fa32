"""A distance that the caller wrote as a function of two individuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.arrays import as_array, as_floats
from likewise.checks import checked_flag, checked_text
from likewise.errors import DistanceError, ShapeError
from likewise.fairness.distances.distance import Axioms, DistanceDescription, PairwiseDistance, checked_pairs
from likewise.observations.ids import as_id_array
from likewise.observations.index_alignment import order_of_individuals, row_labels

_PAIRS_AT_ONCE = 1 << 16


class CallableDistance(PairwiseDistance):
    """A distance given as a function.

    Parameters
    ----------
    function : callable
        ``function(x, y)`` of two individuals returns a number; with `vectorized`, ``function(left, right)`` of two
        arrays of k individuals each returns k numbers.
    individuals : array-like, shape (n_individuals, ...)
        What is handed to `function`, one entry of the first axis each.
    vectorized : bool, default False
    name : str, optional
        By default the function's own name.
    axioms : {"unknown", "metric", "pseudometric", "semimetric"}, default "unknown"
        What the caller vouches for.
    row_ids : array-like, optional

    Raises
    ------
    ShapeError
        Fewer than two individuals.
    DistanceError
        No function. When measuring: another number of results than pairs; NaN, infinite or negative results. At once: a first individual
        that is not at distance 0 from itself, or a first pair that differs by direction.

    Notes
    -----
    Slow unless vectorized: one call of Python code for each pair.

    Examples
    --------
    >>> d = CallableDistance(lambda x, y: abs(x[0] - y[0]), [[1.0, 9.0], [4.0, 2.0]], name="by the first feature")
    >>> d.block(0, 2)
    array([[0., 3.],
           [3., 0.]])
    """

    def __init__(
        self,
        function: Callable[..., Any],
        individuals: ArrayLike,
        *,
        vectorized: bool = False,
        name: str | None = None,
        axioms: Axioms = "unknown",
        row_ids: ArrayLike | None = None,
    ) -> None:
        if not callable(function):
            raise DistanceError(
                f"a distance function of type {type(function).__name__}: {function!r}",
                "a function of two individuals",
                "distances that have a name are found by distance_by_name",
            )
        self.individuals = as_array(individuals, "individuals")
        if self.individuals.ndim == 0 or len(self.individuals) < 2:
            raise ShapeError(
                f"individuals of shape {self.individuals.shape}", "at least two, along the first axis"
            )
        self.function, self.vectorized = function, checked_flag("vectorized", vectorized)
        self.n_individuals = len(self.individuals)
        self.row_ids = row_labels(row_ids, individuals, self.n_individuals)
        own = getattr(function, "__name__", type(function).__name__)
        title = own if name is None else checked_text("name", name, "None")
        rule = "left to the function"
        self.description = DistanceDescription(title, "the caller's function", rule, rule, rule, axioms)
        self._check_first_pair()

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        parts = [slice(k, k + _PAIRS_AT_ONCE) for k in range(0, len(left), _PAIRS_AT_ONCE)]
        return np.concatenate([np.empty(0), *(self._measure(left[part], right[part]) for part in parts)])

    def _measure(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        pairs = self.individuals[left], self.individuals[right]
        measured = as_floats(self._called(*pairs), f"results of {self.name}", DistanceError)
        if measured.shape != (len(left),):
            raise DistanceError(
                f"{self.name} returned shape {measured.shape} for {len(left)} pairs",
                "one number for each pair",
            )
        bad = np.flatnonzero(~(np.isfinite(measured) & (measured >= 0)))
        if bad.size:
            pair = f"({left[bad[0]]}, {right[bad[0]]})"
            raise DistanceError(
                f"{self.name} returned {measured[bad[0]]} for the pair {pair}", "a finite number >= 0"
            )
        return measured

    def _called(self, left: NDArray[Any], right: NDArray[Any]) -> Any:
        """Call the function; it is the caller's, and so is what it cannot do."""
        try:
            with np.errstate(all="ignore"):  # what comes out is looked at
                if self.vectorized:
                    return self.function(left, right)
                return [self.function(x, y) for x, y in zip(left, right, strict=True)]
        except (TypeError, ValueError, AttributeError, ArithmeticError) as failure:
            raise DistanceError(
                f"{self.name}, which failed on individuals of type {left.dtype}: {failure}",
                "a function of two individuals that returns a number",
            ) from failure

    def _check_first_pair(self) -> None:
        itself, there, back = self.between(np.array([0, 0, 1]), np.array([0, 1, 0]))
        if itself != 0:
            raise DistanceError(f"{self.name} puts the first individual at {itself} from itself", "0")
        if there != back:
            raise DistanceError(
                f"{self.name} gives {there} one way and {back} the other", "the same both ways"
            )


_ROWS_AT_ONCE = 256


class PrecomputedDistance(PairwiseDistance):
    """A distance given by its square matrix.

    Parameters
    ----------
    matrix : array-like, shape (n_individuals, n_individuals)
        Symmetric, not negative, zero on the diagonal; NaN where a distance is not defined. Not copied: a memory map is read block by block.
    name : str, default "precomputed"
    axioms : {"unknown", "metric", "pseudometric", "semimetric"}, default "unknown"
        What the caller vouches for.
    row_ids : array-like, optional

    Raises
    ------
    ShapeError
        Not square, or fewer than two individuals.
    DistanceError
        Infinite or negative entries, another diagonal than 0, or entries that differ from their mirror image by more than half of
        their digits; the first such pair is named.

    Examples
    --------
    >>> PrecomputedDistance([[0.0, 2.0], [2.0, 0.0]]).between([0], [1])
    array([2.])
    """

    concurrent = True

    def __init__(
        self,
        matrix: ArrayLike,
        *,
        name: str = "precomputed",
        axioms: Axioms = "unknown",
        row_ids: ArrayLike | None = None,
    ) -> None:
        self.matrix = _numeric(matrix)
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1] or len(self.matrix) < 2:
            raise ShapeError(
                f"a distance matrix of shape {self.matrix.shape}", "a square one of at least two individuals"
            )
        self.n_individuals = len(self.matrix)
        self.row_ids = row_labels(row_ids, matrix, self.n_individuals)
        if (
            row_ids is None and self.row_ids is not None
        ):  # of a frame with an index, whose columns are the same individuals
            columns = as_id_array(list(matrix.columns))  # type: ignore[union-attr]
            order = order_of_individuals("the columns of a distance matrix", columns, self.row_ids)
            if order is not None:
                self.matrix = self.matrix[:, order]
        for start in range(0, len(self.matrix), _ROWS_AT_ONCE):
            _check_rows(self.matrix, start, min(start + _ROWS_AT_ONCE, len(self.matrix)))
        self.upper_bound = float(np.nanmax(self.matrix))
        elsewhere = "decided elsewhere"
        self.description = DistanceDescription(
            name, "precomputed matrix", elsewhere, elsewhere, elsewhere, axioms
        )

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        return np.array(self.matrix[start:stop, first:last], dtype=np.float64)

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        return np.asarray(self.matrix[left, right], dtype=np.float64)


def _numeric(matrix: Any) -> NDArray[Any]:
    array = as_array(matrix, "entries of a distance matrix", DistanceError)
    return (
        array
        if array.dtype.kind in "fiu"
        else as_floats(array, "entries of a distance matrix", DistanceError)
    )


def _check_rows(matrix: NDArray[Any], start: int, stop: int) -> None:
    """Raise, naming the first pair, unless these rows could belong to a distance."""
    rows, mirrored = (
        np.asarray(matrix[start:stop], dtype=np.float64),
        np.asarray(matrix[:, start:stop], dtype=np.float64).T,
    )
    # Half of the digits: both halves of a matrix are often computed apart, each with its own rounding.
    tolerance = float(np.sqrt(np.finfo(matrix.dtype).eps)) if matrix.dtype.kind == "f" else 0.0
    diagonal = np.zeros(rows.shape, dtype=bool)
    diagonal[np.arange(stop - start), np.arange(start, stop)] = True
    problems = {
        "infinite": np.isinf(rows),
        "negative": rows < 0,
        "not zero on the diagonal": diagonal & (rows != 0),
        "asymmetric": ~np.isclose(rows, mirrored, rtol=tolerance, atol=0, equal_nan=True),
    }
    for problem, where in problems.items():
        if where.any():
            i, j = np.argwhere(where)[0]
            raise DistanceError(
                f"a distance matrix that is {problem} at ({i + start}, {j}): {rows[i, j]}",
                "a symmetric matrix, >= 0, with zeros on the diagonal",
            )
