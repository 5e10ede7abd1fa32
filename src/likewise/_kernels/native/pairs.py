"""Walks over pairs in C, each thread on individuals of its own, and sums over pairs on the thread that asks for them."""

from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.backend import equal_shares, run_together
from likewise._kernels.native import library as native
from likewise._kernels.pair_lists import BitPlanes, PairLists, Walk
from likewise._kernels.pair_sums import MeasuredBlock, PairBlock, PairLimits, PairSums, by_name
from likewise._kernels.ratios import PAIR_COLUMNS, EdgeCounter
from likewise._typing import Counts, Floats


def walk_pairs(
    lists: PairLists,
    walk: Walk,
    rows: range,
    others: range,
    sums: Floats,
    counts: NDArray[np.int32] | None,
    n_threads: int,
) -> None:
    """Write a line of `counts`, if there, and add to one of `sums` for each individual in `rows`, against those in `others`."""
    C, handed = native.library(), _as_struct(lists, walk, others)

    def share(_: int, start: int, stop: int) -> None:
        room = np.empty(lists.tile)
        room_for_counts = None if counts is None else np.empty(lists.tile, np.int32)
        C.likewise_walk(
            walk, byref(handed), rows.start, rows.start + start, rows.start + stop,
            native.address(sums), native.address(counts), native.address(room), native.address(room_for_counts),
        )  # fmt: skip

    run_together(share, equal_shares(lists.work[rows.start : rows.stop + 1], n_threads))


def _as_struct(lists: PairLists, walk: Walk, others: range) -> native.Lists:
    rows, tiles = lists.by_row, lists.by_tile
    return native.filled(
        native.Lists,
        n_rows=lists.shape[0],
        n_columns=lists.shape[1],
        tile=lists.tile,
        row_pointers=rows.pointers,
        list_pointers=tiles.pointers,
        row_columns=rows.members,
        row_values=rows.values,
        members=tiles.members,
        values=tiles.values,
        norms=lists.norms.get(walk),
        first=others.start,
        last=others.stop,
        value_bytes=tiles.values.itemsize,
    )


def compare_planes(planes: BitPlanes, rows: range, others: range, sums: Floats, n_threads: int) -> None:
    """Add to a line of `sums` for each individual in `rows` what it and those in `others` differ by."""
    C = native.library()
    handed = native.filled(
        native.Planes,
        n_words=planes.words.shape[1],
        n_segments=planes.ends.size,
        ends=planes.ends,
        gaps=planes.gaps,
        words=planes.words,
        first=others.start,
        last=others.stop,
    )

    def share(_: int, start: int, stop: int) -> None:
        C.likewise_compare_planes(
            native.instruction_set(), byref(handed), rows.start, rows.start + start, rows.start + stop,
            native.address(sums),
        )  # fmt: skip

    run_together(share, equal_shares(np.arange(len(rows) + 1), n_threads))


def add_pairs(
    sums: PairSums, limits: PairLimits, measured: MeasuredBlock, n_largest: int, floor: float
) -> dict[str, NDArray[Any]]:
    """Add the pairs of a block; see `likewise._kernels.add_pairs`, which has checked everything."""
    C = native.library()
    # Neighbours often fall under the same point of the curve: C counts them in several copies, which need not wait for each other.
    copies = np.zeros((sums.epsilon_counts.size, C.likewise_copies()), np.int64)
    # A block's sums by group are made apart and then added, as NumPy's are: hence the same bits.
    of_block = np.zeros_like(sums.groups)
    columns: dict[str, NDArray[Any]] = {
        name: np.empty(n_largest, kind) for name, kind in PAIR_COLUMNS.items()
    }
    largest = native.Largest(
        room=n_largest, floor=floor, **{name: native.address(column) for name, column in columns.items()}
    )
    block = _block(measured.block, measured.reference, measured.output)
    C.likewise_add_pairs(
        native.instruction_set(), byref(block), byref(_limits(limits)),
        byref(_sums(sums, copies, of_block)), byref(largest),
    )  # fmt: skip
    sums.epsilon_counts += copies.sum(axis=1)
    for name, column in by_name(of_block).items():
        sums.groups[name] += column
    return {name: column[: largest.length] for name, column in columns.items()}


def count_pairs(counts: Counts, largest: Floats, block: PairBlock, reference: Floats) -> int:
    """Count d by bin; see `likewise._kernels.count_pairs`, which has checked everything."""
    handed = _block(block, reference, None)
    undefined: int = native.library().likewise_count_pairs(
        native.instruction_set(), byref(handed), native.address(counts), native.address(largest)
    )
    return undefined


def _block(block: PairBlock, reference: Floats, output: Floats | None) -> native.Block:
    return native.Block(
        block.start, block.stop, block.first, block.last,
        native.address(reference), native.address(output), packed=reference.ndim == 1,
    )  # fmt: skip


def _limits(limits: PairLimits) -> native.Limits:
    lipschitz, slack = limits.condition or (0.0, 0.0)
    return native.filled(
        native.Limits,
        near=limits.near,
        lipschitz=lipschitz,
        slack=slack,
        epsilon=_edges(limits.epsilon),
        histogram=native.Edges() if limits.histogram is None else _edges(limits.histogram),
        groups=limits.groups,
        n_groups=limits.n_groups,
        has_condition=limits.condition is not None,
    )


def _edges(counter: EdgeCounter) -> native.Edges:
    return native.filled(
        native.Edges,
        length=counter.edges.size,
        values=counter.edges,
        before=counter.before,
    )


def _sums(sums: PairSums, epsilon_counts: Counts, groups: NDArray[np.void]) -> native.Sums:
    def there(array: NDArray[Any]) -> int | None:
        return native.address(array) if array.size else None

    return native.filled(
        native.Sums,
        counts=sums.counts,
        totals=sums.totals,
        largest=sums.largest,
        epsilon_counts=epsilon_counts,
        epsilon_largest=sums.epsilon_largest,
        histogram=there(sums.histogram),
        ratio_bins=there(sums.ratio_bins),
        excess_bins=there(sums.excess_bins),
        groups=groups,
        group_largest=sums.group_largest,
        individuals=there(sums.individuals),
        n_individuals=sums.individuals.shape[-1],
    )


def distances_from_products(
    products: Floats, sizes: Floats, other_sizes: Floats, doubt: float, resolution: float
) -> int:
    """Turn products into distances; see `likewise._kernels.distances_from_products`, which has checked everything."""
    handed = native.filled(
        native.Expansion,
        n_rows=sizes.size,
        n_others=other_sizes.size,
        products=products,
        sizes=sizes,
        other_sizes=other_sizes,
        doubt=doubt,
        resolution=resolution,
    )
    return int(native.library().likewise_expand(native.instruction_set(), byref(handed)))
