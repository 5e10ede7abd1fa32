"""Sums over the features that two individuals share: walk, for each individual, the lists of those who share each feature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.norms import power_sums

Term = Callable[[Floats, Floats], Floats]


def shared_sums(
    by_row: sparse.csr_array, by_column: sparse.csc_array, rows: range, others: range, term: Term
) -> Floats:
    """Sum ``term(a, b)`` over the features that both individuals observed, shape (n_rows, n_others), for any order q.

    For l1 and l2 there are compiled kernels. `by_row` and `by_column` hold the same observations; `term` takes two vectors of them.
    """
    n_individuals = by_row.shape[0]
    sums = np.empty((len(rows), len(others)))
    for line, i in enumerate(rows):
        mine = slice(by_row.indptr[i], by_row.indptr[i + 1])
        # Everybody who observed one of i's features, list after list; i's own value is repeated along each.
        lists = by_column[:, by_row.indices[mine]]
        terms = term(np.repeat(by_row.data[mine], np.diff(lists.indptr)), lists.data)
        everyone = np.bincount(lists.indices, weights=terms, minlength=n_individuals)
        sums[line] = everyone[others.start : others.stop]
    return sums


_PAIRS_AT_ONCE = 4096


def co_observed_powers(
    values: sparse.csr_array, left: NDArray[np.intp], right: NDArray[np.intp], order: float = 1.0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count the features that both individuals of each pair observed, and sum ``|a - b|^q`` over them; both (n_pairs,).

    A stored zero is an observation. The sum is 0 where nothing is shared; of linf it is the largest ``|a - b|``.

    >>> Z = sparse.csr_array(([0.0, 1.0, 0.5, 2.0], ([0, 0, 1, 1], [0, 1, 0, 2])), shape=(2, 3))
    >>> co_observed_powers(Z, np.array([0]), np.array([1]))
    (array([1]), array([0.5]))
    """
    pattern = sparse.csr_array((np.ones_like(values.data), values.indices, values.indptr), shape=values.shape)
    counts, powers = np.zeros(len(left), dtype=np.int64), np.zeros(len(left))
    for k in range(0, len(left), _PAIRS_AT_ONCE):
        part = slice(k, k + _PAIRS_AT_ONCE)
        i, j = left[part], right[part]
        counts[part] = pattern[i].multiply(pattern[j]).sum(axis=1)
        # a on what both observed, less b there: what only one observed is multiplied away.
        differences = values[i].multiply(pattern[j]) - values[j].multiply(pattern[i])
        powers[part] = power_sums(sparse.csr_array(differences), order)
    return counts, powers
