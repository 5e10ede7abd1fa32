"""How well lists of items rank what people turned out to like: nDCG and recall, with intervals over individuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats, Indices
from likewise.checks import checked_confidence
from likewise.errors import InputError, ShapeError, option
from likewise.fairness.distances.lists import checked_lists
from likewise.fairness.metrics.target_accuracy import TargetAccuracy, mean_over_individuals
from likewise.observations import ObservedMatrix
from likewise.observations.ids import as_id_array, places_by_text
from likewise.observations.table import rows_of_entries
from likewise.observations.value_range import ValueRange


@dataclass(frozen=True, eq=False)
class Ratings:
    """What people turned out to like, in the order of their lists; arrays have an entry for each rating, unless said otherwise."""

    rows: Indices  # whose rating it is, in the order of the lists
    columns: Indices  # of which item
    values: Floats
    item_ids: NDArray[Any]  # (n,)
    n_individuals: int  # m
    low: float  # low end of the range
    high: float  # high end of the range
    notes: tuple[str, ...] = ()  # how many ratings of others were left out

    @classmethod
    def of(
        cls,
        ratings: ObservedMatrix,
        n_individuals: int,
        row_ids: NDArray[Any] | None,
        value_range: tuple[float, float] | None = None,
    ) -> Self:
        """Put ratings in the order of the lists; who has none there counts as somebody without ratings.

        ShapeError for lists without ids, and another number of individuals with ratings. InputError for columns with ranges of their own, as gains
        of different items could not be added, or nobody in common.
        """
        low, high = _range_of(ratings, value_range)
        owners = rows_of_entries(ratings.values)
        places = _places(ratings, n_individuals, row_ids)[owners]
        known = places >= 0
        if not known.any():
            raise InputError(
                f"ratings of {ratings.shape[0]:,} individuals, none of whom has a list",
                "ratings by the same individuals",
            )
        columns = np.asarray(ratings.values.indices[known], dtype=np.intp)
        values = np.asarray(ratings.values.data[known], dtype=np.float64)
        if values.min() < low:
            raise InputError(
                f"ratings below {low:g}, the low end of the range", "a range that holds them all"
            )
        notes = _on_strangers(int((~known).sum()))
        return cls(places[known], columns, values, ratings.column_ids, n_individuals, low, high, notes)

    @property
    def gains(self) -> Floats:
        """The ratings less the low end of the range: 0 or more."""
        return self.values - self.low

    def gains_of(self, lists: NDArray[Any]) -> Floats:
        """Return the gain of each listed item for whoever got it, 0 where there is no rating."""
        n = self.item_ids.size
        items = item_places(lists, self.item_ids)
        # Each rating by one number, so that those of all lists are looked up in one sorted vector.
        keys = self.rows * n + self.columns
        order = np.argsort(keys)
        wanted = np.arange(len(lists))[:, None] * n + items
        at = np.minimum(np.searchsorted(keys[order], wanted), keys.size - 1)
        found = (keys[order][at] == wanted) & (items >= 0)
        return np.where(found, self.gains[order][at], 0.0)

    def best_possible(self, length: int) -> Floats:
        """Return the DCG of the best list of that length, for each individual."""
        order = np.lexsort((-self.gains, self.rows))
        rows, gains = self.rows[order], self.gains[order]
        starts = np.searchsorted(rows, np.arange(self.n_individuals))
        # Each one's ratings stand together, best first.
        ranks = np.arange(rows.size) - starts[rows]
        kept = ranks < length
        worth = gains[kept] * discounts(length)[ranks[kept]]
        return self._summed(rows[kept], worth)

    @property
    def half(self) -> float:
        """The gain of a rating in the middle of the range; whatever has a larger one is relevant."""
        return (self.high - self.low) / 2

    def relevant_counts(self) -> Floats:
        """Return how many items are relevant to each individual."""
        return self._summed(self.rows, (self.gains > self.half).astype(np.float64))

    def _summed(self, rows: Indices, values: Floats) -> Floats:
        return np.bincount(rows, weights=values, minlength=self.n_individuals).astype(np.float64)


def discounts(length: int) -> Floats:
    """Return ``1 / log2(rank + 1)`` for the ranks from 1: how much attention each gets.

    >>> discounts(3).round(3).tolist()
    [1.0, 0.631, 0.5]
    """
    weights: Floats = 1 / np.log2(np.arange(2, length + 2))
    return weights


def item_places(lists: NDArray[Any], item_ids: NDArray[Any]) -> Indices:
    """Return where each listed item stands among the ids, -1 where it is not there; ids that are written alike are the same."""
    items, codes = np.unique(lists, return_inverse=True)
    known = places_by_text(item_ids.tolist())
    places = np.array([known.get(str(item), -1) for item in items.tolist()], dtype=np.intp)
    return places[codes].reshape(lists.shape)


def ranking_accuracy(
    lists: ArrayLike,
    ratings: ObservedMatrix | Any,
    *,
    row_ids: ArrayLike | None = None,
    value_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> TargetAccuracy:
    """Measure lists of items by ratings that did not go into them.

    Let ``g_i(j)`` be the rating less the low end of the range, 0 without one. nDCG is ``sum_r g_i(list_r) / log2(r + 1)`` over the largest
    such sum of any list of that length. Items rated above the middle of the range are relevant; recall is the share of them in the list.

    Parameters
    ----------
    lists : array-like, shape (m, n)
        Ids of n different items for each individual, best first.
    ratings : ObservedMatrix, or what its constructor takes
        Of the same individuals and items; some may be missing, and others there.
    row_ids : array-like, shape (m,), optional
        Of the lists; by default those of the ratings, in their order.
    value_range : (float, float), optional
        From the worst to the best rating; by default that of `ratings`.
    confidence : float, default 0.95
        Of each interval over individuals.

    Returns
    -------
    TargetAccuracy
        ``"nDCG"`` and ``"recall"``, in [0, 1], as means over the individuals who have a rating above the low end, or a relevant item; others are
        counted as unknown.

    Raises
    ------
    ShapeError, DistanceError
        Lists of unequal length, or with an item twice; another number of individuals.
    InputError
        Nobody with a rating above the low end; ratings with a range for each column; no listed item that anybody rated.

    References
    ----------
    Jarvelin, Kekalainen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20, 2002, with linear gains, as in scikit-learn's ``ndcg_score``.

    Examples
    --------
    >>> ratings = ObservedMatrix(np.array([[5.0, 1.0, 3.0], [np.nan, 5.0, np.nan]]), value_range=(1, 5))
    >>> found = ranking_accuracy([[0, 1], [0, 1]], ratings)  # gains 4, 0 of at most 4, 2; then 0, 4 of at most 4
    >>> round(found.values["nDCG"].value, 3), found.values["recall"].value
    (0.696, 1.0)
    """
    checked_confidence(confidence)
    listed = checked_lists(lists)
    rated = (
        ratings if isinstance(ratings, ObservedMatrix) else ObservedMatrix(ratings, value_range=value_range)
    )
    ids = None if row_ids is None else as_id_array(row_ids, "row_ids")
    liked = Ratings.of(rated, len(listed), ids, value_range)
    if (item_places(listed, liked.item_ids) < 0).all():
        raise InputError(
            f"lists of items such as {listed.tolist()[0][0]!r}, of which nobody rated any",
            f"ids of the items that were rated, such as {liked.item_ids.tolist()[0]!r}",
        )
    gains, n = liked.gains_of(listed), listed.shape[1]
    best = liked.best_possible(n)
    # Whoever liked nothing is served by no list better than by another.
    judged = best > 0
    if not judged.any():
        raise InputError(
            "ratings that are all at the low end of the range", "a rating above it, which a list can find"
        )
    found = (gains @ discounts(n))[judged] / best[judged]
    values = {"nDCG": mean_over_individuals(found, confidence, most=1.0)}
    relevant, hits = liked.relevant_counts(), (gains > liked.half).sum(axis=1)
    if (relevant > 0).any():
        shares = hits[relevant > 0] / relevant[relevant > 0]
        values["recall"] = mean_over_individuals(shares, confidence, most=1.0)
    n_judged = int(judged.sum())
    return TargetAccuracy(n_judged, len(listed) - n_judged, "nDCG", values, _notes(liked, n, relevant))


def _notes(liked: Ratings, length: int, relevant: Floats) -> tuple[str, ...]:
    middle, n_relevant, n_people = liked.low + liked.half, int(relevant.sum()), np.count_nonzero(relevant)
    return (
        f"lists of {length}; the gain of an item is its rating less {liked.low:g}, and 0 without a rating",
        f"relevant is what is rated above {middle:g}: {n_relevant:,} ratings of {n_people:,} individuals",
        *liked.notes,
    )


def _on_strangers(n: int) -> tuple[str, ...]:
    """Say how many ratings nothing was held against; nothing where there are none."""
    of, are = ("rating of somebody who is", "is") if n == 1 else ("ratings of individuals who are", "are")
    return (f"{n:,} {of} not in the data {are} left out",) if n else ()


def _range_of(ratings: ObservedMatrix, given: tuple[float, float] | None) -> tuple[float, float]:
    found = ratings.value_range if given is None else ValueRange.declared(given)
    if found.low.ndim:
        raise InputError(
            "ratings with a range for each column", "one range for all items, whose gains are added up"
        )
    return float(found.low), float(found.high)


def _places(ratings: ObservedMatrix, n_individuals: int, row_ids: NDArray[Any] | None) -> Indices:
    """Return the list of each row of ratings, -1 where there is none."""
    if row_ids is None:
        if ratings.shape[0] != n_individuals:
            raise ShapeError(
                f"{n_individuals} lists without ids, and ratings of {ratings.shape[0]} individuals",
                "one list for each of them",
                f"{option('row_ids')} says whose the lists are",
            )
        return np.arange(n_individuals)
    known = places_by_text(row_ids.tolist())
    return np.array([known.get(str(one), -1) for one in ratings.row_ids.tolist()], dtype=np.intp)
