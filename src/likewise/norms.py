"""The lq norms by name and by number, and distances between given pairs of rows, straight from their definition."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import DistanceError

Norm = str | float
"""``"l1"``, ``"l2"``, ``"linf"``, or any number q >= 1, also as ``"l3"``."""

_PAIR_ENTRIES = 1 << 22
_CACHED_ENTRIES = 1 << 15


_LARGEST_ORDER = 1000.0
"""Of a norm: the q-th power of a number may leave the range of floats from here on, and lq is within 1% of linf."""


def norm_order(norm: Norm) -> float:
    """Return q of an lq norm given by name or number; infinite for the largest entry, ``"linf"``.

    A `DistanceError` refuses what is neither, below 1, where the triangle inequality fails, or finite and very large.

    >>> norm_order("l1"), norm_order(2), norm_order("l1.5"), norm_order("linf")
    (1.0, 2.0, 1.5, inf)
    """
    try:
        order = float(norm[1:] if isinstance(norm, str) and norm[:1] == "l" else norm)
        if order == inf and isinstance(norm, str) and any(map(str.isdigit, norm)):
            order = np.nan  # 1e400 is too large for a float, and not linf
    except (TypeError, ValueError, OverflowError):
        order = np.nan
    if not (1 <= order <= _LARGEST_ORDER or order == inf):
        raise DistanceError(
            f"norm {norm!r}", f"'l1', 'l2', 'linf' or a number q from 1 to {_LARGEST_ORDER:g}"
        )
    return order


def norm_name(order: float) -> str:
    """Write q as a name; the inverse of `norm_order`."""
    return f"l{order:g}"


def row_norms(rows: Floats, order: float) -> Floats:
    """Return the lq norm of every row, some at a time: no copy of all of them is made."""
    step = max(1, _CACHED_ENTRIES // rows.shape[1])
    parts = (rows[k : k + step] for k in range(0, len(rows), step))
    return np.concatenate([np.linalg.norm(part, ord=order, axis=1) for part in parts])


def row_differences(
    rows: Floats | sparse.csr_array, left: NDArray[np.intp], right: NDArray[np.intp], order: float
) -> Floats:
    """Return ``||rows[left[k]] - rows[right[k]]||_q`` of each pair k, where q is the order, from the differences of the rows themselves."""
    # Differences of so many pairs are held at a time, whatever the width of a row.
    pairs_at_once = max(1, _PAIR_ENTRIES // max(1, _widest(rows)))
    parts = [slice(k, k + pairs_at_once) for k in range(0, len(left), pairs_at_once)]
    if isinstance(rows, np.ndarray):
        sizes = [rooted(np.abs(rows[left[part]] - rows[right[part]]), order) for part in parts]
    else:
        differences = (sparse.csr_array(rows[left[part]] - rows[right[part]]) for part in parts)
        powers = [power_sums(some, order) for some in differences]
        sizes = powers if order == inf else [some ** (1 / order) for some in powers]
    return np.concatenate([np.empty(0), *sizes])


def rooted(sizes: Floats, order: float) -> Floats:
    """Return the lq norm over the last axis of sizes, which are not below 0."""
    if order == inf:
        return np.asarray(sizes.max(axis=-1, initial=0.0))
    return np.asarray((sizes**order).sum(axis=-1) ** (1 / order))


def power_sums(rows: sparse.csr_array, order: float) -> Floats:
    """Return ``sum |x|^q`` of every row of a sparse matrix; of linf the largest ``|x|``, which has no power."""
    if order == inf:
        return np.asarray(abs(rows).max(axis=1).toarray(), dtype=np.float64).ravel()
    powers = sparse.csr_array((np.abs(rows.data) ** order, rows.indices, rows.indptr), shape=rows.shape)
    return np.asarray(powers.sum(axis=1), dtype=np.float64)


def _widest(rows: Floats | sparse.csr_array) -> int:
    """Return how many entries the longest row stores."""
    return rows.shape[1] if isinstance(rows, np.ndarray) else int(np.diff(rows.indptr).max(initial=1))


def dual_order(order: float) -> float:
    """Return q with 1/p + 1/q = 1, so that ``|x . y| <= ||x||_p ||y||_q`` (Hölder, attained).

    >>> dual_order(1.0), dual_order(2.0), dual_order(inf)
    (inf, 2.0, 1.0)
    """
    if order == 1:
        # 1/p = 1 leaves 1/q = 0
        return inf
    return 1.0 if order == inf else order / (order - 1)


def conversion(order: float, to: float, n: int) -> float:
    """Return the smallest c with ``||x||_to <= c ||x||_order`` for every x of n entries.

    >>> conversion(1, 2, 9), conversion(2, 1, 9), conversion(inf, 2, 9)
    (1.0, 3.0, 3.0)
    """
    # Norms fall as their order grows; the other way the vector of ones is the worst (Hölder).
    return 1.0 if to >= order else float(n ** (1 / to - 1 / order))
