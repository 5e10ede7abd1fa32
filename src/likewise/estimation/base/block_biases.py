"""Row and column biases of observations in blocks: `solve_biases` in passes, the state of which is n numbers."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from likewise._typing import Floats
from likewise.estimation.base.bias_equations import (
    BiasSolution,
    Grouped,
    components_of,
    solve_for_columns,
)
from likewise.estimation.base.folding import non_negative
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.partitioned.blocks import BlockReader, RowBlock
from likewise.observations.table import Values, with_data


def solve_block_biases(
    observed: PartitionedMatrix, reader: BlockReader, mean: float, regularization: float | None = None
) -> BiasSolution:
    """Minimise what `solve_biases` does, all weights 1; each iteration is one pass.

    Parameters
    ----------
    observed : PartitionedMatrix
    reader : BlockReader
        On the working range.
    mean : float
        Of all observations there.
    regularization : float, optional
        Both lambdas; by default from the variance components.

    Returns
    -------
    BiasSolution
        Without those of the rows, which follow from the observations of each.
    """
    engine, blocks = observed.engine, observed.blocks
    sums, counts, of_rows = engine.reduce(_sums, blocks, (reader, mean))
    notes: tuple[str, ...] = ()
    if regularization is None:
        components = components_of(
            float(of_rows[3]),
            float(sums.sum()),
            float(counts.sum()),
            Grouped(float(of_rows[0]), float(of_rows[1]), int(of_rows[2])),
            Grouped.of_sums(sums, counts),
        )
        penalties, notes = components.penalties, components.notes
    else:
        penalties = (non_negative("regularization", regularization),) * 2
    row_penalty, column_penalty = penalties
    columns, converged = np.zeros(sums.size), True
    if np.isfinite(column_penalty):
        totals = counts + column_penalty
        side = sums - engine.reduce(_through_rows, blocks, (reader, mean, row_penalty, None))[0]

        def normal(b: Floats) -> Floats:
            passed: Floats = engine.reduce(_through_rows, blocks, (reader, mean, row_penalty, b))[0]
            return totals * b - passed

        columns, converged = solve_for_columns(normal, side, totals)
    if not converged:
        notes = (*notes, "the equations of the biases were not solved to full accuracy")
    return BiasSolution(np.zeros(0), columns, *penalties, notes)


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
