"""Distances between lists of recommended items: by what two of them have in common, as sets or by rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.checks import checked_share, is_whole
from likewise.errors import DistanceError, InputError, ShapeError, option
from likewise.fairness.distances.distance import DistanceDescription
from likewise.fairness.distances.observed import ObservedDistance
from likewise.fairness.distances.rows import complete_rows

_ROWS_AT_ONCE = 512


class ListDistance(ObservedDistance):
    """What two lists of items do not have in common, each item by its weight; `top_n_distance` and `rank_biased_distance` make one.

    `lists`, (n_individuals, n), hold ids of n different items, best first; `weights`, (n,), of each rank sum to 1. ShapeError for lists of
    different lengths, or fewer than two; DistanceError for an item twice in a list.
    """

    def __init__(
        self,
        lists: ArrayLike,
        weights: Floats,
        description: DistanceDescription,
        row_ids: ArrayLike | None = None,
    ) -> None:
        self.lists = checked_lists(lists)
        m, n = self.lists.shape
        items, codes = np.unique(self.lists, return_inverse=True)
        # An item that only one list holds adds its own half weight; one that both hold at other ranks, half
        # the difference.
        halves = np.broadcast_to(weights / 2, (m, n)).ravel()
        shape = (m, items.size)
        table = sparse.csr_array((halves, (np.repeat(np.arange(m), n), codes.ravel())), shape=shape)
        super().__init__(table, "l1", row_ids=row_ids, description=description)
        self.column_ids, self.upper_bound = items, 1.0


def top_items(scores: ArrayLike, n: int) -> NDArray[np.intp]:
    """Return the positions of each individual's n highest scores, best first; equal scores in the order of columns.

    Parameters
    ----------
    scores : array-like, shape (n_individuals, n_items)
    n : int
        Between 1 and n_items.

    Returns
    -------
    ndarray of int, shape (n_individuals, n)

    Examples
    --------
    >>> top_items([[0.1, 0.9, 0.9], [0.3, 0.2, 0.1]], 2)
    array([[1, 2],
           [0, 1]])
    """
    table = complete_rows(scores)
    if not is_whole(n) or not 1 <= n <= table.shape[1]:
        raise InputError(option("n", repr(n)), f"between 1 and {table.shape[1]} items")
    blocks = [table[k : k + _ROWS_AT_ONCE] for k in range(0, len(table), _ROWS_AT_ONCE)]
    return np.concatenate([np.argsort(-block, axis=1, kind="stable")[:, :n] for block in blocks])


def top_n_distance(recommendations: ArrayLike, *, row_ids: ArrayLike | None = None) -> ListDistance:
    """Share of recommended items that two lists do not have in common, ``1 - |S and T| / n``; the order does not matter.

    Parameters
    ----------
    recommendations : array-like, shape (n_individuals, n)
        Ids of n different items for each individual; `top_items` makes them from scores.
    row_ids : array-like, optional

    Returns
    -------
    ListDistance
        In [0, 1]; a metric on sets of n items, a pseudometric on ordered lists.

    Raises
    ------
    ShapeError
        Lists of different lengths, or fewer than two.
    DistanceError
        An item twice in a list.

    Notes
    -----
    Computed as l1 between zero-filled rows with ``1 / (2 n)`` for each recommended item.

    Examples
    --------
    >>> top_n_distance([["a", "b", "c"], ["c", "d", "a"]]).between([0], [1]).round(12)
    array([0.33333333])
    """
    lists = checked_lists(recommendations)
    n = lists.shape[1]
    name = f"share of {n} recommendations not in common"
    description = DistanceDescription(name, "top-N overlap", axioms="pseudometric")
    return ListDistance(lists, np.full(n, 1 / n), description, row_ids)


def rank_biased_distance(
    recommendations: ArrayLike, persistence: float = 0.9, *, row_ids: ArrayLike | None = None
) -> ListDistance:
    """One minus the rank-biased overlap of two ranked lists: early ranks weigh more.

    ``RBO = (1 - p) sum_{k<=n} p^(k-1) |S_k and T_k| / k + p^n |S and T| / n``, S_k the first k of S: the extrapolated form for
    lists of equal length n.

    Parameters
    ----------
    recommendations : array-like, shape (n_individuals, n)
        Ids of n different items for each individual, best first; `top_items` makes them from scores.
    persistence : float, default 0.9
        p in (0, 1): how likely a reader goes on to the next rank. The first 10 ranks have 86% of the weight at 0.9.
    row_ids : array-like, optional

    Returns
    -------
    ListDistance
        In [0, 1]; a metric on ranked lists.

    Raises
    ------
    ShapeError, DistanceError
        See `top_n_distance`; also a persistence outside (0, 1).

    Notes
    -----
    Two lists with an item at ranks a and b share it from depth max(a, b) on. So with ``W(r) = sum_{k>=r} w_k / k``, decreasing,
    ``RBO = sum over shared items of min(W(a), W(b))``, and ``1 - RBO`` is half of l1 between zero-filled rows that hold W(rank).

    References
    ----------
    Webber, Moffat, Zobel, "A similarity measure for indefinite rankings", ACM TOIS 2010.

    Examples
    --------
    >>> rank_biased_distance([["a", "b"], ["b", "a"]], 0.5).between([0], [1])    # they agree from depth 2 on: 1 - 0.5
    array([0.5])
    """
    persistence = checked_share("persistence", persistence, error=DistanceError)
    lists = checked_lists(recommendations)
    depths = np.arange(1, lists.shape[1] + 1)
    weights = (1 - persistence) * persistence ** (depths - 1)
    # Beyond the lists the overlap is taken to stay what it is at their end.
    weights[-1] += persistence ** depths[-1]
    from_here_on = np.cumsum((weights / depths)[::-1])[::-1]
    name = f"one minus rank-biased overlap of {depths[-1]} recommendations, persistence {persistence:g}"
    return ListDistance(lists, from_here_on, DistanceDescription(name, "rank-biased overlap"), row_ids)


def checked_lists(recommendations: Any) -> NDArray[Any]:
    """Return equally long lists of different items as an array, a list for each individual.

    ShapeError for lists of different lengths, or fewer than two. DistanceError for an item twice in a list, or one that is missing; ids of
    several kinds.
    """
    lists = as_array(recommendations, "recommendations", ShapeError)
    if lists.dtype.kind == "f" and np.isnan(lists).any():
        raise DistanceError("a listed item that is missing (NaN)", "n items in every list")
    if lists.ndim != 2 or len(lists) < 2 or not lists.shape[1]:
        raise ShapeError(f"recommendations of shape {lists.shape}", "at least two individuals, shape (m, n)")
    try:
        codes = np.unique(lists, return_inverse=True)[1].reshape(lists.shape)
    except TypeError as error:
        raise DistanceError(
            "items that cannot be put in order, such as text beside numbers or None", "ids of one kind"
        ) from error
    ordered = np.sort(codes, axis=1)
    repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if repeated.size:
        raise DistanceError(
            f"an item twice in the list of row {repeated[0]} (and {repeated.size - 1} more)",
            "n different items",
        )
    return lists
