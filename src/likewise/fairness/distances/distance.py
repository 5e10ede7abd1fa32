"""What a distance between individuals is: an object that says how it measures and measures blocks of pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cached_property
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats, Indices
from likewise.errors import DistanceError, ShapeError
from likewise.observations.index_alignment import checked_positions, order_of_individuals

Axioms = Literal["metric", "pseudometric", "semimetric", "unknown"]
"""``"metric"``: symmetric, triangle inequality, zero only between equal rows. ``"pseudometric"``: unequal rows may be at
distance zero. ``"semimetric"``: symmetric, zero for a row and itself, but the triangle inequality can fail."""


@dataclass(frozen=True)
class DistanceDescription:
    """How a distance measures, in words that a report can print.

    Parameters
    ----------
    name : str
        For example ``"l1 on zero-filled observations"``.
    norm : str
        ``"l1"``, ``"l2"``, ``"l3"``, or another rule.
    columns : str
        Which features count.
    scaling : str
        What was done to the values first.
    missing : str
        What a missing entry counts as.
    axioms : {"metric", "pseudometric", "semimetric", "unknown"}
        What is guaranteed, on the rows as they were given.
    """

    name: str
    norm: str
    columns: str = "all"
    scaling: str = "none"
    missing: str = "none missing"
    axioms: Axioms = "metric"

    @property
    def is_metric(self) -> bool:
        """Whether all axioms of a metric hold."""
        return self.axioms == "metric"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and `is_metric` as a plain dictionary."""
        return {**asdict(self), "is_metric": self.is_metric}

    def __str__(self) -> str:
        return f"{self.name} ({self.axioms}; columns: {self.columns}; scaling: {self.scaling}; missing: {self.missing})"


def check_magnitude(what: str, largest: float, order: float = 2.0) -> None:
    """Refuse sizes up to `largest` (0 is allowed) of which the q-th powers that distances are made of, or the squares of these distances, overflow or vanish.

    >>> check_magnitude("rows", 1e200)
    Traceback (most recent call last):
    ...
    likewise.errors.DistanceError: rows of sizes up to 1e+200; expected sizes from 1e-145 to 1e+145, whose ...
    """
    most = 1e290 ** (1 / (2.0 if order == inf else max(order, 2.0)))  # linf takes no power but the square
    if not (largest == 0 or 1 / most <= largest <= most):
        raise DistanceError(
            f"{what} of sizes up to {largest:.3g}",
            f"sizes from {1 / most:.3g} to {most:.3g}, whose powers neither vanish nor overflow",
            f"divide all values by {largest:.0e}",
        )


def checked_pairs(left: ArrayLike, right: ArrayLike, n_individuals: int) -> tuple[Indices, Indices]:
    """Return the positions of pairs of individuals, both sides as arrays of integers.

    ShapeError for what is no position, or no vector of them, and for sides of different length.

    >>> checked_pairs([0], [7], 5)
    Traceback (most recent call last):
    ...
    likewise.errors.ShapeError: individual position 7; expected positions from 0 to 4. Hint: positions are not ids
    """
    sides = [checked_positions(side, n_individuals, "individual") for side in (left, right)]
    if sides[0].ndim != 1 or sides[0].shape != sides[1].shape:
        raise ShapeError(
            f"pairs of positions of shapes {sides[0].shape} and {sides[1].shape}", "two vectors of one length"
        )
    return sides[0], sides[1]


class PairwiseDistance(ABC):
    """A distance between any two of ``n_individuals`` individuals; serves as reference d and as output distance D.

    Attributes
    ----------
    n_individuals : int
    description : DistanceDescription
    row_ids : ndarray or None
        Names of the individuals, where the data carried them.
    resolution : float
        Distances up to here were set to 0, because below it the rows tell nothing; so the triangle inequality can fail by as much.
    upper_bound : float or None
        What no distance exceeds by how it is made, such as 1 for a share; None where nothing is known.
    notes : tuple of str
        What the reader of a result should know of the distance.
    concurrent : bool
        Whether several threads may measure at once.
    """

    n_individuals: int
    description: DistanceDescription
    row_ids: NDArray[Any] | None = None
    resolution: float = 0.0
    upper_bound: float | None = None
    notes: tuple[str, ...] = ()
    concurrent: bool = False

    @property
    def name(self) -> str:
        """Short name, from the description."""
        return self.description.name

    @property
    def is_metric(self) -> bool:
        """Whether all axioms of a metric hold on the rows as given."""
        return self.description.is_metric

    def block(self, start: int, stop: int, first: int = 0, last: int | None = None) -> Floats:
        """Measure individuals ``start..stop-1`` against individuals ``first..last-1``: pair by pair, where a distance knows no faster way.

        Parameters
        ----------
        start, stop : int
            Range of rows.
        first : int
            First individual of the other side; `start` gives the upper triangle.
        last : int, optional
            Where the other side ends; by default at the last individual.

        Returns
        -------
        ndarray, shape (stop - start, last - first)
            Distances, in an array of their own; NaN where a distance is not defined (for example no co-observed feature).
        """
        others = np.arange(self.n_individuals)[first:last]
        left, right = np.meshgrid(np.arange(start, stop), others, indexing="ij")
        return self.between(left.ravel(), right.ravel()).reshape(left.shape)

    @abstractmethod
    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Measure the pairs ``(left[k], right[k])``; shape (n_pairs,).

        Raises
        ------
        ShapeError
            What is no position; see `checked_pairs`, which every distance begins with.
        """

    def taken(self, individuals: NDArray[np.intp]) -> PairwiseDistance:
        """Return the same distance between some of the individuals, in the order given."""
        return SubsetDistance(self, individuals)

    def relative_spread(self) -> float | None:
        """Return the largest standard deviation of a column over its root mean square; None where there are no columns.

        Columns are judged one by one: a year beside a probability varies little for its size, and makes neither constant.
        """
        return None

    def lacked_by(self, individuals: Indices) -> tuple[str, ...]:  # noqa: ARG002
        """Return the names of features of which nothing is known of any of these individuals; none where d is not made of features that have names."""
        return ()

    def unresolved(self) -> PairwiseDistance:
        """Return the same distance without `resolution`."""
        return self

    def release(self) -> None:
        """Drop working copies that were made for blocks; they are made again when needed."""
        for name in [
            name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)
        ]:
            del self.__dict__[name]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {self.n_individuals} individuals)"


def in_order_of(what: str, distance: PairwiseDistance, ids: NDArray[Any] | None) -> PairwiseDistance:
    """Return a distance with the individuals in this order; one that has another order says so in its notes.

    `what` says what the distance is, for messages; `ids` are None where individuals are only counted. ShapeError if it is about other individuals.
    """
    order = order_of_individuals(what, distance.row_ids, ids)
    if order is None:
        return distance
    ordered = distance.taken(order)
    ordered.notes = (
        *ordered.notes,
        f"aligned {what}, given in another order, with the individuals by their ids",
    )
    return ordered


class SubsetDistance(PairwiseDistance):
    """Another distance, of which only some individuals are seen, at their positions in it."""

    def __init__(self, distance: PairwiseDistance, individuals: Indices) -> None:
        self.distance, self.individuals = distance, individuals
        self.n_individuals = len(individuals)
        self.description = distance.description
        self.row_ids = None if distance.row_ids is None else distance.row_ids[individuals]
        self.concurrent, self.notes = distance.concurrent, distance.notes
        self.resolution, self.upper_bound = distance.resolution, distance.upper_bound

    def between(self, left: Indices, right: Indices) -> Floats:
        """Measure given pairs; see `PairwiseDistance.between`."""
        left, right = checked_pairs(left, right, self.n_individuals)
        return self.distance.between(self.individuals[left], self.individuals[right])

    def relative_spread(self) -> float | None:
        """Return that of the whole; see `PairwiseDistance.relative_spread`."""
        return self.distance.relative_spread()

    def lacked_by(self, individuals: Indices) -> tuple[str, ...]:
        """Return the features that they lack; see `PairwiseDistance.lacked_by`."""
        return self.distance.lacked_by(self.individuals[individuals])

    def unresolved(self) -> SubsetDistance:
        """Return the same distance without `resolution`."""
        return SubsetDistance(self.distance.unresolved(), self.individuals)
