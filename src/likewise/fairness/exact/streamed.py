"""All pairs in two passes that measure distances block by block and hold none of them.

The first pass counts d in bins: they tell which pairs are the most similar, and the points of the epsilon-delta curve. The second one
measures d and D and adds up; ratios and excesses are counted in bins for their order statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from likewise._kernels import RELATIVE_WIDTH, bin_ends, bins_of
from likewise._typing import Floats
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
from likewise.fairness.exact.blocks import Block, in_order, units
from likewise.fairness.exact.log_grid import bin_of_rank, bracket
from likewise.fairness.exact.saved_state import SavedState
from likewise.fairness.metrics.curves import REACH, RatioHistogram, distinct
from likewise.fairness.metrics.curves import SHARES as EPSILON_SHARES
from likewise.fairness.metrics.ratios import share_rank
from likewise.fairness.metrics.violations import SHARES as SLACK_SHARES

Distances = Mapping[str, PairwiseDistance]


def measure_streamed(
    reference: PairwiseDistance,
    distances: Distances,
    request: Request,
    state: SavedState,
    advance: Callable[[int], None],
) -> Accumulated:
    """Measure all pairs twice, in memory that does not grow with their number.

    Parameters
    ----------
    reference : PairwiseDistance
    distances : mapping of str to PairwiseDistance
        D of each arm.
    request : Request
    state : SavedState
        Where the passes stand.
    advance : callable
        Called with numbers of pairs: once for each pair and pass, those of an earlier run included.

    Raises
    ------
    DistanceError
        No pair has a defined reference distance.
    FileFormatError, InputError
        See `SavedState`.
    """
    work = units(reference.n_individuals)
    concurrent = all(distance.concurrent for distance in (reference, *distances.values()))
    for distance in (reference, *distances.values()):
        distance.block(0, 1, 0, 1)  # makes its working copies before several threads would
    known = ReferenceTally()

    def count(unit: Block) -> ReferenceTally:
        return _counted(unit, reference)

    with state.stage("reference", [known], work, advance) as left:
        for found in in_order(count, left, concurrent):
            known.merge(found)
            left.commit()
    if not known.n_pairs:
        raise DistanceError(f"no pair has a defined distance under {reference.name}", "at least one pair")
    thresholds = _thresholds(known, request)
    totals = {name: Tally(thresholds) for name in distances}

    def add(unit: Block) -> dict[str, Tally]:
        return _tallied(unit, reference, distances, thresholds, totals)

    with state.stage("arms", list(totals.values()), work, advance) as left:
        for tallies in in_order(add, left, concurrent):
            for name, total in totals.items():
                total.merge(tallies[name])
            left.commit()
    for distance in (reference, *distances.values()):
        distance.release()
    return Accumulated(thresholds, int(known.added["undefined"]), RELATIVE_WIDTH, _arms(totals, request))


def _counted(unit: Block, reference: PairwiseDistance) -> ReferenceTally:
    """Count the reference distances of a unit."""
    found = ReferenceTally()
    for block in unit.cut():
        found.add(block, reference.block(block.start, block.stop, block.first, block.last))
    return found


def _tallied(
    unit: Block,
    reference: PairwiseDistance,
    distances: Distances,
    thresholds: Thresholds,
    totals: Mapping[str, Tally],
) -> dict[str, Tally]:
    """Add up the pairs of a unit; `totals` only tell which ratios are too small to be among the worst."""
    tallies = {name: Tally(thresholds, total.worst.floor[0]) for name, total in totals.items()}
    for block in unit.cut():
        place = (block.start, block.stop, block.first, block.last)
        measured = reference.block(*place)
        for name, distance in distances.items():
            tallies[name].add(block, measured, distance.block(*place))
    return tallies


def _thresholds(known: ReferenceTally, request: Request) -> Thresholds:
    """Take the largest distance in the bins of the wanted ranks."""
    shares = [request.nearest_share, *EPSILON_SHARES]
    bins = [bin_of_rank(known.added["bins"], share_rank(share, known.n_pairs)) for share in shares]
    radius, *epsilon = known.largest["bins"][bins].tolist()
    edges = None if isinstance(request.bins, int) else request.bins
    return Thresholds(
        radius,
        distinct(epsilon),
        edges,
        request.condition,
        request.groups,
        request.worst,
        in_bins=True,
        n_individuals=len(request.ids),
    )


def _arms(totals: Mapping[str, Tally], request: Request) -> dict[str, AccumulatedArm]:
    edges = _common_edges(totals, request.bins) if isinstance(request.bins, int) else None
    found = {}
    for name, tally in totals.items():
        n_pairs = int(tally.added["pairs"])
        ratios, excess = (tally.added[f"{kind}_bins"] for kind in ("ratio", "excess"))
        slack = SLACK_SHARES if request.condition else ()
        found[name] = AccumulatedArm(
            tally,
            {q: bracket(ratios, share_rank(q, n_pairs), n_pairs) for q in request.quantiles},
            {share: bracket(excess, share_rank(1 - share, n_pairs), n_pairs) for share in slack},
            _histogram(tally, edges),
        )
    return found


def _common_edges(totals: Mapping[str, Tally], count: int) -> Floats:
    """Return equal bins whose edges lie on ends of ratio bins, that hold nearly all finite ratios of every arm."""
    smallest, largest = bin_ends()
    reach = 0.0
    for tally in totals.values():
        counts = tally.added["ratio_bins"]
        if n_finite := int(counts.sum()):
            reach = max(reach, largest[bin_of_rank(counts, share_rank(REACH, n_finite))])
    edges = np.linspace(0.0, reach or 1.0, count + 1)
    edges[:-1] = smallest[bins_of(edges[:-1])]
    return np.unique(edges)


def _histogram(tally: Tally, edges: Floats | None) -> RatioHistogram:
    infinite = int(tally.added["infinite"])
    if edges is None:
        assert tally.thresholds.edges is not None
        return counted_histogram(tally.thresholds.edges, tally.added["histogram"], infinite)
    up_to = np.concatenate([[0], np.cumsum(tally.added["ratio_bins"])])
    ends = np.append(bins_of(edges[:-1]), bins_of(edges[-1:]) + 1)
    return RatioHistogram(edges, np.diff(up_to[ends]), int(up_to[-1] - up_to[ends[-1]]), infinite)
