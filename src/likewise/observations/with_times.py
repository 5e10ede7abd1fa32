"""Observations with the time of each beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from likewise.errors import ShapeError
from likewise.observations.observed_matrix import ObservedMatrix, as_observed
from likewise.observations.times import as_times


def with_times(observed: ObservedMatrix | Any, times: Any) -> ObservedMatrix:
    """Return observations that know when each was made, so that later ones can be held out and levels that drift be found.

    Parameters
    ----------
    observed : ObservedMatrix, or what its constructor takes
    times : array-like of numbers or dates, shape (n_observed,); None
        In the order of ``observed.values.data``, which is row by row. NaN or NaT where one is unknown; None forgets them. Of triplets, give
        `ObservedMatrix.from_triplets` the times, which puts them in order.

    Returns
    -------
    ObservedMatrix
        Its `times` are numbers; of dates the seconds since 1970.

    Raises
    ------
    ObservationError
        Text, infinite times, none that is known.
    ShapeError
        Not one time for each observation.

    Examples
    --------
    >>> import numpy as np
    >>> Z = with_times(np.array([[1.0, np.nan], [0.0, 5.0]]), [30, 10, 20])
    >>> Z.times
    array([30., 10., 20.])
    """
    observed = as_observed(observed)
    known = as_times(times)
    if known is not None and known.size != observed.n_observed:
        raise ShapeError(f"{known.size:,} times", f"one for each of {observed.n_observed:,} observations")
    return ObservedMatrix.from_table(replace(observed.to_table(), times=known), observed.value_range)
