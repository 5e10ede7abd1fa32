"""How sharing features changes a distance: walk, for each individual, the lists of those who share each feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def shared_changes(
    by_row: sparse.csr_array, by_column: sparse.csc_array, start: int, stop: int, first: int, order: float
) -> NDArray[np.float64]:
    """Sum ``|a - b|^q - |a|^q - |b|^q`` over the features that both individuals observed.

    Added to both rows' ``sum |x|^q`` this gives the q-th power of the lq distance between zero-filled rows.

    Parameters
    ----------
    by_row, by_column : csr_array, csc_array, shape (n_individuals, n_features)
        The same observations.
    start, stop : int
        Individuals on the left.
    first : int
        First individual on the right.
    order : float
        q.

    Returns
    -------
    ndarray, shape (stop - start, n_individuals - first)
    """
    n_individuals = by_row.shape[0]
    changes = np.empty((stop - start, n_individuals - first))
    for row, i in enumerate(range(start, stop)):
        mine = slice(by_row.indptr[i], by_row.indptr[i + 1])
        others = by_column[:, by_row.indices[mine]]
        a, b = np.repeat(by_row.data[mine], np.diff(others.indptr)), others.data
        change = np.abs(a - b) ** order - np.abs(a) ** order - np.abs(b) ** order
        changes[row] = np.bincount(others.indices, weights=change, minlength=n_individuals)[first:]
    return changes
