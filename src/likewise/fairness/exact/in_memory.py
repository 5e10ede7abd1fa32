"""All pairs with one number each for d and for D of every arm in memory: order statistics are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from likewise._kernels import excesses, pair_ratios
from likewise._typing import Counts, Floats
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.accumulated import (
    Accumulated,
    AccumulatedArm,
    ReferenceTally,
    Request,
    Tally,
    Thresholds,
    counted_histogram,
)
from likewise.fairness.exact.blocks import Block, all_pairs, in_order, pair_starts, row_blocks
from likewise.fairness.exact.log_grid import CountedNumbers, SortedNumbers
from likewise.fairness.metrics.curves import REACH, RatioHistogram, distinct
from likewise.fairness.metrics.curves import SHARES as EPSILON_SHARES
from likewise.fairness.metrics.metric_value import ExactValue
from likewise.fairness.metrics.ratios import share_rank
from likewise.fairness.metrics.violations import SHARES as SLACK_SHARES

Numbers = SortedNumbers | CountedNumbers

_FEW = 1 << 19
_BLOCK_PAIRS = 1 << 20
_PART = 1 << 17


def measure_held(
    reference: PairwiseDistance,
    distances: Mapping[str, PairwiseDistance],
    request: Request,
    advance: Callable[[int], None],
) -> Accumulated:
    """Measure all pairs once, then find and add up.

    Parameters
    ----------
    reference : PairwiseDistance
    distances : mapping of str to PairwiseDistance
        D of each arm.
    request : Request
    advance : callable
        Called with numbers of pairs: once for each pair of the reference and of every arm.

    Raises
    ------
    DistanceError
        No pair has a defined reference distance.
    """
    pairs = _Held(reference.n_individuals, all_pairs(reference, advance))
    counts, n_undefined = pairs.counted()
    if n_undefined == pairs.measured.size:
        raise DistanceError(f"no pair has a defined distance under {reference.name}", "at least one pair")
    outputs = {name: all_pairs(distance, advance) for name, distance in distances.items()}
    thresholds = _thresholds(pairs, counts, pairs.measured.size - n_undefined, request)
    tallies = pairs.tallied(outputs, thresholds)
    arms = {name: _Arm(pairs, outputs[name], tally, request) for name, tally in tallies.items()}
    edges = _common_edges(arms, request.bins)
    return Accumulated(
        thresholds, n_undefined, 0.0, {name: arm.findings(request, edges) for name, arm in arms.items()}
    )


@dataclass(frozen=True, eq=False)
class _Held:
    """d of all pairs; NaN where it is not defined."""

    n_individuals: int
    measured: Floats

    @property
    def many(self) -> bool:
        """Whether to count numbers in bins rather than to sort them."""
        return self.measured.size > _FEW

    def numbers(self, counts: Counts, numbers_of: Callable[[slice], Floats]) -> Numbers:
        """Return numbers of all pairs, of which those of a part can be made; `counts` in bins where they are many."""
        if not self.many:
            return SortedNumbers(numbers_of(slice(None)))
        parts = [slice(k, k + _PART) for k in range(0, self.measured.size, _PART)]
        return CountedNumbers(counts, parts, numbers_of)

    @property
    def blocks(self) -> list[tuple[Block, slice]]:
        """Blocks of rows, and where their pairs are."""
        m, starts = self.n_individuals, pair_starts(self.n_individuals)
        rows = row_blocks(m, _BLOCK_PAIRS)
        return [(Block(start, stop, start, m), slice(starts[start], starts[stop])) for start, stop in rows]

    def counted(self) -> tuple[Counts, int]:
        """Return d counted in bins, where they are many, and how many are not defined."""
        if not self.many:
            return np.zeros(0, np.int64), int(np.count_nonzero(np.isnan(self.measured)))

        def count(block: tuple[Block, slice]) -> ReferenceTally:
            found = ReferenceTally()
            found.add(block[0], self.measured[block[1]])
            return found

        total = ReferenceTally()
        for found in in_order(count, self.blocks):
            total.merge(found)
        return total.added["bins"], int(total.added["undefined"])

    def tallied(self, outputs: Mapping[str, Floats], thresholds: Thresholds) -> dict[str, Tally]:
        """Add up d and D of every arm."""
        totals = {name: Tally(thresholds) for name in outputs}

        def tally(block: tuple[Block, slice]) -> dict[str, Tally]:
            found = {name: Tally(thresholds, totals[name].worst.floor[0]) for name in outputs}
            for name, output in outputs.items():
                found[name].add(block[0], self.measured[block[1]], output[block[1]])
            return found

        for found in in_order(tally, self.blocks):
            for name, total in totals.items():
                total.merge(found[name])
        return totals


def _thresholds(pairs: _Held, counts: Counts, n_pairs: int, request: Request) -> Thresholds:
    ranks = [share_rank(share, n_pairs) for share in (request.nearest_share, *EPSILON_SHARES)]
    radius, *epsilon = pairs.numbers(counts, lambda part: pairs.measured[part]).of_ranks(ranks)
    edges = None if isinstance(request.bins, int) else request.bins
    return Thresholds(
        radius,
        distinct(epsilon),
        edges,
        request.condition,
        request.groups,
        request.worst,
        in_bins=pairs.many,
        n_individuals=pairs.n_individuals,
    )


class _Arm:
    """D of all pairs, what was added up, and the order statistics of ratios."""

    def __init__(self, pairs: _Held, output: Floats, tally: Tally, request: Request) -> None:
        self.pairs, self.output, self.tally = pairs, output, tally
        self.n_pairs, self.n_infinite = (int(tally.added[name]) for name in ("pairs", "infinite"))
        self.ratios = pairs.numbers(
            tally.added["ratio_bins"], lambda part: pair_ratios(output[part], pairs.measured[part])
        )
        n_finite = self.n_pairs - self.n_infinite
        ranks = [share_rank(q, self.n_pairs) for q in request.quantiles]
        *found, reach = self.ratios.of_ranks([*ranks, share_rank(REACH, n_finite) if n_finite else 0])
        self.reach = (reach or 1.0) if n_finite else 1.0
        self.quantiles = self._figures(request.quantiles, found)

    def findings(self, request: Request, edges: Floats) -> AccumulatedArm:
        slack = {} if request.condition is None else self._needed_slack(request.condition[0])
        return AccumulatedArm(self.tally, self.quantiles, slack, self._histogram(edges))

    def _needed_slack(self, lipschitz: float) -> dict[float, ExactValue]:
        d, D = self.pairs.measured, self.output
        counts = self.tally.added["excess_bins"]
        numbers = self.pairs.numbers(counts, lambda part: excesses(D[part], d[part], lipschitz))
        ranks = [share_rank(1 - share, self.n_pairs) for share in SLACK_SHARES]
        return self._figures(SLACK_SHARES, numbers.of_ranks(ranks))

    def _figures(self, shares: Iterable[float], values: list[float]) -> dict[float, ExactValue]:
        return {share: ExactValue(value, self.n_pairs) for share, value in zip(shares, values, strict=True)}

    def _histogram(self, edges: Floats) -> RatioHistogram:
        """Count ratios between the edges, unless that was done; the last bin includes its upper edge."""
        if self.tally.thresholds.edges is not None:
            return counted_histogram(edges, self.tally.added["histogram"], self.n_infinite)
        below = self.ratios.below(np.append(edges[:-1], np.nextafter(edges[-1], np.inf)))
        above = self.n_pairs - self.n_infinite - int(below[-1])
        return RatioHistogram(edges, np.diff(below), above, self.n_infinite)


def _common_edges(arms: Mapping[str, _Arm], bins: int | Floats) -> Floats:
    if not isinstance(bins, int):
        return bins
    return np.linspace(0.0, max(arm.reach for arm in arms.values()), bins + 1)
