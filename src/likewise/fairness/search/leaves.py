"""Individuals parted into small boxes, and what no pair between two boxes can exceed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.cancellation import RELATIVE_ERROR
from likewise.fairness.search.coordinates import Coordinates

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_SMALLEST_LEAF = 64
_MOST_LEAVES = 4096


@dataclass(frozen=True, eq=False)
class Leaves:
    """Individuals in the order of leaves, each of which lies in a box of coordinates.

    Parameters
    ----------
    order : ndarray of int, shape (n_individuals,)
        Individuals, those of a leaf together.
    starts : ndarray of int, shape (n_leaves + 1,)
        Where each leaf begins.
    """

    order: Indices
    starts: Indices

    @classmethod
    def of(cls, points: Floats) -> Leaves:
        """Halve individuals again and again where they are spread most."""
        largest = max(_SMALLEST_LEAF, -(-len(points) // _MOST_LEAVES))
        found, waiting = [], [np.arange(len(points))]
        while waiting:
            part = waiting.pop()
            if part.size <= largest:
                found.append(part)
                continue
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
    """All pairs of leaves, a leaf with itself included, the most promising first.

    Parameters
    ----------
    left, right : ndarray of int, shape (n_leaf_pairs,)
    ratio, output : ndarray, shape (n_leaf_pairs,)
        What D / d, and D, do not exceed for any pair between the two.
    """

    left: Indices
    right: Indices
    ratio: Floats
    output: Floats

    @classmethod
    def of(cls, leaves: Leaves, coordinates: Coordinates, to_pivots: Floats, slack: float) -> LeafPairs:
        """Bound all pairs of leaves.

        Parameters
        ----------
        leaves : Leaves
        coordinates : Coordinates
            That bound d from below.
        to_pivots : ndarray, shape (n_individuals, n_pivots)
            D from everybody to some pivots.
        slack : float
            What is added to bounds on D, beside a share of 1e-9.
        """
        boxes, farthest = leaves.extremes(coordinates.points), leaves.extremes(to_pivots)[1]
        rows = [_bounds(b, boxes, farthest, coordinates, slack) for b in range(leaves.n_leaves)]
        ratio, output, promise = (np.concatenate(column) for column in zip(*rows, strict=True))
        left, right = np.triu_indices(leaves.n_leaves)
        best = np.lexsort((-promise, -ratio))
        return cls(left[best], right[best], ratio[best], output[best])


def _bounds(
    b: int, boxes: tuple[Floats, Floats], farthest: Floats, coordinates: Coordinates, slack: float
) -> tuple[Floats, Floats, Floats]:
    """Bound D / d and D between leaf b and those from b on, and guess where ratios are large among equal bounds."""
    low, high = (ends[b:] for ends in boxes)
    gaps = np.maximum(np.maximum(low - high[0], low[0] - high), 0.0)
    spans = np.maximum(high, high[0]) - np.minimum(low, low[0])
    lower = coordinates.safe(np.linalg.norm(gaps, coordinates.order, axis=1))
    upper = (farthest[b:] + farthest[b]).min(axis=1) * (1 + 2 * RELATIVE_ERROR) + slack
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(upper > 0, upper / lower, 0.0)
        promise = upper / np.linalg.norm(spans, coordinates.order, axis=1)
    return ratio, upper, np.nan_to_num(promise)
