"""Outputs as the audit needs them: one finite row of numbers for each individual."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import ModelError
from likewise.memory import ensure_fits

_NAMED = 5
"""How many offending rows a message names."""


def checked_outputs(outputs: Any, n_individuals: int, source: str) -> Floats:
    """Return outputs as a float array, or say what is wrong with them.

    Parameters
    ----------
    outputs : array-like, data frame or SciPy sparse, shape (m,) or (m, k)
    n_individuals : int
        m.
    source : str
        What gave them, for the message.

    Returns
    -------
    ndarray, shape (m,) or (m, k)

    Raises
    ------
    ModelError
        If they are no numbers, not finite, or not one row for each individual.

    Examples
    --------
    >>> checked_outputs([[1, 2], [3, 4]], 2, "the model")
    array([[1., 2.],
           [3., 4.]])
    >>> checked_outputs([0.5, np.nan, np.inf], 3, "the model")
    Traceback (most recent call last):
    ...
    likewise.errors.ModelError: the model gave NaN or infinite outputs in 2 of 3 rows: 1, 2; expected finite numbers.
    """
    array = _as_floats(outputs, source)
    if array.ndim not in (1, 2) or not array.size or array.shape[0] != n_individuals:
        raise ModelError(
            f"{source} gave outputs of shape {array.shape}",
            f"({n_individuals},) or ({n_individuals}, k): one row for each individual",
            "rows are individuals; transpose" if n_individuals in array.shape[1:] else "",
        )
    unusable = np.flatnonzero(~np.isfinite(array).reshape(n_individuals, -1).all(axis=1))
    if unusable.size:
        rows = ", ".join(map(str, unusable[:_NAMED])) + (", ..." if unusable.size > _NAMED else "")
        raise ModelError(
            f"{source} gave NaN or infinite outputs in {unusable.size} of {n_individuals} rows: {rows}",
            "finite numbers",
        )
    return array


def dense(matrix: Any) -> NDArray[Any]:
    """Return a matrix as an array: a tensor without its gradient, a sparse matrix with the zeros that it does not store, if they fit.

    Raises
    ------
    MemoryLimitError
        A sparse matrix whose zeros would not fit.
    """
    if sparse.issparse(matrix):
        return _filled(matrix)
    if hasattr(matrix, "detach") and hasattr(matrix, "cpu"):  # a tensor of PyTorch, perhaps on another device
        matrix = matrix.detach().cpu()
    return np.asarray(matrix)


def _filled(matrix: Any) -> NDArray[Any]:
    rows, columns = matrix.shape
    size = matrix.dtype.itemsize * rows * columns
    ensure_fits(size, f"a dense {rows:,} x {columns:,} matrix", "use fewer rows")
    return np.asarray(matrix.toarray())


def _as_floats(outputs: Any, source: str) -> Floats:
    try:
        array = dense(outputs)
        if array.dtype.kind in "USmMc":
            raise TypeError(f"values of type {array.dtype}")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"{source} gave outputs that are not numbers ({error})", "an array of numbers"
        ) from error
