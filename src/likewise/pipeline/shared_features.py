"""Distances on the features that two individuals share: which an audit makes, and how many features they ask for."""

from __future__ import annotations

from typing import Any

from likewise.fairness import GowerDistance
from likewise.observations.frames import as_frame


def by_gower(individuals: Any, reference: Any, least_shared: int | None) -> tuple[Any, Any]:
    """Return Gower's distance between the rows of a data frame where it is asked for by name: it reads text, which observations do not hold.

    Two records must share as many features as are asked for; of a distance that is made here, half of what two share on average.
    """
    if isinstance(reference, str) and reference == "gower" and as_frame(individuals) is not None:
        return GowerDistance(individuals, least_shared="half" if least_shared is None else least_shared), None
    return _sharing(individuals, least_shared), _sharing(reference, least_shared)


def _sharing(distance: Any, least_shared: int | None) -> Any:
    named = isinstance(distance, GowerDistance) and least_shared is not None
    return distance.sharing(least_shared) if named else distance


def compares_shared(individuals: Any, reference: Any) -> bool:
    """Return whether outputs computed elsewhere are held against a distance on what two individuals share."""
    by_name = isinstance(reference, str) and reference == "co-observed"
    return by_name or isinstance(individuals, GowerDistance) or isinstance(reference, GowerDistance)
