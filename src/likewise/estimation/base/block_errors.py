"""What estimates predict of entries that were held out of blocks, in one pass for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from likewise._kernels import sampled_entries
from likewise._kernels.threads import one_blas_thread
from likewise._typing import Floats
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.partitioned.blocks import BlockReader
from likewise.observations.partitioned.splitting import BlockPair
from likewise.observations.table import rows_of_entries
from likewise.observations.value_range import WorkingRange


@dataclass(frozen=True, eq=False)
class BlockErrors:
    """Squared errors of k estimates on the same entries.

    Parameters
    ----------
    n_entries : int
    sums : ndarray, shape (k,)
        Of the squares of each.
    products : ndarray, shape (k, k)
        Sums of products of the squares of two.

    Examples
    --------
    Two entries, with squared errors 1 and 3, and 2 and 2:

    >>> errors = BlockErrors(2, np.array([4.0, 4.0]), np.array([[10.0, 8.0], [8.0, 8.0]]))
    >>> errors.means, errors.difference(0, 1)
    (array([2., 2.]), (0.0, 1.0))
    """

    n_entries: int
    sums: Floats
    products: Floats

    @classmethod
    def of(
        cls,
        seen: PartitionedMatrix,
        pairs: Sequence[BlockPair],
        estimates: Sequence[LowRankEstimate],
        working_range: WorkingRange,
    ) -> Self:
        """Fold the rows into estimates by what is seen of them, and compare with what is held out, clipped, on the working range."""
        told = seen.on(working_range), [estimate.without_rows() for estimate in estimates]
        count, sums, products = seen.engine.reduce(_errors, pairs, told)
        return cls(int(count[0]), sums, products)

    @property
    def means(self) -> Floats:
        """Mean squared errors, shape (k,)."""
        return self.sums / self.n_entries

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """Return by how much the mean squared error of one is above that of another, with the standard error of that."""
        n, of_squares = self.n_entries, self.products
        mean = float(self.sums[one] - self.sums[other]) / n
        spread = float(of_squares[one, one] - 2 * of_squares[one, other] + of_squares[other, other]) / n
        return mean, float(np.sqrt(max(spread - mean**2, 0.0) / max(n - 1, 1)))


def _errors(pair: BlockPair, told: tuple[BlockReader, list[LowRankEstimate]]) -> tuple[Floats, ...]:
    reader, estimates = told
    seen, held_out = (reader.read(block) for block in pair)
    rows, squares = rows_of_entries(held_out), np.empty((len(estimates), held_out.nnz))
    with one_blas_thread():
        for number, estimate in enumerate(estimates):
            coefficients, offsets = estimate.folding.fold(seen, estimate)
            predicted = sampled_entries(held_out, coefficients, estimate.right)
            if estimate.column_offsets is not None:
                predicted += estimate.column_offsets[held_out.indices]
            if offsets is not None:
                predicted += offsets[rows]
            squares[number] = (np.clip(predicted, *estimate.scale.bounds) - held_out.data) ** 2
        return np.array([held_out.nnz]), squares.sum(axis=1), squares @ squares.T
