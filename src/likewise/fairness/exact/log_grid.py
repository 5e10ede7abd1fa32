"""Order statistics from how many numbers lie in each bin: to within a bin, or exactly from those in a few bins."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import N_BINS, bin_ends, bins_of
from likewise._typing import Counts, Floats
from likewise.fairness.exact.blocks import in_order
from likewise.fairness.metrics.metric_value import BracketedValue, ExactValue


def bin_of_rank(counts: Counts, rank: int) -> int:
    """Return the bin of the number with a 0-based rank."""
    return int(np.searchsorted(np.cumsum(counts), rank, side="right"))


def bracket(counts: Counts, rank: int, n_pairs: int) -> ExactValue | BracketedValue:
    """Return the number with a 0-based rank as closely as counts tell.

    Parameters
    ----------
    counts : ndarray of int, shape (N_BINS,)
        How many finite numbers lie in each bin.
    rank : int
        Among all numbers; beyond the finite ones stand infinite ones.
    n_pairs : int
        How many numbers there are.
    """
    if rank >= counts.sum():
        return ExactValue(np.inf, n_pairs)
    smallest, largest = bin_ends()
    place = bin_of_rank(counts, rank)
    if smallest[place] == largest[place]:
        return ExactValue(float(smallest[place]), n_pairs)
    return BracketedValue(float(largest[place]), float(smallest[place]), float(largest[place]), n_pairs)


class SortedNumbers:
    """A few numbers, infinite ones and NaN among them.

    Parameters
    ----------
    numbers : ndarray, shape (n,)
    """

    def __init__(self, numbers: Floats) -> None:
        self.numbers = np.sort(numbers)

    def of_ranks(self, ranks: list[int]) -> list[float]:
        """Return the numbers with given 0-based ranks; NaN come last."""
        return [float(number) for number in self.numbers[ranks]]

    def below(self, edges: Floats) -> Counts:
        """Return how many numbers are smaller than each edge."""
        return np.searchsorted(self.numbers, edges)


class CountedNumbers:
    """Many numbers >= 0, counted in bins, of which those in a few bins can be looked at again.

    Parameters
    ----------
    counts : ndarray of int, shape (N_BINS,)
        How many finite numbers lie in each bin.
    parts : iterable
        What `numbers_of` makes the numbers of, some at a time; taken as often as something is asked.
    numbers_of : callable
        Called from several threads. May return NaN, which count nowhere, and infinity, which is not counted.

    Examples
    --------
    >>> numbers = np.array([0.0, 3.0, 2.0, 3.0, np.inf])
    >>> counts = np.bincount(bins_of(numbers[:4]), minlength=N_BINS)
    >>> counted = CountedNumbers(counts, [slice(0, 2), slice(2, 5)], lambda part: numbers[part])
    >>> counted.of_ranks([0, 1, 3, 4]), counted.below(np.array([0.0, 2.0, 2.5])).tolist()
    ([0.0, 2.0, 3.0, inf], [0, 1, 2])
    """

    def __init__(self, counts: Counts, parts: Iterable[slice], numbers_of: Callable[[slice], Floats]) -> None:
        self.parts, self.numbers_of = list(parts), numbers_of
        self.up_to = np.append(0, np.cumsum(counts))

    def of_ranks(self, ranks: list[int]) -> list[float]:
        """Return the numbers with given 0-based ranks, exactly; beyond the finite ones stand infinite ones."""
        bins = np.searchsorted(self.up_to[1:], ranks, side="right")
        finite = bins < N_BINS
        found = np.full(len(ranks), np.inf)
        within, first = self._in_bins(bins[finite])
        found[finite] = within[first + np.array(ranks, np.intp)[finite] - self.up_to[bins[finite]]]
        return [float(number) for number in found]

    def below(self, edges: Floats) -> Counts:
        """Return how many numbers are smaller than each edge >= 0, exactly."""
        bins = bins_of(edges)
        within, first = self._in_bins(bins)
        counts: Counts = self.up_to[bins] + np.searchsorted(within, edges) - first
        return counts

    def _in_bins(self, bins: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
        """Return the numbers in some bins, sorted, and where those of each bin begin."""
        wanted = np.zeros(N_BINS, dtype=bool)
        wanted[bins] = True

        def picked(part: slice) -> Floats:
            numbers = self.numbers_of(part)
            return numbers[wanted[bins_of(numbers)]]

        within = np.sort(np.concatenate([np.empty(0), *in_order(picked, self.parts)]))  # NaN come last
        return within, np.searchsorted(within, bin_ends()[0][bins])
