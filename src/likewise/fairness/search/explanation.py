"""What a distance between two individuals consists of, feature by feature."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._kernels import pair_ratios
from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.checks import is_whole
from likewise.errors import InputError, ShapeError
from likewise.fairness.distances.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.distances.lists import ListDistance
from likewise.fairness.distances.observed import CoObservedDistance, ObservedDistance
from likewise.fairness.distances.rows import FactorDistance, RowDistance
from likewise.fairness.options import individual_ids, output_distance
from likewise.plain import plain


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
def _of_observations(distance: ObservedDistance, i: int, j: int) -> Differences:
    """Compare observations of either; a feature that both observed would add both sizes if they had nothing in common."""
    values, q = distance.values, _power(distance)
    columns = np.union1d(_columns(values, i), _columns(values, j))
    left, right = (_observed(values, k, columns) for k in (i, j))
    a, b = np.nan_to_num(left), np.nan_to_num(right)
    parts, apart = np.abs(a - b) ** q, np.abs(a) ** q + np.abs(b) ** q
    return Differences(columns, distance.column_ids, left, right, parts, apart)


@differences.register
def _(distance: ListDistance, i: int, j: int) -> Differences:
    """Compare what either list holds; an item's two values are its ranks, the best first."""
    found = _of_observations(distance, i, j)
    items = found.names[found.positions]
    ranks = [_ranks(distance.lists[k], items) for k in (i, j)]
    return replace(found, left=ranks[0], right=ranks[1])


def _ranks(items: NDArray[Any], wanted: NDArray[Any]) -> Floats:
    """Return at which place of a list each item stands, from 1; NaN where it does not."""
    places = wanted[:, None] == items
    return np.where(places.any(axis=1), places.argmax(axis=1) + 1.0, np.nan)


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


def _power(distance: ObservedDistance | CoObservedDistance | RowDistance) -> float:
    """Return the power of which a distance is the sum; linf is none, and its features are compared by size."""
    return 1.0 if distance.order == np.inf else distance.order


def _usual(spread: Floats, order: float) -> Floats:
    """Return the q-th power of the root mean square difference between two rows, whose deviation is `spread`."""
    usual: Floats = (np.sqrt(2.0) * spread) ** order
    return usual


@dataclass(frozen=True)
class Contribution:
    """One feature's part in a distance.

    Parameters
    ----------
    feature : object
        Its name, or its position.
    left, right : float
        The two values; NaN where one is missing.
    share : float
        Of d^q, the part that this feature makes up; or of what is in common, the part that this feature takes off.
    """

    feature: Any
    left: float
    right: float
    share: float

    def __str__(self) -> str:
        left, right = ("missing" if np.isnan(value) else f"{value:.4g}" for value in (self.left, self.right))
        return f"{self.feature} ({left} and {right}): {self.share:.1%}"


@dataclass(frozen=True)
class DistanceExplanation:
    """What one distance between two individuals consists of.

    Parameters
    ----------
    description : DistanceDescription
    distance : float
    apart : tuple of Contribution
        Features that make the distance large, those with the largest share of d^q first.
    together : tuple of Contribution
        Features that make it small, with their share of `saved`, largest first: zero-filled, those on which both were observed and agree
        in sign; else those on which the two differ less than two individuals usually do.
    saved : float
        How much smaller d^q is for features like these, as a share of what it would be without.
    n_different, n_features : int
        Features that differ, of those that could.
    by_feature : bool
        False where the distance is no sum over features: then there is nothing to list.
    """

    description: DistanceDescription
    distance: float
    apart: tuple[Contribution, ...]
    together: tuple[Contribution, ...]
    saved: float
    n_different: int
    n_features: int
    by_feature: bool

    def lines(self, symbol: str) -> list[str]:
        """Write it down."""
        head = f"  {symbol} = {self.distance:.4g}: {self.description.name}"
        if not self.by_feature:
            return [head, "    no sum over features"]
        lines = [head, f"    {self.n_different:,} of {self.n_features:,} features differ"]
        lines += [f"    apart     {part}" for part in self.apart]
        if self.together:
            lines.append(f"    what they have in common takes off {self.saved:.1%}, of which")
        return lines + [f"    together  {part}" for part in self.together]


@dataclass(frozen=True)
class PairExplanation:
    """Two individuals, their distances, and the features that these consist of.

    Parameters
    ----------
    left, right : object
        Ids.
    left_group, right_group : object
        Their groups; None where no attribute was given.
    ratio : float
        D / d.
    reference, output : DistanceExplanation
    """

    left: Any
    right: Any
    left_group: Any
    right_group: Any
    ratio: float
    reference: DistanceExplanation
    output: DistanceExplanation

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers (infinities and NaN are Python floats)."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    def __str__(self) -> str:
        groups = "" if self.left_group is None else f" ({self.left_group} and {self.right_group})"
        head = f"{self.left} and {self.right}{groups}: D / d = {self.ratio:.4g}"
        return "\n".join([head, *self.reference.lines("d"), *self.output.lines("D")])


def explain_pair(
    outputs: ArrayLike | PairwiseDistance,
    reference: PairwiseDistance,
    left: int,
    right: int,
    *,
    row_ids: ArrayLike | None = None,
    feature_ids: ArrayLike | None = None,
    output_ids: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    top: int = 5,
) -> PairExplanation:
    """Say which features make d small between two individuals, and which outputs make D large.

    Parameters
    ----------
    outputs : array-like of shape (n_individuals,) or (n_individuals, n_outputs), or PairwiseDistance
        What the algorithm gave each individual, or an output distance D.
    reference : PairwiseDistance
        The distance d between individuals.
    left, right : int
        Their positions, as in `WorstPairs.positions`.
    row_ids, feature_ids, output_ids : array-like, optional
        Names of individuals, features and outputs; by default those that the distances carry, or positions.
    groups : array-like, shape (n_individuals,), optional
        An attribute to show beside.
    top : int, default 5
        How many features to list.

    Returns
    -------
    PairExplanation

    Raises
    ------
    InputError
        A position out of range, twice the same, or `top` below 0.
    ShapeError
        Ids or groups of another number than there are.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> people = RowDistance([[1.0, 2.0], [1.0, 4.0], [9.0, 0.0]], "l1")
    >>> print(explain_pair([0.0, 5.0, 1.0], people, 0, 1, feature_ids=["age", "income"]))
    0 and 1: D / d = 2.5
      d = 2: l1 between rows
        1 of 2 features differ
        apart     income (2 and 4): 100.0%
        what they have in common takes off 73.8%, of which
        together  age (1 and 1): 94.5%
        together  income (2 and 4): 5.5%
      D = 5: absolute difference
        1 of 1 features differ
        apart     0 (0 and 5): 100.0%
    """
    distance, m = output_distance("outputs", outputs, reference), reference.n_individuals
    _check(left, right, m, top)
    ids = individual_ids(row_ids, reference)
    i, j = np.array([left]), np.array([right])
    d, D = reference.between(i, j), distance.between(i, j)
    left_group, right_group = (None, None) if groups is None else _named(groups, m, "groups")[[left, right]]
    return PairExplanation(
        plain(ids[left]),
        plain(ids[right]),
        plain(left_group),
        plain(right_group),
        float(pair_ratios(D, d)[0]),
        _explained(reference, left, right, float(d[0]), feature_ids, top),
        _explained(distance, left, right, float(D[0]), output_ids, top),
    )


def _explained(
    distance: PairwiseDistance, i: int, j: int, value: float, ids: ArrayLike | None, top: int
) -> DistanceExplanation:
    found = differences(distance, i, j)
    if found is None:
        return DistanceExplanation(distance.description, value, (), (), 0.0, 0, 0, by_feature=False)
    taken_off = np.maximum(found.expected - found.parts, 0.0)
    total, saved = found.parts.sum(), taken_off.sum()
    names = found.names if ids is None else _named(ids, len(found.names), "feature or output ids")
    return DistanceExplanation(
        distance.description,
        value,
        _largest(found, names, found.parts, top),
        _largest(found, names, taken_off, top),
        float(saved / (total + saved)) if saved else 0.0,
        int(np.count_nonzero(found.parts)),
        found.parts.size,
        by_feature=True,
    )


def _largest(
    found: Differences, names: NDArray[Any], amounts: NDArray[np.float64], top: int
) -> tuple[Contribution, ...]:
    """Return the features with the largest amounts, with their shares of the sum."""
    order = np.argsort(-amounts, kind="stable")[:top]
    chosen, total = order[amounts[order] > 0], amounts.sum()
    columns = (
        names[found.positions[chosen]],
        found.left[chosen],
        found.right[chosen],
        amounts[chosen] / (total or 1.0),
    )
    return tuple(Contribution(*row) for row in zip(*(column.tolist() for column in columns), strict=True))


def _named(values: ArrayLike, count: int, what: str) -> NDArray[Any]:
    array = as_array(values, what)
    if array.shape != (count,):
        raise ShapeError(f"{what} of shape {array.shape}", f"one for each of {count}")
    return array


def _check(left: int, right: int, m: int, top: int) -> None:
    whole = is_whole(left) and is_whole(right)
    if not whole or not 0 <= left < m or not 0 <= right < m or left == right:
        raise InputError(f"individuals {left!r} and {right!r}", f"two different positions from 0 to {m - 1}")
    if not isinstance(top, int | np.integer) or top < 0:
        raise InputError(f"top={top!r}", "a number of features >= 0")
