"""What a distance between two individuals consists of, feature by feature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.fairness.co_observed_distance import CoObservedDistance
from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.factor_distance import FactorDistance
from likewise.fairness.observed_distance import ObservedDistance
from likewise.fairness.row_distance import RowDistance

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Differences:
    """The features in which two individuals can differ.

    Parameters
    ----------
    positions : ndarray of int, shape (n_features,)
        Which features of all these are.
    names : ndarray, shape (n_all_features,)
        Of all features; positions where there are no names.
    left, right : ndarray, shape (n_features,)
        The two values; NaN where one is missing.
    parts : ndarray, shape (n_features,)
        ``|a - b|^q``, of which distances are made.
    expected : ndarray, shape (n_features,)
        What would be there of two individuals who have nothing in common.
    """

    positions: NDArray[np.intp]
    names: NDArray[Any]
    left: Floats
    right: Floats
    parts: Floats
    expected: Floats


@singledispatch
def differences(distance: PairwiseDistance, i: int, j: int) -> Differences | None:  # noqa: ARG001
    """Return what a distance consists of; None where it is no sum over features.

    Parameters
    ----------
    distance : PairwiseDistance
    i, j : int
        Positions of two individuals.
    """
    return None


@differences.register
def _(distance: ObservedDistance, i: int, j: int) -> Differences:
    """Compare observations of either; a feature that both observed would add both sizes if they had nothing in common."""
    values, q = distance.values, distance.order
    columns = np.union1d(_columns(values, i), _columns(values, j))
    left, right = (_observed(values, k, columns) for k in (i, j))
    a, b = np.nan_to_num(left), np.nan_to_num(right)
    parts, apart = np.abs(a - b) ** q, np.abs(a) ** q + np.abs(b) ** q
    return Differences(columns, distance.column_ids, left, right, parts, apart)


@differences.register
def _(distance: CoObservedDistance, i: int, j: int) -> Differences:
    """Compare what both observed; two individuals who have nothing in common differ as rows of the data do on average."""
    values = distance.values
    columns = np.intersect1d(_columns(values, i), _columns(values, j))
    left, right = (_observed(values, k, columns) for k in (i, j))
    lists = values[:, columns].tocsc()
    spread = np.array(
        [lists.data[start:stop].std() for start, stop in pairwise(lists.indptr)], dtype=np.float64
    )
    parts = np.abs(left - right) ** distance.order
    return Differences(columns, distance.column_ids, left, right, parts, _usual(spread, distance.order))


@differences.register
def _(distance: RowDistance, i: int, j: int) -> Differences:
    """Compare all columns; two individuals who have nothing in common differ as rows of the data do on average."""
    left, right = distance.rows[i], distance.rows[j]
    parts = np.abs(left - right) ** distance.order
    everything = np.arange(left.size)
    usual = _usual(distance.rows.std(axis=0), distance.order)
    return Differences(everything, everything, left, right, parts, usual)


@differences.register
def _(distance: FactorDistance, i: int, j: int) -> Differences:
    """Form the outputs of the two individuals, and of no others: how outputs spread follows from the factors."""
    left, right = distance.left[[i, j]] @ distance.right.T
    centred = distance.left - distance.left.mean(axis=0)
    covariance = centred.T @ centred / len(centred)
    spread = np.sqrt(np.einsum("ij,jk,ik->i", distance.right, covariance, distance.right, optimize=True))
    everything = np.arange(left.size)
    return Differences(everything, everything, left, right, (left - right) ** 2, _usual(spread, 2.0))


def _columns(values: sparse.csr_array, k: int) -> NDArray[np.intp]:
    """Return which features an individual observed."""
    return np.asarray(values.indices[values.indptr[k] : values.indptr[k + 1]], dtype=np.intp)


def _observed(values: sparse.csr_array, k: int, columns: NDArray[np.intp]) -> Floats:
    """Return a row at some columns, NaN where nothing was observed."""
    everything = np.full(values.shape[1], np.nan)
    everything[_columns(values, k)] = values.data[values.indptr[k] : values.indptr[k + 1]]
    return everything[columns]


def _usual(spread: Floats, order: float) -> Floats:
    """Return the q-th power of the root mean square difference between two rows, whose deviation is `spread`."""
    usual: Floats = (np.sqrt(2.0) * spread) ** order
    return usual
