"""The pairs with the largest ratios, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class WorstPair:
    """A pair with one of the largest ratios.

    Parameters
    ----------
    left, right : object
        Ids of the two individuals.
    reference_distance, output_distance : float
        d and D.
    ratio : float
        D / d; infinite where d = 0 and D > 0.
    """

    left: Any
    right: Any
    reference_distance: float
    output_distance: float
    ratio: float


def largest_places(ratios: Floats, output: Floats, count: int) -> Indices:
    """Return the places of the `count` largest ratios, largest first; ties by output distance, then by place.

    Examples
    --------
    >>> largest_places(np.array([1.0, 3.0, 3.0, 2.0]), np.array([5.0, 1.0, 4.0, 9.0]), 3)
    array([2, 1, 3])
    """
    candidates = np.arange(ratios.size)
    if count < ratios.size:
        # First by ratio, then among ties by output distance: neither sorts them all, even where all are tied.
        above, tied = _split(candidates, ratios, count)
        above_tied, last = _split(tied, output, count - above.size)
        candidates = np.concatenate([above, above_tied, last[: count - above.size - above_tied.size]])
    order = np.lexsort((candidates, -output[candidates], -ratios[candidates]))
    return np.asarray(candidates[order])


def _split(places: Indices, values: Floats, count: int) -> tuple[Indices, Indices]:
    """Return which places have a value above the count-th largest of theirs, and which have that value."""
    if not count:
        return places[:0], places[:0]
    mine = values[places]
    threshold = np.partition(mine, mine.size - count)[mine.size - count]
    return places[mine > threshold], places[mine == threshold]


def name_pairs(
    left: Indices, right: Indices, ids: NDArray[Any], reference: Floats, output: Floats, ratio: Floats
) -> tuple[WorstPair, ...]:
    """Put ids to pairs.

    Parameters
    ----------
    left, right : ndarray of int, shape (n_named,)
        The two individuals of each pair.
    ids : ndarray, shape (n_individuals,)
    reference, output, ratio : ndarray, shape (n_named,)
        d, D and D / d of these pairs.
    """
    columns = (ids[left], ids[right], reference, output, ratio)
    return tuple(WorstPair(*row) for row in zip(*(column.tolist() for column in columns), strict=True))
