"""Sampled entries in C, each thread on rows of its own."""

from __future__ import annotations

from ctypes import byref

import numpy as np
from scipy import sparse

from likewise._kernels.native import library as native
from likewise._kernels.threads import equal_shares, run_together
from likewise._typing import Floats


def sampled_entries(pattern: sparse.csr_array, left: Floats, right: Floats, n_threads: int) -> Floats:
    """Return the entries; see `likewise._kernels.sampled_entries`, which has checked everything."""
    entries = np.empty(pattern.nnz)
    pointers = pattern.indptr.astype(np.int64, copy=False)
    columns = pattern.indices.astype(np.int32, copy=False)
    places = native.Places(
        rank=left.shape[1],
        pointers=native.address(pointers),
        columns=native.address(columns),
        left=native.address(left),
        right=native.address(right),
        entries=native.address(entries),
    )
    C = native.library()
    run_together(
        lambda _, start, stop: C.likewise_entries(byref(places), start, stop),
        equal_shares(pointers, n_threads),
    )
    return entries
