"""What certificates ask of the rows of a fit, in memory or in blocks: the largest of some numbers over all rows, and the longest column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.certificates.operator_norm import gamma, largest_norm, upward
from likewise.observations import ObservedMatrix, PartitionedMatrix
from likewise.observations.partitioned.blocks import BlockReader, RowBlock
from likewise.observations.table import Values, with_data
from likewise.observations.value_range import AffineScale, WorkingRange

Measure = Callable[..., tuple[float, ...]]
"""``measure(values, *by_row, told)``: numbers of some rows, given what goes with them and what goes with all."""
_ENTRIES = 1 << 22
"""Of arrays that are made of rows in memory at a time."""


def working_range_of(scale: AffineScale) -> WorkingRange:
    """Return which working range a scale maps to."""
    return "symmetric" if scale.bounds[0] < 0 else "unit"


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Rows of a fit in one matrix, (m, n), on the method's working range."""

    values: Values

    def largest(self, measure: Measure, told: Any, *by_row: Any, width: int = 1) -> tuple[float, ...]:
        """Return the largest over all rows of each number that `measure`, which other processes can import, finds of some.

        `by_row` are arrays of shape (m, ...), or None; a measure holds `width` numbers of a row.
        """
        step = max(1, _ENTRIES // max(width, 1))
        pieces = (slice(start, start + step) for start in range(0, self.values.shape[0], step))
        return _largest(measure(self.values[rows], *_parts(by_row, rows), told) for rows in pieces)

    def longest_column(self) -> float:
        """Return ``max_k ||z_k||_1`` over the columns."""
        return float(_column_lengths(self.values).max())


@dataclass(frozen=True, eq=False)
class RowsInBlocks:
    """Rows of a fit in blocks; each question is one pass."""

    observed: PartitionedMatrix
    working_range: WorkingRange

    def largest(self, measure: Measure, told: Any, *by_row: Any, width: int = 1) -> tuple[float, ...]:  # noqa: ARG002
        """As `RowsInMemory.largest`; a block is what fits into memory."""
        blocks = self.observed.blocks
        pieces = ((block, _parts(by_row, slice(block.start, block.stop))) for block in blocks)
        # What goes with all rows is sent once, what goes with some, with their block.
        shared = measure, told, self.observed.on(self.working_range)
        return _largest(self.observed.engine.map(_measured, pieces, shared))

    def longest_column(self) -> float:
        """As `RowsInMemory.longest_column`."""
        reader = self.observed.on(self.working_range)
        return float(self.observed.engine.reduce(_lengths_of_block, self.observed.blocks, reader)[0].max())


FittedRows = RowsInMemory | RowsInBlocks


def fitted_rows(observed: ObservedMatrix | PartitionedMatrix, scale: AffineScale) -> FittedRows:
    """Return the rows that an estimate of this scale was made from, as fold-in sees them: in double precision."""
    if isinstance(observed, PartitionedMatrix):
        return RowsInBlocks(observed, working_range_of(scale))
    values = observed.values
    return RowsInMemory(with_data(values, scale.forward(values.data, values.indices)))


def _parts(by_row: tuple[Any, ...], rows: slice) -> list[NDArray[Any] | None]:
    return [None if part is None else part[rows] for part in by_row]


def _largest(found: Iterator[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(np.max(list(found), axis=0).tolist())


def _column_lengths(values: Values) -> Floats:
    lengths = np.bincount(values.indices, np.abs(values.data), minlength=values.shape[1])
    return np.asarray(lengths, np.float64)


def _measured(piece: tuple[RowBlock, list[Any]], shared: tuple[Measure, Any, BlockReader]) -> Any:
    (block, by_row), (measure, told, reader) = piece, shared
    return measure(reader.read(block), *by_row, told)


def _lengths_of_block(block: RowBlock, reader: BlockReader) -> tuple[Floats]:
    return (_column_lengths(reader.read(block)),)


@dataclass(frozen=True, eq=False)
class FoldIn:
    """What folds a row in before clipping: ``g (z V) V^T``, z what is left of it after the offsets."""

    right: Floats  # V, (n, r)
    gains: Floats  # g, (r,)
    singular_values: Floats  # sigma, (r,)
    basis_norm: float  # upper bound on ||V||
    # an estimate without its rows, whose folding subtracts offsets; None where none are
    centred: Any = None


def departure(values: Values, left: Floats, offsets: Floats | None, fold: FoldIn) -> tuple[float]:
    """Bound ``||A_hat_i - fold_in(Z_i)||_2`` before clipping, over rows of the fit: `values` (k, n), their rows `left` (k, r) of U, their `offsets` as they are stored.

    The row of the estimate is ``g sigma u_i V^T`` and its fold-in ``g (z V) V^T``, so ``||V|| ||g (sigma u_i - z V)||`` bounds it, but for offsets.
    """
    largest_gain = float(fold.gains.max(initial=0.0))
    z, folded = values, None
    if fold.centred is not None:
        z, folded = fold.centred.folding.residuals(values, fold.centred)
    scaled_left = left * fold.singular_values
    measured = largest_norm((z @ fold.right - scaled_left) * fold.gains, 2.0)
    lengths = np.sqrt(np.asarray((z**2).sum(axis=1)).ravel())
    longest_sum = int(np.diff(z.indptr).max(initial=0)) + 4
    # z V is a sum of as many terms as the row has entries: each of its r numbers is off by at most gamma
    # ||z|| ||v_l||.
    rounding = gamma(longest_sum) * float(lengths.max(initial=0.0)) * fold.basis_norm * sqrt(fold.gains.size)
    rounding += gamma(4) * largest_norm(scaled_left, 2.0)
    departed = fold.basis_norm * (measured + largest_gain * rounding)
    if fold.centred is not None:
        departed += _of_offsets(values, z, offsets, folded, fold.basis_norm**2 * largest_gain)
    return (upward(departed, 16),)


def _of_offsets(
    values: Values, residuals: Values, stored: Floats | None, folded: Floats | None, steepness: float
) -> float:
    """Bound what rounding of the residuals and stored row offsets add: ``sqrt(n) |stored - folded|`` of the latter."""
    n = values.shape[1]
    sizes = 1.0 + sum(float(np.abs(part.data).max(initial=0.0)) for part in (values, residuals))
    rounding = gamma(n + 8) * sizes
    departed = steepness * sqrt(n) * rounding
    if stored is None or folded is None:
        return departed
    return departed + sqrt(n) * (float(np.abs(stored - folded).max(initial=0.0)) + rounding)
