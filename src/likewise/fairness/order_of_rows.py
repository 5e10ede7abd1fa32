"""Labelled columns and frames: their labels must not contradict the order of the individuals."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ShapeError


def check_order(what: str, values: Any, ids: NDArray[Any] | None) -> None:
    """Raise where values carry the ids of the individuals as labels, but in another order than they are taken in.

    Parameters
    ----------
    what : str
        What the values are.
    values : object
        Only a frame or column with an index of its own, as pandas has, says anything of an order.
    ids : ndarray, shape (m,), or None
        Of the individuals, in their order.

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> check_order("outputs", [0.5, 0.1], np.array(["ann", "bea"]))  # no labels
    """
    labels = None if ids is None else _labels(values)
    if labels is None or ids is None:
        return
    names = [str(name) for name in ids.tolist()]
    if labels != names and Counter(labels) == Counter(names):
        raise ShapeError(
            f"{what} whose index has the individuals in another order",
            "the order of the individuals",
            ".loc[Z.row_ids] puts them in order; .to_numpy() takes them as they are",
        )


def _labels(values: Any) -> list[str] | None:
    """Return the labels of rows as text; None where there are none but a count from 0."""
    if isinstance(values, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    native = nw.from_native(values, allow_series=True, eager_only=True, pass_through=True)
    index = nw.maybe_get_index(native) if isinstance(native, nw.DataFrame | nw.Series) else None
    if index is None or type(index).__name__ == "RangeIndex":
        return None
    return [str(label) for label in index]
