"""Who is seen: how the attention that lists of items give is shared among items, and among groups of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.errors import InputError
from likewise.fairness.distances.lists import checked_lists
from likewise.fairness.metrics.ranking import discounts, item_places
from likewise.observations.ids import as_id_array, as_labels, unknown_labels
from likewise.observations.index_alignment import aligned

_NAMED = 5
_TENTH = 0.1


@dataclass(frozen=True)
class GroupExposure:
    """The share of exposure that a group of items gets.

    Parameters
    ----------
    group : object
    n_items : int
    share_of_items, share : float
        Of all items, and of all exposure; in [0, 1].
    """

    group: Any
    n_items: int
    share_of_items: float
    share: float


@dataclass(frozen=True)
class Exposure:
    """How exposure is shared among items.

    Parameters
    ----------
    n_items, n_shown : int
        How many items there are, and how many are on any list.
    gini : float
        In [0, 1): 0, all items get as much; near 1, few get all.
    tenth : float
        Share of exposure of the tenth of the items that gets most, in [0, 1].
    largest : tuple of (id, float)
        The items with the largest shares.
    groups : tuple of GroupExposure
        The largest share first; items whose group is unknown are in none of them.
    """

    n_items: int
    n_shown: int
    gini: float
    tenth: float
    largest: tuple[tuple[Any, float], ...]
    groups: tuple[GroupExposure, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)


def exposure(
    lists: ArrayLike,
    *,
    items: ArrayLike | None = None,
    item_groups: ArrayLike | Mapping[Any, Any] | None = None,
) -> Exposure:
    """Add up the attention that each item gets over all lists: ``1 / log2(rank + 1)`` in each.

    Parameters
    ----------
    lists : array-like, shape (m, n)
        Ids of n different items for each individual, best first.
    items : array-like, shape (k,), optional
        All items that could be listed; by default those that are.
    item_groups : array-like, shape (k,), or mapping of item to group, optional
        A group for each of `items`; None or NaN where it is unknown.

    Returns
    -------
    Exposure

    Raises
    ------
    ShapeError, DistanceError
        Lists of unequal length, or with an item twice; another number of groups than items.
    InputError
        A listed item that is none of `items`.

    References
    ----------
    Singh, Joachims, "Fairness of exposure in rankings", KDD 2018, for exposure by rank; Gini as in Castells, Hurley, Vargas, "Novelty and diversity
    in recommender systems", 2015.

    Examples
    --------
    >>> found = exposure([["a", "b"], ["a", "c"]], items=["a", "b", "c", "d"], item_groups=["x", "y", "y", "y"])
    >>> round(found.gini, 3), found.n_shown, found.groups[0].group, round(found.groups[0].share, 3)
    (0.46, 3, 'x', 0.613)
    """
    listed = checked_lists(lists)
    ids = np.unique(listed) if items is None else as_id_array(items, "items")
    shares = _shares(listed, ids)
    order = np.argsort(-shares, kind="stable")
    most = max(1, round(_TENTH * ids.size))
    return Exposure(
        ids.size,
        int(np.count_nonzero(shares)),
        gini(shares),
        float(shares[order[:most]].sum()),
        tuple(
            (ids[k].item() if isinstance(ids[k], np.generic) else ids[k], float(shares[k]))
            for k in order[:_NAMED]
            if shares[k]
        ),
        () if item_groups is None else _by_group(shares, ids, item_groups),
    )


def gini(shares: Floats) -> float:
    """Return the Gini coefficient ``sum_k (2k - n - 1) x_k / (n sum x)`` of n amounts in increasing order.

    >>> gini(np.array([1.0, 1.0])), gini(np.array([0.0, 0.0, 0.0, 1.0]))
    (0.0, 0.75)
    """
    ordered, n = np.sort(shares), shares.size
    return float(np.arange(1 - n, n, 2) @ ordered / (n * ordered.sum()))


def _shares(lists: NDArray[Any], items: NDArray[Any]) -> Floats:
    """Return the share of all exposure that each item gets."""
    places = item_places(lists, items)
    if (absent := lists[places < 0]).size:
        raise InputError(
            f"{np.unique(absent).size:,} listed items that are none of the {items.size:,} items, such as {absent.tolist()[0]!r}",
            "lists of items",
        )
    weights = np.broadcast_to(discounts(lists.shape[1]), lists.shape)
    amounts = np.bincount(places.ravel(), weights=weights.ravel(), minlength=items.size)
    shares: Floats = amounts / amounts.sum()
    return shares


def _by_group(shares: Floats, items: NDArray[Any], groups: Any) -> tuple[GroupExposure, ...]:
    labels, _ = aligned("item_groups", groups, items)
    known = as_labels(labels, "item_groups")
    if known.shape != items.shape:
        raise InputError(f"{known.size:,} groups for {items.size:,} items", "a group for each item")
    names = known.tolist()
    members: dict[str, list[int]] = {}
    for place in np.flatnonzero(~unknown_labels(known)).tolist():
        members.setdefault(str(names[place]), []).append(place)
    found = [
        GroupExposure(names[those[0]], len(those), len(those) / items.size, float(shares[those].sum()))
        for those in members.values()
    ]
    return tuple(sorted(found, key=lambda one: -one.share))
