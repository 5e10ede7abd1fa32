"""Envy: who would rather have another's list, by an estimate of the ratings, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._typing import Floats, Indices
from likewise.arrays import as_floats
from likewise.checks import checked_callable, checked_whole
from likewise.errors import InputError, ShapeError
from likewise.fairness.distances.distance import check_magnitude
from likewise.fairness.distances.lists import checked_lists
from likewise.fairness.metrics.ranking import discounts, item_places
from likewise.observations.ids import as_id_array
from likewise.randomness import generator_of

Rows = Callable[[Indices], Floats]
"""Takes positions of individuals, and returns what they would give every item: an array of shape (k, n)."""

Ends = Callable[[Indices, Indices], Floats]
"""Takes positions of individuals and items, and returns an interval for each: an array of shape (k, 2)."""

MOST = 5_000
"""Individuals, and lists, beyond which some are drawn: every list is tried on every individual."""

_AT_ONCE = 256
_ROUNDING = 1e-12
"""Of the largest utility: so much of a difference is left by the order in which ratings are added."""

_NAMED = 5


@dataclass(frozen=True)
class EnviousPair:
    """An individual, and the list of somebody else that they would like best.

    Parameters
    ----------
    individual, other : object
        Who envies whom.
    difference : float
        Estimated utility of the other's list for the individual, less that of their own, in the units of the ratings.
    low, high : float or None
        The same with every entry at the end of its interval that speaks most against envy, or for it; None without intervals.
    """

    individual: Any
    other: Any
    difference: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Envy:
    """How many individuals would rather have somebody else's list, and by how much.

    Parameters
    ----------
    n_individuals, n_lists : int
        Whose envy was measured, and towards how many different lists, their own among them.
    drawn : bool
        Whether these were drawn, because there are more.
    share : float
        Share of individuals for whom some other list has a higher estimated utility than their own, in [0, 1].
    certain : float or None
        Share for whom that holds of the list they would like best, even with every entry at the end of its interval that speaks against it; None without intervals.
    mean : float
        How much better the best list is than one's own, on average, 0 where none is better; in the units of the ratings.
    largest : tuple of EnviousPair
        Those who gain most, first.
    n_unknown : int
        Listed items that are not estimated; each list is judged by the others.
    """

    n_individuals: int
    n_lists: int
    drawn: bool
    share: float
    certain: float | None
    mean: float
    largest: tuple[EnviousPair, ...]
    n_unknown: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)


def envy(
    lists: ArrayLike,
    ratings: ArrayLike | Rows,
    *,
    items: ArrayLike | None = None,
    ends: Ends | None = None,
    row_ids: ArrayLike | None = None,
    most: int = MOST,
    random_state: int | np.random.Generator | None = 0,
) -> Envy:
    """Estimate of everybody whether another's list would serve them better.

    The utility of a list for i is the mean of i's estimated ratings of its items, weighted by ``1 / log2(rank + 1)``. i envies k where k's list
    has more utility for i than i's own.

    Parameters
    ----------
    lists : array-like, shape (m, n)
        Ids of n different items for each individual, best first.
    ratings : array-like, shape (m, k), or callable
        Estimated ratings, or a function that returns those of some individuals, such as ``estimate.rows``.
    items : array-like, shape (k,), optional
        Ids of the items; by default their positions.
    ends : callable, optional
        Intervals of single ratings, such as ``intervals.entries``.
    row_ids : array-like, shape (m,), optional
        Names of the individuals; by default their positions.
    most : int, default 5000
        Of more individuals or lists, draw so many.
    random_state : int, Generator or None, default 0

    Returns
    -------
    Envy

    Raises
    ------
    ShapeError, DistanceError
        Lists of unequal length, or with an item twice; ratings of another shape.
    InputError
        A list without an estimated item.

    References
    ----------
    Foley, "Resource allocation and the public sector", 1967; for recommendations Do, Corbett-Davies, Atif, Usunier, "Online certification of
    preference-based fairness for personalized recommender systems", AAAI 2022.

    Examples
    --------
    >>> found = envy([[0], [1]], [[1.0, 4.0], [2.0, 5.0]])  # both prefer item 1, which the second got
    >>> found.share, found.mean, found.largest
    (0.5, 1.5, (EnviousPair(individual=0, other=1, difference=3.0, low=None, high=None),))
    """
    checked_callable("ends", ends)
    listed = checked_lists(lists)
    m, rng = len(listed), generator_of(random_state)
    names = None if items is None else as_id_array(items, "items")
    rows, n_items = _rows(ratings, m, None if names is None else names.size)
    names = np.arange(n_items) if names is None else names
    weights, n_unknown = _weights(listed, names)
    people = _drawn(m, checked_whole("most", most), rng)
    others, own = _different(listed, people)
    best, gains = _best(rows, weights, people, others, own)
    whose = others[best]
    told = None if ends is None else _told(weights, people, whose, ends)
    ids = np.arange(m) if row_ids is None else as_id_array(row_ids, "row_ids")
    # Stable, so that of equal gains the earlier individual is named.
    order = np.argsort(-gains, kind="stable")[:_NAMED]
    largest = tuple(_pair(ids, people[k], whose[k], gains[k], told, k) for k in order if gains[k] > 0)
    certain = None if told is None else float(np.mean((told[:, 0] > 0) & (gains > 0)))
    sizes = people.size, others.size, people.size < m
    return Envy(*sizes, float(np.mean(gains > 0)), certain, float(gains.mean()), largest, n_unknown)


def _rows(ratings: ArrayLike | Rows, m: int, n_items: int | None) -> tuple[Rows, int]:
    """Return ratings as a checked function of the individuals, and how many items they are of."""
    if not callable(ratings):
        table = _checked(ratings, (m, n_items))
        return (lambda people: table[people]), table.shape[1]
    n_items = _checked(ratings(np.arange(1)), (1, n_items)).shape[1]
    return (lambda people: _checked(ratings(people), (people.size, n_items))), n_items


def _checked(ratings: Any, shape: tuple[int, int | None]) -> Floats:
    """Return ratings as finite numbers of that shape; None: of any length."""
    table = as_floats(ratings, "ratings")
    if table.ndim != 2 or len(table) != shape[0] or shape[1] not in (None, table.shape[1]):
        raise ShapeError(
            f"ratings of shape {table.shape}",
            f"({shape[0]}, {shape[1] or 'k'}): a row for each individual, a column for each item",
        )
    if not np.isfinite(table).all():
        raise InputError("ratings that are not finite", "what each individual would give each item")
    check_magnitude("ratings", float(np.abs(table).max(initial=0)) * len(table))
    return table


def _weights(lists: NDArray[Any], items: NDArray[Any]) -> tuple[sparse.csr_array, int]:
    """Return the weight of every item in every list, each row summing to 1, and how many listed items are not estimated."""
    places, (m, n) = item_places(lists, items), lists.shape
    known = places >= 0
    if not known.any(axis=1).all():
        first = int(np.flatnonzero(~known.any(axis=1))[0])
        raise InputError(
            f"the list of row {first}, of which no item is among the {items.size:,} that were estimated, such as {lists[first].tolist()[0]!r}",
            f"ids of these items, such as {items.tolist()[0]!r}",
        )
    amounts = np.where(known, discounts(n), 0.0)
    amounts /= amounts.sum(axis=1, keepdims=True)
    entries = amounts[known], (np.nonzero(known)[0], places[known])
    return sparse.csr_array(entries, shape=(m, items.size)), int(np.count_nonzero(~known))


def _drawn(m: int, most: int, rng: np.random.Generator) -> Indices:
    """Return everybody, or as many as may be, in order."""
    return np.arange(m) if m <= most else np.sort(rng.choice(m, most, replace=False))


def _different(lists: NDArray[Any], people: Indices) -> tuple[Indices, Indices]:
    """Return somebody with each different list of these people, and where in that everybody's own is."""
    codes = np.unique(lists[people], return_inverse=True)[1].reshape(people.size, -1)
    # Most lists occur once; where they do not, each different one is tried once.
    _, first, own = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return people[first], np.asarray(own).ravel()


def _best(
    rows: Rows, weights: sparse.csr_array, people: Indices, others: Indices, own: Indices
) -> tuple[Indices, Floats]:
    """Return which list each would like best, and how much better it is than their own: exactly 0 where it is that."""
    lists = weights[others].T.tocsr()
    best, gains = np.empty(people.size, dtype=np.intp), np.empty(people.size)
    for start in range(0, people.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        utilities = np.asarray(rows(people[part]) @ lists)
        best[part], most = utilities.argmax(axis=1), utilities.max(axis=1)
        better = most - np.take_along_axis(utilities, own[part, None], axis=1)[:, 0]
        # Utilities are sums of ratings: a difference in their last digits is no envy.
        gains[part] = np.where(better > _ROUNDING * np.abs(most), better, 0.0)
    return np.where(gains > 0, best, own), gains


def _told(weights: sparse.csr_array, people: Indices, others: Indices, ends: Ends) -> Floats:
    """Return for each pair the least and the most that the difference can be while every entry lies in its interval; a shared item counts with what is left of it."""
    net = (weights[others] - weights[people]).tocoo()
    rows, columns = net.coords
    found = as_floats(ends(people[rows], columns.astype(np.intp)), "ends")
    if found.shape != (rows.size, 2):
        raise ShapeError(f"ends of shape {found.shape}", f"({rows.size}, 2): an interval for each entry")
    low, high = found.T
    # What speaks against envy: low ratings of the other's items, high ones of one's own. A shared item has
    # what is left of its weight.
    against = np.where(net.data > 0, net.data * low, net.data * high)
    favour = np.where(net.data > 0, net.data * high, net.data * low)
    return np.column_stack(
        [np.bincount(rows, weights=part, minlength=people.size) for part in (against, favour)]
    )


def _pair(ids: NDArray[Any], person: Any, other: Any, gain: Any, told: Floats | None, k: int) -> EnviousPair:
    who, whom = ids[[person, other]].tolist()
    if told is None:
        return EnviousPair(who, whom, float(gain))
    low, high = (
        min(told[k, 0], gain),
        max(told[k, 1], gain),
    )  # added in another order, they may cross by rounding
    return EnviousPair(who, whom, float(gain), float(low), float(high))
