"""Hide a share of the observations, to measure an estimate or a model on what it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Mask
from likewise.checks import checked_flag, is_number
from likewise.errors import ObservationError
from likewise.observations.observed_matrix import ObservedMatrix, as_observed
from likewise.randomness import generator_of


@dataclass(frozen=True, eq=False)
class HoldOut:
    """Observations split in two.

    Parameters
    ----------
    training : ObservedMatrix
        What stays visible; shape, ids and value range are those of the whole.
    rows, columns : ndarray of int, shape (n_hidden,)
        Positions of the hidden observations, in row order.
    values : ndarray, shape (n_hidden,)
        The hidden observations, in the units of `training`.
    """

    training: ObservedMatrix
    rows: NDArray[np.integer]
    columns: NDArray[np.integer]
    values: NDArray[np.floating]

    def __repr__(self) -> str:
        return f"HoldOut({self.values.size:,} hidden, {self.training.n_observed:,} for training)"


def hold_out(
    observed: ObservedMatrix | Any,
    share: float = 0.1,
    random_state: int | np.random.Generator | None = None,
    *,
    leave_one: bool = False,
) -> HoldOut:
    """Hide a share of the observations, drawn uniformly without replacement.

    Parameters
    ----------
    observed : ObservedMatrix, or what its constructor takes
    share : float
        Between 0 and 1, both excluded. ``round(share * n_observed)`` observations are hidden.
    random_state : int, numpy.random.Generator or None
    leave_one : bool, default False
        Leave each individual at least one observation: who lost all gets one back, at random, and less is hidden.

    Returns
    -------
    HoldOut

    Raises
    ------
    ObservationError
        The share is outside (0, 1), or leaves one side empty; nothing is left to hide.

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
    n_hidden = round(share * observed.n_observed)
    if not 0 < n_hidden < observed.n_observed:
        raise ObservationError(
            f"a share of {share:g} of {observed.n_observed} observations, which is {n_hidden}",
            "at least one observation hidden and one left",
        )
    hidden = np.zeros(observed.n_observed, dtype=bool)
    rng = generator_of(random_state)
    hidden[rng.choice(hidden.size, n_hidden, replace=False, shuffle=False)] = True
    rows, columns = observed.positions()
    if checked_flag("leave_one", leave_one):
        hidden[_given_back(hidden, rows, rng)] = False
        if not hidden.any():
            raise ObservationError(
                "individuals with one observation each, or nearly", "a second one, that can be hidden"
            )
    return HoldOut(observed.keep(~hidden), rows[hidden], columns[hidden], observed.values.data[hidden])


def _given_back(hidden: Mask, rows: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.integer]:
    """Return, for each row that lost everything, the position of one of its observations, drawn uniformly."""
    counts, visible = np.bincount(rows), np.bincount(rows, ~hidden)
    lost = np.flatnonzero((counts > 0) & (visible == 0))
    first = np.cumsum(counts) - counts  # positions are in row order
    given: NDArray[np.integer] = first[lost] + rng.integers(counts[lost])
    return given
