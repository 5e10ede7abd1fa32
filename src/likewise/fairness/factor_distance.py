"""Distance between outputs of low rank, from their factors: no output is ever formed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import ShapeError
from likewise.fairness.distance import DistanceDescription
from likewise.fairness.row_distance import RowDistance, complete_rows

Floats = NDArray[np.float64]


class FactorDistance(RowDistance):
    """l2 distance between the rows of ``left @ right.T``, at the cost of r numbers a pair instead of n.

    With ``right = Q T`` and Q orthonormal, ``||(u_i - u_j) right^T||_2 = ||(u_i - u_j) T^T||_2``: the outputs are turned and the
    n - r directions that they do not use are dropped, which changes no distance.

    Parameters
    ----------
    left : array-like, shape (n_individuals, r)
    right : array-like, shape (n_outputs, r)
        For a `LowRankEstimate`: ``FactorDistance(estimate.left * estimate.shrunk_values, estimate.right)``. That is the estimate
        before it is clipped, in the method's interval. Clipping never makes an l2 distance larger, so its distances bound those of the
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


def _output_factors(right: ArrayLike) -> Floats:
    """Return the factors of the outputs, of which there may be one only."""
    table = np.atleast_2d(np.asarray(right))
    return complete_rows(np.vstack([table, table]))[: len(table)]
