"""A trained net of pairs (row, column): its weights, what it predicts, and how its training went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._typing import Floats, Singles
from likewise.arrays import as_array
from likewise.errors import ModelError, ShapeError
from likewise.inference.net.training import device_of, import_torch, threads
from likewise.memory import ensure_fits
from likewise.progress import Progress

_COLUMNS_AT_ONCE = 1024
"""On a CPU, hidden units of one row with so many columns are held at a time: they stay in its cache."""
_ENTRIES_AT_ONCE = 2**17
"""On another device: enough to keep it busy."""


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """When a training was validated, and its error each time.

    Parameters
    ----------
    is_validation : ndarray of bool, shape (n_observed,)
        Which observations validated, in row order; the others trained.
    steps : tuple of int
        After which steps it was validated.
    errors : tuple of float
        Mean squared error on the validation entries after each of these.
    """

    is_validation: NDArray[np.bool_]
    steps: tuple[int, ...]
    errors: tuple[float, ...]

    @property
    def best_step(self) -> int:
        """The step whose state was kept: the first of the smallest error."""
        return self.steps[int(np.argmin(self.errors))]

    @property
    def best_error(self) -> float:
        """Mean squared error of the state that was kept, on the validation entries."""
        return min(self.errors)

    def __str__(self) -> str:
        n_validation = int(self.is_validation.sum())
        return (
            f"best of {len(self.steps)} validations after step {self.best_step} of {self.steps[-1]}: mean squared "
            f"error {self.best_error:.4g} on {n_validation:,} observations; {self.is_validation.size - n_validation:,} trained"
        )


@dataclass(frozen=True, eq=False)
class DenseNet:
    """A net on row i and column j of a complete matrix, which predicts entry (i, j).

    The input is row ``B_i`` and column ``b_j`` one after the other. As the first layer is linear,
    ``W (B_i, b_j) = W_r B_i + W_c b_j``, it is applied to the m rows and the n columns apart and added for each entry.

    Parameters
    ----------
    weights : tuple of ndarray, shape (n_outputs, n_inputs) each
        Of the layers; the first has n + m inputs, the last one output. ReLU between layers, a sigmoid after the last.
    biases : tuple of ndarray, shape (n_outputs,) each
    shape : (int, int)
        m and n.
    bounds : (float, float), default (-1.0, 1.0)
        What the sigmoid's 0 and 1 stand for: ``2 h' - 1``, or with (0, 1) h' itself.
    record : TrainingRecord or None, default None
    device : str, default "cpu"
        Where it predicts.
    n_threads : int or None, default 1
        Threads of torch; None leaves torch's setting.

    Examples
    --------
    Of two individuals and one feature, with two hidden units:

    >>> first, last = np.array([[1, 1, 0], [0, 0, 1]], dtype=np.float32), np.array([[2, -2]], dtype=np.float32)
    >>> net = DenseNet((first, last), (np.zeros(2, np.float32), np.zeros(1, np.float32)), shape=(2, 1))
    >>> net.row_weights.tolist(), net.column_weights.tolist()
    ([[1.0], [0.0]], [[1.0, 0.0], [0.0, 1.0]])
    >>> net.predict_all([[0.5], [0.0]]).round(2).tolist()  # tanh of 1 and of 0.5  # doctest: +SKIP
    [[0.76], [0.46]]
    """

    weights: tuple[Singles, ...]
    biases: tuple[Singles, ...]
    shape: tuple[int, int]
    bounds: tuple[float, float] = (-1.0, 1.0)
    record: TrainingRecord | None = None
    device: str = "cpu"
    n_threads: int | None = 1

    @property
    def row_weights(self) -> Singles:
        """``W_r``: the first layer's weights on the row, shape (n_outputs, n)."""
        return self.weights[0][:, : self.shape[1]]

    @property
    def column_weights(self) -> Singles:
        """``W_c``: the first layer's weights on the column, shape (n_outputs, m)."""
        return self.weights[0][:, self.shape[1] :]

    @property
    def row_layers(self) -> tuple[Singles, ...]:
        """The weights through which a row acts on each output, from the first layer to the last."""
        return (self.row_weights, *self.weights[1:])

    @property
    def largest_slope(self) -> float:
        """Largest slope of the last step, from the last layer's number to an output."""
        return (self.bounds[1] - self.bounds[0]) / 4

    def predict_all(self, features: Any, rows: Any = None, *, progress: Progress | None = None) -> Floats:
        """Predict every entry.

        Parameters
        ----------
        features : ndarray or csr_array, shape (m, n)
            B; its columns are those of the outputs.
        rows : ndarray or csr_array, shape (k, n), optional
            Other individuals, seen in training or not; those of `features` by default.
        progress : callable, optional
            Called with (rows done, rows in all).

        Returns
        -------
        ndarray, shape (m, n) or (k, n)
            Within `bounds`; computed in single precision.

        Raises
        ------
        ShapeError
            If `features` have another shape than in training, or `rows` another number of columns.
        ModelError
            If one of them is not finite.
        MemoryLimitError
            If the outputs would not fit.
        """
        by_row, by_column = self._first_layer(features, features if rows is None else rows)
        shape = len(by_row), len(by_column)
        ensure_fits(
            8.0 * shape[0] * shape[1], f"outputs of shape {shape[0]:,} x {shape[1]:,}", "predict some rows"
        )
        outputs = np.empty(shape)
        later = _Later(self)
        with threads(self.n_threads):
            on_rows, on_columns = later.tensor(by_row), later.tensor(by_column)
            for some, chosen in _blocks(shape, later.rows_at_once(shape[1]), later.entries_at_once):
                outputs[some, chosen] = later.grid(on_rows[some], on_columns[chosen])
                if progress is not None and chosen.stop == shape[1]:
                    progress(some.stop, shape[0])
        return outputs

    def entries(self, features: Any, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Predict some entries.

        Parameters
        ----------
        features : ndarray or csr_array, shape (m, n)
            B.
        rows, columns : array-like of int, shape (k,)
            Their positions.

        Returns
        -------
        ndarray, shape (k,)

        Raises
        ------
        ShapeError
            If `features` have another shape than in training, or there is not one column for each row.
        ModelError
            If a position is outside the matrix, or features are not finite.
        """
        at_row, at_column = _positions(rows, columns, self.shape)
        by_row, by_column = self._first_layer(features, features)
        outputs = np.empty(at_row.size)
        later = _Later(self)
        with threads(self.n_threads):
            for start in range(0, at_row.size, later.entries_at_once):
                some = slice(start, start + later.entries_at_once)
                outputs[some] = later.apply(later.tensor(by_row[at_row[some]] + by_column[at_column[some]]))
        return outputs

    def _first_layer(self, features: Any, rows: Any) -> tuple[Singles, Singles]:
        """Return ``W_r B_i`` of every row and ``W_c b_j`` plus the bias of every column.

        The sums are in double precision, so that what a row gets does not depend on which others are given with it.
        """
        columns, given = _matrix(features), _matrix(rows)
        if columns.shape != self.shape:
            raise ShapeError(f"features of shape {columns.shape}", f"{self.shape}, those of the training")
        if given.ndim != 2 or given.shape[1] != self.shape[1]:
            raise ShapeError(f"rows of shape {given.shape}", f"(any, {self.shape[1]})")
        by_row = _product(given, self.row_weights, 0.0)
        by_column = _product(columns.T, self.column_weights, self.biases[0])
        if not (np.isfinite(by_row).all() and np.isfinite(by_column).all()):
            raise ModelError("features that are NaN, infinite or too large", "finite numbers")
        return by_row, by_column


class _Later:
    """The layers after the first, on the net's device."""

    def __init__(self, net: DenseNet) -> None:
        self._torch = import_torch()
        self._device = device_of(net.device)
        self._layers = [
            (self.tensor(weights).T, self.tensor(bias))
            for weights, bias in zip(net.weights[1:], net.biases[1:], strict=True)
        ]
        self._low, self._width = net.bounds[0], net.bounds[1] - net.bounds[0]
        self.on_cpu = self._device.type == "cpu"
        self.entries_at_once = _COLUMNS_AT_ONCE if self.on_cpu else _ENTRIES_AT_ONCE

    def rows_at_once(self, n_columns: int) -> int:
        """Return how many rows a block has; one on a CPU, so that no row's rounding depends on which others are there."""
        return 1 if self.on_cpu else max(1, self.entries_at_once // n_columns)

    def tensor(self, array: Singles) -> Any:
        """Return an array as a tensor on the device."""
        return self._torch.tensor(array, device=self._device)

    def grid(self, by_row: Any, by_column: Any) -> Floats:
        """Return the outputs of every pair of a row and a column."""
        inputs = (by_row[:, None, :] + by_column[None, :, :]).reshape(-1, by_row.shape[1])
        return self.apply(inputs).reshape(len(by_row), len(by_column))

    def apply(self, inputs: Any) -> Floats:
        """Return the outputs of what the first layer gave, which is overwritten."""
        with self._torch.inference_mode():
            hidden = inputs
            for weights, bias in self._layers:
                hidden = self._torch.addmm(bias, hidden.relu_(), weights)
            share: Floats = hidden.sigmoid_().ravel().double().cpu().numpy()
        return self._low + self._width * share


def _blocks(shape: tuple[int, int], rows_at_once: int, columns_at_once: int) -> Iterator[tuple[slice, slice]]:
    """Cut all entries into blocks, row by row."""
    for row in range(0, shape[0], rows_at_once):
        for column in range(0, shape[1], columns_at_once):
            yield (
                slice(row, min(row + rows_at_once, shape[0])),
                slice(column, min(column + columns_at_once, shape[1])),
            )


def _positions(
    rows: ArrayLike, columns: ArrayLike, shape: tuple[int, int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    at_row, at_column = (np.atleast_1d(as_array(places)) for places in (rows, columns))
    if at_row.shape != at_column.shape or at_row.ndim != 1:
        raise ShapeError(
            f"rows of shape {at_row.shape} and columns of shape {at_column.shape}", "one column for each row"
        )
    for name, positions, size in zip(("rows", "columns"), (at_row, at_column), shape, strict=True):
        if positions.size and not (
            positions.dtype.kind in "iu" and positions.min() >= 0 and positions.max() < size
        ):
            raise ModelError(f"{name} {positions[:5].tolist()}", f"whole numbers from 0 to {size - 1}")
    return at_row.astype(np.intp), at_column.astype(np.intp)


def _matrix(values: Any) -> Any:
    return values if sparse.issparse(values) else as_array(values, error=ModelError)


def _product(matrix: Any, weights: Singles, bias: Singles | float) -> Singles:
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
        return np.asarray(matrix @ weights.T.astype(np.float64) + bias).astype(np.float32)
