"""Whether a distance obeys the triangle inequality: without it no repair can promise anything for people it has not seen."""

from __future__ import annotations

import numpy as np

from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance

_MOST_CHECKED = 1000
"""Individuals whose triangles are all looked at; a check costs the cube of their number."""
_ROUNDING = 1e-9


def ensure_triangle_inequality(distance: PairwiseDistance) -> None:
    """Refuse a distance that is no metric, not even one with zeros between unequal individuals.

    What a distance says of itself is believed; where it says nothing, every triangle is looked at.

    Parameters
    ----------
    distance : PairwiseDistance

    Raises
    ------
    DistanceError
        The triangle inequality fails, or cannot be checked for so many individuals.
    """
    axioms = distance.description.axioms
    if axioms in ("metric", "pseudometric"):
        return
    what = f"the distance {distance.name!r}"
    if (broken := broken_triangle(distance)) is not None:
        i, j, k, direct, around = broken
        raise DistanceError(
            f"{what}, for which d({i}, {k}) = {direct:.6g} exceeds d({i}, {j}) + d({j}, {k}) = {around:.6g}",
            "a metric, whose triangles all close",
            "repair with a norm of complete features, or with the distance of shortest ways",
        )
    if axioms == "semimetric" or distance.n_individuals > _MOST_CHECKED:
        raise DistanceError(
            f"{what} of {distance.n_individuals:,} individuals, whose axioms are {axioms}",
            "a distance that is known to be a metric",
            f"up to {_MOST_CHECKED:,} individuals of unknown axioms are checked",
        )


def broken_triangle(distance: PairwiseDistance) -> tuple[int, int, int, float, float] | None:
    """Return the worst i, j, k with ``d(i, k) > d(i, j) + d(j, k)`` among the first 1,000, and both sides; None if there is none.

    Examples
    --------
    >>> from likewise.fairness import PrecomputedDistance
    >>> broken_triangle(PrecomputedDistance([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]]))
    (0, 1, 2, 5.0, 2.0)
    """
    m = min(distance.n_individuals, _MOST_CHECKED)
    d = np.nan_to_num(distance.block(0, m, 0, m), nan=np.inf)
    worst, found = 0.0, None
    for j in range(m):
        around = d[:, j, None] + d[j]
        with np.errstate(invalid="ignore"):  # of two undefined distances neither is longer
            excess = np.where(np.isfinite(d), d - around, -np.inf)
        place = int(excess.argmax())
        i, k = divmod(place, m)
        if excess[i, k] > max(worst, _ROUNDING * d[i, k]):
            worst, found = float(excess[i, k]), (i, j, k, float(d[i, k]), float(around[i, k]))
    return found
