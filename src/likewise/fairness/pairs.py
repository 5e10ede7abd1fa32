"""All pairs i < j as one vector, filled block by block; no m x m array is held."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.exact.in_order import in_order

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_BLOCK_ENTRIES = 1 << 21
_LEAST_ROWS = 64
_ROWS_A_COLUMN = 15


def pair_count(n_individuals: int) -> int:
    """Return the number of unordered pairs, m (m - 1) / 2."""
    return n_individuals * (n_individuals - 1) // 2


def pair_starts(n_individuals: int) -> Indices:
    """Return where the pairs (i, i+1), (i, i+2)... of each individual i begin in the vector of all pairs."""
    rows = np.arange(n_individuals, dtype=np.intp)
    return rows * (2 * n_individuals - rows - 1) // 2


def pair_positions(places: Indices, n_individuals: int) -> tuple[Indices, Indices]:
    """Return the individuals (i, j), i < j, of given places in the vector of all pairs.

    Examples
    --------
    >>> pair_positions(np.arange(6), 4)
    (array([0, 0, 0, 1, 1, 2]), array([1, 2, 3, 2, 3, 3]))
    """
    starts = pair_starts(n_individuals)
    left = np.searchsorted(starts[: n_individuals - 1], places, side="right") - 1
    return left, places - starts[left] + left + 1


def pair_places(left: Indices, right: Indices, n_individuals: int) -> Indices:
    """Return the places of pairs i < j in the vector of all pairs; the inverse of `pair_positions`.

    Examples
    --------
    >>> pair_places(np.array([0, 1, 2]), np.array([3, 2, 3]), 4)
    array([2, 3, 5])
    """
    return pair_starts(n_individuals)[left] + right - left - 1


def row_blocks(n_individuals: int, entries: int) -> list[tuple[int, int]]:
    """Cut the rows of the upper triangle into ranges of at most about `entries` pairs each.

    They are measured in rectangles, of which all but a thirtieth is above the diagonal as long as enough rows are left.
    """
    blocks, start = [], 0
    while start < n_individuals - 1:
        n_others = n_individuals - start
        n_rows = min(entries // n_others, max(_LEAST_ROWS, n_others // _ROWS_A_COLUMN))
        stop = min(n_individuals - 1, start + max(1, n_rows))
        blocks.append((start, stop))
        start = stop
    return blocks


def all_pairs(
    distance: PairwiseDistance,
    advance: Callable[[int], None] = lambda _: None,
    block_entries: int = _BLOCK_ENTRIES,
) -> Floats:
    """Measure every pair i < j, in the order (0, 1), (0, 2), ... (1, 2), ...

    Parameters
    ----------
    distance : PairwiseDistance
    advance : callable
        Called with the number of pairs that each block added.
    block_entries : int
        About how many pairs to measure at once.

    Returns
    -------
    ndarray, shape (m (m - 1) / 2,)
    """
    m = distance.n_individuals
    starts = pair_starts(m)
    measured = np.empty(pair_count(m))
    distance.block(0, 1, 0, 1)  # makes working copies before several threads would

    def measure(rows: tuple[int, int]) -> int:
        start, stop = rows
        block = distance.block(start, stop, start)
        for k in range(stop - start):
            measured[starts[start + k] : starts[start + k + 1]] = block[k, k + 1 :]
        return int(starts[stop] - starts[start])

    for n_measured in in_order(measure, row_blocks(m, block_entries), distance.concurrent):
        advance(n_measured)
    distance.release()
    return measured
