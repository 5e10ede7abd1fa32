"""Factors of the rows, given those of the columns: a regression for each row, with what remains uncertain of it.

The normal equations of all rows of a sparse matrix are made at once, as sparse products with packed second moments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import CompressedRows, forward_product, solve_regressions
from likewise._kernels.backend import equal_shares, run_together, thread_count
from likewise._typing import Floats
from likewise.errors import InputError
from likewise.observations.table import Values, with_data

_BLOCK_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Factors:
    """What is known of the vectors ``x_j = (coordinates, bias)`` of one side, d numbers each."""

    means: Floats  # (n, d), the last column holds the biases
    # (n, d (d + 1) / 2), E[x_j x_j^T], upper triangles row by row; x_j x_j^T itself where nothing is uncertain.
    moments: Floats

    @classmethod
    def certain(cls, means: Floats) -> Factors:
        """Take factors as they are, without uncertainty."""
        i, j = np.triu_indices(means.shape[1])
        moments = means[:, i]
        moments *= means[:, j]
        return cls(means, moments)

    @property
    def width(self) -> int:
        """How many numbers a vector has: d."""
        return int(self.means.shape[1])

    @property
    def coordinates(self) -> Floats:
        """Shape (n, d - 1)."""
        return self.means[:, :-1]

    @property
    def biases(self) -> Floats:
        """Shape (n,)."""
        return self.means[:, -1]

    @property
    def squared_biases(self) -> Floats:
        """``E[bias^2]``, shape (n,)."""
        return self.moments[:, -1]

    def total_moment(self, counted: NDArray[np.bool_]) -> Floats:
        """``sum_j E[x_j x_j^T]`` over the vectors that count, shape (d, d)."""
        summed = counted.astype(np.float64) @ self.moments
        total: Floats = unpacked(summed[None], self.means.shape[1])[0]
        return total

    def moment_about(self, means: Floats, counted: NDArray[np.bool_]) -> Floats:
        """``sum_j E[(x_j - mean_j) (x_j - mean_j)^T]`` over the vectors that count, shape (d, d)."""
        expected, about = self.means[counted], means[counted]
        across = expected.T @ about
        return np.asarray(self.total_moment(counted) - across - across.T + about.T @ about, np.float64)

    def turned(self, turn: Floats) -> Factors:
        """Return what is known of ``turn^T x_j``; `turn` has shape (d, k)."""
        moments = np.empty((self.means.shape[0], packed_size(turn.shape[1])))
        for rows in blocks(self.means.shape[0], turn.shape[0] ** 2):
            full = unpacked(self.moments[rows], turn.shape[0])
            moments[rows] = packed(np.matmul(turn.T, full) @ turn)
        return Factors(self.means @ turn, moments)


class ObservedRows:
    """Weighted observations, laid out so that the normal equations of all rows are sparse products.

    Weights are >= 0, all 1 by default; `rank`, the largest number of coordinates, decides how many rows are treated at a time.
    """

    def __init__(self, values: Values, weights: Floats | None, rank: int) -> None:
        w = np.ones(values.nnz) if weights is None else weights
        weighted = w * values.data
        self.n_rows, self.counts = values.shape[0], np.diff(values.indptr)
        labels = np.repeat(np.arange(self.n_rows), self.counts)
        self._row_weights, self._row_sums = (np.bincount(labels, x, self.n_rows) for x in (w, weighted))
        self.column_weights = np.bincount(values.indices, w, minlength=values.shape[1])
        self._column_sums = np.bincount(values.indices, weighted, minlength=values.shape[1])
        self.energy = float(weighted @ values.data)
        of_weights, of_values = with_data(values, w), with_data(values, weighted)
        self._laid_out = [
            (rows, CompressedRows.from_csr(of_weights[rows]), CompressedRows.from_csr(of_values[rows]))
            for rows in blocks(self.n_rows, packed_size(rank + 1) + 2 * (rank + 1))
        ]

    def equations(self, columns: Factors) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield the normal equations of some rows at a time: their positions, Gram matrices and right-hand sides.

        An observation is ``z_ij = bias_j + f_j^T x_i`` with ``f_j = (coordinates of j, 1)``: the bias of the column is taken from the
        observation, and the 1 stands for the bias of the row. So a row needs ``sum_j w_ij E[f_j f_j^T]``, packed, and
        ``sum_j w_ij E[(z_ij - bias_j) f_j]``. Both are made of the sums of the moments and of the means of its columns: only the last
        column of the Gram matrix, where a bias stands in the moments, has to be exchanged.
        """
        last = last_column(columns.means.shape[1])
        for rows, weights, weighted in self._laid_out:
            grams = _product(weights, columns.moments)
            means, sides = _product(weights, columns.means), _product(weighted, columns.means)
            # The last column of the moments is E[bias_j x_j]: in all but its last entry what the biases take from the sides.
            sides -= grams[:, last]
            sides[:, -1] = self._row_sums[rows] - means[:, -1]
            # In its place goes E[f_j], the last entry of which is 1.
            means[:, -1] = self._row_weights[rows]
            grams[:, last] = means
            yield rows, grams, sides

    def bias_misfit(self, columns: Factors) -> float:
        """``sum w_ij E[(z_ij - bias_j)^2]``: what the coordinates and the biases of the rows have to explain."""
        known = self.column_weights @ columns.squared_biases - 2 * self._column_sums @ columns.biases
        return self.energy + float(known)


def _product(rows: CompressedRows, block: Floats) -> Floats:
    return np.asarray(forward_product(rows, block), dtype=np.float64)


def blocks(n_rows: int, numbers_a_row: int) -> Iterator[slice]:
    """Cut rows into slices of at most 64 MiB."""
    step = max(1, _BLOCK_BYTES // (8 * numbers_a_row))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def packed_size(d: int) -> int:
    """How many numbers the upper triangle of a d x d matrix has."""
    return d * (d + 1) // 2


def packed(matrices: Floats) -> Floats:
    """Return the upper triangles of symmetric matrices, shape (k, d, d), row by row."""
    upper, _ = _places(matrices.shape[-1])
    return matrices.reshape(matrices.shape[0], -1)[:, upper]


def unpacked(triangles: Floats, d: int) -> Floats:
    """Return symmetric matrices, shape (k, d, d), from their upper triangles."""
    _, place = _places(d)
    return triangles[:, place].reshape(-1, d, d)


def last_column(d: int) -> NDArray[np.intp]:
    """Where the last column of a d x d matrix stands in its packed upper triangle."""
    return _places(d)[1].reshape(d, d)[:, -1]


@cache
def _places(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the upper triangle stands in a flat d x d matrix, and where each entry of the matrix stands in the triangle."""
    i, j = np.triu_indices(d)
    place = np.empty((d, d), np.intp)
    place[i, j] = place[j, i] = np.arange(i.size)
    return i * d + j, place.ravel()


_ROWS_AT_A_TIME = 512


@dataclass(frozen=True, eq=False)
class Prior:
    """What is thought of the vectors ``(coordinates, bias)`` of one side before anything is observed: normal with mean 0, or means of their own."""

    precision: Floats  # (d, d), inverse covariance
    # Variance of an observation; 1 in least squares, where only its ratio to the precision matters.
    noise: float = 1.0
    uncertain: bool = False  # whether what remains uncertain of a vector is kept, as by Bayes, or forgotten, as in least squares
    by_count: bool = False  # whether the precision of a vector is multiplied by how many observations it has
    # (k, d), where what is known of a vector says where it is likely to lie; None for 0.
    means: Floats | None = None

    def multiples(self, counts: NDArray[np.integer]) -> Floats:
        """By how much the precision of each vector is multiplied, shape (k,)."""
        return np.maximum(counts, 1.0) if self.by_count else np.ones(counts.size)

    @cached_property
    def covariance(self) -> Floats:
        """Shape (d, d)."""
        return np.asarray(np.linalg.inv(self.precision), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class FactorUpdate:
    """The factors of the rows and what they leave unexplained."""

    factors: Factors
    explained: float  # what sum w E[(observation - bias of its column)^2] falls by through them
    penalty: float  # half of sum x^T precision x; of uncertain vectors the Kullback-Leibler divergence from the prior


def regress(observations: ObservedRows, columns: Factors, prior: Prior) -> FactorUpdate:
    """Find the factors of all rows given those of the columns.

    Each row i has normal equations ``(precision + sum_j w_ij E[f_j f_j^T] / noise) x_i = precision mean_i + sum_j w_ij E[(z_ij - bias_j) f_j] / noise``
    with regressors ``f_j = (coordinates of j, 1)``; the inverse of the matrix is what remains uncertain of ``x_i``. Raises `InputError` if the prior is
    so weak beside the observations that rounding swallows it.
    """
    return solve_equations(
        observations.equations(columns), observations.counts, prior, columns.means.shape[1]
    )


def solve_equations(
    equations: Iterable[tuple[slice, Floats, Floats]],
    counts: NDArray[np.integer],
    prior: Prior,
    d: int,
) -> FactorUpdate:
    """Solve normal equations as `ObservedRows.equations` yields them, of vectors with d numbers and so many observations each; see `regress`."""
    factors = Factors(np.empty((counts.size, d)), np.empty((counts.size, packed_size(d))))
    totals = np.zeros(3)
    for rows, grams, sides in equations:
        found = Factors(factors.means[rows], factors.moments[rows])
        of_rows = prior if prior.means is None else replace(prior, means=prior.means[rows])
        totals += _Block(grams, sides, counts[rows], of_rows, found).solved_by_all_threads()
    explained, penalty, n_lost = totals.tolist()
    if n_lost:
        name = "noise" if prior.uncertain else "regularization"
        raise InputError(
            f"{name} so small that it is lost in rounding in {n_lost:,.0f} regressions", f"a larger {name}"
        )
    return FactorUpdate(factors, explained, penalty)


@dataclass(frozen=True, eq=False)
class _Block:
    """The normal equations of some rows, and where their solutions go."""

    grams: Floats
    sides: Floats
    counts: NDArray[np.integer]
    prior: Prior
    solutions: Factors

    def solved_by_all_threads(self) -> Floats:
        """Solve, a few rows at a time; return what is explained, what is penalised, and how many matrices are singular."""
        starts = range(0, self.counts.size, _ROWS_AT_A_TIME)
        totals = np.zeros((len(starts), 3))

        def solve(_: int, first: int, last: int) -> None:
            for number in range(first, last):
                totals[number] = self._solve(slice(starts[number], starts[number] + _ROWS_AT_A_TIME))

        run_together(solve, equal_shares(np.arange(len(starts) + 1), thread_count()))
        # Added up in the order of the rows: the same bits for any number of threads.
        total: Floats = totals.sum(axis=0)
        return total

    def _solve(self, rows: slice) -> tuple[float, float, int]:
        prior, multiples = self.prior, self.prior.multiples(self.counts[rows])
        means = None if prior.means is None else prior.means[rows]
        drawn = None if means is None else means @ prior.precision * multiples[:, None]
        explained, penalty, log_volumes, n_lost = solve_regressions(
            self.grams[rows],
            self.sides[rows],
            packed(prior.precision[None])[0],
            multiples,
            prior.noise,
            prior.uncertain,
            self.solutions.means[rows],
            self.solutions.moments[rows],
            drawn,
        )
        # Penalty: (x - mean)^T P (x - mean); and of an uncertain vector the divergence 1/2 (tr(P E[x x^T]) - d + log|posterior| - log|P|).
        if means is not None and drawn is not None:
            penalty += float(np.sum(drawn * (means - 2 * self.solutions.means[rows])))
        if prior.uncertain:
            log_volume = np.linalg.slogdet(prior.precision)[1] + self.sides.shape[1]
            penalty += log_volumes - multiples.size * float(log_volume)
        return explained, penalty / 2, n_lost
