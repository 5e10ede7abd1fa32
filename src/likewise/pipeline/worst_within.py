"""The pairs with the largest ratios among individuals who stand together in a block: what a sample of pairs hardly meets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.checks import checked_instance, checked_whole
from likewise.errors import InputError
from likewise.estimation import LowRankEstimate, MatrixEstimator
from likewise.fairness import RowDistance, WorstPair, distance_by_name, worst_pairs
from likewise.norms import Norm
from likewise.observations import ObservedMatrix, PartitionedMatrix, ValueRange, WorkingRange
from likewise.observations.partitioned.blocks import BlockReader, RowBlock
from likewise.report.numbers import ratio_text

_GROUP_BYTES = 16 << 20
"""Of the complete rows of those who are compared with one another."""


@dataclass(frozen=True, eq=False)
class WorstWithinBlocks:
    """The largest ratios D / d among pairs that were looked at; that of all pairs is at least the first.

    Parameters
    ----------
    pairs : tuple of WorstPair
        Largest ratio first.
    n_examined : int
        Pairs of individuals who stand together.
    n_pairs : int
        All pairs.
    """

    pairs: tuple[WorstPair, ...]
    n_examined: int
    n_pairs: int

    @property
    def brief(self) -> str:
        """The first pair in a sentence."""
        who, first = f"{self.n_examined:,} of {self.n_pairs:,} pairs", self.pairs[0]
        found = f"{ratio_text(first.ratio)} ({first.left} and {first.right})"
        return f"Found by a search among {who}, those who stand together: ratio {found} of the estimate."

    def __str__(self) -> str:
        named = "; ".join(
            f"{ratio_text(pair.ratio)}, {pair.left} and {pair.right} (D {pair.output_distance:.4g}, d {pair.reference_distance:.4g})"
            for pair in self.pairs
        )
        others = "" if self.n_examined == self.n_pairs else "; a larger one may be among the others"
        return f"largest ratios D/d of the estimate among the {self.n_examined:,} of {self.n_pairs:,} pairs who stand together: {named}{others}"


def worst_within_blocks(
    observed: PartitionedMatrix, fitted: MatrixEstimator, k: int = 10, *, norm: Norm = "l1"
) -> WorstWithinBlocks:
    """Find the k pairs whose complete rows differ most, against their observations, among individuals who stand together.

    Rows of a block are completed some at a time, and all pairs of these are compared: d is the distance on zero-filled observations, D the
    l2 distance between complete rows, both on the working range of the estimator.

    Parameters
    ----------
    observed : PartitionedMatrix, shape (m, n)
        With the features of the fit. Individuals stand in the order of their ids.
    fitted : MatrixEstimator
    k : int, default 10
    norm : {"l1", "l2", "linf"} or float, default "l1"
        Of d.

    Returns
    -------
    WorstWithinBlocks

    Raises
    ------
    InputError
        An argument of another kind, or out of its range.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars as pl
    >>> from likewise import SVT, read_partitioned
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> lines = {"user": [1, 1, 2, 2, 3], "item": [1, 2, 1, 2, 1], "rating": [1.0, 1.0, -1.0, -1.0, 1.0]}
    >>> pl.DataFrame(lines).write_parquet(folder / "1.parquet")
    >>> with read_partitioned(folder, value_range=(-1, 1)) as Z:
    ...     found = worst_within_blocks(Z, SVT(1.0, shrinker="identity").fit(Z), k=1)
    >>> found.n_examined, found.n_pairs, len(found.pairs)
    (3, 3, 1)
    """
    checked_instance("observed", observed, PartitionedMatrix, "what read_partitioned returns")
    checked_instance("fitted", fitted, MatrixEstimator, "an estimator that was fitted")
    checked_whole("k", k)
    if not hasattr(fitted, "estimate_"):
        raise InputError(
            f"{type(fitted).__name__} that is not fitted", "a fitted estimator", "call its fit first"
        )
    estimate = fitted.estimate_
    # Rows are folded in where they are read, so the estimate travels to workers without its own.
    features = replace(estimate, left=np.zeros((0, estimate.rank)), row_ids=np.zeros(0), row_offsets=None)
    shared = observed.reader, observed.value_range, features, fitted.working_range, norm, k
    found: tuple[WorstPair, ...] = ()
    n_examined, m = 0, observed.shape[0]
    for pairs, examined in observed.engine.map(_worst, _groups(observed), shared):
        found = tuple(nlargest(k, (*found, *pairs), key=lambda pair: (pair.ratio, pair.output_distance)))
        n_examined += examined
    return WorstWithinBlocks(found, n_examined, m * (m - 1) // 2)


@dataclass(frozen=True, eq=False)
class _Group:
    """Some rows of a block."""

    block: RowBlock
    start: int
    stop: int
    ids: NDArray[Any]

    def __str__(self) -> str:
        return f"rows {self.start:,} to {self.stop:,}"


def _groups(observed: PartitionedMatrix) -> Iterator[_Group]:
    step = max(2, _GROUP_BYTES // (8 * observed.shape[1]))
    for block in observed.blocks:
        for start in range(block.start, block.stop, step):
            stop = min(start + step, block.stop)
            if stop - start > 1:  # somebody alone is in no pair
                yield _Group(block, start, stop, observed.row_ids[start:stop])


_Shared = tuple[BlockReader, ValueRange, LowRankEstimate, WorkingRange, Norm, int]


def _worst(group: _Group, shared: _Shared) -> tuple[tuple[WorstPair, ...], int]:
    reader, value_range, features, working_range, norm, k = shared
    first = group.block.start
    values = reader.read(group.block)[group.start - first : group.stop - first]
    observed = ObservedMatrix(values, value_range=value_range, row_ids=group.ids)
    d = distance_by_name("observed", observed, norm=norm, working_range=working_range)
    complete = features.of_rows(observed).on_working_range().to_dense()
    D = RowDistance(complete, "l2", row_ids=group.ids)
    found = worst_pairs(D, d, min(k, group.ids.size * (group.ids.size - 1) // 2))
    return found.pairs, found.n_pairs
