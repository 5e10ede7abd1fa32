"""Both sides of a factorisation whose rows lie in blocks: a sweep is one pass, and what is held has as many rows as there are columns.

In a pass each block finds its rows, given the columns, and from them its part of the normal equations of all columns. These parts are
added up in the tree of the engine; the columns of the next sweep are solved from the sums. So no row leaves its block before the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.backend import one_blas_thread
from likewise._typing import Floats
from likewise.estimation.als.sources import Sources
from likewise.estimation.base.block_preparation import ensure_room_for_factors
from likewise.estimation.base.factor_update import (
    Factors,
    FactorUpdate,
    ObservedRows,
    Prior,
    blocks,
    packed,
    packed_size,
    regress,
    solve_equations,
    unpacked,
)
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.partitioned.blocks import BlockReader, RowBlock
from likewise.observations.table import with_data
from likewise.observations.value_range import WorkingRange

if TYPE_CHECKING:
    from likewise.estimation.als.descent import State


@dataclass(frozen=True, eq=False)
class RowsInBlocks:
    """What stands for the factors of the rows: the normal equations of the columns that they give, and their own second moments.

    With ``f_i = (coordinates of i, 1)``, sums over the rows of each column.
    """

    grams: Floats  # (n, d (d + 1) / 2), sum E[f_i f_i^T], packed
    sides: Floats  # (n, d), sum E[(z_ij - bias_i) f_i]
    moment: Floats  # (d, d), sum of E[x_i x_i^T] over all rows

    @property
    def width(self) -> int:
        """How many numbers a vector has: d."""
        return int(self.sides.shape[1])

    def total_moment(self, _: NDArray[np.bool_]) -> Floats:
        """Of all rows: each has an observation."""
        return self.moment

    def turned(self, turn: Floats) -> Self:
        """Return what the rows ``turn^T x_i`` give, where `turn`, shape (d, k), leaves biases alone."""
        grams = np.empty((self.grams.shape[0], packed_size(turn.shape[1])))
        for columns in blocks(grams.shape[0], turn.shape[0] ** 2):
            grams[columns] = packed(np.matmul(turn.T, unpacked(self.grams[columns], turn.shape[0])) @ turn)
        return type(self)(grams, self.sides @ turn, turn.T @ self.moment @ turn)


class SidesInBlocks:
    """Observations in blocks, less their mean, and how often the blocks were passed over so far; see `Sides`."""

    def __init__(
        self, observed: PartitionedMatrix, reader: BlockReader, centre: float, sums: Any, rank: int
    ) -> None:
        self.observed, self.reader, self.centre, self.rank = observed, reader, centre, rank
        self._column_sums, self.column_counts, self._energy = sums
        self.row_counts, self.weight = np.ones(observed.shape[0], bool), float(observed.n_observed)
        self.sources = Sources()
        self.variance = self._energy / self.weight or 1.0
        self.passes = 2

    @classmethod
    def of(cls, observed: PartitionedMatrix, working_range: WorkingRange, rank: int) -> Self:
        """Find the mean of all observations, and what is left of each column, in two passes.

        Raises `MemoryLimitError` where the equations of all columns, or the vectors of all individuals, do not fit.
        """
        d = rank + 1
        ensure_room_for_factors(observed, rank, packed_size(d) + d, d)
        reader, engine = observed.on(working_range), observed.engine
        total = engine.reduce(_total, observed.blocks, reader)[0]
        centre = float(total[0] / observed.n_observed)
        sums, counts, energy = engine.reduce(_sums, observed.blocks, (reader, centre))
        return cls(observed, reader, centre, (sums, counts, float(energy[0])), rank)

    def rows_given(self, columns: Factors, prior: Prior) -> FactorUpdate:
        """Find all rows in one pass, and what they give for the columns."""
        shared = self.reader, self.centre, columns, prior
        grams, sides, moment, scalars = self.observed.engine.reduce(_swept, self.observed.blocks, shared)
        self.passes += 1
        total = unpacked(moment[None], columns.width)[0]
        explained, penalty = scalars.tolist()
        return FactorUpdate(RowsInBlocks(grams, sides, total), explained, penalty)  # type: ignore[arg-type]

    def columns_given(self, rows: RowsInBlocks, prior: Prior) -> FactorUpdate:
        """Solve the equations of the columns."""
        return solve_equations([(slice(None), rows.grams, rows.sides)], self.column_counts, prior, rows.width)

    def bias_misfit(self, columns: Factors) -> float:
        """``sum E[(z - bias of the column)^2]``."""
        # sum (z - b_j)^2 = sum z^2 - 2 sum_j b_j sum_i z_ij + sum_j n_j b_j^2: sums of columns are enough.
        known = self.column_counts @ columns.squared_biases - 2 * self._column_sums @ columns.biases
        return float(self._energy + known)

    def row_factors(self, state: State) -> Factors:
        """Find the rows once more, in one pass, and bring their means together."""
        shared = self.reader, self.centre, state.columns.factors, state.row_prior
        means = list(self.observed.engine.map(_means, self.observed.blocks, shared))
        self.passes += 1
        return Factors(np.concatenate(means), np.zeros((self.observed.shape[0], 0)))


_Shared = tuple[BlockReader, float, Factors, Prior]


def _total(block: RowBlock, reader: BlockReader) -> tuple[Floats]:
    return (np.array([np.sum(reader.read(block).data)]),)


def _sums(block: RowBlock, shared: tuple[BlockReader, float]) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Sums and counts of columns, and the sum of all squares."""
    reader, centre = shared
    values = reader.read(block)
    data, n = values.data - centre, values.shape[1]
    sums = np.asarray(np.bincount(values.indices, data, minlength=n), np.float64)
    counts = np.bincount(values.indices, minlength=n).astype(np.int64)
    return sums, counts, np.array([np.sum(data * data)])


def _found(block: RowBlock, shared: _Shared) -> tuple[Any, FactorUpdate]:
    """Return the deviations of a block, and its rows given the columns."""
    reader, centre, columns, prior = shared
    values = reader.read(block)
    deviations = with_data(values, values.data - centre)
    rows = ObservedRows(deviations, None, columns.means.shape[1] - 1)
    return deviations, regress(rows, columns, prior)


def _swept(block: RowBlock, shared: _Shared) -> tuple[Floats, Floats, Floats, Floats]:
    """Find the rows of a block; return their part of the equations of the columns, of their moments, and what they explain and cost."""
    with one_blas_thread():
        deviations, found = _found(block, shared)
        (n, d), factors = shared[2].means.shape, found.factors
        grams, sides = np.empty((n, packed_size(d))), np.empty((n, d))
        columns = ObservedRows(deviations.T.tocsr(), None, d - 1)
        for part, of_grams, of_sides in columns.equations(factors):
            grams[part], sides[part] = of_grams, of_sides
        # Row by row: the order in which BLAS adds depends on how many threads it has.
        moment = np.add.reduce(factors.moments, axis=0)
        return grams, sides, moment, np.array([found.explained, found.penalty])


def _means(block: RowBlock, shared: _Shared) -> Floats:
    with one_blas_thread():
        return _found(block, shared)[1].factors.means
