"""How many threads run, and which rows each of them gets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from threading import Thread, local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.checks import checked_whole
from likewise.errors import InputError

_VARIABLE = "LIKEWISE_NUM_THREADS"
_MAX_THREADS = 4096
_here = local()


def thread_count(asked: int | None = None) -> int:
    """Return how many threads to use: `asked`, else one if `single_threaded`, else LIKEWISE_NUM_THREADS, else the processors we may use."""
    if asked is None:
        return 1 if getattr(_here, "single", False) else _from_environment() or usable_processors()
    return checked_whole("n_threads", asked, or_else="None for all processors")


@contextmanager
def single_threaded() -> Iterator[None]:
    """Run the kernels that this thread calls on itself alone: the other processors are busy with its fellows."""
    _here.single = True
    try:
        yield
    finally:
        _here.single = False


@contextmanager
def one_blas_thread(of_all_libraries: bool = False) -> Iterator[None]:
    """Hold BLAS to one thread, so that its threads do not compete with ours, or add up in another order.

    Threads of BLAS wait for each other by spinning: where other work wants the processors too, a product of a tall array
    with a few columns, or an eigenvalue problem of a few hundred rows, can take ten to a hundred times as long.

    Parameters
    ----------
    of_all_libraries : bool
        Hold what runs on OpenMP too.
    """
    with _controller().limit(limits=1, user_api=None if of_all_libraries else "blas"):
        yield


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401  its BLAS is a library of its own, which must be loaded to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@cache
def usable_processors() -> int:
    """Return the number of processors this process may use, by affinity and by its container's share."""
    import joblib

    return int(joblib.cpu_count())


def equal_shares(cumulative: NDArray[np.int64], n_shares: int) -> list[tuple[int, int]]:
    """Split rows into at most `n_shares` consecutive ranges of nearly equal work.

    Parameters
    ----------
    cumulative : ndarray of int64, shape (m + 1,)
        Work of all rows before row i, starting with 0: for products the row pointer itself.
    n_shares : int
        How many ranges to make; empty ones are left out, but there is always one.

    Examples
    --------
    >>> equal_shares(np.array([0, 5, 6, 7, 10]), 2)
    [(0, 1), (1, 4)]
    """
    targets = cumulative[0] + (cumulative[-1] - cumulative[0]) * np.arange(1, n_shares) // n_shares
    inner = np.searchsorted(cumulative, targets).tolist()
    shares = [(start, stop) for start, stop in pairwise([0, *inner, cumulative.size - 1]) if start < stop]
    return shares or [(0, 0)]


def run_together(task: Callable[[int, int, int], None], shares: Sequence[tuple[int, int]]) -> None:
    """Run ``task(number, start, stop)`` for each share, the first on the calling thread.

    Threads live for one call: a new thread costs some 50 microseconds where a product takes milliseconds, and a
    process that forks between two calls has no thread to lose.
    """
    helpers = [Thread(target=task, args=(k, *share)) for k, share in enumerate(shares) if k]
    for helper in helpers:
        helper.start()
    task(0, *shares[0])
    for helper in helpers:
        helper.join()


def _from_environment() -> int | None:
    text = os.environ.get(_VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_THREADS:
        raise InputError(
            f"{_VARIABLE} is {text!r}",
            f"a whole number >= 1, at most {_MAX_THREADS}",
            f"unset {_VARIABLE} for all processors",
        )
    return int(text)
