"""What is added up over pairs, and what they are held against: the records that C and its twin fill.

A record has named fields. C has the same names and compares them when it is loaded, so that neither side remembers a place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.ratios import N_BINS, EdgeCounter
from likewise._typing import Floats, Indices
from likewise.errors import InputError


def _record(kind: type, names: str) -> np.dtype[np.void]:
    return np.dtype([(name, kind) for name in names.split()])


COUNTS = _record(np.int64, "pairs zero infinite near near_infinite violating")
TOTALS = _record(
    np.float64, "reference output output_squared ratio near_ratio near_output near_inverse excess"
)
MAXIMA = _record(np.float64, "ratio near_ratio excess")
GROUP_SUMS = _record(
    np.float64, "pairs infinite similar ratio gap distance similar_infinite similar_ratio similar_gap"
)
"""What is summed for every two groups."""
PERSON_COLUMNS = ("pairs", "similar", "gap", "similar_gap")
"""What is summed over the pairs that an individual takes part in."""

FIELDS = {
    "counts": COUNTS.names,
    "totals": TOTALS.names,
    "maxima": MAXIMA.names,
    "group_sums": GROUP_SUMS.names,
    "person_sums": PERSON_COLUMNS,
}
"""The names that pair_sums.c must have, in their order in memory; compared when the library is loaded."""


def by_name(record: NDArray[np.void]) -> dict[str, NDArray[Any]]:
    """Return the fields of a record as views of it.

    >>> record = np.zeros((), COUNTS)
    >>> by_name(record)["pairs"] += 3
    >>> int(record["pairs"])
    3
    """
    return {name: record[name] for name in record.dtype.names or ()}


@dataclass(frozen=True, eq=False)
class PairLimits:
    """What pairs are held against; `InputError` for groups of another type or range."""

    near: float  # pairs with d at most this large are most similar
    # All points of the epsilon-delta curve but the last, which all other pairs are under; counted from the left.
    epsilon: EdgeCounter
    histogram: EdgeCounter | None = None  # edges for ratios, counted from the right
    condition: tuple[float, float] | None = None  # L and gamma of D <= L d + gamma
    groups: NDArray[np.int32] | None = None  # everybody's, from 0 to n_groups - 1
    n_groups: int = 0
    in_bins: bool = False  # whether ratios and excesses are counted in bins
    n_individuals: int = 0  # how many individuals to add up apart; 0 for none

    def __post_init__(self) -> None:
        if self.groups is not None and not (
            self.groups.dtype == np.int32
            and self.groups.flags.c_contiguous
            and 0 <= self.groups.min(initial=0) <= self.groups.max(initial=0) < self.n_groups < 1 << 15
        ):
            raise InputError("groups of another type or range", f"int32 from 0 to {self.n_groups - 1}")

    @property
    def n_labels(self) -> int:
        """Two groups, lower number g and higher h, have the label ``g n_groups + h``."""
        return self.n_groups**2


class PairSums:
    """Counts, sums and maxima over pairs, none yet."""

    def __init__(self, limits: PairLimits) -> None:
        n_points, n_labels = limits.epsilon.edges.size + 1, limits.n_labels
        self.counts, self.totals = np.zeros((), COUNTS), np.zeros((), TOTALS)
        self.largest = np.full((), -np.inf, MAXIMA)
        # Pairs under each point of the curve that are under none before, and the largest D among them.
        self.epsilon_counts, self.epsilon_largest = np.zeros(n_points, np.int64), np.zeros(n_points)
        # Ratios below, between and above the edges; empty without edges.
        n_places = 0 if limits.histogram is None else limits.histogram.edges.size + 1
        self.histogram = np.zeros(n_places, np.int64)
        # Finite ratios and excesses by bin; empty where they are not counted.
        self.ratio_bins = np.zeros(N_BINS if limits.in_bins else 0, np.int64)
        self.excess_bins = np.zeros(N_BINS if limits.in_bins and limits.condition else 0, np.int64)
        # Of every two groups: sums, and the largest ratio.
        self.groups = np.zeros(n_labels, GROUP_SUMS)
        self.group_largest = np.full(n_labels, -np.inf)
        # Over the pairs that somebody stands first in, and over those that they stand second in.
        self.individuals = np.zeros((2, len(PERSON_COLUMNS), limits.n_individuals))


T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class PairBlock:
    """Individuals ``start..stop-1`` against ``first..last-1``, of which only pairs i < j count."""

    start: int
    stop: int
    first: int
    last: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many individuals there are on either side."""
        return self.stop - self.start, self.last - self.first

    @property
    def n_pairs(self) -> int:
        """How many pairs count."""
        earliest = np.maximum(self.first, np.arange(self.start, self.stop) + 1)
        return int(np.maximum(self.last - earliest, 0).sum())

    def pairs_of(self, matrix: NDArray[T]) -> NDArray[T]:
        """Return the entries of a matrix of the block's shape that belong to pairs, row by row."""
        return matrix.ravel() if self._all_count else matrix[self._counting]

    def people(self, chosen: Indices) -> tuple[Indices, Indices]:
        """Return the individuals (i, j) of pairs given by their place in `pairs_of`."""
        if self._all_count:
            rows, columns = np.divmod(chosen, self.last - self.first)
        else:
            rows, columns = (ends[chosen] for ends in np.nonzero(self._counting))
        return rows + self.start, columns + self.first

    @property
    def _all_count(self) -> bool:
        return self.first >= self.stop

    @property
    def _counting(self) -> NDArray[np.bool_]:
        return np.arange(self.first, self.last) > np.arange(self.start, self.stop)[:, None]


@dataclass(frozen=True, eq=False)
class MeasuredBlock:
    """A block of pairs, and d and D of them: contiguous float64, of the block's shape or of shape (n_pairs,)."""

    block: PairBlock
    reference: Floats
    output: Floats
