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
