"""Sums over the features that two individuals share: walk, for each individual, the lists of those who share each feature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Term = Callable[[Floats, Floats], Floats]


def shared_sums(
    by_row: sparse.csr_array, by_column: sparse.csc_array, rows: range, others: range, term: Term
) -> Floats:
    """Sum ``term(a, b)`` over the features that both individuals observed.

    Serves every order q; for l1 and l2 there are compiled kernels.

    Parameters
    ----------
    by_row, by_column : csr_array, csc_array, shape (n_individuals, n_features)
        The same observations.
    rows, others : range
        Individuals on the left and on the right.
    term : callable
        Takes two vectors of observations, returns a vector.

    Returns
    -------
    ndarray, shape (n_rows, n_others)
    """
    n_individuals = by_row.shape[0]
    sums = np.empty((len(rows), len(others)))
    for line, i in enumerate(rows):
        mine = slice(by_row.indptr[i], by_row.indptr[i + 1])
        lists = by_column[:, by_row.indices[mine]]
        terms = term(np.repeat(by_row.data[mine], np.diff(lists.indptr)), lists.data)
        everyone = np.bincount(lists.indices, weights=terms, minlength=n_individuals)
        sums[line] = everyone[others.start : others.stop]
    return sums
