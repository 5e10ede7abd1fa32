"""The pairs with the largest ratios, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.pairs import pair_positions

Floats = NDArray[np.float64]


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


def largest_places(ratios: Floats, output: Floats, count: int, threshold: float) -> NDArray[np.intp]:
    """Return the places of the `count` largest ratios, largest first; ties by output distance, then by place.

    `threshold` is the count-th largest ratio.
    """
    candidates = np.flatnonzero(ratios >= threshold)
    order = np.lexsort((candidates, -output[candidates], -ratios[candidates]))
    return np.asarray(candidates[order[:count]])


def name_pairs(
    places: NDArray[np.intp], ids: NDArray[Any], reference: Floats, output: Floats, ratios: Floats
) -> tuple[WorstPair, ...]:
    """Put ids to pairs.

    Parameters
    ----------
    places : ndarray of int, shape (n_named,)
        Where the pairs stand in the vector of all pairs.
    ids : ndarray, shape (n_individuals,)
    reference, output, ratios : ndarray, shape (n_named,)
        d, D and D / d of these pairs.
    """
    left, right = pair_positions(places, len(ids))
    columns = (ids[left], ids[right], reference, output, ratios)
    return tuple(WorstPair(*row) for row in zip(*(column.tolist() for column in columns), strict=True))
