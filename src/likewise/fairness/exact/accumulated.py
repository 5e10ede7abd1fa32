"""What is asked for, what pairs are held against, and what is added up over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import (
    N_BINS,
    EdgeCounter,
    PairLimits,
    PairSums,
    add_pairs,
    by_name,
    count_pairs,
)
from likewise._typing import Floats
from likewise.fairness.exact.blocks import Block
from likewise.fairness.metrics.curves import SHARES as EPSILON_SHARES
from likewise.fairness.metrics.curves import distinct
from likewise.fairness.metrics.groups import PairGroups
from likewise.fairness.metrics.metric_value import share_rank
from likewise.fairness.metrics.pair_metrics import PairMetric
from likewise.fairness.metrics.similar import reach
from likewise.fairness.metrics.worst_pairs import TopPairs

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Request:
    """What to report of every arm; see `likewise.fairness.measure_fairness`."""

    ids: NDArray[Any]  # (n_individuals,)
    nearest_share: float
    quantiles: tuple[float, ...] = ()
    bins: int | Floats = 60  # number of histogram bins, or their edges
    worst: int = 10  # how many pairs with the largest ratios to keep
    condition: tuple[float, float] | None = None  # L and gamma of D <= L d + gamma
    groups: PairGroups | None = None
    confidence: float = 0.95  # of the interval over individuals
    metrics: tuple[PairMetric, ...] = ()

    def cutoffs(
        self, of_ranks: Callable[[list[int]], list[float]], n_pairs: int, *, in_bins: bool
    ) -> Cutoffs:
        """Fix what pairs are held against, the same for all arms, before anything is added up.

        `of_ranks` returns the reference distances with given 0-based ranks among the `n_pairs` that are defined. With `in_bins`, ratios and
        excesses are counted in bins for their order statistics.
        """
        shares = (self.nearest_share, *EPSILON_SHARES)
        radius, *points = of_ranks([share_rank(share, n_pairs) for share in shares])
        return Cutoffs(self, radius, distinct(points), in_bins)


@dataclass(frozen=True, eq=False)
class Cutoffs:
    """What pairs are held against."""

    request: Request
    radius: float  # pairs at most this far apart, to within rounding, count as most similar
    epsilon: Floats  # (n_points,), of the epsilon-delta curve, increasing; the last one is the largest d
    in_bins: bool  # whether ratios and excesses are counted in bins

    @cached_property
    def limits(self) -> PairLimits:
        """The same as the kernels take it."""
        groups, edges = self.request.groups, self.request.bins
        return PairLimits(
            near=reach(self.radius),
            epsilon=EdgeCounter(reach(self.epsilon[:-1]), "left"),
            histogram=None if isinstance(edges, int) else _up_to_the_last(edges),
            condition=self.request.condition,
            groups=None if groups is None else groups.numbers.astype(np.int32),
            n_groups=0 if groups is None else groups.n_groups,
            in_bins=self.in_bins,
            n_individuals=len(self.request.ids),
        )


def _up_to_the_last(edges: Floats) -> EdgeCounter:
    """Return edges of bins, of which the last one includes its upper edge."""
    return EdgeCounter(np.append(edges[:-1], np.nextafter(edges[-1], np.inf)), "right")


class Sums:
    """Counts, sums and maxima over some pairs: `added` adds up when other pairs come in, of `largest` the maximum is taken."""

    def __init__(self, added: dict[str, Array], largest: dict[str, Array]) -> None:
        self.added, self.largest = added, largest

    def merge(self, other: Self) -> None:
        """Take in other pairs."""
        for name, array in other.added.items():
            self.added[name] += array
        for name, array in other.largest.items():
            np.maximum(self.largest[name], array, out=self.largest[name])


class ReferenceTally(Sums):
    """Counts of d by bin (``added["bins"]``), and the largest d in each (``largest["bins"]``)."""

    def __init__(self) -> None:
        counts = {"bins": np.zeros(N_BINS, np.int64), "undefined": np.zeros((), np.int64)}
        super().__init__(counts, {"bins": np.zeros(N_BINS)})

    @property
    def n_pairs(self) -> int:
        """How many pairs have a defined distance."""
        return int(self.added["bins"].sum())

    def add(self, block: Block, measured: Floats) -> None:
        """Count the distances of a block, NaN where one is not defined; see `likewise._kernels.count_pairs`."""
        self.added["undefined"] += count_pairs(self.added["bins"], self.largest["bins"], block, measured)


class Tally(Sums):
    """Counts, sums and maxima over pairs, and those with the largest ratios, in `worst`.

    Infinite ratios are counted, not summed. Sums of a block are added pairwise, blocks one after the other: over B blocks the relative
    error is at most about B times 1.1e-16.

    Pairs with a ratio below `floor` are not among the worst, as enough others are known from other blocks. A sweep sets it when a unit of
    work begins; each thread then has a tally of its own, and nothing is shared until the tallies are merged in order.
    """

    def __init__(self, cutoffs: Cutoffs, floor: float = -np.inf) -> None:
        # The arrays are views of what the kernel writes to, under the names they are read by: merging adds
        # them in place.
        sums, request = PairSums(cutoffs.limits), cutoffs.request
        super().__init__(
            {
                **by_name(sums.counts),
                **by_name(sums.totals),
                "epsilon": sums.epsilon_counts,
                "histogram": sums.histogram,
                "ratio_bins": sums.ratio_bins,
                "excess_bins": sums.excess_bins,
                **{f"group {name}": column for name, column in by_name(sums.groups).items()},
                "individuals": sums.individuals,
                "metrics": np.zeros(len(request.metrics)),
            },
            {
                **by_name(sums.largest),
                "epsilon": sums.epsilon_largest,
                "group_ratio": sums.group_largest,
            },
        )
        self.cutoffs, self.floor, self.sums = cutoffs, floor, sums
        self.worst = TopPairs(request.worst)

    def add(self, block: Block, reference: Floats, output: Floats) -> None:
        """Add the pairs of a block, d and D of its shape or of shape (n_pairs,); see `likewise._kernels.add_pairs`."""
        floor = max(self.floor, self.worst.floor[0])
        limits, count = self.cutoffs.limits, self.worst.count
        self.worst.offer(add_pairs(self.sums, limits, block, reference, output, count, floor))
        if metrics := self.cutoffs.request.metrics:
            d, D = (each if each.ndim == 1 else block.pairs_of(each) for each in (reference, output))
            known = ~np.isnan(d)
            self.added["metrics"] += [metric.of(d[known], D[known]).sum() for metric in metrics]

    def merge(self, other: Self) -> None:
        """Take in other pairs."""
        super().merge(other)
        self.worst.offer(other.worst.columns)
