"""Row and column biases: how far each row and column lies from the mean of all, shrunk by how little is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, isinf
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg

from likewise._typing import Floats
from likewise.estimation.base.folding import non_negative, row_offsets
from likewise.observations.table import Values, rows_of_entries, with_data

_ACCURACY = 1e-12
"""Relative residual of the normal equations at which they count as solved."""

Penalties = tuple[float, float]
"""lambda of the rows and of the columns."""


@dataclass(frozen=True, eq=False)
class BiasSolution:
    """The solution and what it rests on; a lambda is infinite where no bias was found."""

    rows: Floats  # (m,)
    columns: Floats  # (n,)
    row_penalty: float
    column_penalty: float
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: Floats, columns: Floats, converged: bool, penalties: Penalties, notes: tuple[str, ...]
    ) -> Self:
        """Say where the equations were not solved."""
        told = () if converged else ("the equations of the biases were not solved to full accuracy",)
        return cls(rows, columns, *penalties, (*notes, *told))


def chosen_penalties(
    regularization: float | None, components: Callable[[], VarianceComponents]
) -> tuple[Penalties, tuple[str, ...]]:
    """Return lambda of the rows and of the columns, which are given as one or follow from variance components, and notes on these."""
    if regularization is not None:
        given = non_negative("regularization", regularization)
        return (given, given), ()
    found = components()
    return found.penalties, found.notes


def solve_biases(values: Values, weights: Floats, regularization: float | None = None) -> BiasSolution:
    """Minimise ``sum w (z - a_i - b_j)^2 + lambda_row sum a_i^2 + lambda_column sum b_j^2`` over a and b.

    Rows are eliminated, ``a_i = sum_j w (z - b_j) / (sum_j w + lambda_row)``; what remains is a symmetric, positive (semi-)definite system
    in b, solved by conjugate gradients to a relative residual of 1e-12. Each iteration passes twice over the observations.

    `values` are deviations from the mean of all, `weights` have mean 1; `regularization` stands for both lambdas, by default from
    `variance_components`, and raises `InputError` where it is negative or not a number.

    Sources: Koren, "Factorization meets the neighborhood", KDD (2008), Section 2.1, for the model; Henderson, "Best linear unbiased estimation and
    prediction under a selection model", Biometrics 31 (1975), for lambda as a ratio of variances.
    """
    penalties, notes = chosen_penalties(regularization, lambda: variance_components(values, weights))
    return BiasSolution.of(*_minimise(values, weights, *penalties), penalties, notes)


def _minimise(
    values: Values, weights: Floats, row_penalty: float, column_penalty: float
) -> tuple[Floats, Floats, bool]:
    m, n = values.shape
    indices, labels = values.indices, rows_of_entries(values)
    row_totals = np.bincount(labels, weights, minlength=m) + row_penalty
    column_totals = np.bincount(indices, weights, minlength=n) + column_penalty
    weighted = with_data(values, weights)
    transposed = weighted.T.tocsr()

    def per_row(sums: Floats) -> Floats:
        means: Floats = np.divide(sums, row_totals, out=np.zeros(m), where=row_totals > 0)
        return means

    def normal(b: Floats) -> Floats:
        # sum_i w b_j + lambda b_j, less what the rows take of it at their own minimum.
        image: Floats = column_totals * b - transposed @ per_row(weighted @ b)
        return image

    columns, converged = np.zeros(n), True
    # An infinite penalty leaves no bias: the variance of the columns was estimated as 0.
    if np.isfinite(column_penalty):
        products = with_data(values, values.data * weights)
        side = products.T @ np.ones(m) - transposed @ per_row(products @ np.ones(n))
        columns, converged = solve_for_columns(normal, side, np.asarray(column_totals, np.float64))
    rows = row_offsets(with_data(values, values.data - columns[indices]), row_penalty, weights)
    return rows, columns, converged


def solve_for_columns(
    normal: Callable[[Floats], Floats], side: Floats, totals: Floats
) -> tuple[Floats, bool]:
    """Solve the equations of the column biases by conjugate gradients; return them, and whether that succeeded.

    `normal` applies the matrix of the equations, rows eliminated; `totals`, the weights of the columns and lambda, scale it.
    """
    n = side.size
    scaling = np.divide(1.0, totals, out=np.ones(n), where=totals > 0)
    columns, status = cg(
        LinearOperator((n, n), matvec=normal, dtype=np.float64),
        side,
        rtol=_ACCURACY,
        maxiter=10 * n + 100,
        M=LinearOperator((n, n), matvec=lambda x: scaling * x, dtype=np.float64),
    )
    return columns, status == 0


@dataclass(frozen=True)
class VarianceComponents:
    """Variances of the row biases, the column biases and the noise in ``z_ij = mean + a_i + b_j + noise``; 0 where the estimate is negative."""

    rows: float
    columns: float
    noise: float
    # How many equal observations a weighted one is worth, (sum w)^2 / (N sum w^2) (Kish 1965).
    worth: float = 1.0

    @property
    def penalties(self) -> Penalties:
        """``noise / rows`` and ``noise / columns`` over the worth: lambda of the rows and of the columns.

        The noise of a weighted mean is ``noise sum w^2 / (sum w)^2``, as of fewer observations.
        """
        noise = self.noise / self.worth
        return _ratio(noise, self.rows), _ratio(noise, self.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found, in words."""
        sides = dict(zip(("row", "column"), self.penalties, strict=True))
        none = tuple(
            f"no {side} biases: their variance is estimated as 0" for side in sides if isinf(sides[side])
        )
        parts = [f"{sides[side]:.3g} observations a {side}" for side in sides if isfinite(sides[side])]
        regularised = f"biases regularised by {' and '.join(parts)}, from variance components"
        return (regularised, *none) if parts else none


def variance_components(values: Values, weights: Floats | None = None) -> VarianceComponents:
    """Estimate the variances of row biases, column biases and noise from sums of squares (Henderson's method 1).

    The sums of squares of all observations, of row means, of column means and of the mean have expectations that are linear in
    the three variances, whatever the pattern of what is observed, if it does not depend on the biases.

    Where it does, and observations are weighted by inverse propensities, two entries of one row are compared instead: over pairs of
    different entries of a row ``sum w d w' d' / sum w w'`` estimates the variance of the row biases for all entries, not for those that
    were chosen, d being the deviation from the weighted mean; likewise for columns. What is left of the weighted variance is noise.
    Weights are above 0, by default all equal.

    Sources: Henderson, "Estimation of variance and covariance components", Biometrics 9 (1953), method 1; Searle, Casella, McCulloch, "Variance
    Components" (1992), Section 5.3. Kish, "Survey sampling" (1965), for the worth of weighted observations.

    >>> from scipy import sparse
    >>> components = variance_components(sparse.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]])))
    >>> [round(variance, 12) for variance in (components.rows, components.columns, components.noise)]
    [2.0, 0.5, 0.0]
    """
    if weights is not None and np.ptp(weights) > 0:
        return _weighted_components(values, weights)
    data, total = np.asarray(values.data, dtype=np.float64), float(values.nnz)
    by_row = _grouped(rows_of_entries(values), data, values.shape[0])
    by_column = _grouped(values.indices, data, values.shape[1])
    return components_of(float(data @ data), float(data.sum()), total, by_row, by_column)


def components_of(
    squares: float, sums: float, total: float, by_row: Grouped, by_column: Grouped
) -> VarianceComponents:
    """Solve Henderson's equations for the sum of squares, the sum and the number of all observations, and their sums by rows and by columns."""
    of_mean = sums**2 / total
    sides = np.array([squares, by_row.between, by_column.between]) - of_mean
    spread_rows, spread_columns = by_row.squared_counts / total, by_column.squared_counts / total
    # An equation for the sum of squares of all observations, of row means and of column means, less that of the mean:
    # how often its expectation has the variance of the rows, of the columns, and of the noise.
    system = np.array(
        [
            [total - spread_rows, total - spread_columns, total - 1],
            [total - spread_rows, by_row.n_groups - spread_columns, by_row.n_groups - 1],
            [by_column.n_groups - spread_rows, total - spread_columns, by_column.n_groups - 1],
        ]
    )
    # Least squares, as equations may coincide: one row, or one observation a row, tells two variances together.
    solution = np.linalg.lstsq(system, sides, rcond=None)[0]
    rows, columns, noise = (float(variance) for variance in np.maximum(solution, 0.0))
    return VarianceComponents(rows, columns, noise)


def _weighted_components(values: Values, weights: Floats) -> VarianceComponents:
    total = float(weights.sum())
    deviations = values.data - weights @ values.data / total
    rows = _between(rows_of_entries(values), deviations, weights, values.shape[0])
    columns = _between(values.indices, deviations, weights, values.shape[1])
    noise = float(weights @ deviations**2) / total - rows - columns
    worth = total**2 / (weights.size * float(weights @ weights))
    return VarianceComponents(rows, columns, max(noise, 0.0), worth)


def _between(labels: NDArray[np.integer], deviations: Floats, weights: Floats, n_labels: int) -> float:
    """Return the mean product of the deviations of two different entries with one label, weighted; 0 where it is negative."""

    def pairs(terms: Floats) -> float:
        # Over pairs of different entries: the square of the sum, less the sum of the squares.
        sums = np.bincount(labels, terms, minlength=n_labels)
        return float(sums @ sums - terms @ terms)

    together = pairs(weights)
    return max(pairs(weights * deviations) / together, 0.0) if together > 0 else 0.0


@dataclass(frozen=True)
class Grouped:
    """What Henderson's equations need of groups: ``sum (sum of a group)^2 / count``, the sum of squared counts, how many have any."""

    between: float
    squared_counts: float
    n_groups: int

    @classmethod
    def of_sums(cls, sums: Floats, counts: NDArray[Any]) -> Self:
        """Collect it from the sum and the count of each group."""
        seen = counts > 0
        between = float((sums[seen] ** 2 / counts[seen]).sum())
        return cls(between, float((counts.astype(np.float64) ** 2).sum()), int(seen.sum()))


def _grouped(labels: NDArray[np.integer], data: Floats, n_labels: int) -> Grouped:
    sums = np.asarray(np.bincount(labels, data, minlength=n_labels), np.float64)
    return Grouped.of_sums(sums, np.bincount(labels, minlength=n_labels))


def _ratio(noise: float, variance: float) -> float:
    return noise / variance if variance > 0 else inf
