"""Individuals parted into small boxes, and what no pair between two boxes can exceed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import pair_ratios
from likewise._typing import Floats, Indices
from likewise.fairness.distances.cancellation import RELATIVE_ERROR
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.blocks import in_order
from likewise.fairness.metrics.worst_pairs import TopPairs
from likewise.fairness.search.coordinates import (
    Coordinates,
    coarse_coordinates,
    fine_coordinates,
    pivot_distances,
)

_LEAF_SIZE = 64
"""Individuals that a leaf has at most, and at least half as many; the 4,096 pairs between two such leaves are enough work for one call of NumPy to be worth its fixed cost."""
_MOST_LEAVES = 4096
"""All pairs of leaves are bounded and kept: 8.4 million of these, at 32 bytes each. Above 262,144 individuals leaves grow instead."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """Individuals in the order of leaves, each of which lies in a box of coordinates."""

    order: Indices  # (n_individuals,), individuals, those of a leaf together
    starts: Indices  # (n_leaves + 1,), where each leaf begins

    @classmethod
    def of(cls, points: Floats) -> Leaves:
        """Halve individuals again and again where they are spread most."""
        largest = max(_LEAF_SIZE, -(-len(points) // _MOST_LEAVES))
        found, waiting = [], [np.arange(len(points))]
        while waiting:
            part = waiting.pop()
            if part.size <= largest:
                found.append(part)
                continue
            # Cut the longest side, at the median: boxes stay compact, so that gaps between them, which
            # bound d, are large; and leaves are of one size, so that there are not too many.
            widest = np.ptp(points[part], axis=0).argmax()
            halves = np.argpartition(points[part, widest], part.size // 2)
            waiting += [part[halves[: part.size // 2]], part[halves[part.size // 2 :]]]
        return cls(np.concatenate(found), np.concatenate([[0], np.cumsum([part.size for part in found])]))

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return self.starts.size - 1

    def members(self, leaf: int) -> slice:
        """Return where the individuals of a leaf stand in `order`."""
        return slice(int(self.starts[leaf]), int(self.starts[leaf + 1]))

    def extremes(self, points: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest of each coordinate in each leaf."""
        ordered = points[self.order]
        return tuple(kind.reduceat(ordered, self.starts[:-1], axis=0) for kind in (np.minimum, np.maximum))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class LeafPairs:
    """All pairs of leaves, a leaf with itself included, the most promising first; each field has one entry for each of them."""

    left: Indices
    right: Indices
    ratio: Floats  # what D / d of no pair between the two exceeds
    output: Floats  # what D of no such pair exceeds

    @classmethod
    def of(cls, leaves: Leaves, coordinates: Coordinates, to_pivots: Floats, slack: float) -> LeafPairs:
        """Bound all pairs of leaves: by `coordinates`, which bound d from below, and by D `to_pivots`, shape (n_individuals, n_pivots).

        Rounding is allowed for by `slack`, which is added to bounds on D, beside a share of 1e-9.
        """
        boxes, farthest = leaves.extremes(coordinates.points), leaves.extremes(to_pivots)[1]
        rows = [_bounds(b, boxes, farthest, coordinates, slack) for b in range(leaves.n_leaves)]
        ratio, output, guess = (np.concatenate(column) for column in zip(*rows, strict=True))
        left, right = np.triu_indices(leaves.n_leaves)
        # Where boxes touch the bound on D / d is infinite: among these, the guess says which to look at
        # first.
        best = np.lexsort((-guess, -ratio))
        return cls(left[best], right[best], ratio[best], output[best])


def _bounds(
    b: int, boxes: tuple[Floats, Floats], farthest: Floats, coordinates: Coordinates, slack: float
) -> tuple[Floats, Floats, Floats]:
    """Bound D / d and D between leaf b and those from b on, and guess where ratios are large among equal bounds."""
    low, high = (ends[b:] for ends in boxes)
    # Points in two boxes are no nearer than the boxes: along each coordinate the gap between their sides, 0
    # where they overlap.
    gaps = np.maximum(np.maximum(low - high[0], low[0] - high), 0.0)
    spans = np.maximum(high, high[0]) - np.minimum(low, low[0])
    lower = coordinates.safe(np.linalg.norm(gaps, coordinates.order, axis=1))
    # D(x, y) <= D(x, p) + D(p, y) for every pivot p, so at most the farthest of either leaf from p, by way
    # of the best p.
    upper = (farthest[b:] + farthest[b]).min(axis=1) * (1 + 2 * RELATIVE_ERROR) + slack
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(upper > 0, upper / lower, 0.0)
        guess = upper / np.linalg.norm(spans, coordinates.order, axis=1)
    return ratio, upper, np.nan_to_num(guess)


Floor = tuple[float, float]
"""Ratio and output distance that a pair must reach to come in."""

_OUTPUT_PIVOTS = 4
"""Each costs D from one individual to all others; D of a pair is at most its way over the best of them."""
_LEAF_PAIRS_A_TASK = 8
"""So that what one thread does in one go is worth handing to it, and several threads find work in a round."""
_LARGEST_ROUND = 1 << 12
"""Pairs of leaves that are held against the same floor: rounds double up to here, as a floor that has grown skips more in the next one."""
_MEASURED_AT_ONCE = 1 << 10
"""Pairs, after which the floor is looked at again: it may end the search between two leaves."""
_SAFE = 1 + 4 * RELATIVE_ERROR
"""More than the rounding of D and d can take off a ratio, so that bounds stay bounds."""


@dataclass
class SearchResult:
    """The largest ratios, and how they were found."""

    top: TopPairs
    n_examined: int = 0  # pairs of visited leaves, each of which was bounded or measured
    n_measured: int = 0  # those whose distances were measured
    bound: float = -np.inf  # what no ratio of the other pairs exceeds; -infinity where there are none

    def take(self, other: SearchResult) -> None:
        """Take in what was found elsewhere."""
        self.top.offer(other.top.columns)
        self.n_examined += other.n_examined
        self.n_measured += other.n_measured


@dataclass(frozen=True, eq=False)
class Search:
    """Both distances with what bounds them, individuals in the order of leaves."""

    output: PairwiseDistance  # D
    reference: PairwiseDistance  # d
    leaves: Leaves
    ordered_output: PairwiseDistance  # D of the individuals in the order of leaves
    fine: Coordinates | None  # bound d of single pairs, in the order of leaves
    ordered_reference: PairwiseDistance | None  # where d itself costs no more than a bound
    leaf_pairs: LeafPairs

    @classmethod
    def prepare(cls, output: PairwiseDistance, reference: PairwiseDistance) -> Search | None:
        """Part and bound; None where the axioms of D or d allow no bounds."""
        coarse = coarse_coordinates(reference)
        if coarse is None or output.description.axioms not in ("metric", "pseudometric"):
            return None
        leaves = Leaves.of(coarse.points)
        # Two legs of the way over a pivot: each may have been set to 0 where it was smaller than the
        # resolution.
        slack = 2 * output.resolution
        leaf_pairs = LeafPairs.of(leaves, coarse, pivot_distances(output, _OUTPUT_PIVOTS), slack)
        fine = fine_coordinates(reference)
        return cls(
            output,
            reference,
            leaves,
            output.taken(leaves.order),
            fine and fine.taken(leaves.order),
            None if fine else reference.taken(leaves.order),
            leaf_pairs,
        )

    def run(self, count: int, advance: Callable[[int], None]) -> SearchResult:
        """Find the `count` largest ratios.

        Every round visits more pairs of leaves, in the order of their bounds. It ends when the next bound is below the smallest ratio
        found, and so are all that follow: no pair that was not visited can be among the largest, nor tie with them.
        """
        found, left = SearchResult(TopPairs(count)), self.leaf_pairs
        concurrent = self.output.concurrent and self.reference.concurrent
        # Makes its working copies before several threads would.
        self.ordered_output.block(0, 1, 0, 1)
        start, size = 0, 1
        while start < left.ratio.size and left.ratio[start] >= found.top.floor[0]:
            # Bounds on ratios decrease, so the first one below the floor ends the search; where one ties with it, the
            # bound on D decides.
            here = np.arange(start, min(start + size, left.ratio.size))
            matters = not_below(left.ratio[here], left.output[here], found.top.floor)
            found.bound = max(found.bound, left.ratio[here[~matters]].max(initial=-np.inf))
            visit = partial(self._visit, count=count, floor=found.top.floor)
            for part in in_order(visit, _tasks(here[matters]), concurrent):
                found.take(part)
                advance(part.n_examined)
            start, size = start + size, min(2 * size, _LARGEST_ROUND)
        # What was never visited is bounded by the first of it.
        found.bound = max(found.bound, left.ratio[start:].max(initial=-np.inf))
        return found

    def _visit(self, places: Indices, count: int, floor: Floor) -> SearchResult:
        """Find the largest ratios between some pairs of leaves that are not below `floor`."""
        found = SearchResult(TopPairs(count))
        for b, c in zip(self.leaf_pairs.left[places], self.leaf_pairs.right[places], strict=True):
            self._examine(self.leaves.members(b), self.leaves.members(c), floor, found)
        return found

    def _examine(self, left: slice, right: slice, floor: Floor, found: SearchResult) -> None:
        """Bound the pairs between two leaves, and measure them from the largest bound on while that is not below the floor."""
        # D of all pairs between two leaves is measured at once, which is cheap, and may round otherwise than D
        # of single pairs.
        upper = self.ordered_output.block(left.start, left.stop, right.start, right.stop) * _SAFE
        ratio = _ratio_bounds(upper, self._lower(left, right))
        found.n_examined += ratio.size
        if left == right:
            ratio[np.tril_indices(len(ratio))] = np.nan  # no pair, and below any floor
            found.n_examined -= len(ratio) * (len(ratio) + 1) // 2
        ratio, upper = ratio.ravel(), upper.ravel()
        places = np.flatnonzero(not_below(ratio, upper, max(floor, found.top.floor)))
        # The most promising first, so that the floor grows soonest; as bounds only fall from here, a part
        # without any pair above the floor is the last.
        places = places[np.lexsort((-upper[places], -ratio[places]))]
        for k in range(0, places.size, _MEASURED_AT_ONCE):
            part = places[k : k + _MEASURED_AT_ONCE]
            part = part[not_below(ratio[part], upper[part], max(floor, found.top.floor))]
            if not part.size:
                break
            rows, columns = np.divmod(part, right.stop - right.start)
            self._measure(self.leaves.order[left][rows], self.leaves.order[right][columns], found)

    def _lower(self, left: slice, right: slice) -> Floats:
        if self.fine is not None:
            return self.fine.bounds(left, right)
        assert self.ordered_reference is not None
        return self.ordered_reference.block(left.start, left.stop, right.start, right.stop)

    def _measure(self, left: Indices, right: Indices, found: SearchResult) -> None:
        # In the order of leaves the later individual may come first; a pair is named by the earlier one,
        # and ties go by position.
        left, right = np.minimum(left, right), np.maximum(left, right)
        output, reference = self.output.between(left, right), self.reference.between(left, right)
        ratio = pair_ratios(output, reference)
        found.n_measured += ratio.size
        found.top.offer(
            {"ratio": ratio, "output": output, "reference": reference, "left": left, "right": right}
        )


def not_below(ratio: Floats, output: Floats, floor: Floor) -> NDArray[np.bool_]:
    """Say which bounds leave it open that a pair comes before the floor: a larger ratio, or the same with no smaller D."""
    open_: NDArray[np.bool_] = (ratio > floor[0]) | ((ratio == floor[0]) & (output >= floor[1]))
    return open_


def _ratio_bounds(upper: Floats, lower: Floats) -> Floats:
    """Bound D / d by an upper bound on D and a lower one on d; 0 where D is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = upper * _SAFE / lower
    ratio[upper == 0] = 0.0
    return ratio


def _tasks(places: Indices) -> list[Indices]:
    return [places[k : k + _LEAF_PAIRS_A_TASK] for k in range(0, places.size, _LEAF_PAIRS_A_TASK)]
