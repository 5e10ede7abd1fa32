"""All pairs in two passes that measure distances block by block and hold none of them.

The first pass counts d in bins: they tell which pairs are the most similar, and the points of the epsilon-delta curve. The second one
measures d and D and adds up; ratios and excesses are counted in bins for their order statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from likewise._kernels import RELATIVE_WIDTH
from likewise._typing import Floats
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.accumulated import Request
from likewise.fairness.exact.blocks import Block, pair_count, units
from likewise.fairness.exact.order_statistics import BinnedNumbers
from likewise.fairness.exact.sweep import Accumulated, Sweep, accumulated_arms
from likewise.fairness.options import progress_counter
from likewise.progress import Progress


def measure_streamed(
    reference: PairwiseDistance,
    distances: Mapping[str, PairwiseDistance],
    request: Request,
    progress: Progress | None = None,
) -> Accumulated:
    """Measure all pairs twice, block by block, as `measure_in_memory` does once; order statistics are those of bins."""
    advance = progress_counter(progress, 2 * pair_count(reference.n_individuals))
    pairs = _MeasuredAgain(reference, distances, advance)
    known = pairs.count()
    if not known.n_pairs:
        raise DistanceError(f"no pair has a defined distance under {reference.name}", "at least one pair")
    measured = BinnedNumbers(known.added["bins"], known.largest["bins"])
    thresholds = request.thresholds(measured.of_ranks, known.n_pairs, in_bins=True)
    tallies = pairs.tally(distances, thresholds)
    for distance in (reference, *distances.values()):
        distance.release()
    ratios = {name: BinnedNumbers(tally.added["ratio_bins"]) for name, tally in tallies.items()}
    beyond = {
        name: BinnedNumbers(tally.added["excess_bins"])
        for name, tally in tallies.items()
        if request.condition
    }
    n_undefined = int(known.added["undefined"])
    return Accumulated(thresholds, n_undefined, RELATIVE_WIDTH, accumulated_arms(tallies, ratios, beyond))


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
