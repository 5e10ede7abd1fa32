"""All pairs with one number each for d and for D of every arm in memory: order statistics are exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import excesses, pair_ratios
from likewise.errors import DistanceError
from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.epsilon_delta import SHARES as EPSILON_SHARES
from likewise.fairness.epsilon_delta import distinct
from likewise.fairness.exact.blocks import Block
from likewise.fairness.exact.findings import ArmFindings, Findings, Request, counted_histogram
from likewise.fairness.exact.in_order import in_order
from likewise.fairness.exact.tally import Tally
from likewise.fairness.exact.thresholds import Thresholds
from likewise.fairness.figure import ExactFigure
from likewise.fairness.histogram import REACH
from likewise.fairness.pairs import all_pairs, pair_starts, row_blocks
from likewise.fairness.ratios import order_statistics, share_rank
from likewise.fairness.violations import SHARES as SLACK_SHARES

Floats = NDArray[np.float64]

_CHUNK_PAIRS = 1 << 18


def measure_held(
    reference: PairwiseDistance,
    distances: Mapping[str, PairwiseDistance],
    request: Request,
    advance: Callable[[int], None],
) -> Findings:
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
    measured = all_pairs(reference, advance)
    defined = ~np.isnan(measured)
    n_undefined = defined.size - int(np.count_nonzero(defined))
    known = measured[defined] if n_undefined else measured
    if not known.size:
        raise DistanceError(f"no pair has a defined distance under {reference.name}", "at least one pair")
    outputs = {name: all_pairs(distance, advance) for name, distance in distances.items()}
    orders = {
        name: _Order.of(output[defined] if n_undefined else output, known, request)
        for name, output in outputs.items()
    }
    thresholds = _thresholds(known, max(order.reach for order in orders.values()), request)
    tallies = _tally(measured, outputs, thresholds, reference.n_individuals)
    return Findings(
        thresholds,
        n_undefined,
        0.0,
        {name: _arm(tallies[name], order, thresholds) for name, order in orders.items()},
    )


@dataclass(frozen=True)
class _Order:
    """Order statistics of one arm: quantiles, needed slack, and where nearly all finite ratios end."""

    quantiles: dict[float, ExactFigure]
    needed_slack: dict[float, ExactFigure]
    reach: float

    @classmethod
    def of(cls, output: Floats, reference: Floats, request: Request) -> _Order:
        n_pairs = output.size
        ratios = pair_ratios(output, reference)
        n_finite = n_pairs - int(np.count_nonzero(np.isinf(ratios)))
        ranks = [share_rank(q, n_pairs) for q in request.quantiles]
        *found, reach = order_statistics(ratios, [*ranks, share_rank(REACH, n_finite) if n_finite else 0])
        slack: list[float] = []
        if request.condition:
            excess = excesses(output, reference, request.condition[0])
            slack = order_statistics(excess, [share_rank(1 - share, n_pairs) for share in SLACK_SHARES])
        return cls(
            {q: ExactFigure(value, n_pairs) for q, value in zip(request.quantiles, found, strict=True)},
            {share: ExactFigure(value, n_pairs) for share, value in zip(SLACK_SHARES, slack, strict=False)},
            (reach or 1.0) if n_finite else 1.0,
        )


def _thresholds(known: Floats, reach: float, request: Request) -> Thresholds:
    shares = [request.nearest_share, *EPSILON_SHARES]
    radius, *epsilon = order_statistics(known, [share_rank(share, known.size) for share in shares])
    bins = request.bins
    edges = np.linspace(0.0, reach, bins + 1) if isinstance(bins, int) else bins
    return Thresholds(
        radius, distinct(epsilon), edges, request.condition, request.groups, request.worst, in_bins=False
    )


def _tally(
    measured: Floats, outputs: Mapping[str, Floats], thresholds: Thresholds, n_individuals: int
) -> dict[str, Tally]:
    starts = pair_starts(n_individuals)
    totals = {name: Tally(thresholds) for name in outputs}

    def tally(rows: tuple[int, int]) -> dict[str, Tally]:
        part = slice(starts[rows[0]], starts[rows[1]])
        block = Block(*rows, rows[0], n_individuals)
        found = {name: Tally(thresholds, totals[name].worst.floor[0]) for name in outputs}
        for name, output in outputs.items():
            found[name].add(block, measured[part], output[part])
        return found

    for found in in_order(tally, row_blocks(n_individuals, _CHUNK_PAIRS)):
        for name, total in totals.items():
            total.merge(found[name])
    return totals


def _arm(tally: Tally, order: _Order, thresholds: Thresholds) -> ArmFindings:
    assert thresholds.edges is not None
    histogram = counted_histogram(thresholds.edges, tally.added["histogram"], int(tally.added["infinite"]))
    return ArmFindings(tally, order.quantiles, order.needed_slack, histogram)
