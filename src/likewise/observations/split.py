"""Hide a share of the observations, to measure an estimate or a model on what it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats, Mask
from likewise.checks import checked_flag, checked_name, is_number
from likewise.errors import ObservationError, option
from likewise.observations.observed_matrix import ObservedMatrix, as_observed
from likewise.randomness import generator_of

SplitRule = Literal["random", "time"]
"""Which observations are hidden: drawn ones, or the latest."""


@dataclass(frozen=True, eq=False)
class HoldOut:
    """Observations split in two: those to learn from, and those that are hidden to test on.

    Parameters
    ----------
    training : ObservedMatrix
        What stays visible; shape, ids and value range are those of the whole.
    rows, columns : ndarray of int, shape (n_hidden,)
        Positions of the hidden observations, in row order.
    values : ndarray, shape (n_hidden,)
        The hidden observations, in the units of `training`.
    later_than : float or None
        Of a split by time: the time that every hidden observation is later than, and none of `training` is, but what ``leave_one`` gave back.
    """

    training: ObservedMatrix
    rows: NDArray[np.integer]
    columns: NDArray[np.integer]
    values: NDArray[np.floating]
    later_than: float | None = None

    def whole(self) -> ObservedMatrix:
        """Return all observations together again, without what is known beside the values.

        Examples
        --------
        >>> split = hold_out(np.arange(20.0).reshape(4, 5), share=0.25, random_state=0)
        >>> split.whole().n_observed
        20
        """
        seen = self.training.values
        rows, columns = (
            np.concatenate(both)
            for both in zip(self.training.positions(), (self.rows, self.columns), strict=True)
        )
        values = sparse.csr_array((np.concatenate([seen.data, self.values]), (rows, columns)), seen.shape)
        return ObservedMatrix(
            values,
            value_range=self.training.value_range,
            row_ids=self.training.row_ids,
            column_ids=self.training.column_ids,
        )

    def __repr__(self) -> str:
        return f"HoldOut({self.values.size:,} hidden, {self.training.n_observed:,} for training)"


def hold_out(
    observed: ObservedMatrix | Any,
    share: float = 0.1,
    random_state: int | np.random.Generator | None = None,
    *,
    leave_one: bool = False,
    by: SplitRule = "random",
) -> HoldOut:
    """Hide a share of the observations, drawn uniformly without replacement, or the latest.

    Parameters
    ----------
    observed : ObservedMatrix, or what its constructor takes
    share : float
        Between 0 and 1, both excluded. ``round(share * n_observed)`` observations are hidden.
    random_state : int, numpy.random.Generator or None
    leave_one : bool, default False
        Leave each individual at least one observation: who lost all gets one back, at random, and less is hidden.
    by : {"random", "time"}
        Which: drawn ones, or the latest, to measure how well the past predicts the future. By time of observations at one time all or
        none are hidden, and no more than the share, unless more than that are at the latest time. Those without a time stay. With `leave_one`, who would lose all keeps the earliest one.

    Returns
    -------
    HoldOut

    Raises
    ------
    ObservationError
        The share is outside (0, 1), or leaves one side empty; nothing is left to hide. By time: without times, or all at one time.

    Examples
    --------
    >>> Z = ObservedMatrix(np.arange(20.0).reshape(4, 5), value_range=(0, 19))
    >>> split = hold_out(Z, share=0.25, random_state=0)
    >>> split
    HoldOut(5 hidden, 15 for training)
    >>> bool((Z.values[split.rows, split.columns] == split.values).all())
    True
    """
    if not (is_number(share) and 0 < share < 1):
        raise ObservationError(f"a share of {share!r} to hide", "a number between 0 and 1, both excluded")
    observed = as_observed(observed)
    checked_name("split", by, get_args(SplitRule), ObservationError)
    n_hidden = round(share * observed.n_observed)
    if not 0 < n_hidden < observed.n_observed:
        raise ObservationError(
            f"a share of {share:g} of {observed.n_observed} observations, which is {n_hidden}",
            "at least one observation hidden and one left",
        )
    rng, (rows, columns), later_than = generator_of(random_state), observed.positions(), None
    if by == "time":
        hidden, later_than = latest(observed, n_hidden)
    else:
        hidden = np.zeros(observed.n_observed, dtype=bool)
        hidden[rng.choice(hidden.size, n_hidden, replace=False, shuffle=False)] = True
    if checked_flag("leave_one", leave_one):
        given = _given_back(hidden, rows, rng) if later_than is None else _earliest(hidden, rows, observed)
        hidden[given] = False
        if not hidden.any():
            raise ObservationError(
                "individuals with one observation each, or nearly", "a second one, that can be hidden"
            )
    return HoldOut(
        observed.keep(~hidden), rows[hidden], columns[hidden], observed.values.data[hidden], later_than
    )


def latest(observed: ObservedMatrix, n_hidden: int) -> tuple[Mask, float]:
    """Mark at most so many of the latest observations, all or none of those at one time; return the time that they are later than."""
    times = checked_times(observed)
    known = np.sort(times[~np.isnan(times)])
    if (
        n_hidden >= known.size
        or not (earlier := known[: known.size - n_hidden]).size
        or earlier[-1] == known[-1]
    ):
        # More are at the latest time than may be hidden: then all of that time are, so that something is.
        earlier = known[known < known[-1]]
    return times > earlier[-1], float(earlier[-1])


def _earliest(hidden: Mask, rows: NDArray[np.integer], observed: ObservedMatrix) -> NDArray[np.integer]:
    """Return, for each row that lost everything, the position of its earliest observation."""
    times = checked_times(observed)
    # By row, then by time; unknown times come last, as NaN does.
    in_time = np.lexsort((times, rows))
    _, first = np.unique(rows[in_time], return_index=True)
    lost = np.bincount(rows, ~hidden)[rows[in_time[first]]] == 0
    earliest: NDArray[np.integer] = in_time[first][lost]
    return earliest


def checked_times(observed: ObservedMatrix, name: str = "split") -> Floats:
    """Return the times of observations, of which two differ, for an option of this name; else raise an `ObservationError`."""
    if observed.times is None:
        raise ObservationError(
            f"{option(name, repr('time'))} of observations without times",
            "a time for each observation",
            f"{option('time', 'COLUMN')} reads them from a file, likewise.observations.with_features gives them in Python",
        )
    if not differ(observed.times):
        known = int(np.count_nonzero(~np.isnan(observed.times)))
        raise ObservationError(f"{known:,} observations with a time, all at one", "times that differ")
    return observed.times


def differ(times: Floats) -> bool:
    """Return whether two times that are known differ."""
    known = times[~np.isnan(times)]
    return bool(known.size) and bool(known.min() < known.max())


def _given_back(hidden: Mask, rows: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.integer]:
    """Return, for each row that lost everything, the position of one of its observations, drawn uniformly."""
    counts, visible = np.bincount(rows), np.bincount(rows, ~hidden)
    lost = np.flatnonzero((counts > 0) & (visible == 0))
    first = np.cumsum(counts) - counts  # positions are in row order
    given: NDArray[np.integer] = first[lost] + rng.integers(counts[lost])
    return given
