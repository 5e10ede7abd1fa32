"""One walk over all pairs for all arms, and what is completed once it is over; where the distances come from is left open."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.fairness.exact.accumulated import ReferenceTally, Tally, Thresholds
from likewise.fairness.exact.blocks import Block, in_order
from likewise.fairness.exact.order_statistics import Numbers
from likewise.fairness.metrics.curves import REACH, RatioHistogram
from likewise.fairness.metrics.metric_value import AnyMetricValue
from likewise.fairness.metrics.ratios import share_rank
from likewise.fairness.metrics.violations import SHARES as SLACK_SHARES


class Sweep(ABC):
    """All pairs, cut into units of work whose results are put together in their order, so that sums have the same bits every time.

    Attributes
    ----------
    units : sequence
    concurrent : bool
        Whether several units may be worked on at once.
    """

    units: Sequence[Any]
    concurrent: bool

    @abstractmethod
    def reference_blocks(self, unit: Any) -> Iterator[tuple[Block, Floats]]:
        """Cut a unit into blocks, each with its d."""

    @abstractmethod
    def blocks(self, unit: Any) -> Iterator[tuple[Block, Floats, Iterator[tuple[str, Floats]]]]:
        """Cut a unit into blocks, each with its d and the D of every arm."""

    @abstractmethod
    def finished(self, unit: Any) -> None:
        """Report progress."""

    def count(self) -> ReferenceTally:
        """Count d in bins."""
        total = ReferenceTally()

        def count(unit: Any) -> ReferenceTally:
            found = ReferenceTally()
            for block, measured in self.reference_blocks(unit):
                found.add(block, measured)
            return found

        for unit, found in zip(self.units, in_order(count, self.units, self.concurrent), strict=True):
            total.merge(found)
            self.finished(unit)
        return total

    def tally(self, arms: Iterable[str], thresholds: Thresholds) -> dict[str, Tally]:
        """Add up the pairs of every arm."""
        totals = {name: Tally(thresholds) for name in arms}

        def tally(unit: Any) -> dict[str, Tally]:
            # Totals are those of the units before, or of fewer: they only tell which ratios are too small to be among the worst.
            found = {name: Tally(thresholds, total.worst.floor[0]) for name, total in totals.items()}
            for block, measured, outputs in self.blocks(unit):
                for name, output in outputs:
                    found[name].add(block, measured, output)
            return found

        for unit, found in zip(self.units, in_order(tally, self.units, self.concurrent), strict=True):
            for name, total in totals.items():
                total.merge(found[name])
            self.finished(unit)
        return totals


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


def accumulated_arms(
    tallies: Mapping[str, Tally],
    ratios: Mapping[str, Numbers],
    excesses: Mapping[str, Numbers],
) -> dict[str, AccumulatedArm]:
    """Complete what was added up by order statistics, and by histograms that have common edges.

    Parameters
    ----------
    tallies : mapping of str to Tally
    ratios, excesses : mapping of str to Numbers
        Of each arm; excesses only where there is a condition.
    """
    bins = next(iter(tallies.values())).thresholds.request.bins
    edges = common_edges(tallies, ratios, bins) if isinstance(bins, int) else bins
    return {
        name: AccumulatedArm(
            tally,
            _at_shares(ratios[name], tally, {q: q for q in tally.thresholds.request.quantiles}),
            _at_shares(excesses[name], tally, {share: 1 - share for share in SLACK_SHARES})
            if excesses
            else {},
            _histogram(tally, ratios[name], edges),
        )
        for name, tally in tallies.items()
    }


def _at_shares(numbers: Numbers, tally: Tally, shares: Mapping[float, float]) -> dict[float, AnyMetricValue]:
    """Return, by name, the smallest values that at least these shares of the pairs do not exceed."""
    n_pairs = int(tally.added["pairs"])
    ranks = [share_rank(share, n_pairs) for share in shares.values()]
    return dict(zip(shares, numbers.values(ranks, n_pairs), strict=True))


def common_edges(tallies: Mapping[str, Tally], ratios: Mapping[str, Numbers], count: int) -> Floats:
    """Return edges of equal bins that hold nearly all finite ratios of every arm."""
    end = 0.0
    for name, tally in tallies.items():
        if n_finite := int(tally.added["pairs"] - tally.added["infinite"]):
            end = max(end, *ratios[name].of_ranks([share_rank(REACH, n_finite)]))
    some = next(iter(ratios.values()))
    return some.aligned(np.linspace(0.0, end or 1.0, count + 1))


def _histogram(tally: Tally, ratios: Numbers, edges: Floats) -> RatioHistogram:
    """Count ratios between the edges, unless that was done; the last bin includes its upper edge."""
    infinite = int(tally.added["infinite"])
    if not isinstance(tally.thresholds.request.bins, int):
        counted = tally.added[
            "histogram"
        ]  # below, between and above the edges; infinite ratios are among those above
        return RatioHistogram(edges, counted[1:-1].copy(), int(counted[-1]) - infinite, infinite)
    up_to = ratios.up_to(edges)
    above = int(tally.added["pairs"]) - infinite - int(up_to[-1])
    return RatioHistogram(edges, np.diff(up_to), above, infinite)
