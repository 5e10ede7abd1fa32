"""Leave out the columns that a reference distance must not see, for example protected attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DistanceError, unknown_name

_NAMED_AT_MOST = 5


def kept_columns(names: Sequence[Any], exclude: Sequence[Any]) -> tuple[NDArray[np.bool_], str]:
    """Return which columns stay, and say so in words.

    Parameters
    ----------
    names : sequence
        Names of all columns; for an array without names, their positions.
    exclude : sequence
        Names to leave out.

    Returns
    -------
    kept : ndarray of bool
    description : str

    Raises
    ------
    DistanceError
        An unknown name, a name given as a bare string, or nothing left.

    Examples
    --------
    >>> kept_columns(["race", "lsat", "ugpa"], ["race"])
    (array([False,  True,  True]), 'all but race')
    """
    if isinstance(exclude, str):
        raise DistanceError(f"exclude={exclude!r}", "a list of column names", f"exclude=[{exclude!r}]")
    for name in exclude:
        if name not in names:
            raise DistanceError(*unknown_name("column", name, [str(known) for known in names[:50]]))
    excluded = set(exclude)
    kept = np.array([name not in excluded for name in names], dtype=bool)
    if not kept.any():
        raise DistanceError("every column excluded", "at least one column left to compare individuals by")
    return kept, _in_words(exclude)


def _in_words(exclude: Sequence[Any]) -> str:
    if not len(exclude):
        return "all"
    named = ", ".join(str(name) for name in exclude[:_NAMED_AT_MOST])
    more = len(exclude) - _NAMED_AT_MOST
    return f"all but {named}" + (f" and {more} more" if more > 0 else "")
