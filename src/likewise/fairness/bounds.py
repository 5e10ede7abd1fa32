"""What no pair exceeds: without such a number a mean can be bounded from below only."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.fairness.cancellation import RELATIVE_ERROR
from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.sampling import measure_pairs

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """Numbers that no pair of those spoken of exceeds; None where none is known.

    Parameters
    ----------
    ratio, output, reference : float or None
        Of D / d, D and d; at least 0.

    Raises
    ------
    InputError
        A bound that is negative, infinite or NaN.
    """

    ratio: float | None = None
    output: float | None = None
    reference: float | None = None

    def __post_init__(self) -> None:
        for name, bound in vars(self).items():
            if bound is not None and not 0 <= bound < inf:
                raise InputError(f"{name}_bound={bound!r}", "a finite number >= 0 that no pair exceeds")

    def check(self, **drawn: Floats) -> None:
        """Raise InputError if a drawn pair exceeds a bound."""
        for name, values in drawn.items():
            bound, largest = getattr(self, name), float(values.max())
            if bound is not None and largest > bound:
                given = f"{name}_bound={bound:.6g}, yet a pair drawn has {largest:.6g}"
                raise InputError(
                    given, "a number that no pair exceeds", f"leave {name}_bound out if none is known"
                )


def distance_bound(distance: PairwiseDistance) -> float | None:
    """Bound a distance over all pairs of a data set by measuring everybody against one individual.

    Parameters
    ----------
    distance : PairwiseDistance

    Returns
    -------
    float or None
        ``2 max_i d(i, 0)``, by the triangle inequality; None where that is not guaranteed.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> round(distance_bound(RowDistance([1.0, 0.0, 4.0])), 6)  # the largest is 4
    6.0
    """
    if distance.description.axioms not in ("metric", "pseudometric"):
        return None
    others = np.arange(1, distance.n_individuals)
    farthest = float(measure_pairs(distance, np.zeros_like(others), others).max())
    return None if isnan(farthest) else 2 * farthest * (1 + RELATIVE_ERROR)
