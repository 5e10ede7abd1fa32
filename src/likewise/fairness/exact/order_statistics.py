"""Order statistics of many numbers: exact from all of them, or to within a bin from how many lie in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import N_BINS, bin_ends, bins_of
from likewise._typing import Counts, Floats
from likewise.fairness.exact.blocks import in_order
from likewise.fairness.metrics.metric_value import AnyMetricValue, BracketedValue, ExactValue


class Numbers(Protocol):
    """Numbers >= 0, some of them infinite, that know their order statistics."""

    def of_ranks(self, ranks: list[int]) -> list[float]:
        """Return the numbers with given 0-based ranks, rounded up where they are not known exactly."""

    def values(self, ranks: list[int], n_pairs: int) -> list[AnyMetricValue]:
        """Return the same as metrics over `n_pairs` pairs, which say how exactly they are known."""

    def up_to(self, edges: Floats) -> Counts:
        """Return how many numbers lie below each edge; of the last edge, at or below it."""

    def aligned(self, edges: Floats) -> Floats:
        """Move edges to where `up_to` counts exactly."""


class _Exact:
    """What numbers have in common that are known exactly: `of_ranks` and `below` are theirs."""

    of_ranks: Callable[[list[int]], list[float]]
    below: Callable[[Floats], Counts]

    def values(self, ranks: list[int], n_pairs: int) -> list[AnyMetricValue]:
        return [ExactValue(value, n_pairs) for value in self.of_ranks(ranks)]

    def up_to(self, edges: Floats) -> Counts:
        return self.below(np.append(edges[:-1], np.nextafter(edges[-1], np.inf)))

    def aligned(self, edges: Floats) -> Floats:
        return edges


class SortedNumbers(_Exact):
    """A few numbers, sorted, infinite ones and NaN among them."""

    def __init__(self, numbers: Floats) -> None:
        self.numbers = np.sort(numbers)

    def of_ranks(self, ranks: list[int]) -> list[float]:
        """Return the numbers with given 0-based ranks; NaN come last."""
        return [float(number) for number in self.numbers[ranks]]

    def below(self, edges: Floats) -> Counts:
        """Return how many numbers are smaller than each edge."""
        return np.searchsorted(self.numbers, edges)


class CountedNumbers(_Exact):
    """Many numbers >= 0, counted in bins, of which those in a few bins can be looked at again.

    `counts`, shape (N_BINS,), are of finite numbers. `numbers_of` makes the numbers of one of the `parts`, as often as something is asked and
    from several threads; it may return NaN, which counts nowhere, and infinity, which is not counted.

    >>> numbers = np.array([0.0, 3.0, 2.0, 3.0, np.inf])
    >>> counts = np.bincount(bins_of(numbers[:4]), minlength=N_BINS)
    >>> counted = CountedNumbers(counts, [slice(0, 2), slice(2, 5)], lambda part: numbers[part])
    >>> counted.of_ranks([0, 1, 3, 4]), counted.below(np.array([0.0, 2.0, 2.5])).tolist()
    ([0.0, 2.0, 3.0, inf], [0, 1, 2])
    """

    def __init__(self, counts: Counts, parts: Iterable[slice], numbers_of: Callable[[slice], Floats]) -> None:
        self.parts, self.numbers_of = list(parts), numbers_of
        self.up_to_bin = np.append(0, np.cumsum(counts))

    def of_ranks(self, ranks: list[int]) -> list[float]:
        """Return the numbers with given 0-based ranks, exactly; beyond the finite ones stand infinite ones."""
        # The bin in which the count passes the rank; past the last bin there are infinite numbers only.
        bins = np.searchsorted(self.up_to_bin[1:], ranks, side="right")
        finite = bins < N_BINS
        found = np.full(len(ranks), np.inf)
        within, first = self._in_bins(bins[finite])
        # Within its bin a number stands at its rank less how many lie in earlier bins.
        found[finite] = within[first + np.array(ranks, np.intp)[finite] - self.up_to_bin[bins[finite]]]
        return [float(number) for number in found]

    def below(self, edges: Floats) -> Counts:
        """Return how many numbers are smaller than each edge >= 0, exactly."""
        bins = bins_of(edges)
        within, first = self._in_bins(bins)
        # All of the earlier bins, and of its own bin those that are smaller.
        counts: Counts = self.up_to_bin[bins] + np.searchsorted(within, edges) - first
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


class BinnedNumbers:
    """Numbers of which no more is known than how many lie in each bin; beyond the finite ones stand infinite ones.

    `counts` and `largest` have shape (N_BINS,): how many finite numbers lie in each bin, and the largest of them where it is known; by
    default the largest there could be.

    >>> binned = BinnedNumbers(np.bincount(bins_of(np.array([0.0, 3.0])), minlength=N_BINS))
    >>> [value.kind for value in binned.values([0, 1, 2], 3)]
    ['exact', 'bracketed', 'exact']
    """

    def __init__(self, counts: Counts, largest: Floats | None = None) -> None:
        self.up_to_bin = np.append(0, np.cumsum(counts))
        self.smallest, self.largest = bin_ends()
        self.largest = self.largest if largest is None else largest

    def of_ranks(self, ranks: list[int]) -> list[float]:
        """Return the largest number that those with given 0-based ranks can be."""
        return [float(self.largest[place]) if place < N_BINS else np.inf for place in self._bins(ranks)]

    def values(self, ranks: list[int], n_pairs: int) -> list[AnyMetricValue]:
        """Return brackets; exact values of zeros, infinities, and what is alone in its bin."""
        return [self._value(place, n_pairs) for place in self._bins(ranks)]

    def up_to(self, edges: Floats) -> Counts:
        """Return how many numbers lie below each edge, where a bin begins, and up to the end of the bin of the last edge."""
        ends = np.append(bins_of(edges[:-1]), bins_of(edges[-1:]) + 1)
        counts: Counts = self.up_to_bin[ends]
        return counts

    def aligned(self, edges: Floats) -> Floats:
        """Move all edges but the last to where their bins begin."""
        edges[:-1] = self.smallest[bins_of(edges[:-1])]
        return np.unique(edges)

    def _bins(self, ranks: list[int]) -> list[int]:
        return [int(place) for place in np.searchsorted(self.up_to_bin[1:], ranks, side="right")]

    def _value(self, place: int, n_pairs: int) -> AnyMetricValue:
        if place >= N_BINS:
            return ExactValue(np.inf, n_pairs)
        low, high = float(self.smallest[place]), float(self.largest[place])
        # The upper end is what is reported: a fairness metric is never told too small.
        return ExactValue(low, n_pairs) if low == high else BracketedValue(high, low, high, n_pairs)
