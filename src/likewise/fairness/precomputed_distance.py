"""A distance that was computed elsewhere and comes as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import DistanceError, ShapeError
from likewise.fairness.distance import Axioms, DistanceDescription, PairwiseDistance

Floats = NDArray[np.float64]

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
        for start in range(0, len(self.matrix), _ROWS_AT_ONCE):
            _check_rows(self.matrix, start, min(start + _ROWS_AT_ONCE, len(self.matrix)))
        self.n_individuals = len(self.matrix)
        self.row_ids = None if row_ids is None else np.asarray(row_ids)
        elsewhere = "decided elsewhere"
        self.description = DistanceDescription(
            name, "precomputed matrix", elsewhere, elsewhere, elsewhere, axioms
        )

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure a block of pairs; see `PairwiseDistance.block`."""
        return np.array(self.matrix[start:stop, first:last], dtype=np.float64)

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        return np.asarray(self.matrix[left, right], dtype=np.float64)


def _numeric(matrix: Any) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.asanyarray(matrix)
        return array if array.dtype.kind in "fiu" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DistanceError(
            "a distance matrix that does not hold numbers", "a square matrix of numbers"
        ) from error


def _check_rows(matrix: NDArray[Any], start: int, stop: int) -> None:
    """Raise, naming the first pair, unless these rows could belong to a distance."""
    rows, mirrored = (
        np.asarray(matrix[start:stop], dtype=np.float64),
        np.asarray(matrix[:, start:stop], dtype=np.float64).T,
    )
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
