"""What every pair is held against, the same for all arms: fixed before anything is added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import (
    COUNTS,
    LARGEST,
    N_BINS,
    PAIR_COLUMNS,
    TOTALS,
    EdgeCounter,
    PairLimits,
    PairSums,
    add_pairs,
    count_pairs,
)
from likewise._typing import Floats
from likewise.fairness.exact.blocks import Block
from likewise.fairness.metrics.curves import RatioHistogram
from likewise.fairness.metrics.groups import PairGroups
from likewise.fairness.metrics.metric_value import AnyMetricValue
from likewise.fairness.metrics.similar import reach


@dataclass(frozen=True, eq=False)
class Thresholds:
    """What pairs are held against.

    Parameters
    ----------
    radius : float
        Pairs at most this far apart, to within rounding, count as most similar.
    epsilon : ndarray, shape (n_points,)
        Points of the epsilon-delta curve, increasing; the last one is the largest reference distance.
    edges : ndarray, shape (n_bins + 1,), or None
        Of the histogram; None where they are chosen later, from ratios counted in bins.
    condition : (float, float) or None
        L and gamma of ``D <= L d + gamma``.
    groups : PairGroups or None
    worst : int
        How many pairs with the largest ratios to keep.
    in_bins : bool
        Whether ratios and excesses are counted in bins, for their order statistics.
    n_individuals : int
    """

    radius: float
    epsilon: Floats
    edges: Floats | None
    condition: tuple[float, float] | None
    groups: PairGroups | None
    worst: int
    in_bins: bool
    n_individuals: int

    @cached_property
    def limits(self) -> PairLimits:
        """The same as the kernels take it."""
        groups = self.groups
        return PairLimits(
            near=reach(self.radius),
            epsilon=EdgeCounter(reach(self.epsilon[:-1]), "left"),
            histogram=None if self.edges is None else _up_to_the_last(self.edges),
            condition=self.condition,
            groups=None if groups is None else groups.numbers.astype(np.int32),
            n_groups=0 if groups is None else len(groups.names),
            in_bins=self.in_bins,
            n_individuals=self.n_individuals,
        )


def _up_to_the_last(edges: Floats) -> EdgeCounter:
    """Return edges of bins, of which the last one includes its upper edge."""
    return EdgeCounter(np.append(edges[:-1], np.nextafter(edges[-1], np.inf)), "right")


Array = NDArray[Any]

_LONG = 1 << 12


class Sums:
    """Counts, sums and maxima over some pairs.

    Parameters
    ----------
    added : dict of str to ndarray
        What adds up when other pairs come in.
    largest : dict of str to ndarray
        What takes the maximum.
    """

    def __init__(self, added: dict[str, Array], largest: dict[str, Array]) -> None:
        self.added, self.largest = added, largest

    def merge(self, other: Self) -> None:
        """Take in other pairs."""
        for name, array in other.added.items():
            self.added[name] += array
        for name, array in other.largest.items():
            np.maximum(self.largest[name], array, out=self.largest[name])

    def arrays(self) -> dict[str, Array]:
        """Return everything by name, as it is saved: of long arrays, which are mostly zero, what is not."""
        found = {}
        for name, array in self._named():
            if array.size < _LONG:
                found[name] = array
            else:
                found[f"{name}/places"] = np.flatnonzero(array)
                found[f"{name}/values"] = array.ravel()[found[f"{name}/places"]]
        return found

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `arrays` returned.

        Raises
        ------
        KeyError, IndexError, ValueError
            Arrays of other names, types or shapes.
        """
        for name, array in self._named():
            if array.size < _LONG:
                saved, places = arrays[name], np.arange(array.size).reshape(array.shape)
            else:
                saved, places = arrays[f"{name}/values"], arrays[f"{name}/places"]
            if saved.shape != places.shape or saved.dtype != array.dtype:
                raise ValueError(f"{name} has another type or shape")
            array.ravel()[places] = saved

    def _named(self) -> Iterator[tuple[str, Array]]:
        for part, named in (("added", self.added), ("largest", self.largest)):
            for name, array in named.items():
                yield f"{part}/{name}", array


class ReferenceTally(Sums):
    """Counts of d by bin (``added["bins"]``), and the largest d in each (``largest["bins"]``)."""

    def __init__(self) -> None:
        counts = {"bins": np.zeros(N_BINS, np.int64), "undefined": np.zeros((), np.int64)}
        super().__init__(counts, {"bins": np.zeros(N_BINS)})

    @property
    def n_pairs(self) -> int:
        """How many pairs have a defined distance."""
        return int(self.added["bins"].sum())

    def add(self, block: Block, measured: NDArray[np.float64]) -> None:
        """Count the distances of a block, NaN where one is not defined; see `likewise._kernels.count_pairs`."""
        self.added["undefined"] += count_pairs(self.added["bins"], self.largest["bins"], block, measured)


class TopPairs:
    """The `count` pairs with the largest ratios, largest first; ties by output distance, then by position.

    Parameters
    ----------
    count : int

    Attributes
    ----------
    columns : dict of str to ndarray
        ``ratio``, ``output``, ``reference``, ``left`` and ``right`` of these pairs.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.columns: dict[str, NDArray[Any]] = {
            name: np.empty(0, kind) for name, kind in PAIR_COLUMNS.items()
        }

    @property
    def floor(self) -> tuple[float, float]:
        """Ratio and output distance that a pair must reach to come in: more, or the same and an earlier position."""
        ratio, output = self.columns["ratio"], self.columns["output"]
        return (float(ratio[-1]), float(output[-1])) if 0 < self.count == ratio.size else (-np.inf, -np.inf)

    def offer(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Take in what belongs among the largest."""
        joined = {name: np.concatenate([self.columns[name], columns[name]]) for name in PAIR_COLUMNS}
        keys = ("right", "left", "output", "ratio")
        signs = {"output": -1.0, "ratio": -1.0}
        order = np.lexsort([signs.get(name, 1) * joined[name] for name in keys])[: self.count]
        self.columns = {name: column[order] for name, column in joined.items()}


class Tally(Sums):
    """Counts, sums and maxima over pairs, and those with the largest ratios.

    Infinite ratios are counted, not summed. Sums of a block are added pairwise, blocks one after the other: over B blocks the relative
    error is at most about B times 1.1e-16.

    Parameters
    ----------
    thresholds : Thresholds
        What pairs are held against.
    floor : float, optional
        Pairs with a smaller ratio are not among the worst: enough others are known.

    Attributes
    ----------
    worst : TopPairs
    """

    def __init__(self, thresholds: Thresholds, floor: float = -np.inf) -> None:
        sums = PairSums(thresholds.limits)
        super().__init__(
            {
                **_by_name(COUNTS, sums.counts),
                **_by_name(TOTALS, sums.totals),
                "epsilon": sums.epsilon_counts,
                "histogram": sums.histogram,
                "ratio_bins": sums.ratio_bins,
                "excess_bins": sums.excess_bins,
                "groups": sums.groups,
                "individuals": sums.individuals,
            },
            {
                **_by_name(LARGEST, sums.largest),
                "epsilon": sums.epsilon_largest,
                "group_ratio": sums.group_largest,
            },
        )
        self.thresholds, self.floor, self.sums = thresholds, floor, sums
        self.worst = TopPairs(thresholds.worst)

    def add(self, block: Block, reference: Floats, output: Floats) -> None:
        """Add the pairs of a block; see `likewise._kernels.add_pairs`.

        Parameters
        ----------
        block : Block
        reference, output : ndarray, of the block's shape or shape (n_pairs,)
            d and D.
        """
        floor = max(self.floor, self.worst.floor[0])
        limits, count = self.thresholds.limits, self.worst.count
        self.worst.offer(add_pairs(self.sums, limits, block, reference, output, count, floor))

    def merge(self, other: Self) -> None:
        """Take in other pairs."""
        super().merge(other)
        self.worst.offer(other.worst.columns)

    def arrays(self) -> dict[str, Array]:
        """Return everything by name, as it is saved."""
        return super().arrays() | {f"worst/{name}": column for name, column in self.worst.columns.items()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `arrays` returned."""
        super().restore(arrays)
        self.worst.offer({name: arrays[f"worst/{name}"] for name in self.worst.columns})


def _by_name(names: tuple[str, ...], numbers: Array) -> dict[str, Array]:
    """Return each number under its name, as a part of the array."""
    return {name: numbers[k, ...] for k, name in enumerate(names)}


@dataclass(frozen=True, eq=False)
class Request:
    """What to report of every arm; see `likewise.fairness.measure_fairness`.

    Parameters
    ----------
    ids : ndarray, shape (n_individuals,)
    nearest_share : float
    quantiles : tuple of float
    bins : int or ndarray
        Number of histogram bins, or their edges.
    worst : int
    condition : (float, float) or None
        L and gamma.
    groups : PairGroups or None
    confidence : float
        Of the interval over individuals.
    """

    ids: NDArray[Any]
    nearest_share: float
    quantiles: tuple[float, ...]
    bins: int | NDArray[np.float64]
    worst: int
    condition: tuple[float, float] | None
    groups: PairGroups | None
    confidence: float


@dataclass(frozen=True, eq=False)
class AccumulatedArm:
    """What was found of one set of outputs.

    Parameters
    ----------
    tally : Tally
    quantiles : mapping of float to ExactValue or BracketedValue
    needed_slack : mapping of float to ExactValue or BracketedValue
        Empty without a condition.
    histogram : RatioHistogram
    """

    tally: Tally
    quantiles: Mapping[float, AnyMetricValue]
    needed_slack: Mapping[float, AnyMetricValue]
    histogram: RatioHistogram


@dataclass(frozen=True, eq=False)
class Accumulated:
    """What was found of all pairs.

    Parameters
    ----------
    thresholds : Thresholds
    n_undefined : int
        Pairs without a defined reference distance.
    tie_width : float
        To within this share of the radius pairs count as tied with the last of the most similar ones.
    arms : mapping of str to AccumulatedArm
    """

    thresholds: Thresholds
    n_undefined: int
    tie_width: float
    arms: Mapping[str, AccumulatedArm]


def counted_histogram(edges: NDArray[np.float64], counts: NDArray[np.int64], infinite: int) -> RatioHistogram:
    """Make a histogram from counts below, between and above the edges; infinite ratios are among those above."""
    return RatioHistogram(edges, counts[1:-1].copy(), int(counts[-1]) - infinite, infinite)
