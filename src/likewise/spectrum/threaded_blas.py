"""Products of tall arrays, split by rows over our own threads.

BLAS's own threads wait for each other by spinning: where other work wants the processors too, a product of a tall
array with a few columns can take a hundred times as long. So an iteration holds BLAS to one thread and splits the rows
itself; see `likewise._kernels.threads.one_blas_thread`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.threads import run_together, thread_count
from likewise._typing import AnyFloats

_WORK_OF_A_THREAD = 1 << 23  # multiplications: less is done before a thread has started
_ROWS_AT_A_TIME = 1 << 13  # of a tall array that is converted or replaced


def inner(X: AnyFloats, Y: AnyFloats) -> AnyFloats:
    """Return ``X^T Y`` for tall X and Y."""
    shares = _shares(X.shape[0], X.shape[1] * Y.shape[1])
    parts = np.empty((len(shares), X.shape[1], Y.shape[1]), X.dtype)

    def multiply(number: int, start: int, stop: int) -> None:
        np.matmul(X[start:stop].T, Y[start:stop], out=parts[number])

    run_together(multiply, shares)
    total: AnyFloats = parts.sum(axis=0)
    return total


def gram_of(tall: AnyFloats) -> NDArray[np.float64]:
    """Return ``tall^T tall``, accumulated in float64 whatever the dtype of `tall`."""
    shares = _shares(tall.shape[0], tall.shape[1] ** 2)
    parts = np.zeros((len(shares), tall.shape[1], tall.shape[1]))

    def add(number: int, start: int, stop: int) -> None:
        for rows in _pieces(tall, start, stop):
            exact = rows.astype(np.float64, copy=False)
            with np.errstate(over="ignore"):  # `orthonormalise` sees to it
                parts[number] += exact.T @ exact

    run_together(add, shares)
    total: NDArray[np.float64] = parts.sum(axis=0)
    return total


def subtract_product(Y: AnyFloats, X: AnyFloats, small: AnyFloats) -> None:
    """Replace tall Y by ``Y - X small``."""
    across = np.ascontiguousarray(small.T)

    def subtract(_: int, start: int, stop: int) -> None:
        # Transposed, since BLAS is up to twice as fast on few long rows as on few long columns.
        Y[start:stop] -= (across @ X[start:stop].T).T

    run_together(subtract, _shares(Y.shape[0], small.size))


def tall_product(tall: AnyFloats, small: AnyFloats) -> AnyFloats:
    """Return ``tall small`` in the dtype of `tall`, computed in that of `small`, a few rows at a time."""
    product = np.empty((tall.shape[0], small.shape[1]), tall.dtype)

    def multiply(_: int, start: int, stop: int) -> None:
        for rows, result in zip(_pieces(tall, start, stop), _pieces(product, start, stop), strict=True):
            result[:] = rows.astype(small.dtype, copy=False) @ small

    run_together(multiply, _shares(tall.shape[0], small.size))
    return product


def multiply_in_place(tall: AnyFloats, small: AnyFloats) -> None:
    """Replace `tall` by ``tall small`` (k x k): `tall_product` without a second tall array."""

    def multiply(_: int, start: int, stop: int) -> None:
        for rows in _pieces(tall, start, stop):
            rows[:] = rows.astype(small.dtype, copy=False) @ small

    run_together(multiply, _shares(tall.shape[0], small.size))


def _pieces(tall: AnyFloats, start: int, stop: int) -> Iterator[AnyFloats]:
    for first in range(start, stop, _ROWS_AT_A_TIME):
        yield tall[first : min(first + _ROWS_AT_A_TIME, stop)]


def _shares(n_rows: int, work_of_a_row: int) -> list[tuple[int, int]]:
    n_shares = max(1, min(thread_count(), n_rows * work_of_a_row // _WORK_OF_A_THREAD))
    edges = [n_rows * k // n_shares for k in range(n_shares + 1)]
    return list(pairwise(edges))
