"""What a dense net learns from: features of every individual and column, and the observed entries as targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Counts, Singles
from likewise.errors import ModelError, ShapeError
from likewise.memory import ensure_fits
from likewise.observations import ObservedMatrix
from likewise.observations.convert import to_table
from likewise.observations.table import rows_of_entries


@dataclass(frozen=True, eq=False)
class Entries:
    """Observed entries: positions and values, shape (n_observed,) each, in row order."""

    rows: Counts
    columns: Counts
    values: Singles

    def __getitem__(self, chosen: NDArray[Any]) -> Entries:
        return Entries(self.rows[chosen], self.columns[chosen], self.values[chosen])

    def __len__(self) -> int:
        return self.values.size


def single_precision(features: Any) -> Singles:
    """Return a complete matrix as a dense array in single precision; what a sparse one does not store is 0.

    Raises
    ------
    ShapeError
        If it has not two dimensions.
    ModelError
        If an entry is no finite number.
    """
    matrix: Any = features if sparse.issparse(features) else np.asarray(features)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ShapeError(f"features of shape {matrix.shape}", "(m, n): individuals x features")
    if matrix.dtype.kind not in "biuf":
        raise ModelError(f"features of type {matrix.dtype}", "real numbers")
    ensure_fits(8 * matrix.shape[0] * matrix.shape[1], "two dense copies of the features", "use fewer rows")
    with np.errstate(over="ignore"):  # what overflows is refused below
        singles = matrix.astype(np.float32)
    dense = np.asarray(singles.toarray() if sparse.issparse(features) else singles)
    unusable = dense.size - int(np.isfinite(dense).sum())
    if unusable:
        raise ModelError(
            f"features of which {unusable} are NaN, infinite or too large",
            "a complete matrix of finite numbers",
        )
    return dense


def observed_entries(targets: Any, shape: tuple[int, int], bounds: tuple[float, float]) -> Entries:
    """Return the entries that a net can learn.

    Parameters
    ----------
    targets : ObservedMatrix, SciPy sparse (stored is observed), or array with NaN where nothing was observed
    shape : (int, int)
        Of the features.
    bounds : (float, float)
        Between which the net's outputs lie.

    Raises
    ------
    ShapeError
        If they have another shape.
    ModelError
        If there are fewer than two, or one lies outside the bounds.
    """
    stored = targets.values if isinstance(targets, ObservedMatrix) else to_table(targets).values
    if stored.shape != shape:
        raise ShapeError(f"targets of shape {stored.shape} for features of shape {shape}", "the same shape")
    if stored.nnz < 2:
        raise ModelError(f"{stored.nnz} observations", "at least two: one that trains and one that validates")
    low, high = bounds
    if not (np.isfinite(stored.data).all() and low <= stored.data.min() and stored.data.max() <= high):
        raise ModelError(
            f"targets from {stored.data.min():g} to {stored.data.max():g}",
            f"values from {low:g} to {high:g}, between which the outputs lie",
            "scale the observations first: Z.scaled()",
        )
    rows, columns = rows_of_entries(stored), stored.indices
    return Entries(rows.astype(np.int64), columns.astype(np.int64), stored.data.astype(np.float32))


def validation_mask(n_observed: int, fraction: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Draw which observations validate: that fraction, rounded, but at least one on either side."""
    n_validation = min(max(round(fraction * n_observed), 1), n_observed - 1)
    mask = np.zeros(n_observed, dtype=bool)
    mask[generator.permutation(n_observed)[:n_validation]] = True
    return mask


class Epochs:
    """Counts 0 to n - 1 in random order, over and over, each epoch in an order of its own.

    Parameters
    ----------
    n : int
    generator : numpy.random.Generator
    """

    def __init__(self, n: int, generator: np.random.Generator) -> None:
        self._n, self._generator = n, generator
        self._left = np.empty(0, dtype=np.int64)

    def take(self, n_batches: int, batch_size: int) -> Counts:
        """Return the next batches, shape (n_batches, batch_size)."""
        wanted = n_batches * batch_size
        missing = -(-max(wanted - self._left.size, 0) // self._n)
        order = np.concatenate([self._left, *(self._generator.permutation(self._n) for _ in range(missing))])
        self._left = order[wanted:]
        return order[:wanted].reshape(n_batches, batch_size)
