"""Distances between outputs of particular kinds: class probabilities, and lists of recommendations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.arrays import as_array, as_floats
from likewise.checks import checked_share, is_whole
from likewise.errors import DistanceError, InputError, ShapeError, option
from likewise.fairness.distances.distance import DistanceDescription
from likewise.fairness.distances.observed import ObservedDistance
from likewise.fairness.distances.rows import RowDistance, complete_rows

_ROWS_AT_ONCE = 512


def total_variation_distance(probabilities: ArrayLike, *, row_ids: ArrayLike | None = None) -> RowDistance:
    """Total variation ``1/2 sum_c |p_c - q_c|`` between class probabilities; in [0, 1], a metric.

    Parameters
    ----------
    probabilities : array-like, shape (n_individuals, n_classes) or (n_individuals,)
        Rows that sum to 1; a vector holds the probability of the positive one of two classes.
    row_ids : array-like, optional

    Returns
    -------
    RowDistance

    Raises
    ------
    DistanceError
        NaN, an entry outside [0, 1], or a row that does not sum to 1.
    ShapeError
        Fewer than two individuals.

    Examples
    --------
    >>> total_variation_distance([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]).between([0], [1])
    array([0.5])
    """
    table = _distributions(probabilities)
    description = DistanceDescription("total variation between class probabilities", "half of l1")
    return _within_one(RowDistance(table / 2, "l1", description=description, row_ids=row_ids), table)


def hellinger_distance(probabilities: ArrayLike, *, row_ids: ArrayLike | None = None) -> RowDistance:
    """Hellinger distance ``sqrt(1/2 sum_c (sqrt(p_c) - sqrt(q_c))^2)`` between class probabilities; in [0, 1], a metric.

    Parameters
    ----------
    probabilities, row_ids
        See `total_variation_distance`.

    Returns
    -------
    RowDistance

    Raises
    ------
    DistanceError, ShapeError
        See `total_variation_distance`.

    Notes
    -----
    Rare classes count more than under total variation, which lies between its square and sqrt(2) times it.

    Examples
    --------
    >>> hellinger_distance([[1.0, 0.0], [0.36, 0.64]]).between([0], [1]).round(6)  # sqrt(1 - sqrt(0.36))
    array([0.632456])
    """
    table = _distributions(probabilities)
    description = DistanceDescription(
        "Hellinger distance between class probabilities", "l2", scaling="roots, over sqrt(2)"
    )
    rows = np.sqrt(table) / np.sqrt(2)
    return _within_one(RowDistance(rows, "l2", description=description, row_ids=row_ids), table)


def wasserstein_distance(
    probabilities: ArrayLike, positions: ArrayLike | None = None, *, row_ids: ArrayLike | None = None
) -> RowDistance:
    """Wasserstein-1 distance between probabilities of ordered classes, such as grades: how far probability has to be moved, in classes.

    ``sum_k |P(class <= k) - Q(class <= k)| (x_{k+1} - x_k)``: what is moved by two classes counts twice as much as what is moved by one.

    Parameters
    ----------
    probabilities : array-like, shape (n_individuals, n_classes) or (n_individuals,)
        Rows that sum to 1, classes in their order; a vector holds the probability of the upper one of two.
    positions : array-like, shape (n_classes,), optional
        Where the classes lie, increasing; by default 0, 1, 2, ...
    row_ids : array-like, optional

    Returns
    -------
    RowDistance
        A metric, at most the distance between the first and the last class.

    Raises
    ------
    DistanceError
        No distributions (see `total_variation_distance`); positions that do not increase, or are not one for each class.
    ShapeError
        Fewer than two individuals.

    Examples
    --------
    >>> wasserstein_distance([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]).between([0], [1])  # half by one class, half by two
    array([1.5])
    """
    table = _distributions(probabilities)
    places = (
        np.arange(table.shape[1]) if positions is None else as_floats(positions, "positions", DistanceError)
    )
    if places.shape != (table.shape[1],) or not (np.diff(places) > 0).all() or not np.isfinite(places).all():
        raise DistanceError(
            f"positions of shape {places.shape}", f"{table.shape[1]} increasing numbers, one for each class"
        )
    cumulative = np.cumsum(table, axis=1)[:, :-1] * np.diff(places)
    rows = cumulative if cumulative.shape[1] else np.zeros((len(table), 1))  # one class: nothing to move
    description = DistanceDescription(
        "Wasserstein-1 distance between probabilities of ordered classes",
        "l1",
        scaling="sums up to each class",
    )
    distance = RowDistance(rows, "l1", description=description, row_ids=row_ids)
    distance.upper_bound, distance.shown = float(places[-1] - places[0]), table
    return distance


def _distributions(probabilities: ArrayLike) -> Floats:
    """Return one distribution for each individual, or raise DistanceError."""
    table = complete_rows(probabilities)
    table = np.hstack([1 - table, table]) if table.shape[1] == 1 else table
    # Half of the digits of single precision, in which many models compute their probabilities.
    off = np.abs(table.sum(axis=1) - 1) > np.sqrt(np.finfo(np.float32).eps)
    bad = np.flatnonzero(off | (table < 0).any(axis=1) | (table > 1).any(axis=1))
    if bad.size:
        raise DistanceError(
            f"row {bad[0]} (and {bad.size - 1} more) is not a probability distribution",
            "entries in [0, 1] that sum to 1",
        )
    return table


def _within_one(distance: RowDistance, probabilities: Floats) -> RowDistance:
    distance.upper_bound, distance.shown = 1.0, probabilities
    return distance


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


def top_n_distance(recommendations: ArrayLike, *, row_ids: ArrayLike | None = None) -> ObservedDistance:
    """Share of recommended items that two lists do not have in common, ``1 - |S and T| / n``; the order does not matter.

    Parameters
    ----------
    recommendations : array-like, shape (n_individuals, n)
        Ids of n different items for each individual; `top_items` makes them from scores.
    row_ids : array-like, optional

    Returns
    -------
    ObservedDistance
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
    lists = _item_lists(recommendations)
    n = lists.shape[1]
    name = f"share of {n} recommendations not in common"
    return _weighted_overlap(
        lists, np.full(n, 1 / n), DistanceDescription(name, "top-N overlap", axioms="pseudometric"), row_ids
    )


def rank_biased_distance(
    recommendations: ArrayLike, persistence: float = 0.9, *, row_ids: ArrayLike | None = None
) -> ObservedDistance:
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
    ObservedDistance
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
    lists = _item_lists(recommendations)
    depths = np.arange(1, lists.shape[1] + 1)
    weights = (1 - persistence) * persistence ** (depths - 1)
    weights[-1] += persistence ** depths[-1]
    from_here_on = np.cumsum((weights / depths)[::-1])[::-1]
    name = f"one minus rank-biased overlap of {depths[-1]} recommendations, persistence {persistence:g}"
    return _weighted_overlap(lists, from_here_on, DistanceDescription(name, "rank-biased overlap"), row_ids)


def _item_lists(recommendations: Any) -> NDArray[np.intp]:
    """Number the items of equally long lists without repetition."""
    lists = as_array(recommendations, "recommendations", ShapeError)
    if lists.ndim != 2 or len(lists) < 2 or not lists.shape[1]:
        raise ShapeError(f"recommendations of shape {lists.shape}", "at least two individuals, shape (m, n)")
    items = np.unique(lists, return_inverse=True)[1].reshape(lists.shape)
    ordered = np.sort(items, axis=1)
    repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if repeated.size:
        raise DistanceError(
            f"an item twice in the list of row {repeated[0]} (and {repeated.size - 1} more)",
            "n different items",
        )
    return items


def _weighted_overlap(
    lists: NDArray[np.intp], weights: Floats, description: DistanceDescription, row_ids: ArrayLike | None
) -> ObservedDistance:
    """Return half of l1 between rows that hold the weight of its rank for each item; weights sum to 1."""
    m, n = lists.shape
    halves = np.broadcast_to(weights / 2, (m, n)).ravel()
    table = sparse.csr_array(
        (halves, (np.repeat(np.arange(m), n), lists.ravel())), shape=(m, int(lists.max()) + 1)
    )
    distance = ObservedDistance(table, "l1", row_ids=row_ids, description=description)
    distance.upper_bound = 1.0
    return distance
