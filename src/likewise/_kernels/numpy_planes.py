"""Comparison by bits in NumPy: the twin of the compiled one, and what runs where that was not built."""

from __future__ import annotations

import numpy as np

from likewise._kernels.bit_planes import LANES, BitPlanes
from likewise._kernels.pair_lists import Doubles

_GROUPS_AT_A_TIME = 1 << 11


def compare_planes(
    planes: BitPlanes,
    rows: range,
    others: range,
    later_only: bool,
    sums: Doubles,
    n_threads: int,  # noqa: ARG001
) -> None:
    """Add to a line of `sums` for each individual in `rows` what it and those in `others` differ by."""
    step = _GROUPS_AT_A_TIME * LANES
    for line, i in enumerate(rows):
        start = max(others.start, i + 1) if later_only else others.start
        for first in range(start, others.stop, step):
            last = min(first + step, others.stop)
            sums[line, first - others.start : last - others.start] += _differences(planes, i, first, last)


def _differences(planes: BitPlanes, i: int, first: int, last: int) -> Doubles:
    """Compare i with individuals first..last-1."""
    group = first // LANES
    theirs = planes.words[group : -(-last // LANES)]
    differing = np.bitwise_count(theirs ^ planes.words[i // LANES, :, i % LANES, None])
    distances = np.zeros((theirs.shape[0], LANES))
    starts = [0, *planes.ends[:-1]]
    for start, end, gap in zip(starts, planes.ends, planes.gaps, strict=True):
        distances += gap * differing[:, start:end].sum(axis=1, dtype=np.int64)
    return distances.ravel()[first - group * LANES : last - group * LANES]
