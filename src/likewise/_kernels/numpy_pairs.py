"""The walks over pairs in NumPy: the twin of the compiled ones, and what runs where those were not built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.pair_lists import Doubles, PairLists, Walk, sums_in_order

Term = Callable[[Any, Doubles], Doubles]


def walk_pairs(
    lists: PairLists,
    walk: Walk,
    rows: range,
    later_only: bool,
    sums: Doubles,
    counts: NDArray[np.int32] | None,
    n_threads: int,  # noqa: ARG001
) -> None:
    """Write a line of `sums`, and of `counts` if there, for each individual in `rows`."""
    for line, i in enumerate(rows):
        sums[line] = _compare(lists, walk, i)
        if counts is not None:
            counts[line] = _sum_over_shared(lists, i, _one)
        if later_only:
            for written in (sums, counts):
                if written is not None:
                    written[line, : i + 1] = 0


def _compare(lists: PairLists, walk: Walk, i: int) -> Doubles:
    if walk is Walk.SHARED:
        return _sum_over_shared(lists, i, _absolute_difference)
    norms = lists.norms[walk]
    shared = _sum_over_shared(lists, i, _overlap if walk is Walk.ABSOLUTE else np.multiply)
    distances: Doubles = np.maximum((norms[i] - shared) + (norms - shared), 0.0)
    return distances


def _overlap(a: float, b: Doubles) -> Doubles:
    """Return what |a| and |b| have in common: half of |a| + |b| - |a - b|, without its rounding."""
    shared: Doubles = np.sign(a) * np.clip(b, min(a, 0.0), max(a, 0.0))
    return shared


def _absolute_difference(a: float, b: Doubles) -> Doubles:
    return np.abs(a - b)


def _one(a: float, b: Doubles) -> Doubles:  # noqa: ARG001
    return np.ones_like(b)


def _sum_over_shared(lists: PairLists, i: int, term: Term) -> Doubles:
    """Sum ``term(z_ik, z_jk)`` over the features k that i and j share, for every j."""
    others, terms = [np.zeros(0, np.intp)], [np.zeros(0)]
    for own, who, theirs in _lists_of(lists, i):
        others.append(who)
        terms.append(term(own, theirs))
    return sums_in_order(np.concatenate(others), np.concatenate(terms), lists.shape[0])


def _lists_of(lists: PairLists, i: int) -> Iterator[tuple[float, NDArray[Any], Doubles]]:
    rows, columns = lists.by_row, lists.by_column
    for position in range(rows.pointers[i], rows.pointers[i + 1]):
        k = rows.members[position]
        span = slice(columns.pointers[k], columns.pointers[k + 1])
        yield rows.values[position], columns.members[span], columns.values[span].astype(np.float64)
