"""The walks over pairs in C, each thread on individuals of its own."""

from __future__ import annotations

from ctypes import byref

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.bit_planes import BitPlanes
from likewise._kernels.native import library as native
from likewise._kernels.pair_lists import PairLists, Walk
from likewise._kernels.threads import equal_shares, run_together
from likewise._typing import Floats


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
    return native.Lists(
        n_rows=lists.shape[0],
        n_columns=lists.shape[1],
        tile=lists.tile,
        row_pointers=native.address(rows.pointers),
        list_pointers=native.address(tiles.pointers),
        row_columns=native.address(rows.members),
        row_values=native.address(rows.values),
        members=native.address(tiles.members),
        values=native.address(tiles.values),
        norms=native.address(lists.norms.get(walk)),
        first=others.start,
        last=others.stop,
        value_bytes=tiles.values.itemsize,
    )


def compare_planes(planes: BitPlanes, rows: range, others: range, sums: Floats, n_threads: int) -> None:
    """Add to a line of `sums` for each individual in `rows` what it and those in `others` differ by."""
    C = native.library()
    handed = native.Planes(
        n_words=planes.words.shape[1],
        n_segments=planes.ends.size,
        ends=native.address(planes.ends),
        gaps=native.address(planes.gaps),
        words=native.address(planes.words),
        first=others.start,
        last=others.stop,
    )

    def share(_: int, start: int, stop: int) -> None:
        C.likewise_compare_planes(
            native.instruction_set(), byref(handed), rows.start, rows.start + start, rows.start + stop,
            native.address(sums),
        )  # fmt: skip

    run_together(share, equal_shares(np.arange(len(rows) + 1), n_threads))
