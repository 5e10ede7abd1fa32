"""SoftImpute of observations in blocks: lambda, chosen by entries held out of the blocks where it is not given, and the fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.estimation.base.block_preparation import BlockErrors, BlockPrepared, prepare_blocks
from likewise.estimation.base.folding import RidgeFolding
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.preparation import Centering
from likewise.estimation.nuclear_norm.in_blocks import BlockDescent, BlockFit
from likewise.estimation.nuclear_norm.soft_impute import (
    HIDDEN,
    LOOSER,
    PATIENCE,
    SMALLEST,
    lambdas_down_to,
    scaled_up,
)
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.partitioned.splitting import split_entries
from likewise.observations.value_range import WorkingRange
from likewise.spectrum import singular_triplets


@dataclass
class BlockSearch:
    """Fits of decreasing lambdas, each started from the last.

    Parameters
    ----------
    working_range : {"symmetric", "unit"}
    centering : str
    tol, max_iter, max_rank, rng
        As in `soft_impute`.

    Attributes
    ----------
    passes : int
        So far, but for those of centres.
    path : list of (float, int, float)
        As in `SoftImpute`.
    """

    working_range: WorkingRange
    centering: Centering
    tol: float
    max_iter: int
    max_rank: int | None
    rng: np.random.Generator
    passes: int = 0
    path: list[tuple[float, int, float]] = field(default_factory=list)

    def prepared(self, observed: PartitionedMatrix) -> BlockPrepared:
        """Subtract the centre."""
        return prepare_blocks(observed, self.working_range, self.centering)

    def largest(self, prepared: BlockPrepared) -> float:
        """Return the largest singular value of what is left, missing entries 0."""
        found = singular_triplets(prepared.operator, at_most=1, random_state=0)
        self.passes += found.passes
        return float(found.values.max(initial=0.0))

    def chosen(self, observed: PartitionedMatrix, n_path: int) -> tuple[float, Floats] | None:
        """Return the lambda that predicts best what is held out, for all entries, with the factor there; None where nothing can be held out."""
        with split_entries(observed, HIDDEN, int(self.rng.integers(2**31))) as (seen, pairs):
            if seen.n_observed == observed.n_observed:
                return None
            prepared = self.prepared(seen)
            largest = self.largest(prepared)
            if not largest:
                return None
            best = 0, 0.0, np.zeros((0, 0))
            for number, (fit, estimate) in enumerate(self._down(prepared, n_path, largest)):
                error = sqrt(BlockErrors.of(seen, pairs, [estimate], self.working_range).means[0])
                self.passes += 1
                self.path.append((fit.regularization, estimate.rank, error))
                if error <= min(point[2] for point in self.path):
                    best = number, fit.regularization, fit.basis
                if number - best[0] >= PATIENCE:
                    break
        return scaled_up(best[1]), best[2]

    def _down(
        self, prepared: BlockPrepared, n_path: int, largest: float
    ) -> Iterator[tuple[BlockFit, LowRankEstimate]]:
        basis: Floats | None = None
        for regularization in lambdas_down_to(SMALLEST * largest, largest, n_path).tolist():
            descent = self._descent(prepared, regularization, basis)
            fit = descent.run(LOOSER * self.tol, self.max_iter, proved=False)
            basis, (values, right) = fit.basis, descent.components
            self.passes += descent.passes
            nobody = np.zeros((0, values.size))
            yield fit, self._estimate(prepared, regularization, (nobody, values, right)).without_rows()

    def fitted(
        self, prepared: BlockPrepared, regularization: float, basis: Floats | None
    ) -> tuple[BlockFit, LowRankEstimate]:
        """Fit one lambda with proof, and make the estimate of all individuals."""
        descent = self._descent(prepared, regularization, basis)
        fit = descent.run(self.tol, self.max_iter)
        factors = descent.factors(fit)
        self.passes += descent.passes
        return fit, self._estimate(prepared, regularization, factors, prepared.row_offsets())

    def _descent(self, prepared: BlockPrepared, regularization: float, basis: Floats | None) -> BlockDescent:
        most = min(self.max_rank or prepared.observed.shape[1], *prepared.observed.shape)
        return BlockDescent(prepared, regularization, most, self.rng, basis)

    def _estimate(
        self, prepared: BlockPrepared, regularization: float, factors: Any, row_offsets: Floats | None = None
    ) -> LowRankEstimate:
        penalties = regularization / factors[1]
        folding = RidgeFolding(prepared.centre.row_penalty, penalties=penalties)
        centre = replace(prepared.centre, row_offsets=row_offsets)
        return LowRankEstimate.from_factors(prepared.observed, self.working_range, factors, folding, centre)
