"""The lq norms by name and by number, and distances between given pairs of rows, straight from their definition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.errors import DistanceError

Floats = NDArray[np.float64]
Norm = str | float
"""``"l1"``, ``"l2"``, or any number q >= 1."""

_PAIR_ENTRIES = 1 << 22


def norm_order(norm: Norm) -> float:
    """Return q of an lq norm given by name or number.

    Raises
    ------
    DistanceError
        If it is neither, below 1, or not finite: below 1 the triangle inequality fails.

    Examples
    --------
    >>> norm_order("l1"), norm_order(2), norm_order("l1.5")
    (1.0, 2.0, 1.5)
    """
    try:
        order = float(norm[1:] if isinstance(norm, str) and norm[:1] == "l" else norm)
    except (TypeError, ValueError):
        order = np.nan
    if not 1 <= order < np.inf:
        raise DistanceError(f"norm {norm!r}", "'l1', 'l2' or a finite number q >= 1")
    return order


def norm_name(order: float) -> str:
    """Write q as a name; the inverse of `norm_order`."""
    return f"l{order:g}"


def row_differences(
    rows: Floats | sparse.csr_array, left: NDArray[np.intp], right: NDArray[np.intp], order: float
) -> Floats:
    """Measure ``||rows[left[k]] - rows[right[k]]||_q`` by subtracting the rows, some million entries at a time.

    Parameters
    ----------
    rows : ndarray or csr_array, shape (n_individuals, n_features)
    left, right : ndarray of int, shape (n_pairs,)
    order : float
        q.

    Returns
    -------
    ndarray, shape (n_pairs,)
    """
    widest = rows.shape[1] if isinstance(rows, np.ndarray) else int(np.diff(rows.indptr).max(initial=1))
    step = max(1, _PAIR_ENTRIES // max(1, widest))
    parts = [
        _norms(rows[left[k : k + step]] - rows[right[k : k + step]], order) for k in range(0, len(left), step)
    ]
    return np.concatenate([np.empty(0), *parts])


def _norms(differences: Floats | sparse.csr_array, order: float) -> Floats:
    """Return the lq norm of every row."""
    powers = abs(differences) ** order
    return np.asarray(powers.sum(axis=1), dtype=np.float64) ** (1 / order)
