"""The walks over pairs in NumPy: the twin of the compiled ones, and what runs where those were not built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.bit_planes import LANES, BitPlanes
from likewise._kernels.pair_lists import PairLists, Walk, sums_in_order
from likewise._typing import Floats

Term = Callable[[Any, Floats], Floats]


def walk_pairs(
    lists: PairLists,
    walk: Walk,
    rows: range,
    others: range,
    sums: Floats,
    counts: NDArray[np.int32] | None,
    n_threads: int,  # noqa: ARG001
) -> None:
    """Write a line of `counts`, if there, and add to one of `sums` for each individual in `rows`, against those in `others`."""
    for line, i in enumerate(rows):
        sums[line] += _compare(lists, walk, i, others)
        if counts is not None:
            counts[line] = _sum_over_shared(lists, i, others, _one)


def _compare(lists: PairLists, walk: Walk, i: int, others: range) -> Floats:
    if walk is Walk.SHARED:
        return _sum_over_shared(lists, i, others, _absolute_difference)
    norms = lists.norms[walk]
    shared = _sum_over_shared(lists, i, others, _overlap if walk is Walk.ABSOLUTE else np.multiply)
    distances: Floats = np.maximum((norms[i] - shared) + (norms[others.start : others.stop] - shared), 0.0)
    return distances


def _overlap(a: float, b: Floats) -> Floats:
    """Return what |a| and |b| have in common: half of |a| + |b| - |a - b|, without its rounding."""
    shared: Floats = np.sign(a) * np.clip(b, min(a, 0.0), max(a, 0.0))
    return shared


def _absolute_difference(a: float, b: Floats) -> Floats:
    return np.abs(a - b)


def _one(a: float, b: Floats) -> Floats:  # noqa: ARG001
    return np.ones_like(b)


def _sum_over_shared(lists: PairLists, i: int, others: range, term: Term) -> Floats:
    """Sum ``term(z_ik, z_jk)`` over the features k that i and j share, for every j in `others`."""
    tiles = range(others.start // lists.tile, -(-others.stop // lists.tile))
    sums = np.concatenate([np.zeros(0), *(_sums_in_tile(lists, i, tile, term) for tile in tiles)])
    before = tiles.start * lists.tile
    return sums[others.start - before : others.stop - before]


def _sums_in_tile(lists: PairLists, i: int, tile: int, term: Term) -> Floats:
    members, terms = [np.zeros(0, np.intp)], [np.zeros(0)]
    for own, who, theirs in _lists_of(lists, i, tile):
        members.append(who)
        terms.append(term(own, theirs))
    return sums_in_order(np.concatenate(members), np.concatenate(terms), lists.tile)


def _lists_of(lists: PairLists, i: int, tile: int) -> Iterator[tuple[float, NDArray[Any], Floats]]:
    rows, tiles = lists.by_row, lists.by_tile
    for position in range(rows.pointers[i], rows.pointers[i + 1]):
        k = tile * lists.shape[1] + rows.members[position]
        span = slice(tiles.pointers[k], tiles.pointers[k + 1])
        yield rows.values[position], tiles.members[span], tiles.values[span].astype(np.float64)


_GROUPS_AT_A_TIME = 1 << 11


def compare_planes(
    planes: BitPlanes,
    rows: range,
    others: range,
    sums: Floats,
    n_threads: int,  # noqa: ARG001
) -> None:
    """Add to a line of `sums` for each individual in `rows` what it and those in `others` differ by."""
    step = _GROUPS_AT_A_TIME * LANES
    for line, i in enumerate(rows):
        for first in range(others.start, others.stop, step):
            last = min(first + step, others.stop)
            sums[line, first - others.start : last - others.start] += _differences(planes, i, first, last)


def _differences(planes: BitPlanes, i: int, first: int, last: int) -> Floats:
    """Compare i with individuals first..last-1."""
    group = first // LANES
    theirs = planes.words[group : -(-last // LANES)]
    differing = np.bitwise_count(theirs ^ planes.words[i // LANES, :, i % LANES, None])
    distances = np.zeros((theirs.shape[0], LANES))
    starts = [0, *planes.ends[:-1]]
    for start, end, gap in zip(starts, planes.ends, planes.gaps, strict=True):
        distances += gap * differing[:, start:end].sum(axis=1, dtype=np.int64)
    return distances.ravel()[first - group * LANES : last - group * LANES]
