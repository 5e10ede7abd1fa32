"""Sampled entries in NumPy, a few rows at a time."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from likewise._typing import Floats

_BLOCK = 1 << 21  # numbers gathered at a time: 16 MiB, which the caches nearly hold


def sampled_entries(
    pattern: sparse.csr_array,
    left: Floats,
    right: Floats,
    n_threads: int,  # noqa: ARG001  NumPy gathers on one thread
) -> Floats:
    """Return the entries; see `likewise._kernels.sampled_entries`, which has checked everything."""
    entries = np.empty(pattern.nnz)
    step = max(1, _BLOCK // max(left.shape[1], 1))
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    for start in range(0, entries.size, step):
        part = slice(start, start + step)
        np.einsum("pr,pr->p", left[rows[part]], right[pattern.indices[part]], out=entries[part])
    return entries
