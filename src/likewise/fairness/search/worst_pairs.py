"""The k largest ratios: `WorstPairs`, found within bounds where a distance has them and by visiting all pairs where none is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._kernels import largest_places, pair_ratios
from likewise.checks import checked_whole
from likewise.fairness.distances.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.exact.blocks import Block, in_order, pair_count, units
from likewise.fairness.metrics.worst_pairs import TopPairs, WorstPair, name_pairs
from likewise.fairness.options import individual_ids, output_distance, progress_counter
from likewise.fairness.search.best_first import Search, SearchResult
from likewise.plain import plain
from likewise.progress import Progress

if TYPE_CHECKING:
    import polars


def visit_all(
    output: PairwiseDistance, reference: PairwiseDistance, count: int, advance: Callable[[int], None]
) -> SearchResult:
    """Measure all pairs, block by block, and keep the `count` largest ratios; `advance` is called with numbers of pairs."""
    found = SearchResult(TopPairs(count))
    # Makes their working copies before several threads would.
    for distance in (output, reference):
        distance.block(0, 1, 0, 1)

    def visit(unit: Block) -> SearchResult:
        part = SearchResult(TopPairs(count))
        for block in unit.cut():
            _look_at(block, output, reference, found.top.floor[0], part)
        return part

    for part in in_order(visit, units(reference.n_individuals), output.concurrent and reference.concurrent):
        found.take(part)
        advance(part.n_examined)
    return found


def _look_at(
    block: Block, output: PairwiseDistance, reference: PairwiseDistance, floor: float, found: SearchResult
) -> None:
    """Offer the pairs of a block whose ratios are not below the floor."""
    place = (block.start, block.stop, block.first, block.last)
    d, D = (block.pairs_of(distance.block(*place)) for distance in (reference, output))
    # All ratios of a block are cheap; only those that can come in are sorted.
    ratios = pair_ratios(D, d)
    found.n_examined += d.size
    found.n_measured += d.size
    candidates = np.flatnonzero(ratios >= max(floor, found.top.floor[0]))  # not where d is not defined
    chosen = candidates[largest_places(ratios[candidates], D[candidates], found.top.count)]
    if chosen.size:
        left, right = block.people(chosen)
        columns = {"ratio": ratios[chosen], "output": D[chosen], "reference": d[chosen]}
        found.top.offer({**columns, "left": left, "right": right})


_SHOWN = 10


@dataclass(frozen=True, eq=False)
class WorstPairs:
    """The pairs with the largest ratios D / d of all, and how it is known that no other pair belongs among them.

    Parameters
    ----------
    pairs : tuple of WorstPair
        Largest ratio first; of equal ratios the larger D, then the earlier position.
    positions : ndarray of int, shape (n_found, 2)
        The two individuals of each pair, for `explain_pair`.
    n_pairs : int
        All pairs.
    n_examined : int
        Pairs that were bounded or measured one by one; all others were ruled out by the bounds of boxes.
    n_measured : int
        Pairs whose d and D were measured.
    bound : float
        No pair that was not examined has a larger ratio; -infinity where all were examined.
    reference, output : DistanceDescription
        d and D.
    """

    pairs: tuple[WorstPair, ...]
    positions: NDArray[np.intp]
    n_pairs: int
    n_examined: int
    n_measured: int
    bound: float
    reference: DistanceDescription
    output: DistanceDescription

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers (infinities are Python floats)."""
        record = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        return record | {"reference": self.reference.to_dict(), "output": self.output.to_dict()}

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row a pair."""
        import polars

        return polars.DataFrame([plain(pair) for pair in self.pairs])

    def __str__(self) -> str:
        share = self.n_examined / self.n_pairs
        lines = [
            f"{len(self.pairs)} largest ratios of {self.n_pairs:,} pairs, exact",
            f"  d: {self.reference}",
            f"  D: {self.output}",
            f"  examined {self.n_examined:,} pairs ({share:.2%}), measured {self.n_measured:,}",
        ]
        if self.n_examined < self.n_pairs:
            lines.append(f"  none of the pairs that were not examined has a ratio above {self.bound:.4g}")
        shown = self.pairs[:_SHOWN]
        lines += [
            f"  {pair.ratio:<10.4g} {pair.left} and {pair.right}: D = {pair.output_distance:.4g}, d = {pair.reference_distance:.4g}"
            for pair in shown
        ]
        more = len(self.pairs) - len(shown)
        return "\n".join([*lines, f"  and {more} more"] if more else lines)


def worst_pairs(
    outputs: ArrayLike | PairwiseDistance,
    reference: PairwiseDistance,
    k: int = 100,
    *,
    row_ids: ArrayLike | None = None,
    progress: Progress | None = None,
) -> WorstPairs:
    """Find the k pairs with the largest ratios D / d of all pairs, exactly, without measuring all of them.

    Individuals are parted into small boxes. For two boxes, their gap bounds d from below, and the triangle inequality through a few pivots
    bounds D from above. Boxes are visited from the largest bound on D / d down, until the next bound is below the k-th largest ratio found.
    Where the axioms of d or D give no bound, all pairs are visited.

    Parameters
    ----------
    outputs : array-like of shape (n_individuals,) or (n_individuals, n_outputs), or PairwiseDistance
        What the algorithm gave each individual, or an output distance D.
    reference : PairwiseDistance
        d between individuals.
    k : int, default 100
        How many pairs, from 1 to the number of pairs.
    row_ids : array-like, optional
        Names of the individuals; by default those of `reference`, or positions.
    progress : callable, optional
        Called with (done, total) pairs; those ruled out are done.

    Returns
    -------
    WorstPairs

    Raises
    ------
    InputError
        `k` out of its range.
    ShapeError
        Outputs and reference differ in their number of individuals.

    Notes
    -----
    Exact to within the rounding of distances, for which bounds allow: a pair is left out only for one whose ratio is the same to a share
    of 1e-9.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> people = RowDistance([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [9.0, 9.0]], "l1")
    >>> found = worst_pairs([0.0, 3.0, 1.0, 4.0], people, k=2)
    >>> [(pair.left, pair.right, pair.ratio) for pair in found.pairs]
    [(0, 1, 3.0), (1, 2, 0.6666666666666666)]
    """
    distance = output_distance("outputs", outputs, reference)
    n_pairs, ids = pair_count(reference.n_individuals), individual_ids(row_ids, reference)
    checked_whole("k", k, most=n_pairs)
    advance = progress_counter(progress, n_pairs)
    found = _find(distance, reference, int(k), advance)
    # Pairs that bounds ruled out are done, too.
    advance(n_pairs - found.n_examined)
    columns = found.top.columns
    return WorstPairs(
        name_pairs(ids=ids, **columns),
        np.stack([columns["left"], columns["right"]], axis=1),
        n_pairs,
        found.n_examined,
        found.n_measured,
        found.bound,
        reference.description,
        distance.description,
    )


def _find(
    output: PairwiseDistance, reference: PairwiseDistance, count: int, advance: Callable[[int], None]
) -> SearchResult:
    search = Search.prepare(output, reference)
    found = visit_all(output, reference, count, advance) if search is None else search.run(count, advance)
    for distance in (output, reference):
        distance.release()
    return found
