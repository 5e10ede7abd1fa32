"""Nearest neighbours as a model of the audit: the same algorithm on the zero-filled matrix and on an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import ShapeError
from likewise.inference.neighbors.nearest_neighbors import Average, nearest_neighbor_outputs
from likewise.inference.trained_model import Keep, TrainedModel
from likewise.observations import ObservedMatrix
from likewise.progress import Progress


@dataclass(frozen=True, eq=False)
class NearestNeighborModel:
    """Each individual's outputs are an average over their nearest neighbours; see `nearest_neighbor_outputs`.

    With ``average="co-raters"`` only the entries of the matrix that were observed are read, in both arms of a
    comparison, so that the arms differ in the values of these entries alone.

    Parameters
    ----------
    n_neighbors : int or None, default 10
    average : {"all", "co-raters"}, default "all"
    targets : array-like, shape (m,) or (m, t), optional
        Average these instead of the rows of the matrix.

    Examples
    --------
    >>> from likewise.observations import ObservedMatrix
    >>> Z = ObservedMatrix(np.array([[1.0, -1.0, np.nan], [1.0, np.nan, 0.5], [-1.0, 0.0, np.nan]]), value_range=(-1, 1))
    >>> NearestNeighborModel(1, "co-raters")(Z.zero_filled(), Z)[0]
    array([ 1. , -0.5,  0.5])
    """

    n_neighbors: int | None = 10
    average: Average = "all"
    targets: ArrayLike | None = None

    @property
    def name(self) -> str:
        """What the model is called in a report."""
        count = "all similar" if self.n_neighbors is None else f"{self.n_neighbors} nearest"
        return f"{count} neighbours" + (" who observed the item" if self.average == "co-raters" else "")

    @property
    def predicts_entries(self) -> bool:
        """Whether outputs predict the entries of the matrix."""
        return self.targets is None

    def __call__(
        self,
        matrix: Any,
        observed: ObservedMatrix | None = None,
        *,
        progress: Progress | None = None,
        keep: Keep | None = None,
    ) -> Floats:
        """Return the outputs; without `observed`, every entry of the matrix counts as observed."""
        if keep is not None:
            keep(TrainedModel(self))
        rows = matrix
        if self.average == "co-raters":
            rows = _entries(matrix, np.ones(matrix.shape) if observed is None else observed.values)
        return nearest_neighbor_outputs(
            rows, self.n_neighbors, average=self.average, targets=self.targets, progress=progress
        )


def _entries(matrix: Any, pattern: Any) -> sparse.csr_array:
    """Return the entries of `matrix` at the positions that `pattern` stores; what `matrix` does not store is 0."""
    stored = sparse.csr_array(pattern)
    if matrix.shape != stored.shape:
        raise ShapeError(
            f"observations of shape {stored.shape} for a matrix of shape {matrix.shape}", "the same shape"
        )
    rows = np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))
    values = np.asarray(matrix[rows, stored.indices], dtype=np.float64).ravel()
    return sparse.csr_array((values, stored.indices, stored.indptr), shape=stored.shape)
