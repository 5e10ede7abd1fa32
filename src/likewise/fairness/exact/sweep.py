"""One walk over all pairs for all arms, and what is completed once it is over; distances lie in memory, or are measured again.

In memory there is one number each for d and for D of every arm, and order statistics are exact. Otherwise two passes measure distances block
by block and hold none of them: the first counts d in bins, which tell the most similar pairs and the points of the epsilon-delta curve; the
second measures d and D and adds up, with ratios and excesses counted in bins for their order statistics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise._kernels import RELATIVE_WIDTH, excesses, pair_ratios
from likewise._typing import Counts, Floats
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.accumulated import Cutoffs, ReferenceTally, Request, Tally
from likewise.fairness.exact.blocks import (
    Block,
    all_pairs,
    in_order,
    pair_count,
    pair_starts,
    row_blocks,
    units,
)
from likewise.fairness.exact.order_statistics import BinnedNumbers, CountedNumbers, Numbers, SortedNumbers
from likewise.fairness.metrics.curves import REACH, RatioHistogram
from likewise.fairness.metrics.metric_value import AnyMetricValue, share_rank
from likewise.fairness.metrics.violations import SHARES as SLACK_SHARES
from likewise.fairness.options import progress_counter
from likewise.memory import ensure_fits
from likewise.progress import Progress


class Sweep(ABC):
    """All pairs, cut into units of work whose results are put together in their order, so that sums have the same bits every time."""

    units: Sequence[Any]
    concurrent: bool  # whether several units may be worked on at once

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

    def tally(self, arms: Iterable[str], cutoffs: Cutoffs) -> dict[str, Tally]:
        """Add up the pairs of every arm."""
        totals = {name: Tally(cutoffs) for name in arms}

        def tally(unit: Any) -> dict[str, Tally]:
            # Other threads work on units ahead, so totals hold the units that were merged by now, however many these are. Their floor
            # can only be too low, never too high: it spares work, and the worst pairs are the same whichever thread came first.
            found = {name: Tally(cutoffs, total.worst.floor[0]) for name, total in totals.items()}
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
    """What was found of one set of outputs."""

    tally: Tally
    quantiles: Mapping[float, AnyMetricValue]
    needed_slack: Mapping[float, AnyMetricValue]  # empty without a condition
    histogram: RatioHistogram


@dataclass(frozen=True, eq=False)
class Accumulated:
    """What was found of all pairs."""

    cutoffs: Cutoffs
    n_undefined: int  # pairs without a defined reference distance
    # to within this share of the radius pairs count as tied with the last of the most similar ones
    tie_width: float
    arms: Mapping[str, AccumulatedArm]


def accumulated_arms(
    tallies: Mapping[str, Tally],
    ratios: Mapping[str, Numbers],
    excesses: Mapping[str, Numbers],
) -> dict[str, AccumulatedArm]:
    """Complete what was added up by order statistics, and by histograms that have common edges; `excesses` are empty without a condition."""
    bins = next(iter(tallies.values())).cutoffs.request.bins
    edges = common_edges(tallies, ratios, bins) if isinstance(bins, int) else bins
    return {
        name: AccumulatedArm(
            tally,
            _at_shares(ratios[name], tally, {q: q for q in tally.cutoffs.request.quantiles}),
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
    # Counts are exact only where edges fall on ends of bins, so edges move there where numbers are known by
    # bin alone.
    some = next(iter(ratios.values()))
    return some.aligned(np.linspace(0.0, end or 1.0, count + 1))


def _histogram(tally: Tally, ratios: Numbers, edges: Floats) -> RatioHistogram:
    """Count ratios between the edges, unless that was done; the last bin includes its upper edge."""
    infinite = int(tally.added["infinite"])
    if not isinstance(tally.cutoffs.request.bins, int):
        counted = tally.added[
            "histogram"
        ]  # below, between and above the edges; infinite ratios are among those above
        return RatioHistogram(edges, counted[1:-1].copy(), int(counted[-1]) - infinite, infinite)
    up_to = ratios.up_to(edges)
    above = int(tally.added["pairs"]) - infinite - int(up_to[-1])
    return RatioHistogram(edges, np.diff(up_to), above, infinite)


def measure_streamed(
    reference: PairwiseDistance,
    distances: Mapping[str, PairwiseDistance],
    request: Request,
    progress: Progress | None = None,
) -> Accumulated:
    """Measure all pairs twice, block by block, as `measure_in_memory` does once; order statistics are those of bins."""
    advance = progress_counter(progress, 2 * pair_count(reference.n_individuals))
    pairs = _MeasuredAgain(reference, distances, advance)
    # First pass: d alone. What counts as similar must be known before the first pair is added up.
    known = pairs.count()
    if not known.n_pairs:
        raise DistanceError(f"no pair has a defined distance under {reference.name}", "at least one pair")
    measured = BinnedNumbers(known.added["bins"], known.largest["bins"])
    cutoffs = request.cutoffs(measured.of_ranks, known.n_pairs, in_bins=True)
    # Second pass: d again, and D of every arm.
    tallies = pairs.tally(distances, cutoffs)
    for distance in (reference, *distances.values()):
        distance.release()
    ratios = {name: BinnedNumbers(tally.added["ratio_bins"]) for name, tally in tallies.items()}
    beyond = {
        name: BinnedNumbers(tally.added["excess_bins"])
        for name, tally in tallies.items()
        if request.condition
    }
    n_undefined = int(known.added["undefined"])
    return Accumulated(cutoffs, n_undefined, RELATIVE_WIDTH, accumulated_arms(tallies, ratios, beyond))


class _MeasuredAgain(Sweep):
    """Pairs whose distances are measured whenever they are asked for."""

    def __init__(
        self,
        reference: PairwiseDistance,
        distances: Mapping[str, PairwiseDistance],
        advance: Callable[[int], None],
    ) -> None:
        self.reference, self.distances, self.advance = reference, distances, advance
        self.units: list[Block] = units(reference.n_individuals)
        both = (reference, *distances.values())
        self.concurrent = all(distance.concurrent for distance in both)
        for distance in both:
            distance.block(0, 1, 0, 1)  # makes its working copies before several threads would

    def reference_blocks(self, unit: Block) -> Iterator[tuple[Block, Floats]]:
        for block in unit.cut():
            yield block, self.reference.block(*_place(block))

    def blocks(self, unit: Block) -> Iterator[tuple[Block, Floats, Iterator[tuple[str, Floats]]]]:
        for block in unit.cut():
            outputs = ((name, distance.block(*_place(block))) for name, distance in self.distances.items())
            yield block, self.reference.block(*_place(block)), outputs

    def finished(self, unit: Block) -> None:
        self.advance(unit.n_pairs)


def _place(block: Block) -> tuple[int, int, int, int]:
    return block.start, block.stop, block.first, block.last


_FEW = 1 << 19
"""So many numbers are sorted; of more, those in the bins of the wanted ranks are looked at again."""

_BLOCK_PAIRS = 1 << 20
"""A unit of work: large beside the cost of handing it to a thread, small enough that all threads find some."""
_PART = 1 << 17
"""Numbers that are made at a time, 1 MiB of them, so that they stay in a processor's cache."""


def measure_in_memory(
    reference: PairwiseDistance,
    distances: Mapping[str, PairwiseDistance],
    request: Request,
    progress: Progress | None = None,
) -> Accumulated:
    """Measure all pairs once, then find and add up; `distances` has the D of each arm.

    Raises DistanceError where no pair has a defined d, MemoryLimitError where one number for each pair and arm would not fit.
    """
    n_pairs = pair_count(reference.n_individuals)
    what = f"one number for each of {n_pairs:,} pairs and {len(distances)} arms"
    ensure_fits(
        bytes_in_memory(reference, distances), what, "leave streaming out, or audit a sample of the pairs"
    )
    advance = progress_counter(progress, (1 + len(distances)) * n_pairs)
    # d comes first: who counts as most similar must be known before anything is added up.
    d = all_pairs(reference, advance)
    pairs = _PairsInMemory(reference.n_individuals, d)
    counts, n_undefined = pairs.counted()
    if n_undefined == d.size:
        raise DistanceError(f"no pair has a defined distance under {reference.name}", "at least one pair")
    pairs.outputs = {name: all_pairs(distance, advance) for name, distance in distances.items()}
    of_ranks = pairs.numbers(counts, lambda part: d[part]).of_ranks
    cutoffs = request.cutoffs(of_ranks, d.size - n_undefined, in_bins=pairs.many)
    # Ratios are not kept: they are made again where order statistics ask for them.
    tallies = pairs.tally(distances, cutoffs)
    ratios = {
        name: pairs.numbers(tally.added["ratio_bins"], pairs.ratios_of(name))
        for name, tally in tallies.items()
    }
    beyond = {}
    if request.condition is not None:
        beyond = {
            name: pairs.numbers(tally.added["excess_bins"], pairs.excesses_of(name, request.condition[0]))
            for name, tally in tallies.items()
        }
    return Accumulated(cutoffs, n_undefined, 0.0, accumulated_arms(tallies, ratios, beyond))


def bytes_in_memory(reference: PairwiseDistance, distances: Mapping[str, PairwiseDistance]) -> int:
    """Return what d, D of each arm, ratios and a working copy take: eight bytes each for every pair."""
    return pair_count(reference.n_individuals) * 8 * (len(distances) + 3)


class _PairsInMemory(Sweep):
    """d, shape (n_pairs,), NaN where it is not defined, and D of every arm in `outputs`, once they are measured."""

    concurrent = True

    def __init__(self, n_individuals: int, reference: Floats) -> None:
        self.reference = reference
        self.outputs: dict[str, Floats] = {}
        starts = pair_starts(n_individuals)
        self.units: list[tuple[Block, slice]] = [
            (Block(start, stop, start, n_individuals), slice(starts[start], starts[stop]))
            for start, stop in row_blocks(n_individuals, _BLOCK_PAIRS)
        ]

    def reference_blocks(self, unit: tuple[Block, slice]) -> Iterator[tuple[Block, Floats]]:
        block, part = unit
        yield block, self.reference[part]

    def blocks(
        self, unit: tuple[Block, slice]
    ) -> Iterator[tuple[Block, Floats, Iterator[tuple[str, Floats]]]]:
        block, part = unit
        yield block, self.reference[part], ((name, output[part]) for name, output in self.outputs.items())

    def finished(self, unit: tuple[Block, slice]) -> None:
        """Report nothing: distances were measured before."""

    @property
    def many(self) -> bool:
        """Whether to count numbers in bins rather than to sort them."""
        return self.reference.size > _FEW

    def counted(self) -> tuple[Counts, int]:
        """Return d counted in bins, where they are many, and how many are not defined."""
        if not self.many:
            return np.zeros(0, np.int64), int(np.count_nonzero(np.isnan(self.reference)))
        known = self.count()
        return known.added["bins"], int(known.added["undefined"])

    def numbers(self, counts: Counts, numbers_of: Callable[[slice], Floats]) -> Numbers:
        """Return numbers of all pairs, of which those of a part can be made; `counts` in bins where they are many."""
        if not self.many:
            return SortedNumbers(numbers_of(slice(None)))
        parts = [slice(k, k + _PART) for k in range(0, self.reference.size, _PART)]
        return CountedNumbers(counts, parts, numbers_of)

    def ratios_of(self, name: str) -> Callable[[slice], Floats]:
        return lambda part: pair_ratios(self.outputs[name][part], self.reference[part])

    def excesses_of(self, name: str, lipschitz: float) -> Callable[[slice], Floats]:
        return lambda part: excesses(self.outputs[name][part], self.reference[part], lipschitz)
