"""The same figures, split by whether two individuals belong to the same group."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError, ShapeError
from likewise.fairness.figure import ExactFigure, Figure
from likewise.fairness.pairs import pair_count, pair_starts

Floats = NDArray[np.float64]

_MOST_GROUPS = 200
_PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class GroupFigures:
    """Figures over the pairs of one kind.

    Parameters
    ----------
    name : str
        ``"within"``, ``"across"``, or the two groups.
    n_pairs, n_similar : int
        All pairs of this kind, and those among the most similar pairs of all.
    mean_ratio, max_ratio : Figure
        Of D / d; NaN without a pair.
    output_gap, mean_reference_distance : Figure
        Means of D and of d.
    similar_mean_ratio, similar_output_gap : Figure
        Means of D / d and of D over the `n_similar` pairs.
    n_infinite : int
        Pairs of infinite ratio.
    finite_mean_ratio : Figure or None
        Mean over the pairs of finite ratio; None where it was not estimated.
    """

    name: str
    n_pairs: int
    n_similar: int
    mean_ratio: Figure
    max_ratio: Figure
    output_gap: Figure
    mean_reference_distance: Figure
    similar_mean_ratio: Figure
    similar_output_gap: Figure
    n_infinite: int = 0
    finite_mean_ratio: Figure | None = None


@dataclass(frozen=True)
class GroupSplit:
    """Within-group and across-group pairs, and each pair of groups.

    Parameters
    ----------
    within, across : GroupFigures
        Two people of the same group; of different groups.
    by_groups : tuple of GroupFigures
        Every two groups, a group and itself included.
    """

    within: GroupFigures
    across: GroupFigures
    by_groups: tuple[GroupFigures, ...]


@dataclass(frozen=True, eq=False)
class PairGroups:
    """Which two groups each pair joins; made once and used for every arm.

    Parameters
    ----------
    names : ndarray, shape (n_groups,)
    labels : ndarray of uint16, shape (n_pairs,)
        ``lower * n_groups + higher`` of the two group numbers.
    """

    names: NDArray[Any]
    labels: NDArray[np.uint16]

    @classmethod
    def of(cls, groups: ArrayLike, n_individuals: int) -> PairGroups:
        """Label the pairs i < j.

        Raises
        ------
        ShapeError
            Not one group for each individual.
        InputError
            Missing values, a single group, or more than 200.
        """
        names, numbers = number_groups(groups, n_individuals)
        labels = np.empty(pair_count(n_individuals), dtype=np.uint16)
        starts = pair_starts(n_individuals)
        for i in range(n_individuals - 1):
            others = numbers[i + 1 :]
            low, high = np.minimum(others, numbers[i]), np.maximum(others, numbers[i])
            labels[starts[i] : starts[i + 1]] = low * len(names) + high
        return cls(names, labels)

    def at(self, places: NDArray[np.intp] | None) -> PairGroups:
        """Return the labels of some pairs; of all for None."""
        return self if places is None else PairGroups(self.names, self.labels[places])

    def split(self, output: Floats, reference: Floats, ratios: Floats, near: NDArray[np.bool_]) -> GroupSplit:
        """Compute the figures of every kind of pair."""
        n_groups = len(self.names)
        sums = _LabelSums.over(self.labels, n_groups**2, output, reference, ratios, near)
        low, high = np.divmod(np.arange(n_groups**2), n_groups)
        kinds = [
            (f"{self.names[a]} and {self.names[b]}", a * n_groups + b)
            for a, b in zip(low, high, strict=True)
            if a <= b
        ]
        return GroupSplit(
            sums.figures("within", low == high),
            sums.figures("across", low != high),
            tuple(sums.figures(name, [label]) for name, label in kinds),
        )


@dataclass(frozen=True, eq=False)
class _LabelSums:
    """Sums of several columns, and the largest ratio, by label."""

    sums: dict[str, Floats]
    max_ratio: Floats

    @classmethod
    def over(
        cls,
        labels: NDArray[np.uint16],
        n_labels: int,
        output: Floats,
        reference: Floats,
        ratios: Floats,
        near: NDArray[np.bool_],
    ) -> _LabelSums:
        """Add up, some pairs at a time: counting needs wider integers than labels."""
        sums: dict[str, Floats] = defaultdict(lambda: np.zeros(n_labels))
        largest = np.full(n_labels, -np.inf)
        for k in range(0, labels.size, _PAIRS_AT_ONCE):
            part = slice(k, k + _PAIRS_AT_ONCE)
            label = labels[part].astype(np.intp)
            for column, weights in _columns(output[part], reference[part], ratios[part], near[part]).items():
                sums[column] += np.bincount(label, weights, n_labels)
            np.maximum.at(largest, label, ratios[part])
        return cls(sums, largest)

    def figures(self, name: str, chosen: Any) -> GroupFigures:
        """Combine the chosen labels."""
        total = {column: float(sums[chosen].sum()) for column, sums in self.sums.items()}
        pairs, infinite, similar = (int(total[column]) for column in ("pairs", "infinite", "similar"))

        def mean(column: str, count: int, n_infinite: float = 0) -> ExactFigure:
            return ExactFigure((np.inf if n_infinite else total[column] / count) if count else np.nan, count)

        return GroupFigures(
            name=name,
            n_pairs=pairs,
            n_similar=similar,
            mean_ratio=mean("ratio", pairs, infinite),
            max_ratio=ExactFigure(float(self.max_ratio[chosen].max()) if pairs else np.nan, pairs),
            output_gap=mean("gap", pairs),
            mean_reference_distance=mean("distance", pairs),
            similar_mean_ratio=mean("similar_ratio", similar, total["similar_infinite"]),
            similar_output_gap=mean("similar_gap", similar),
            n_infinite=infinite,
            finite_mean_ratio=mean("ratio", pairs - infinite),
        )


def _columns(
    output: Floats, reference: Floats, ratios: Floats, near: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    """Return what is summed for each pair; infinite ratios are counted, not summed."""
    infinite = np.isinf(ratios)
    finite = np.where(infinite, 0.0, ratios)
    return {
        "pairs": np.ones(output.size),
        "infinite": infinite,
        "similar": near,
        "ratio": finite,
        "gap": output,
        "distance": reference,
        "similar_infinite": infinite & near,
        "similar_ratio": finite * near,
        "similar_gap": output * near,
    }


def number_groups(groups: ArrayLike, n_individuals: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the names of the groups, sorted, and the number of everybody's."""
    values = np.asarray(groups)
    if values.shape != (n_individuals,):
        raise ShapeError(
            f"groups of shape {values.shape}", f"one group for each of {n_individuals} individuals"
        )
    missing = np.array([value is None or bool(value != value) for value in values.tolist()])  # noqa: PLR0124
    if missing.any():
        raise InputError(
            f"{missing.sum()} individuals without a group", "a group for everybody", "name a group 'unknown'"
        )
    names, numbers = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)
    if not 2 <= len(names) <= _MOST_GROUPS:
        raise InputError(f"{len(names)} groups", f"from 2 to {_MOST_GROUPS}")
    return names, numbers
