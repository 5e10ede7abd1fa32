"""Neighbours that are weighted smoothly by their distance, so that the outputs have a proved Lipschitz constant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.certificates.models.smooth_average import enclosing_ball
from likewise.checks import checked_callable, checked_positive
from likewise.errors import ModelError
from likewise.inference.model import Model, TrainedModel
from likewise.inference.neighbors.nearest_neighbors import allocate, as_matrix, fitting
from likewise.inference.neighbors.training_rows import CentredRows, Matrix
from likewise.observations import ObservedMatrix
from likewise.progress import Progress

DEFAULT_LIPSCHITZ = 32.0
"""K1 at which the error on held-out ratings is that of the paper's ten neighbours; see the page on certificates."""

_ABOVE = 1 + 1e-12
"""The bandwidth is that much larger than asked for, so that the constant, which is rounded up, is within the limit."""


@dataclass(frozen=True, eq=False)
class SmoothNeighbors:
    """The average of all rows of a matrix, weighted by ``exp(-||x - B_j||^2 / (2 t))``, as a function of a row x.

    Parameters
    ----------
    rows : ndarray or csr_array, shape (m, n)
        B. What a sparse one does not store is 0.
    centre : ndarray, shape (n,)
        Of a ball that holds them all; it is subtracted first, so that rounding is small.
    radius : float
        Of that ball.
    bandwidth : float
        t > 0.
    """

    rows: Matrix
    centre: Floats
    radius: float
    bandwidth: float

    @classmethod
    def of(cls, matrix: Any, lipschitz: float = DEFAULT_LIPSCHITZ) -> SmoothNeighbors:
        """Choose the bandwidth so that no two outputs are further apart than `lipschitz` times their inputs, in l2.

        Parameters
        ----------
        matrix : ndarray or csr_array, shape (m, n)
        lipschitz : float, default 32
            K1 > 0. The larger, the more the nearest rows count: near 0 everybody gets the mean, far above everybody their own row.

        Raises
        ------
        ModelError
            `lipschitz` is no number above 0; the matrix has values that are not finite.
        ShapeError
            No matrix.
        """
        limit = checked_positive("lipschitz", lipschitz, error=ModelError)
        rows = _checked(matrix, "a matrix")
        centre, radius = enclosing_ball(rows)
        # The outputs move at most R^2 / t times as far as the inputs: t = R^2 / K1. Rows that are all alike need no bandwidth.
        return cls(rows, centre, radius, radius**2 / limit * _ABOVE or 1.0)

    @cached_property
    def half_ranges(self) -> Floats:
        """Half of largest less smallest value of each feature, shape (n,)."""
        return (_dense(self.rows.max(axis=0)) - _dense(self.rows.min(axis=0))) / 2

    def __call__(self, new_rows: Any, progress: Progress | None = None) -> Floats:
        """Return the outputs of any rows, seen or not; shape (k, n). `ShapeError` for rows of other features."""
        wanted = _checked(fitting(new_rows, self.rows), "new rows")
        queries = CentredRows.of(wanted, self.centre)
        outputs = allocate(*wanted.shape)
        for block in queries.slices(max(self.rows.shape)):
            outputs[block] = self.centre + self._centred.weighted_sums(self._weights(queries.block(block)))
            if progress is not None:
                progress(block.stop, len(outputs))
        return outputs

    def _weights(self, block: Floats) -> Floats:
        """Return the weights of all rows for each row of a block, shape (b, m): they sum to 1."""
        # -||x - B_j||^2 / 2 = x B_j - ||B_j||^2 / 2 but for a number that is the same for all j, and so cancels.
        scores = self._centred.products(block)
        scores -= self._half_squares
        # The largest is 0 before it is divided: a bandwidth near 0 then leaves the nearest row alone, and overflows only where the weight is 0.
        scores -= scores.max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            scores /= self.bandwidth
        weights = np.exp(scores, out=scores)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    @cached_property
    def _centred(self) -> CentredRows:
        return CentredRows.of(self.rows, self.centre)

    @cached_property
    def _half_squares(self) -> Floats:
        rows = self._centred
        squares = [np.sum(rows.block(part) ** 2, axis=1) for part in rows.slices(self.centre.size)]
        return np.concatenate(squares) / 2


def smooth_neighbor_outputs(
    matrix: Any,
    lipschitz: float = DEFAULT_LIPSCHITZ,
    *,
    new_rows: Any = None,
    progress: Progress | None = None,
) -> Floats:
    """Give each individual an average of all rows, those near to it counting most, with a proved constant K1.

    ``Y(x) = sum_j s_j B_j``, with weights in proportion to ``exp(-||x - B_j||^2 / (2 t))``, everybody's own row among them. Nearest neighbours
    jump when one takes the place of another; these weights never do: ``||Y(x) - Y(x')|| <= (R^2 / t) ||x - x'||`` for any two rows, seen or not, where R is the
    radius of a ball around all rows (`likewise.certificates.models.smooth_average`). The bandwidth t is chosen so that this is `lipschitz`.

    Parameters
    ----------
    matrix : ndarray or csr_array, shape (m, n)
        B, complete; what a sparse one does not store is 0.
    lipschitz : float, default 32
        K1 > 0, from l2 to l2.
    new_rows : ndarray or csr_array, shape (k, n), optional
        By default the rows of `matrix`.
    progress : callable, optional
        Called with (rows done, rows in all).

    Returns
    -------
    ndarray, shape (m, n) or (k, n)

    Raises
    ------
    ModelError
        `lipschitz` is no number above 0; values that are not finite.
    ShapeError
        No matrix; rows of other features.
    MemoryLimitError
        If the outputs would not fit.

    References
    ----------
    Nadaraya, "On estimating regression", 1964; Watson, "Smooth regression analysis", 1964.

    Examples
    --------
    Two rows at -1 and 1: with K1 = 1 the output at x is tanh(x).

    >>> smooth_neighbor_outputs(np.array([[-1.0], [1.0]]), 1.0, new_rows=[[0.0], [0.5], [9.0]]).round(3)
    array([[0.   ],
           [0.462],
           [1.   ]])
    """
    checked_callable("progress", progress)
    return SmoothNeighbors.of(matrix, lipschitz)(matrix if new_rows is None else new_rows, progress)


@dataclass(frozen=True, eq=False)
class SmoothNeighborModel(Model):
    """Everybody's outputs are an average of all rows, weighted smoothly by distance; see `smooth_neighbor_outputs`.

    Parameters
    ----------
    lipschitz : float, default 32
        K1, from l2 to l2.

    Examples
    --------
    >>> SmoothNeighborModel(1.0)(np.array([[-1.0], [1.0]])).round(3)
    array([[-0.762],
           [ 0.762]])
    """

    lipschitz: float = DEFAULT_LIPSCHITZ
    predicts_entries: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What the model is called in a report."""
        return f"smoothly weighted neighbours, K1 = {self.lipschitz:g}"

    def run(
        self,
        matrix: Any,
        observed: ObservedMatrix | None,  # noqa: ARG002  complete rows are averaged, whatever was observed of them
        progress: Progress | None,
    ) -> tuple[Floats, TrainedModel]:
        """Return the outputs, and the function that gave them."""
        learnt = SmoothNeighbors.of(matrix, self.lipschitz)
        return learnt(learnt.rows, progress), TrainedModel(learnt, function=learnt)


def _checked(given: Any, what: str) -> Matrix:
    """Return complete rows of finite numbers."""
    rows = as_matrix(given, what)
    numbers = rows if isinstance(rows, np.ndarray) else rows.data
    if 0 in rows.shape or not np.isfinite(numbers).all():
        raise ModelError(f"{what} of shape {rows.shape} with values that are missing", "a complete matrix")
    return np.asarray(rows, dtype=np.float64) if isinstance(rows, np.ndarray) else sparse.csr_array(rows)


def _dense(part: Any) -> Floats:
    """Return the row that a reduction of rows gives."""
    return np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=np.float64).ravel()
