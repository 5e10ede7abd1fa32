"""The k largest ratios by visiting all pairs, where no bound is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likewise._kernels import largest_places, pair_ratios
from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.exact.blocks import Block, units
from likewise.fairness.exact.in_order import in_order
from likewise.fairness.exact.top_pairs import TopPairs
from likewise.fairness.search.best_first import Found


def visit_all(
    output: PairwiseDistance, reference: PairwiseDistance, count: int, advance: Callable[[int], None]
) -> Found:
    """Measure all pairs, block by block, and keep the `count` largest ratios.

    Parameters
    ----------
    output, reference : PairwiseDistance
        D and d.
    count : int
    advance : callable
        Called with numbers of pairs.
    """
    found = Found(TopPairs(count))
    for distance in (output, reference):
        distance.block(0, 1, 0, 1)

    def visit(unit: Block) -> Found:
        part = Found(TopPairs(count))
        for block in unit.cut():
            _look_at(block, output, reference, found.top.floor[0], part)
        return part

    for part in in_order(visit, units(reference.n_individuals), output.concurrent and reference.concurrent):
        found.take(part)
        advance(part.n_examined)
    return found


def _look_at(
    block: Block, output: PairwiseDistance, reference: PairwiseDistance, floor: float, found: Found
) -> None:
    """Offer the pairs of a block whose ratios are not below the floor."""
    place = (block.start, block.stop, block.first, block.last)
    d, D = (block.pairs_of(distance.block(*place)) for distance in (reference, output))
    ratios = pair_ratios(D, d)
    found.n_examined += d.size
    found.n_measured += d.size
    candidates = np.flatnonzero(ratios >= max(floor, found.top.floor[0]))  # not where d is not defined
    chosen = candidates[largest_places(ratios[candidates], D[candidates], found.top.count)]
    if chosen.size:
        left, right = block.people(chosen)
        columns = {"ratio": ratios[chosen], "output": D[chosen], "reference": d[chosen]}
        found.top.offer({**columns, "left": left, "right": right})
