"""All pairs with one number each for d and for D of every arm in memory: order statistics are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from likewise._kernels import excesses, pair_ratios
from likewise._typing import Counts, Floats
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.accumulated import Request
from likewise.fairness.exact.blocks import Block, all_pairs, pair_count, pair_starts, row_blocks
from likewise.fairness.exact.order_statistics import CountedNumbers, Numbers, SortedNumbers
from likewise.fairness.exact.sweep import Accumulated, Sweep, accumulated_arms
from likewise.fairness.options import progress_counter
from likewise.memory import ensure_fits
from likewise.progress import Progress

_FEW = 1 << 19
"""So many numbers are sorted; of more, those in the bins of the wanted ranks are looked at again."""

_BLOCK_PAIRS = 1 << 20
_PART = 1 << 17


def measure_in_memory(
    reference: PairwiseDistance,
    distances: Mapping[str, PairwiseDistance],
    request: Request,
    progress: Progress | None = None,
) -> Accumulated:
    """Measure all pairs once, then find and add up; `distances` has the D of each arm.

    Raises
    ------
    DistanceError
        No pair has a defined reference distance.
    MemoryLimitError
        One number for each pair and arm would not fit.
    """
    n_pairs = pair_count(reference.n_individuals)
    what = f"one number for each of {n_pairs:,} pairs and {len(distances)} arms"
    ensure_fits(
        bytes_in_memory(reference, distances), what, "leave streaming out, or audit a sample of the pairs"
    )
    advance = progress_counter(progress, (1 + len(distances)) * n_pairs)
    d = all_pairs(reference, advance)
    pairs = _PairsInMemory(reference.n_individuals, d)
    counts, n_undefined = pairs.counted()
    if n_undefined == d.size:
        raise DistanceError(f"no pair has a defined distance under {reference.name}", "at least one pair")
    pairs.outputs = {name: all_pairs(distance, advance) for name, distance in distances.items()}
    of_ranks = pairs.numbers(counts, lambda part: d[part]).of_ranks
    thresholds = request.thresholds(of_ranks, d.size - n_undefined, in_bins=pairs.many)
    tallies = pairs.tally(distances, thresholds)
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
    return Accumulated(thresholds, n_undefined, 0.0, accumulated_arms(tallies, ratios, beyond))


def bytes_in_memory(reference: PairwiseDistance, distances: Mapping[str, PairwiseDistance]) -> int:
    """Return what d, D of each arm, ratios and a working copy take: eight bytes each for every pair."""
    return pair_count(reference.n_individuals) * 8 * (len(distances) + 3)


class _PairsInMemory(Sweep):
    """d and D of every arm; d is NaN where it is not defined.

    Parameters
    ----------
    n_individuals : int
    reference : ndarray, shape (n_pairs,)

    Attributes
    ----------
    outputs : dict of str to ndarray, shape (n_pairs,)
        None until they are measured.
    """

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
