"""Observations in blocks as they are decomposed: on the working range, less their centre; and errors on what was held out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from likewise._kernels import sampled_entries
from likewise._kernels.backend import one_blas_thread
from likewise._typing import Floats
from likewise.checks import checked_name
from likewise.errors import EstimatorError
from likewise.estimation.base.bias_equations import (
    BiasSolution,
    Grouped,
    chosen_penalties,
    components_of,
    solve_for_columns,
)
from likewise.estimation.base.folding import LinearFolding, row_offsets
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.preparation import Centering, Centre
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.partitioned.blocks import BlockReader, RowBlock
from likewise.observations.partitioned.matrix import BlockPair
from likewise.observations.table import Values, rows_of_entries, with_data
from likewise.observations.value_range import WorkingRange
from likewise.spectrum import SingularTriplets
from likewise.spectrum.operators import BlockRows


@dataclass(frozen=True, eq=False)
class ResidualReader:
    """Reads what remains of the observations of a block after the centre; the offset of a row follows from its own observations."""

    reader: BlockReader  # on the working range
    column_offsets: Floats | None = None  # (n,)
    row_penalty: float | None = None  # see `Centre`

    def read(self, block: RowBlock, dtype: Any = np.float64) -> Values:
        """Return the residuals of a block, shape (n_rows, n)."""
        if self.column_offsets is None:
            return self.reader.read(block, dtype)
        return self.with_offsets(block, dtype)[0]

    def with_offsets(self, block: RowBlock, dtype: Any = np.float64) -> tuple[Values, Floats | None]:
        """Return the residuals of a block, and the offsets of its rows where rows have such."""
        values = self.reader.read(block)
        if self.column_offsets is None:
            return values.astype(dtype, copy=False), None
        left = with_data(values, values.data - self.column_offsets[values.indices])
        if self.row_penalty is None:
            return left.astype(dtype, copy=False), None
        offsets = row_offsets(left, self.row_penalty)
        return with_data(left, (left.data - offsets[rows_of_entries(left)]).astype(dtype)), offsets


@dataclass(frozen=True, eq=False)
class BlockPrepared:
    """Observations in blocks as they are decomposed."""

    observed: PartitionedMatrix  # in the user's units
    working_range: WorkingRange
    centre: Centre  # without the offsets of rows, which stay with them

    @property
    def reader(self) -> ResidualReader:
        """What reads residuals."""
        return ResidualReader(
            self.observed.on(self.working_range), self.centre.column_offsets, self.centre.row_penalty
        )

    @property
    def folding(self) -> LinearFolding:
        """How a row is decomposed."""
        return LinearFolding(self.centre.row_penalty)

    @cached_property
    def operator(self) -> BlockRows:
        """Products with the residuals, missing entries 0."""
        energies = list(self.observed.engine.map(_energy, self.observed.blocks, self.reader))
        energy, largest = sum(one for one, _ in energies), max(most for _, most in energies)
        observed = self.observed
        return BlockRows(observed.blocks, self.reader, observed.shape, observed.engine, energy, largest)

    def row_offsets(self) -> Floats | None:
        """Return the offsets of all rows, shape (m,); None where rows have none."""
        if self.centre.row_penalty is None:
            return None
        return np.concatenate(list(self.observed.engine.map(_offsets, self.observed.blocks, self.reader)))


def _energy(block: RowBlock, reader: ResidualReader) -> tuple[float, float]:
    data = reader.read(block).data
    return float(data @ data), float(np.abs(data).max(initial=0.0))


def _offsets(block: RowBlock, reader: ResidualReader) -> NDArray[np.float64]:
    offsets = reader.with_offsets(block)[1]
    assert offsets is not None
    return offsets


def prepare_blocks(
    observed: PartitionedMatrix,
    working_range: WorkingRange,
    centering: Centering,
    regularization: float | None = None,
) -> BlockPrepared:
    """Find the centre of observations in blocks, in one pass, or for biases in as many as their equations take.

    Raises `EstimatorError` for a centering that is unknown.
    """
    reader = observed.on(working_range)
    if centering == "none":
        return BlockPrepared(observed, working_range, Centre("none"))
    sums, counts = observed.engine.reduce(_column_sums, observed.blocks, reader)
    mean = float(sums.sum() / counts.sum())
    offsets = np.full(observed.shape[1], mean)
    if centering == "biases":
        found = solve_block_biases(observed, reader, mean, regularization)
        centre = Centre(centering, offsets + found.columns, None, found.row_penalty, found.notes)
    elif centering == "column":
        # Of a column that nobody has, the mean of all stays.
        centre = Centre(centering, np.divide(sums, counts, out=offsets, where=counts > 0))
    else:
        checked_name("centering", centering, ("global", "row"), EstimatorError)
        centre = Centre(centering, offsets, None, 0.0 if centering == "row" else None)
    return BlockPrepared(observed, working_range, centre)


def estimate_of_blocks(
    prepared: BlockPrepared, triplets: SingularTriplets, shrunk_values: Floats
) -> LowRankEstimate:
    """Make the estimate of singular triplets without left vectors: one pass makes them, unless only others are folded into it.

    Raises `MemoryLimitError` if the vectors of all individuals do not fit.
    """
    m, rank = prepared.observed.shape[0], triplets.rank
    left = triplets.left
    if not left.shape[0] and prepared.observed.estimates_rows:
        prepared.observed.room(2 * 8.0 * m * rank, f"vectors of rank {rank} of {m:,} individuals")
        # u = A v / sigma.
        left = prepared.operator.forward(np.asarray(triplets.right, dtype=np.float64)) / triplets.values
    return _estimate(prepared, left, triplets.values, shrunk_values, triplets.right)


def rank_zero(prepared: BlockPrepared) -> LowRankEstimate:
    """Make the estimate that is the centre alone."""
    m, n = prepared.observed.shape
    return _estimate(prepared, np.zeros((m, 0)), np.zeros(0), np.zeros(0), np.zeros((n, 0)))


def _estimate(
    prepared: BlockPrepared, left: Any, values: Any, shrunk_values: Any, right: Any
) -> LowRankEstimate:
    observed = prepared.observed
    ids, offsets = observed.row_ids, None
    if observed.estimates_rows:
        offsets = prepared.row_offsets()
    else:
        left, ids = left[:0], ids[:0]
    return LowRankEstimate(
        np.asarray(left, np.float64),
        np.asarray(values, np.float64),
        np.asarray(shrunk_values, np.float64),
        np.asarray(right, np.float64),
        observed.value_range.scale_to(prepared.working_range),
        ids,
        observed.column_ids,
        offsets,
        prepared.centre.column_offsets,
        prepared.folding,
    )


def _column_sums(block: RowBlock, reader: BlockReader) -> tuple[Floats, Floats]:
    values = reader.read(block)
    n = values.shape[1]
    return (
        np.asarray(np.bincount(values.indices, values.data, minlength=n), np.float64),
        np.bincount(values.indices, minlength=n).astype(np.float64),
    )


def solve_block_biases(
    observed: PartitionedMatrix, reader: BlockReader, mean: float, regularization: float | None = None
) -> BiasSolution:
    """Minimise what `solve_biases` does, all weights 1; each iteration is one pass.

    The biases of the rows are left out of the result: they follow from the observations of each. `reader` and the `mean` of all observations
    are on the working range; `regularization` stands for both lambdas, by default from the variance components.
    """
    engine, blocks = observed.engine, observed.blocks
    sums, counts, of_rows = engine.reduce(_sums, blocks, (reader, mean))
    between, squared_counts, n_groups, squares = of_rows.tolist()
    by_row, by_column = Grouped(between, squared_counts, int(n_groups)), Grouped.of_sums(sums, counts)
    penalties, notes = chosen_penalties(
        regularization,
        lambda: components_of(squares, float(sums.sum()), float(counts.sum()), by_row, by_column),
    )
    row_penalty, column_penalty = penalties
    columns, converged = np.zeros(sums.size), True
    if np.isfinite(column_penalty):
        totals = counts + column_penalty
        # As in `solve_biases`, rows eliminated: in a pass each block takes from its part of the columns what its rows explain.
        side = sums - engine.reduce(_through_rows, blocks, (reader, mean, row_penalty, None))[0]

        def normal(b: Floats) -> Floats:
            passed: Floats = engine.reduce(_through_rows, blocks, (reader, mean, row_penalty, b))[0]
            return totals * b - passed

        columns, converged = solve_for_columns(normal, side, totals)
    return BiasSolution.of(np.zeros(0), columns, converged, penalties, notes)


def _sums(block: RowBlock, told: tuple[BlockReader, float]) -> tuple[Floats, Floats, Floats]:
    """Sums and counts of columns; and of the rows what `Grouped` holds, with the sum of all squares."""
    reader, mean = told
    values = reader.read(block)
    data, n = values.data - mean, values.shape[1]
    counts = np.bincount(values.indices, minlength=n).astype(np.float64)
    rows = Grouped.of_sums(_per_row(values, data), np.diff(values.indptr))
    of_rows = np.array([rows.between, rows.squared_counts, rows.n_groups, data @ data])
    return np.asarray(np.bincount(values.indices, data, minlength=n), np.float64), counts, of_rows


def _per_row(values: Values, data: Floats) -> Floats:
    """Return the sum of each row."""
    sums: Floats = with_data(values, data) @ np.ones(values.shape[1])
    return sums


def _through_rows(block: RowBlock, told: tuple[BlockReader, float, float, Floats | None]) -> tuple[Floats]:
    """Return for each column the sum over its rows of their means: of b, or of the observations themselves."""
    reader, mean, penalty, b = told
    values = reader.read(block)
    pattern = csr_array((np.ones(values.nnz), values.indices, values.indptr), shape=values.shape)
    sums: Floats = _per_row(values, values.data - mean) if b is None else np.asarray(pattern @ b)
    totals = np.diff(values.indptr) + penalty
    means = np.divide(sums, totals, out=np.zeros(totals.size), where=totals > 0)
    return (pattern.T @ means,)


_SUMS = 12
"""Sums of the equations of all columns that exist at a time: on the way up the tree, and being made."""
_AN_OBSERVATION = 160
"""Bytes of an observation of a block that is laid out by rows and by columns."""
_COPIES_OF_ROWS = 5
"""Of the vectors of all individuals, at the end: as they come, together, and in their decomposition."""


def ensure_room_for_factors(observed: PartitionedMatrix, rank: int, a_column: int, a_row: int) -> None:
    """Raise `MemoryLimitError` unless a factorisation fits: so many numbers a column in sums of equations, and a row in vectors."""
    m, n = observed.shape
    largest = max(block.n_entries for block in observed.blocks)
    state = 8.0 * _SUMS * n * a_column + 8.0 * _COPIES_OF_ROWS * m * a_row
    observed.room(state + _AN_OBSERVATION * largest, f"factors of rank {rank} of {m:,} x {n:,} entries")


@dataclass(frozen=True, eq=False)
class BlockErrors:
    """Squared errors of k estimates on the same entries.

    Two entries, with squared errors 1 and 3, and 2 and 2:

    >>> errors = BlockErrors(2, np.array([4.0, 4.0]), np.array([[10.0, 8.0], [8.0, 8.0]]))
    >>> errors.means, errors.difference(0, 1)
    (array([2., 2.]), (0.0, 1.0))
    """

    n_entries: int
    sums: Floats  # (k,), of the squared errors of each
    products: Floats  # (k, k), of the squared errors of two

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
        # The mean of (x - y)^2 from sums of products, so that no entry is kept.
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
