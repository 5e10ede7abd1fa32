"""What is added up over pairs, for one set of outputs: from it come all figures but order statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.exact.log_grid import N_BINS, bins_of
from likewise.fairness.exact.pair_batch import PairBatch
from likewise.fairness.exact.sums import Array, Sums
from likewise.fairness.exact.thresholds import Thresholds
from likewise.fairness.exact.top_pairs import TopPairs
from likewise.fairness.groups import LABEL_COLUMNS, label_columns
from likewise.fairness.ratios import pair_ratios
from likewise.fairness.violations import excesses
from likewise.fairness.worst import largest_places

Floats = NDArray[np.float64]

_COUNTS = ("pairs", "zero", "infinite", "near", "near_infinite", "violating")
_SUMS = ("reference", "output", "output_squared", "ratio", "near_ratio", "near_output", "excess")


class Tally(Sums):
    """Counts, sums and maxima over pairs, and those with the largest ratios.

    Infinite ratios are counted, not summed. Sums of a block are added pairwise, blocks one after the other: over B blocks the relative
    error is at most about B times 1.1e-16.

    Parameters
    ----------
    thresholds : Thresholds
        What pairs are held against.
    floor : float, optional
        Pairs with a smaller ratio are not among the worst: enough others are known.

    Attributes
    ----------
    worst : TopPairs
    """

    def __init__(self, thresholds: Thresholds, floor: float = -np.inf) -> None:
        n_labels = 0 if thresholds.groups is None else thresholds.groups.n_labels
        super().__init__(
            {
                **{name: np.zeros((), np.int64) for name in _COUNTS},
                **{name: np.zeros(()) for name in _SUMS},
                **_distributions(thresholds),
                "epsilon": np.zeros(thresholds.epsilon.size, np.int64),
                "groups": np.zeros((len(LABEL_COLUMNS), n_labels)),
            },
            {
                **{name: np.array(-np.inf) for name in ("ratio", "near_ratio", "excess")},
                "epsilon": np.zeros(thresholds.epsilon.size),
                "group_ratio": np.full(n_labels, -np.inf),
            },
        )
        self.thresholds, self.floor = thresholds, floor
        self.worst = TopPairs(thresholds.worst)

    def add(self, batch: PairBatch, output: Floats) -> None:
        """Add the pairs of a batch.

        Parameters
        ----------
        batch : PairBatch
        output : ndarray, shape (n_pairs,)
            D of these pairs.
        """
        if not output.size:
            return
        ratios = pair_ratios(output, batch.reference)
        infinite = np.isinf(ratios)
        finite = np.where(infinite, 0.0, ratios) if infinite.any() else ratios
        self._add_totals(batch, output, finite)
        self._count("infinite", np.count_nonzero(infinite))
        self._raise("ratio", ratios.max())
        self._add_similar(batch, output, ratios, finite)
        np.maximum.at(self.largest["epsilon"], batch.epsilon_index, output)
        self.added["epsilon"] += np.bincount(batch.epsilon_index, minlength=self.thresholds.epsilon.size)
        self._add_distribution(ratios, infinite)
        self._add_violations(batch, output)
        self._add_groups(batch, output, ratios, finite)
        self._offer(batch, output, ratios)

    def _add_totals(self, batch: PairBatch, output: Floats, finite: Floats) -> None:
        self._count("pairs", output.size)
        self._count("zero", batch.n_zero)
        totals = (batch.reference.sum(), output.sum(), output @ output, finite.sum())
        for name, total in zip(("reference", "output", "output_squared", "ratio"), totals, strict=True):
            self.added[name] += total

    def _add_similar(self, batch: PairBatch, output: Floats, ratios: Floats, finite: Floats) -> None:
        if batch.near.size:
            self._count("near", batch.near.size)
            self.added["near_ratio"] += finite[batch.near].sum()
            self.added["near_output"] += output[batch.near].sum()
            near = ratios[batch.near]
            self._count("near_infinite", np.count_nonzero(np.isinf(near)))
            self._raise("near_ratio", near.max())

    def _add_distribution(self, ratios: Floats, infinite: NDArray[np.bool_]) -> None:
        bins = bins_of(ratios)
        if self.thresholds.edges is not None:
            places = self.thresholds.edge_counter.count(ratios, bins)
            self.added["histogram"] += np.bincount(places, minlength=self.added["histogram"].size)
        if self.thresholds.in_bins:
            np.add.at(self.added["ratio_bins"], bins, 1)
            self.added["ratio_bins"][N_BINS - 1] -= np.count_nonzero(infinite)

    def _add_violations(self, batch: PairBatch, output: Floats) -> None:
        if self.thresholds.condition is None:
            return
        lipschitz, slack = self.thresholds.condition
        excess = excesses(output, batch.reference, lipschitz)
        if self.thresholds.in_bins:
            np.add.at(self.added["excess_bins"], bins_of(excess), 1)
        excess -= slack
        np.maximum(excess, 0.0, out=excess)
        self._count("violating", np.count_nonzero(excess))
        self.added["excess"] += excess.sum()
        self._raise("excess", excess.max())

    def _add_groups(self, batch: PairBatch, output: Floats, ratios: Floats, finite: Floats) -> None:
        if batch.labels is None:
            return
        n_labels = self.largest["group_ratio"].size
        columns = label_columns(output, batch.reference, ratios, finite, batch.near)
        for row, weights in enumerate(columns):
            self.added["groups"][row] += np.bincount(batch.labels, weights, n_labels)
        np.maximum.at(self.largest["group_ratio"], batch.labels, ratios)

    def _offer(self, batch: PairBatch, output: Floats, ratios: Floats) -> None:
        candidates = np.flatnonzero(ratios >= max(self.floor, self.worst.floor[0]))
        chosen = candidates[largest_places(ratios[candidates], output[candidates], self.worst.count)]
        if chosen.size:
            left, right = batch.people(chosen)
            columns = {
                "ratio": ratios[chosen],
                "output": output[chosen],
                "reference": batch.reference[chosen],
            }
            self.worst.offer({**columns, "left": left, "right": right})

    def _count(self, name: str, number: int | np.integer) -> None:
        self.added[name] += number

    def _raise(self, name: str, value: np.floating) -> None:
        np.maximum(self.largest[name], value, out=self.largest[name])

    def merge(self, other: Self) -> None:
        """Take in other pairs."""
        super().merge(other)
        self.worst.offer(other.worst.columns)

    def arrays(self) -> dict[str, Array]:
        """Return everything by name, as it is saved."""
        return super().arrays() | {f"worst/{name}": column for name, column in self.worst.columns.items()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `arrays` returned."""
        super().restore(arrays)
        self.worst.offer({name: arrays[f"worst/{name}"] for name in self.worst.columns})


def _distributions(thresholds: Thresholds) -> dict[str, Array]:
    """Return empty counts: of the histogram's bins, and of the bins for order statistics."""
    sizes = {
        "histogram": 0 if thresholds.edges is None else thresholds.edges.size + 1,
        "ratio_bins": N_BINS if thresholds.in_bins else 0,
        "excess_bins": N_BINS if thresholds.in_bins and thresholds.condition else 0,
    }
    return {name: np.zeros(size, np.int64) for name, size in sizes.items()}
