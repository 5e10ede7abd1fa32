"""When observations were made: numbers, or dates, which become seconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.arrays import as_array, as_floats
from likewise.errors import ObservationError

_DATES = "mM"
_HINT = "numpy.datetime64 reads dates that are written as text"


def as_times(times: Any) -> Floats | None:
    """Return times as numbers: as they are, or of dates the seconds since 1970.

    Parameters
    ----------
    times : array-like of numbers or dates, shape (k,); None
        NaN, NaT or None where one is unknown.

    Returns
    -------
    ndarray, shape (k,), or None
        NaN where unknown; a copy.

    Raises
    ------
    ObservationError
        Text; infinite times; none that is known; not one number each.

    Examples
    --------
    >>> as_times([3, None, 5])
    array([ 3., nan,  5.])
    >>> as_times(np.array(["1970-01-02", "NaT"], "datetime64[D]"))
    array([86400.,    nan])
    """
    if times is None:
        return None
    array = as_array(times, "times", ObservationError)
    numbers = (
        _seconds(array) if array.dtype.kind in _DATES else as_floats(times, "times", ObservationError, _HINT)
    )
    if numbers.ndim != 1:
        raise ObservationError(f"times of shape {numbers.shape}", "one number or date for each observation")
    if np.isinf(numbers).any():
        raise ObservationError("times that are infinite", "finite numbers, or NaN where one is unknown")
    if np.isnan(numbers).all():
        raise ObservationError("no time that is known", "a time for at least one observation")
    return numbers.copy()


def _seconds(dates: Any) -> Floats:
    """Return the seconds since 1970, or of differences their seconds; NaN for NaT."""
    unit = "datetime64[us]" if dates.dtype.kind == "M" else "timedelta64[us]"
    whole = dates.astype(unit)
    return np.asarray(np.where(np.isnat(whole), np.nan, whole.astype(np.int64) / 1e6), np.float64)
