"""Distances by name: those of the package, those registered while a program runs, and those of plug-ins."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.features import feature_distance, mahalanobis_distance, projected_distance
from likewise.fairness.distances.gower import GowerDistance
from likewise.fairness.distances.lists import rank_biased_distance, top_n_distance
from likewise.fairness.distances.observed import CoObservedDistance, ObservedDistance
from likewise.fairness.distances.outputs import (
    hellinger_distance,
    total_variation_distance,
    wasserstein_distance,
)
from likewise.fairness.distances.pattern import PatternDistance
from likewise.fairness.distances.rows import RowDistance
from likewise.registry import Registry

DistanceMaker = Callable[..., PairwiseDistance]
"""Takes the data, and options by name, and returns a distance between the individuals in it."""


def _maker(thing: Any) -> DistanceMaker:
    if not callable(thing):
        raise DistanceError(
            f"a distance of type {type(thing).__name__}", "a class or function that takes data of individuals"
        )
    maker: DistanceMaker = thing
    return maker


OF_THE_PACKAGE: dict[str, DistanceMaker] = {
    "observed": ObservedDistance,
    "co-observed": CoObservedDistance,
    "pattern": PatternDistance,
    "rows": RowDistance,
    "features": feature_distance,
    "mahalanobis": mahalanobis_distance,
    "projected": projected_distance,
    "gower": GowerDistance,
    "total-variation": total_variation_distance,
    "hellinger": hellinger_distance,
    "wasserstein-1": wasserstein_distance,
    "top-n": top_n_distance,
    "rank-biased": rank_biased_distance,
}

DISTANCES: Registry[DistanceMaker] = Registry(
    "likewise.distances", "distance", OF_THE_PACKAGE, error=DistanceError, check=_maker
)
"""Those of the package and those registered so far; plug-ins declare entry points of the group ``likewise.distances``."""


def register_distance(name: str) -> Callable[[DistanceMaker], DistanceMaker]:
    """Add a distance under a name, for `distance_by_name`, for audits and for the command line.

    Parameters
    ----------
    name : str

    Returns
    -------
    callable
        A decorator of a class or function that takes data of the individuals and returns a `PairwiseDistance`. An audit hands it the
        `ObservedMatrix`.

    Raises
    ------
    DistanceError
        A name of the package, no text, or nothing that can be called.

    Examples
    --------
    >>> import numpy as np
    >>> @register_distance("size")
    ... def by_size(observed, row_ids=None):
    ...     return RowDistance(np.diff(observed.values.indptr), row_ids=observed.row_ids)
    >>> from likewise import ObservedMatrix
    >>> Z = ObservedMatrix(np.array([[1.0, 2.0], [np.nan, 3.0]]), value_range=(1, 5))
    >>> distance_by_name("size", Z).between([0], [1])
    array([1.])
    >>> DISTANCES.unregister("size")
    """

    def register(maker: DistanceMaker) -> DistanceMaker:
        added: DistanceMaker = DISTANCES.register(name, maker)
        return added

    return register


def distance_by_name(name: str, individuals: Any, **options: Any) -> PairwiseDistance:
    """Make the distance that has a name.

    Parameters
    ----------
    name : str
        One of the package's (``"observed"``, ``"co-observed"``, ``"pattern"``, ``"rows"``, ``"features"``, ``"mahalanobis"``,
        ``"projected"``, ``"gower"``, ``"total-variation"``, ``"hellinger"``, ``"wasserstein-1"``, ``"top-n"``, ``"rank-biased"``), one that was registered, or one of a plug-in.
    individuals : object
        Data of the individuals, as that distance takes them.
    **options
        Of that distance.

    Returns
    -------
    PairwiseDistance

    Raises
    ------
    DistanceError
        An unknown name, an option that the distance does not have, or what its maker returned is not a distance.

    Examples
    --------
    >>> distance_by_name("features", [[0.0, 1.0], [3.0, 5.0]], norm="l1").between([0], [1])
    array([7.])
    """
    maker = DISTANCES.named(name)
    try:
        signature(maker).bind(individuals, **options)
    except TypeError as error:
        raise DistanceError(
            f"distance {name!r} with {', '.join(options) or 'no option'}: {error}", f"options of {name!r}"
        ) from error
    made = maker(individuals, **options)
    if not isinstance(made, PairwiseDistance):
        raise DistanceError(f"distance {name!r} returned {type(made).__name__}", "a PairwiseDistance")
    return made
