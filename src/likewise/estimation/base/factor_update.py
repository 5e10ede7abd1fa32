"""Factors of the rows, given those of the columns: a regression for each row, with what remains uncertain of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.threads import equal_shares, run_together, thread_count
from likewise._typing import Floats
from likewise.estimation.base.normal_equations import (
    Factors,
    ObservedRows,
    Regressors,
    packed,
    packed_inner,
    packed_size,
    unpacked,
)

_ROWS_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class Prior:
    """What is thought of the vectors ``(coordinates, bias)`` of one side before anything is observed: normal with mean 0.

    Parameters
    ----------
    precision : ndarray, shape (d, d)
        Inverse covariance.
    noise : float
        Variance of an observation about its expectation; 1 in least squares, where only the ratio to `precision` matters.
    uncertain : bool
        Whether what remains uncertain of a vector is kept, as Bayes' rule has it, or forgotten, as least squares does.
    by_count : bool
        Whether the precision of a vector is multiplied by how many observations it has.
    """

    precision: Floats
    noise: float = 1.0
    uncertain: bool = False
    by_count: bool = False

    def normal_matrices(self, grams: Floats, counts: NDArray[np.integer]) -> Floats:
        """Return precision plus Gram matrix over noise of each row, shape (k, d, d)."""
        matrices = unpacked(grams / self.noise, self.precision.shape[0])
        matrices += self._scaled_by(counts)[:, None, None] * self.precision
        return matrices

    def penalty(self, moments: Floats, matrices: Floats, counts: NDArray[np.integer]) -> float:
        """Return what the vectors of some rows cost; see `FactorUpdate`."""
        quadratic = packed_inner(moments, packed(self.precision[None])) @ self._scaled_by(counts)
        if not self.uncertain:
            return float(quadratic / 2)
        d = self.precision.shape[0]
        volumes = np.linalg.slogdet(matrices)[1] - np.linalg.slogdet(self.precision)[1] - d
        return float((quadratic + volumes.sum()) / 2)

    def _scaled_by(self, counts: NDArray[np.integer]) -> Floats:
        return np.maximum(counts, 1.0) if self.by_count else np.ones(counts.size)


@dataclass(frozen=True, eq=False)
class FactorUpdate:
    """The factors of the rows and what they leave unexplained.

    Parameters
    ----------
    factors : Factors
    explained : float
        What ``sum w E[(observation - bias of its column)^2]`` falls by through them.
    penalty : float
        Of the vectors: half of ``sum x^T precision x``; where they are uncertain the Kullback-Leibler divergence from the prior.
    """

    factors: Factors
    explained: float
    penalty: float


def regress(observations: ObservedRows, columns: Factors, prior: Prior) -> FactorUpdate:
    """Find the factors of all rows given those of the columns.

    Each row i has normal equations ``(precision + sum_j w_ij E[f_j f_j^T] / noise) x_i = sum_j w_ij E[(z_ij - bias_j) f_j] / noise``
    with regressors ``f_j = (coordinates of j, 1)``; the inverse of the matrix is what remains uncertain of ``x_i``.

    Parameters
    ----------
    observations : ObservedRows
    columns : Factors
    prior : Prior

    Returns
    -------
    FactorUpdate
    """
    regressors = Regressors.of(columns)
    m, d = observations.n_rows, observations.d
    factors = Factors(np.empty((m, d)), np.empty((m, packed_size(d))))
    totals = np.zeros(2)
    for rows, grams, sides in observations.equations(regressors):
        block = _Block(grams, sides, observations.counts[rows], prior, factors.rows(rows))
        totals += block.solved_by_all_threads()
    return FactorUpdate(factors, *totals.tolist())


@dataclass(frozen=True, eq=False)
class _Block:
    """The normal equations of some rows, and where their solutions go."""

    grams: Floats
    sides: Floats
    counts: NDArray[np.integer]
    prior: Prior
    solutions: Factors

    def solved_by_all_threads(self) -> Floats:
        """Solve, a few rows at a time, and return what is explained and what is penalised."""
        starts = range(0, self.counts.size, _ROWS_AT_A_TIME)
        totals = np.zeros((len(starts), 2))

        def solve(_: int, first: int, last: int) -> None:
            for number in range(first, last):
                totals[number] = self._solve(slice(starts[number], starts[number] + _ROWS_AT_A_TIME))

        run_together(solve, equal_shares(np.arange(len(starts) + 1), thread_count()))
        total: Floats = totals.sum(axis=0)
        return total

    def _solve(self, rows: slice) -> tuple[float, float]:
        prior, counts, grams, sides = self.prior, self.counts[rows], self.grams[rows], self.sides[rows]
        matrices = prior.normal_matrices(grams, counts)
        if prior.uncertain:
            inverse = np.linalg.inv(matrices)
            means = np.matmul(inverse, sides[:, :, None])[:, :, 0] / prior.noise
            found = Factors(means, packed(inverse + means[:, :, None] * means[:, None, :]))
        else:
            means = np.linalg.solve(matrices, sides[:, :, None] / prior.noise)[:, :, 0]
            found = Factors.certain(np.asarray(means, dtype=np.float64))
        self.solutions.means[rows], self.solutions.moments[rows] = found.means, found.moments
        explained = 2 * np.sum(sides * found.means) - packed_inner(found.moments, grams).sum()
        return float(explained), prior.penalty(found.moments, matrices, counts)
