"""From ids to positions, for asking an estimate about people and features by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import ObservationError
from likewise.observations.ids import as_id_array, places_by_text

_SHOWN = 3


def positions_of(ids: ArrayLike, known: NDArray[Any], axis: str) -> NDArray[np.intp]:
    """Find where ids stand on an axis.

    Parameters
    ----------
    ids : array-like, shape (k,)
        An id that is not known as it is, is looked for by its text: 7 finds "7".
    known : ndarray, shape (n,)
        The ids of the axis, each once.
    axis : str
        ``"row"`` or ``"column"``, for the message.

    Returns
    -------
    ndarray of int, shape (k,)

    Raises
    ------
    ObservationError
        Naming the first ids that are unknown, and how many there are; ids to be looked for by their text where two are written alike.

    Examples
    --------
    >>> positions_of(["tea", "tea", "milk"], np.array(["milk", "tea"], dtype=object), "column")
    array([1, 1, 0])
    """
    listed, names = as_id_array(ids).tolist(), known.tolist()
    exact = {name: position for position, name in enumerate(names)}
    by_text = {} if all(name in exact for name in listed) else places_by_text(names)
    found = [exact.get(name, by_text.get(str(name), -1)) for name in listed]
    positions = np.array(found, dtype=np.intp)
    unknown = dict.fromkeys(listed[k] for k in np.flatnonzero(positions < 0))
    if unknown:
        shown = ", ".join(repr(name) for name in list(unknown)[:_SHOWN])
        raise ObservationError(
            f"{len(unknown):,} unknown {axis} id{'s' * (len(unknown) > 1)}: {shown}"
            + (", ..." if len(unknown) > _SHOWN else ""),
            f"ids of the observations, such as {names[0]!r}",
        )
    return positions
