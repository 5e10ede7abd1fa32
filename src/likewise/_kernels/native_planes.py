"""Comparison by bits in C, each thread on individuals of its own."""

from __future__ import annotations

from ctypes import byref

import numpy as np

from likewise._kernels import native
from likewise._kernels.bit_planes import BitPlanes
from likewise._kernels.pair_lists import Doubles
from likewise._kernels.threads import equal_shares, run_together


def compare_planes(
    planes: BitPlanes, rows: range, others: range, later_only: bool, sums: Doubles, n_threads: int
) -> None:
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
            native.instruction_set(), byref(handed), rows.start, rows.start + start, rows.start + stop, later_only,
            native.address(sums),
        )  # fmt: skip

    run_together(share, equal_shares(np.arange(len(rows) + 1), n_threads))
