"""Work on several threads whose results come in the order of the work, so that sums have the same bits every time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from likewise._kernels import PairBlock, single_threaded, thread_count, tile_width
from likewise._kernels.backend import one_blas_thread
from likewise._typing import Floats, Indices
from likewise.fairness.distances.distance import PairwiseDistance

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], concurrent: bool = True
) -> Iterator[Result]:
    """Yield ``work(item)`` for each item; with `concurrent` some items ahead, each on a thread of its own.

    While several threads work, each of them runs compiled kernels and BLAS on itself alone.
    """
    n_threads = thread_count() if concurrent else 1
    if n_threads == 1 or (isinstance(items, Sized) and len(items) <= 1):
        yield from map(work, items)
        return

    def alone(item: Item) -> Result:
        with single_threaded():
            return work(item)

    # Enough ahead that no thread waits for the one whose turn it is; few enough that results do not pile
    # up.
    with one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        yield from _windowed(pool, alone, items, 2 * n_threads)


def _windowed(
    pool: ThreadPoolExecutor, work: Callable[[Item], Result], items: Iterable[Item], ahead: int
) -> Iterator[Result]:
    """Hold at most `ahead` results that were not taken yet."""
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


_BLOCK_PAIRS = 1 << 18
_WIDEST = 1 << 13
_UNITS_A_COLUMN = 16
_LEAST_ROWS = 64


class Block(PairBlock):
    """A block that can be cut into smaller ones."""

    def cut(self, n_pairs: int = _BLOCK_PAIRS) -> Iterator[Block]:
        """Cut into blocks with about `n_pairs` pairs that stay in cache, with enough rows for a product to run at its full speed."""
        for left in range(self.first, self.last, _WIDEST):
            last = min(left + _WIDEST, self.last)
            step = max(1, n_pairs // (last - left))
            for start in range(self.start, min(self.stop, last - 1), step):
                first = max(left, start + 1)  # what lies before never counts
                yield Block(start, min(start + step, self.stop, last - 1), first, last)


def units(n_individuals: int) -> list[Block]:
    """Cut all pairs into units of work: always the same ones, many enough for several threads, few enough to be saved after each.

    On the right a unit has the individuals of one tile of the compiled walks.
    """
    columns = tile_width(n_individuals)
    rows = max(_LEAST_ROWS, min(n_individuals // _UNITS_A_COLUMN, columns))
    found = []
    for first in range(0, n_individuals, columns):
        last = min(first + columns, n_individuals)
        found += [
            Block(start, min(start + rows, last - 1), first, last) for start in range(0, last - 1, rows)
        ]
    return found


_BLOCK_ENTRIES = 1 << 21
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

    >>> pair_positions(np.arange(6), 4)
    (array([0, 0, 0, 1, 1, 2]), array([1, 2, 3, 2, 3, 3]))
    """
    starts = pair_starts(n_individuals)
    # The last individual begins no pairs, and shares its place with the end.
    left = np.searchsorted(starts[: n_individuals - 1], places, side="right") - 1
    return left, places - starts[left] + left + 1


def pair_places(left: Indices, right: Indices, n_individuals: int) -> Indices:
    """Return the places of pairs i < j in the vector of all pairs; the inverse of `pair_positions`."""
    return pair_starts(n_individuals)[left] + right - left - 1


def row_blocks(n_individuals: int, entries: int) -> list[tuple[int, int]]:
    """Cut the rows of the upper triangle into ranges of at most about `entries` pairs each.

    They are measured in rectangles, of which all but a thirtieth is above the diagonal as long as enough rows are left.
    """
    blocks, start = [], 0
    while start < n_individuals - 1:
        n_others = n_individuals - start
        # A rectangle of r rows wastes about r / (2 n) of its entries below the diagonal.
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
    """Measure every pair i < j, in the order (0, 1), (0, 2), ... (1, 2), ..., shape (m (m - 1) / 2,).

    `advance` is called with the number of pairs that each block added; about `block_entries` are measured at once.
    """
    m = distance.n_individuals
    starts = pair_starts(m)
    measured = np.empty(pair_count(m))
    distance.block(0, 1, 0, 1)  # makes working copies before several threads would

    def measure(rows: tuple[int, int]) -> int:
        start, stop = rows
        block = distance.block(start, stop, start)
        # Each thread writes to rows of its own; what the rectangle has below the diagonal is left out.
        for k in range(stop - start):
            measured[starts[start + k] : starts[start + k + 1]] = block[k, k + 1 :]
        return int(starts[stop] - starts[start])

    for n_measured in in_order(measure, row_blocks(m, block_entries), distance.concurrent):
        advance(n_measured)
    distance.release()
    return measured
