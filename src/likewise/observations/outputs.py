"""Outputs of a model: checked arrays, and arrays of them from a line for each individual and item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Counts, Floats
from likewise.arrays import as_floats
from likewise.errors import ModelError, option, some_of
from likewise.memory import ensure_fits
from likewise.observations.ids import factorize
from likewise.observations.index_alignment import on_others, places_in_file

_NAMED = 5
"""How many offending rows a message names."""


def checked_outputs(outputs: Any, n_individuals: int, source: str, what: str = "outputs") -> Floats:
    """Return outputs, (m,) or (m, k), as a float array, or say what is wrong with them.

    A `ModelError` refuses what is not numbers, not finite, or not one row for each individual; it says what gave them (`source`), and calls them
    `what`.

    >>> checked_outputs([0.5, np.nan, np.inf], 3, "the model")
    Traceback (most recent call last):
    ...
    likewise.errors.ModelError: the model gave NaN or infinite outputs in 2 of 3 rows: 1, 2; expected finite numbers.
    """
    array = as_floats(outputs, f"{what} of {source}", ModelError)
    if array.ndim not in (1, 2) or not array.size or array.shape[0] != n_individuals:
        raise ModelError(
            f"{source} gave {what} of shape {array.shape}",
            f"({n_individuals},) or ({n_individuals}, k): one row for each individual",
            "rows are individuals; transpose" if n_individuals in array.shape[1:] else "",
        )
    unusable = np.flatnonzero(~np.isfinite(array).reshape(n_individuals, -1).all(axis=1))
    if unusable.size:
        rows = some_of(unusable, _NAMED, str)
        raise ModelError(
            f"{source} gave NaN or infinite outputs in {unusable.size} of {n_individuals} rows: {rows}",
            "finite numbers",
        )
    return array


@dataclass(frozen=True, eq=False)
class OutputLines:
    """One output a line."""

    users: NDArray[Any]  # whose output each line is
    items: NDArray[Any]  # for which item
    scores: Floats | None  # None where the first line of an individual is the most recommended
    source: str  # where they come from, for messages
    holds: str = "outputs"  # "outputs", or "features", which are no lists

    def arranged(self, wanted: Sequence[Any]) -> ArrangedOutputs:
        """Return a row for each individual that is wanted; the lines may be in any order and speak of others too.

        A `ModelError` refuses an individual without a line, or with one item twice, and neither every item nor as many items for all.
        """
        people, codes = factorize(self.users, "row")
        order = np.full(people.size, -1)
        order[places_in_file(people, wanted, self.source, self.holds)] = np.arange(len(wanted))
        row = order[codes]
        kept = row >= 0
        row, items = row[kept], self.items[kept]
        things, column = factorize(items, "column")
        # One number for each pair (individual, item).
        if np.unique(row * things.size + column).size < row.size:
            raise ModelError(
                f"{self.source} with the same individual and item twice", "one line for each pair"
            )
        counts = np.bincount(row, minlength=len(wanted))
        if self.scores is not None and (counts == things.size).all():
            shape = len(wanted), things.size
            values = _score_matrix((row, column), self.scores[kept], shape, self.source)
            names = tuple(map(str, things.tolist()))
            return ArrangedOutputs(values, names, are_lists=False, remarks=on_others(people, wanted))
        if self.holds == "features":
            raise ModelError(
                f"{self.source} with {_fewest_to_most(counts)} of {things.size:,} items for an individual",
                "a number for every item, for everybody",
                f"observations with gaps are compared by {option('reference', 'observed')} or {option('reference', 'co-observed')}",
            )
        n = _length_of_lists(counts, things.size, self.source)
        # Without scores the order of the lines is the order of the list; with them the largest score is first.
        by = np.arange(row.size) if self.scores is None else -self.scores[kept]
        names = tuple(f"item {place}" for place in range(1, n + 1))
        # Sorted by individual, then best first: as all have n items, rows of n are the lists.
        lists = items[np.lexsort((by, row))].reshape(len(wanted), n)
        return ArrangedOutputs(lists, names, are_lists=True, remarks=on_others(people, wanted))


@dataclass(frozen=True, eq=False)
class ArrangedOutputs:
    """A row of outputs for each individual."""

    values: NDArray[Any]  # (m, k), scores of k items; or the ids of k items, the best first
    names: tuple[str, ...]  # of each column
    are_lists: bool
    remarks: tuple[str, ...]  # how many others there are lines of


def _score_matrix(
    places: tuple[NDArray[Any], NDArray[Any]], scores: Floats, shape: tuple[int, int], source: str
) -> Floats:
    """Return the scores of all items for all individuals, checked."""
    ensure_fits(8 * shape[0] * shape[1], "a score for each individual and item", "keep fewer items")
    matrix = np.empty(shape)
    matrix[places] = scores
    return checked_outputs(matrix, shape[0], source)


def _length_of_lists(counts: Counts, n_items: int, source: str) -> int:
    """Return how many items each individual has; an error where not all have as many."""
    if (counts != counts[0]).any():
        raise ModelError(
            f"{source} with {_fewest_to_most(counts)} of {n_items:,} items for an individual",
            "a score for every item, or as many items for each individual",
            "keep the same number of best items for each, or fill in the scores that are not there",
        )
    return int(counts[0])


def _fewest_to_most(counts: Counts) -> str:
    least, most = counts.min(), counts.max()
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
