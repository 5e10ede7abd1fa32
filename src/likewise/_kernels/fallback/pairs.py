"""Walks and sums over pairs in NumPy: the twins of the compiled ones, and what runs where those were not built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.pair_lists import LANES, BitPlanes, PairLists, Walk, sums_in_order
from likewise._kernels.pair_sums import (
    PERSON_COLUMNS,
    MeasuredBlock,
    PairBlock,
    PairLimits,
    PairSums,
)
from likewise._kernels.ratios import N_BINS, beyond_rounding, bins_of, excesses, largest_places, pair_ratios
from likewise._typing import Floats, Indices

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
    # |z_i| + |z_j| - 2 s, or the same with squares: as two differences, so that identical rows give exactly 0.
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
    # Whole tiles were added up: those asked for begin somewhere within the first.
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
    # A bit that differs is a gap between the two values.
    differing = np.bitwise_count(theirs ^ planes.words[i // LANES, :, i % LANES, None])
    distances = np.zeros((theirs.shape[0], LANES))
    starts = [0, *planes.ends[:-1]]
    for start, end, gap in zip(starts, planes.ends, planes.gaps, strict=True):
        distances += gap * differing[:, start:end].sum(axis=1, dtype=np.int64)
    return distances.ravel()[first - group * LANES : last - group * LANES]


_CHUNK, _LANES = 512, 32  # those of pair_sums.c: sums are to have the same bits


def add_pairs(
    sums: PairSums, limits: PairLimits, measured: MeasuredBlock, n_largest: int, floor: float
) -> dict[str, NDArray[Any]]:
    """Add the pairs of a block; see `likewise._kernels.add_pairs`, which has checked everything."""
    pairs = _Pairs(measured)
    if pairs.places.size:
        _add_totals(sums, pairs)
        _add_near(sums, limits, pairs)
        _add_epsilon(sums, limits, pairs)
        _add_ratios(sums, limits, pairs)
        _add_excesses(sums, limits, pairs)
        _add_groups(sums, limits, pairs)
        _add_individuals(sums, limits, pairs)
    return pairs.with_largest_ratios(n_largest, floor)


def count_pairs(counts: NDArray[np.int64], largest: Floats, block: PairBlock, reference: Floats) -> int:
    """Count d by bin; see `likewise._kernels.count_pairs`, which has checked everything."""
    measured = _pairs_of(block, reference)
    known = measured[~np.isnan(measured)]
    bins = bins_of(known)
    np.add.at(counts, bins, 1)
    np.maximum.at(largest, bins, known)
    return measured.size - known.size


class _Pairs:
    """The pairs of a block with a defined d, and their ratios; of the finite ones 0 stands for those that are not."""

    def __init__(self, measured: MeasuredBlock) -> None:
        block = measured.block
        d, D = _pairs_of(block, measured.reference), _pairs_of(block, measured.output)
        self.block, self.places = block, np.flatnonzero(~np.isnan(d))
        self.reference, self.output = (
            (d, D) if self.places.size == d.size else (d[self.places], D[self.places])
        )
        self.ratios = pair_ratios(self.output, self.reference)
        self.infinite = np.isinf(self.ratios)
        self.finite = np.where(self.infinite, 0.0, self.ratios) if self.infinite.any() else self.ratios

    @property
    def people(self) -> tuple[Indices, Indices]:
        return self.block.people(self.places)

    def with_largest_ratios(self, count: int, floor: float) -> dict[str, NDArray[Any]]:
        candidates = np.flatnonzero(self.ratios >= floor)
        chosen = candidates[largest_places(self.ratios[candidates], self.output[candidates], count)]
        left, right = self.block.people(self.places[chosen])
        columns = {"ratio": self.ratios, "output": self.output, "reference": self.reference}
        return {name: column[chosen] for name, column in columns.items()} | {"left": left, "right": right}


def _pairs_of(block: PairBlock, distances: Floats) -> Floats:
    return distances if distances.ndim == 1 else block.pairs_of(distances)


def _add_totals(sums: PairSums, pairs: _Pairs) -> None:
    counts, totals = sums.counts, sums.totals
    counts["pairs"] += pairs.places.size
    counts["zero"] += np.count_nonzero(pairs.reference == 0)
    counts["infinite"] += np.count_nonzero(pairs.infinite)
    totals["reference"] += total(pairs.reference)
    totals["output"] += total(pairs.output)
    totals["output_squared"] += total(pairs.output * pairs.output)
    totals["ratio"] += total(pairs.finite)
    _raise_to(sums, "ratio", pairs.ratios)


def _raise_to(sums: PairSums, name: str, values: Floats) -> None:
    """Take in a maximum; NaN if a value is NaN."""
    sums.largest[name] = np.maximum(sums.largest[name], values.max())


def _add_near(sums: PairSums, limits: PairLimits, pairs: _Pairs) -> None:
    near = pairs.reference <= limits.near
    if not near.any():
        return
    sums.counts["near"] += np.count_nonzero(near)
    sums.counts["near_infinite"] += np.count_nonzero(near & pairs.infinite)
    # Where d is 0 there is no inverse; where it is tiny, the inverse may be infinite, and so is the sum.
    with np.errstate(over="ignore"):
        apart = near & (pairs.reference > 0)
        inverse = np.divide(1.0, pairs.reference, out=np.zeros(near.size), where=apart)
    sums.totals["near_ratio"] += total(np.where(near, pairs.finite, 0.0))
    sums.totals["near_output"] += total(np.where(near, pairs.output, 0.0))
    sums.totals["near_inverse"] += total(inverse)
    _raise_to(sums, "near_ratio", pairs.ratios[near])


def _add_epsilon(sums: PairSums, limits: PairLimits, pairs: _Pairs) -> None:
    points = limits.epsilon.count(pairs.reference, bins_of(pairs.reference))
    sums.epsilon_counts += np.bincount(points, minlength=sums.epsilon_counts.size)
    np.maximum.at(sums.epsilon_largest, points, pairs.output)


def _add_ratios(sums: PairSums, limits: PairLimits, pairs: _Pairs) -> None:
    bins = bins_of(pairs.ratios)
    if limits.histogram is not None:
        below = limits.histogram.count(pairs.ratios, bins)
        sums.histogram += np.bincount(below, minlength=sums.histogram.size)
    if limits.in_bins:
        np.add.at(sums.ratio_bins, bins, 1)
        # Infinite ratios fell into the last bin, but belong to none.
        sums.ratio_bins[N_BINS - 1] -= np.count_nonzero(pairs.infinite)


def _add_excesses(sums: PairSums, limits: PairLimits, pairs: _Pairs) -> None:
    if limits.condition is None:
        return
    lipschitz, slack = limits.condition
    excess = excesses(pairs.output, pairs.reference, lipschitz)
    if limits.in_bins:
        np.add.at(sums.excess_bins, bins_of(excess), 1)
    # Bins count the excess over L d, sums that over L d + gamma.
    excess -= slack
    beyond_rounding(excess, pairs.output)
    sums.counts["violating"] += np.count_nonzero(excess)
    sums.totals["excess"] += total(excess)
    _raise_to(sums, "excess", excess)


def _add_groups(sums: PairSums, limits: PairLimits, pairs: _Pairs) -> None:
    if limits.groups is None:
        return
    left, right = (limits.groups[who].astype(np.intp) for who in pairs.people)
    labels = np.minimum(left, right) * limits.n_groups + np.maximum(left, right)
    for name, weights in _group_columns(pairs, limits.near).items():
        sums.groups[name] += np.bincount(labels, weights, limits.n_labels)
    np.maximum.at(sums.group_largest, labels, pairs.ratios)


def _add_individuals(sums: PairSums, limits: PairLimits, pairs: _Pairs) -> None:
    if not sums.individuals.size:
        return
    everything = _group_columns(pairs, limits.near)
    for side, people in enumerate(pairs.people):
        # One by one in the order of the pairs, as C adds them: hence the same bits.
        for column, name in enumerate(PERSON_COLUMNS):
            np.add.at(sums.individuals[side, column], people, everything[name])


def _group_columns(pairs: _Pairs, near: float) -> dict[str, NDArray[Any]]:
    """Return what each pair adds to the sums of two groups, or of an individual."""
    similar = (pairs.reference <= near).astype(np.float64)
    return {
        "pairs": np.ones(similar.size),
        "infinite": pairs.infinite,
        "similar": similar,
        "ratio": pairs.finite,
        "gap": pairs.output,
        "distance": pairs.reference,
        "similar_infinite": pairs.infinite * similar,
        "similar_ratio": pairs.finite * similar,
        "similar_gap": pairs.output * similar,
    }


def total(values: Floats) -> float:
    """Return the sum, added in the order of the compiled kernels."""
    n_whole = values.size // _CHUNK
    last = np.zeros(_CHUNK)
    last[: values.size - n_whole * _CHUNK] = values[n_whole * _CHUNK :]
    sums = np.zeros(1 << n_whole.bit_length())
    sums[:n_whole] = _sums_of_chunks(values[: n_whole * _CHUNK])
    sums[n_whole] = _sums_of_chunks(last)[0]
    # Neighbours pairwise, as add_chunk of pair_sums.c carries them: what is missing to a power of two is zeros, which change no bit.
    while sums.size > 1:
        sums = sums[0::2] + sums[1::2]
    return float(sums[0])


def _sums_of_chunks(values: Floats) -> Floats:
    # Every 32nd of a chunk is added one by one, then these sums: `accumulate` keeps to that order, `sum` would add pairwise.
    lanes: Floats = np.add.reduce(values.reshape(-1, _CHUNK // _LANES, _LANES), axis=1)
    return np.add.accumulate(lanes, axis=1)[:, -1]


def distances_from_products(
    products: Floats, sizes: Floats, other_sizes: Floats, doubt: float, resolution: float
) -> int:
    """Turn products into distances; see `likewise._kernels.distances_from_products`, which has checked everything."""
    # In the order of expand.h, so that both round alike: (-2 x.y + ||x||^2) + ||y||^2.
    products *= -2
    products += sizes[:, None]
    products += other_sizes
    limits = np.add.outer(sizes, other_sizes)
    limits *= doubt
    # Not "at most", so that a square that is NaN counts as cancelled too.
    cancelled = ~(products > limits)
    products[cancelled] = np.nan
    np.sqrt(products, out=products)
    if resolution:
        products[products <= resolution] = 0.0
    return int(np.count_nonzero(cancelled))
