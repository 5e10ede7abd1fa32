"""Outputs as the audit needs them: one finite row of numbers for each individual."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.errors import ModelError

_NAMED = 5
"""How many offending rows a message names."""


def checked_outputs(outputs: Any, n_individuals: int, source: str, what: str = "outputs") -> Floats:
    """Return outputs as a float array, or say what is wrong with them.

    Parameters
    ----------
    outputs : array-like, data frame or SciPy sparse, shape (m,) or (m, k)
    n_individuals : int
        m.
    source : str
        What gave them, for the message.
    what : str
        What they are called there.

    Returns
    -------
    ndarray, shape (m,) or (m, k)

    Raises
    ------
    ModelError
        If they are not numbers, not finite, or not one row for each individual.

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
    array = as_floats(outputs, f"{what} of {source}", ModelError)
    if array.ndim not in (1, 2) or not array.size or array.shape[0] != n_individuals:
        raise ModelError(
            f"{source} gave {what} of shape {array.shape}",
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
