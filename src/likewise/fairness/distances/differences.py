"""Of what a distance between two individuals is the sum, feature by feature, for every kind of distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.fairness.distances.distance import PairwiseDistance, SubsetDistance
from likewise.fairness.distances.gower import GowerDistance
from likewise.fairness.distances.lists import ListDistance
from likewise.fairness.distances.observed import CoObservedDistance, ObservedDistance
from likewise.fairness.distances.rows import FactorDistance, RowDistance

_PAIR = 2


@dataclass(frozen=True, eq=False)
class Differences:
    """The features in which two individuals can differ."""

    positions: NDArray[np.intp]  # (n_features,), which features of all these are
    names: NDArray[Any]  # (n_all_features,), of all features; positions where there are no names
    left: NDArray[Any]  # (n_features,), numbers or text; NaN where a value is missing
    right: NDArray[Any]  # the same of the other individual
    parts: Floats  # (n_features,), |a - b|^q, of which distances are made
    expected: Floats  # (n_features,), what would be there of two individuals who have nothing in common


@singledispatch
def differences(distance: PairwiseDistance, i: int, j: int) -> Differences | None:  # noqa: ARG001
    """Return what d between the individuals at positions i and j consists of; None where it is no sum over features."""
    return None


@differences.register
def _(distance: SubsetDistance, i: int, j: int) -> Differences | None:
    """Compare the same two where all are known; what is usual there is usual here."""
    return differences(distance.distance, int(distance.individuals[i]), int(distance.individuals[j]))


@differences.register
def _of_observations(distance: ObservedDistance, i: int, j: int) -> Differences:
    """Compare observations of either; a feature that both observed would add both sizes if they had nothing in common."""
    values, q = distance.values, _power(distance)
    columns = np.union1d(_columns(values, i), _columns(values, j))
    left, right = (_observed(values, k, columns) for k in (i, j))
    # d sees 0 where nothing was observed; `left` and `right` keep NaN, to be shown as missing.
    a, b = np.nan_to_num(left), np.nan_to_num(right)
    parts, apart = np.abs(a - b) ** q, np.abs(a) ** q + np.abs(b) ** q
    return Differences(columns, distance.column_ids, left, right, parts, apart)


@differences.register
def _(distance: ListDistance, i: int, j: int) -> Differences:
    """Compare what either list holds; an item's two values say at which rank it is, the best first."""
    found = _of_observations(distance, i, j)
    items = found.names[found.positions]
    ranks = [_ranks(distance.lists[k], items) for k in (i, j)]
    return replace(found, left=ranks[0], right=ranks[1])


def _ranks(items: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
    """Say at which place of a list each item stands, from 1."""
    places = wanted[:, None] == items
    told = [f"rank {place.argmax() + 1}" if place.any() else "not listed" for place in places]
    return np.array(told, dtype=object)


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
    parts = np.abs(left - right) ** _power(distance)
    return Differences(columns, distance.column_ids, left, right, parts, _usual(spread, _power(distance)))


@differences.register
def _(distance: RowDistance, i: int, j: int) -> Differences | None:
    """Compare all columns; two individuals who have nothing in common differ as rows of the data do on average."""
    shown = distance.rows if distance.shown is None else distance.shown
    if shown.shape != distance.rows.shape:  # sums over classes, of which none is a column of the outputs
        return None
    left, right = shown[i], shown[j]
    parts = np.abs(distance.rows[i] - distance.rows[j]) ** _power(distance)
    everything = np.arange(left.size)
    usual = _usual(distance.rows.std(axis=0), _power(distance))
    names = everything if distance.names is None else distance.names
    return Differences(everything, names, left, right, parts, usual)


@differences.register
def _(distance: GowerDistance, i: int, j: int) -> Differences:
    """Compare what is known of both; two individuals who have nothing in common differ as two of the data do on average."""
    each = np.minimum(np.abs(distance.features[:, i] - distance.features[:, j]), 1.0)
    both = np.flatnonzero(~np.isnan(each))
    usual = np.array([_mean_gower(distance.features[k]) for k in both], dtype=np.float64)
    left, right = (np.array(distance.values_of(k), dtype=object)[both] for k in (i, j))
    return Differences(both, np.array(distance.names), left, right, each[both], usual)


def _mean_gower(values: Floats) -> float:
    """Return the mean difference of a feature over pairs: of numbers on their range, which lie within 1, from their order; of categories the share of unlike pairs."""
    known = np.sort(values[~np.isnan(values)])
    n = known.size
    if n < _PAIR:
        return 0.0
    if known[-1] - known[0] <= 1:
        # sum_{i<j} (x_j - x_i) of sorted values: each counts as often as it is the larger one, less how
        # often the smaller one.
        return float(2 * np.arange(1 - n, n, 2) @ known / (n * (n - 1)))
    # Categories are whole numbers: any two differ by 1 or more, which counts as 1.
    counts = np.unique(known, return_counts=True)[1]
    return float(1 - np.sum(counts * (counts - 1.0)) / (n * (n - 1.0)))


@differences.register
def _(distance: FactorDistance, i: int, j: int) -> Differences:
    """Form the outputs of the two individuals, and of no others: how outputs spread follows from the factors."""
    left, right = distance.left[[i, j]] @ distance.right.T
    centred = distance.left - distance.left.mean(axis=0)
    # The spread of output j over individuals is sqrt(r_j^T C r_j), C the covariance of the left factors: no
    # output of others is formed.
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


def _power(distance: ObservedDistance | CoObservedDistance | RowDistance) -> float:
    """Return the power of which a distance is the sum; linf is none, and its features are compared by size."""
    return 1.0 if distance.order == np.inf else distance.order


def _usual(spread: Floats, order: float) -> Floats:
    """Return the q-th power of the root mean square difference between two rows, whose deviation is `spread`."""
    usual: Floats = (np.sqrt(2.0) * spread) ** order
    return usual
