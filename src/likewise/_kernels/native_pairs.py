"""The walks over pairs in C, each thread on individuals of its own."""

from __future__ import annotations

from ctypes import byref

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import native
from likewise._kernels.pair_lists import Doubles, PairLists, Walk
from likewise._kernels.threads import equal_shares, run_together


def walk_pairs(
    lists: PairLists,
    walk: Walk,
    rows: range,
    later_only: bool,
    sums: Doubles,
    counts: NDArray[np.int32] | None,
    n_threads: int,
) -> None:
    """Write a line of `sums`, and of `counts` if there, for each individual in `rows`."""
    C, handed = native.library(), _as_struct(lists, walk)

    def share(_: int, start: int, stop: int) -> None:
        C.likewise_walk(
            walk, byref(handed), rows.start, rows.start + start, rows.start + stop, later_only,
            native.address(sums), native.address(counts),
        )  # fmt: skip

    run_together(share, equal_shares(lists.work[rows.start : rows.stop + 1], n_threads))


def _as_struct(lists: PairLists, walk: Walk) -> native.Lists:
    rows, columns = lists.by_row, lists.by_column
    return native.Lists(
        n_rows=lists.shape[0],
        row_pointers=native.address(rows.pointers),
        column_pointers=native.address(columns.pointers),
        row_columns=native.address(rows.members),
        column_rows=native.address(columns.members),
        row_values=native.address(rows.values),
        column_values=native.address(columns.values),
        norms=native.address(lists.norms.get(walk)),
        member_bytes=columns.members.itemsize,
        value_bytes=columns.values.itemsize,
    )
