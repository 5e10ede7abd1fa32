"""What a distance between two individuals consists of, feature by feature."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._kernels import pair_ratios
from likewise.arrays import as_array
from likewise.checks import is_whole
from likewise.errors import InputError, ShapeError
from likewise.fairness.distances.differences import Differences, differences
from likewise.fairness.distances.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.options import individual_ids, output_distance
from likewise.plain import plain


def _spoken(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "missing" if np.isnan(value) else f"{value:.4g}"


@dataclass(frozen=True)
class Contribution:
    """One feature's part in a distance.

    Parameters
    ----------
    feature : object
        Its name, or its position.
    left, right : float or str
        The two values; NaN where one is missing.
    share : float
        Of d^q, the part that this feature makes up; or of what is in common, the part that this feature takes off.
    """

    feature: Any
    left: float | str
    right: float | str
    share: float

    def __str__(self) -> str:
        left, right = map(_spoken, (self.left, self.right))
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
        d between individuals.
    left, right : int
        Their positions, as in `WorstPairs.positions`.
    row_ids, feature_ids, output_ids : array-like, optional
        Names. By default those of the distances, or positions.
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
        Another number of ids or groups than there are.

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
    # What two people have in common is what d^q would be of two who have nothing in common, less what it
    # is; a feature on which they differ by more takes nothing off.
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
    # Stable, so that of equal amounts the first feature is named; amounts of 0 explain nothing.
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
