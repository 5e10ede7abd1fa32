"""The same metrics, split by whether two individuals belong to the same group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._kernels import by_name
from likewise._typing import Floats
from likewise.errors import InputError, ShapeError, option
from likewise.fairness.metrics.metric_value import ExactValue, MetricValue
from likewise.fairness.metrics.relative_gap import relative_gap
from likewise.observations.ids import as_id_array, as_labels, unknown_labels

_MOST_GROUPS = 200


@dataclass(frozen=True)
class GroupMetrics:
    """Metrics over one kind of pairs, such as those within one group.

    Parameters
    ----------
    name : str
        ``"within"``, ``"across"``, or the two groups.
    n_pairs, n_similar : int
        All pairs of this kind, and those among the most similar pairs of all.
    relative_gap : MetricValue
        Mean of D over the `n_similar` pairs by the mean of D over all pairs of *every* kind, so that kinds compare; their mean, weighted by
        `n_similar`, is that of all pairs.
    similar_output_gap, output_gap : MetricValue
        Means of D over the `n_similar` pairs and over the pairs; NaN without a pair.
    mean_reference_distance : MetricValue
        Mean of d.
    finite_mean_ratio : MetricValue
        Mean of D / d over the pairs of finite ratio; NaN without one.
    n_infinite : int
        Pairs of infinite ratio.
    mean_ratio, max_ratio, similar_mean_ratio : MetricValue
        Of D / d, and its mean over the `n_similar` pairs; infinite where a pair has an infinite ratio.
    """

    name: str
    n_pairs: int
    n_similar: int
    relative_gap: MetricValue
    similar_output_gap: MetricValue
    output_gap: MetricValue
    mean_reference_distance: MetricValue
    finite_mean_ratio: MetricValue
    n_infinite: int
    mean_ratio: MetricValue
    max_ratio: MetricValue
    similar_mean_ratio: MetricValue


@dataclass(frozen=True)
class GroupSplit:
    """Within-group and across-group pairs, and each pair of groups.

    Parameters
    ----------
    within, across : GroupMetrics
        Two people of the same group; of different groups.
    by_groups : tuple of GroupMetrics
        Every two groups, a group and itself included; none where pairs are drawn and there are more than 30 groups.
    n_unknown : int
        Individuals whose group is unknown. Their pairs are in none of these metrics.
    """

    within: GroupMetrics
    across: GroupMetrics
    by_groups: tuple[GroupMetrics, ...]
    n_unknown: int = 0


@dataclass(frozen=True, eq=False)
class PairGroups:
    """Which two groups a pair joins: a label, ``lower * n_groups + higher`` of the two group numbers."""

    names: NDArray[Any]  # (n_groups,)
    # (n_individuals,), everybody's group; of those whose group is unknown, the number after the last group
    numbers: NDArray[np.intp]

    @classmethod
    def of(cls, groups: ArrayLike, n_individuals: int) -> PairGroups:
        """Number the groups; ShapeError if there is not one for each individual, InputError for fewer than two groups, or more than 200."""
        return cls(*number_groups(groups, n_individuals))

    @property
    def n_unknown(self) -> int:
        """Of how many individuals the group is unknown."""
        return int(np.count_nonzero(self.numbers == len(self.names)))

    @property
    def n_groups(self) -> int:
        """How many numbers there are: the groups, and the unknown."""
        return len(self.names) + 1

    def split(self, sums: NDArray[np.void], max_ratio: Floats, mean_gap: float) -> GroupSplit:
        """Return the metrics of every kind of pair.

        `sums`, with the fields of `likewise._kernels.GROUP_SUMS`, and `max_ratio` are by label, shape (n_labels,); `mean_gap` is the mean of D over
        all pairs.
        """
        low, high = np.divmod(np.arange(self.n_groups**2), self.n_groups)
        known = (low < len(self.names)) & (high < len(self.names))
        # A label has the lower number first, so one with the higher first stays empty.
        kinds = np.flatnonzero(known & (low <= high)).tolist()

        def metrics(name: str, chosen: Any) -> GroupMetrics:
            return _group_metrics(name, sums[chosen], float(max_ratio[chosen].max()), mean_gap)

        return GroupSplit(
            metrics("within", known & (low == high)),
            metrics("across", known & (low != high)),
            tuple(metrics(two_groups(self.names, low[kind], high[kind]), [kind]) for kind in kinds),
            self.n_unknown,
        )


def _group_metrics(name: str, sums: NDArray[np.void], max_ratio: float, mean_gap: float) -> GroupMetrics:
    total = {column: float(added.sum()) for column, added in by_name(sums).items()}
    pairs, infinite, similar = (int(total[column]) for column in ("pairs", "infinite", "similar"))

    def mean(column: str, count: int, n_infinite: float = 0) -> ExactValue:
        return ExactValue((np.inf if n_infinite else total[column] / count) if count else np.nan, count)

    similar_gap = mean("similar_gap", similar)
    return GroupMetrics(
        name=name,
        n_pairs=pairs,
        n_similar=similar,
        relative_gap=ExactValue(relative_gap(similar_gap.value, mean_gap), similar),
        mean_ratio=mean("ratio", pairs, infinite),
        max_ratio=ExactValue(max_ratio if pairs else np.nan, pairs),
        output_gap=mean("gap", pairs),
        mean_reference_distance=mean("distance", pairs),
        similar_mean_ratio=mean("similar_ratio", similar, total["similar_infinite"]),
        similar_output_gap=similar_gap,
        n_infinite=infinite,
        finite_mean_ratio=mean("ratio", pairs - infinite),
    )


def number_groups(groups: ArrayLike, n_individuals: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the names of the groups, sorted, and the number of everybody's.

    A group that is unknown, such as None, NaN or what is masked, is not a group: its number is the one after the last group.
    """
    if isinstance(groups, str):
        given = f"{option('groups', repr(groups))}, one word"
        raise ShapeError(given, f"a group for each of {n_individuals} individuals", "give the column itself")
    values = as_labels(groups, "groups")
    if values.shape != (n_individuals,):
        raise ShapeError(
            f"groups of shape {values.shape}", f"one group for each of {n_individuals} individuals"
        )
    unknown = unknown_labels(values)
    known = as_id_array(values[~unknown].tolist())
    names, places = np.unique(
        np.array([str(name) for name in known.tolist()]) if known.dtype == object else known,
        return_inverse=True,
    )
    if not 2 <= len(names) <= _MOST_GROUPS:
        besides = f", and {unknown.sum():,} individuals whose group is unknown" if unknown.any() else ""
        raise InputError(f"{len(names)} groups{besides}", f"from 2 to {_MOST_GROUPS} known groups")
    numbers = np.full(n_individuals, len(names), np.intp)
    numbers[~unknown] = places
    return names, numbers


def two_groups(names: NDArray[Any], one: int, other: int) -> str:
    """Return how the pairs between two groups are called."""
    return f"{names[one]} and {names[other]}"


def unknown_note(n_unknown: int) -> list[str]:
    """Say that individuals without a known group are in no metric of groups."""
    if not n_unknown:
        return []
    who = "1 individual has" if n_unknown == 1 else f"{n_unknown:,} individuals have"
    return [f"{who} no known group: their pairs count, but in no metric of groups"]
