"""When observations were made: numbers, or dates, which become seconds."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.arrays import as_array, as_floats
from likewise.errors import ObservationError
from likewise.observations.ids import is_unknown

_DATES = "mM"
_HINT = "numpy.datetime64 reads dates that are written as text"


def as_times(times: Any) -> Floats | None:
    """Return times as numbers, (k,), in a copy: as they are, or of dates the seconds since 1970; NaN where one is unknown; None for None.

    Text, infinite times, none that is known, and not one number each raise an `ObservationError`.

    >>> as_times(np.array(["1970-01-02", "NaT"], "datetime64[D]"))
    array([86400.,    nan])
    """
    if times is None:
        return None
    array = as_array(times, "times", ObservationError)
    if array.dtype == object and array.ndim == 1 and all(map(_is_date, array.tolist())):
        array = np.array([np.nan if is_unknown(time) else number_of(time) for time in array.tolist()])
    numbers = (
        _seconds(array) if array.dtype.kind in _DATES else as_floats(array, "times", ObservationError, _HINT)
    )
    if numbers.ndim != 1:
        raise ObservationError(f"times of shape {numbers.shape}", "one number or date for each observation")
    if np.isinf(numbers).any():
        raise ObservationError("times that are infinite", "finite numbers, or NaN where one is unknown")
    if np.isnan(numbers).all():
        raise ObservationError("no time that is known", "a time for at least one observation")
    return numbers.copy()


def _is_date(time: Any) -> bool:
    return is_unknown(time) or isinstance(time, date | timedelta)


def number_of(cell: Any) -> float:
    """Return a number as it is, of a date the seconds since 1970, of a span its seconds; what has no zone is taken for UTC.

    >>> number_of(date(1970, 1, 2)), number_of(timedelta(hours=1)), number_of(7)
    (86400.0, 3600.0, 7.0)
    """
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day, tzinfo=UTC)
    if isinstance(cell, datetime):
        return (cell if cell.tzinfo else cell.replace(tzinfo=UTC)).timestamp()
    try:
        return float(cell)
    except OverflowError:  # a whole number beyond double precision
        return np.inf


def _seconds(dates: Any) -> Floats:
    """Return the seconds since 1970, or of differences their seconds; NaN for NaT."""
    unit = "datetime64[us]" if dates.dtype.kind == "M" else "timedelta64[us]"
    # Microseconds hold every date of Python, and a double holds their seconds.
    whole = dates.astype(unit)
    return np.asarray(np.where(np.isnat(whole), np.nan, whole.astype(np.int64) / 1e6), np.float64)
