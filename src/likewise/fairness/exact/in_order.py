"""Work on several threads whose results come in the order of the work, so that sums have the same bits every time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from likewise._kernels import single_threaded, thread_count

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
    from threadpoolctl import threadpool_limits

    def alone(item: Item) -> Result:
        with single_threaded():
            return work(item)

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
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
