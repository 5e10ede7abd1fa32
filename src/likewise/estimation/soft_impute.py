"""Nuclear-norm regularised completion (SoftImpute) as a pure function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import CompressedRows, sampled_entries
from likewise.estimation.folding import with_data
from likewise.observations.table import Values
from likewise.spectrum import singular_triplets
from likewise.spectrum.continuation import continue_triplets, first_subspace, with_room
from likewise.spectrum.operators import SparseRows
from likewise.spectrum.result import Floats
from likewise.spectrum.slabs import one_blas_thread

_LOOK = 0.03  # of the tolerance: a relative decrease of the objective below it is worth a look at the gap


@dataclass(frozen=True, eq=False)
class NuclearNormFit:
    """``A = U diag(s) V^T``, the minimiser of ``1/2 ||P_Omega(Z - A)||_F^2 + lambda ||A||_*``, and how near to it.

    Parameters
    ----------
    left : ndarray, shape (m, r)
        U, orthonormal.
    values : ndarray, shape (r,)
        s > 0, decreasing.
    right : ndarray, shape (n, r)
        V, orthonormal.
    regularization : float
        lambda.
    objective : float
        Its value at A.
    gap : float
        Proved: the smallest possible objective is at least ``(1 - gap)`` times this one.
    converged : bool
        Whether the tolerance was reached.
    n_iter : int
    subspace : ndarray, shape (min(m, n), b)
        Singular vectors on the short side, of the last step: to start a similar problem from.
    """

    left: Floats
    values: Floats
    right: Floats
    regularization: float
    objective: float
    gap: float
    converged: bool
    n_iter: int
    subspace: Floats

    @property
    def rank(self) -> int:
        """Of A."""
        return self.values.size

    def transposed(self) -> NuclearNormFit:
        """Return the fit of the transposed observations."""
        return replace(self, left=self.right, right=self.left)


def soft_impute(
    observed: Values,
    regularization: float,
    *,
    max_rank: int | None = None,
    tol: float = 1e-4,
    max_iter: int = 500,
    start: NuclearNormFit | None = None,
    random_state: int | np.random.Generator | None = None,
) -> NuclearNormFit:
    """Minimise ``1/2 ||P_Omega(Z - A)||_F^2 + lambda ||A||_*``.

    Each step fills what is missing from the last estimate, which leaves a sparse plus low rank matrix, takes its singular
    triplets from a subspace that the last step left, and lowers the singular values by lambda; with Nesterov's momentum,
    dropped where the objective would rise. The end is proved by a duality gap: the residual, scaled so that its largest
    singular value is at most lambda, is a feasible point of the dual problem.

    Parameters
    ----------
    observed : csr_array, shape (m, n)
        Z on Omega: a stored entry is an observation.
    regularization : float
        lambda > 0.
    max_rank : int, optional
        Keep at most so many singular values. The problem is then not convex, and `gap` bounds the distance to the
        problem without that limit; convergence means that the objective has settled.
    tol : float
        Largest relative duality gap.
    max_iter : int
        Steps after which the result is returned as it is.
    start : NuclearNormFit, optional
        A solution for a similar lambda.
    random_state : int, Generator or None
        For the first subspace.

    Returns
    -------
    NuclearNormFit

    References
    ----------
    Mazumder, Hastie, Tibshirani, "Spectral regularization algorithms for learning large incomplete matrices", JMLR 11
    (2010); Hastie, Mazumder, Lee, Zadeh, "Matrix completion and low-rank SVD via fast alternating least squares", JMLR
    16 (2015); momentum with restarts: O'Donoghue, Candès, "Adaptive restart for accelerated gradient schemes",
    Foundations of Computational Mathematics 15 (2015).

    Examples
    --------
    With everything observed one step does it, the singular values lowered by lambda:

    >>> from scipy import sparse
    >>> fit = soft_impute(sparse.csr_array(np.diag([3.0, 2.0, 0.5])), 1.0, random_state=0)
    >>> fit.values.round(6), fit.converged
    (array([2., 1.]), True)
    """
    if observed.shape[0] < observed.shape[1]:
        options: dict[str, Any] = {"max_rank": max_rank, "tol": tol, "max_iter": max_iter}
        turned = None if start is None else start.transposed()
        return soft_impute(
            observed.T.tocsr(), regularization, start=turned, random_state=random_state, **options
        ).transposed()
    problem = _Problem(observed, regularization, max_rank or observed.shape[1])
    with one_blas_thread():
        return _Descent(problem, start, np.random.default_rng(random_state)).run(tol, max_iter)


@dataclass(frozen=True, eq=False)
class _Point:
    """A = ``scaled right^T`` with its residual on Omega; `values` are its singular values."""

    scaled: Floats
    values: Floats
    right: Floats
    residual: NDArray[np.float64]

    def plus(self, other: _Point, weight: float) -> _Point:
        """Return A + weight (A - other), as factors of twice the rank; its singular values are not known."""
        return _Point(
            np.hstack([(1 + weight) * self.scaled, -weight * other.scaled]),
            np.zeros(0),
            np.hstack([self.right, other.right]),
            (1 + weight) * self.residual - weight * other.residual,
        )


class _Problem:
    """The objective and its dual, on observations at least as tall as wide."""

    def __init__(self, observed: Values, regularization: float, max_rank: int) -> None:
        self.observed, self.regularization, self.max_rank = observed, regularization, max_rank
        self.rows = CompressedRows.from_csr(observed, order_columns=False)

    def point(self, scaled: Floats, values: Floats, right: Floats) -> _Point:
        """Complete a point with its residual."""
        residual = self.observed.data - sampled_entries(self.observed, scaled, right)
        return _Point(scaled, values, right, residual)

    def filled(self, point: _Point) -> SparseRows:
        """What is observed, and what the point says of the rest: its residual plus the point itself."""
        return SparseRows(self.residual_rows(point).plus_low_rank(point.scaled, point.right))

    def residual_rows(self, point: _Point) -> CompressedRows:
        """The residual as a sparse matrix."""
        return CompressedRows.from_csr(with_data(self.observed, point.residual), order_columns=False)

    def objective(self, point: _Point) -> float:
        """``1/2 ||P_Omega(Z - A)||_F^2 + lambda ||A||_*``."""
        return float(0.5 * point.residual @ point.residual + self.regularization * point.values.sum())

    def relative_gap(self, point: _Point) -> float:
        """How far the objective is above a value of the dual, over the objective."""
        objective = self.objective(point)
        start = point.right[:, :1] if point.values.size else None
        with_proof = singular_triplets(self.residual_rows(point), at_most=1, start=start, random_state=0)
        largest = float(with_proof.values.max(initial=0.0))
        dual_point = point.residual * min(1.0, self.regularization / largest if largest else 1.0)
        dual = float(dual_point @ self.observed.data - 0.5 * dual_point @ dual_point)
        return max(objective - dual, 0.0) / objective if objective else 0.0


class _Descent:
    """Proximal gradient steps with momentum."""

    def __init__(self, problem: _Problem, start: NuclearNormFit | None, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        m, n = problem.observed.shape
        if start is None:
            self.subspace = first_subspace(n, rng)
            self.point = problem.point(np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
        else:
            self.subspace = start.subspace
            self.point = problem.point(start.left * start.values, start.values, start.right)
        self.previous, self.age = self.point, 0
        self.objective, self.gap = problem.objective(self.point), 1.0

    def run(self, tol: float, max_iter: int) -> NuclearNormFit:
        """Step until the objective has settled and the gap is closed."""
        look_at = done = 0
        for done in range(1, max_iter + 1):
            settled = self._advance() <= _LOOK * tol * self.objective
            if settled and (self._limited or done >= look_at):
                self.gap, look_at = self.problem.relative_gap(self.point), done + 1 + done // 10
                if self._limited or self.gap <= tol:
                    return self._fit(True, done)
        self.gap = self.problem.relative_gap(self.point)
        return self._fit(self.gap <= tol, done)

    def _advance(self) -> float:
        """Take a step and return how far the objective fell; infinity where momentum led uphill and starts again."""
        momentum = self.age / (self.age + 3)
        candidate = self._step(self.point.plus(self.previous, momentum) if momentum else self.point)
        value = self.problem.objective(candidate)
        if momentum and value > self.objective:
            self.previous, self.age = self.point, 0
            return np.inf
        fallen = self.objective - value
        self.previous, self.point, self.objective, self.age = self.point, candidate, value, self.age + 1
        return fallen

    def _step(self, point: _Point) -> _Point:
        """Fill from a point, decompose, lower the singular values."""
        problem = self.problem
        triplets = continue_triplets(problem.filled(point), self.subspace)
        lowered = np.maximum(triplets.values - problem.regularization, 0.0)[: problem.max_rank]
        rank = int(np.count_nonzero(lowered))
        self.subspace = with_room(triplets.right, rank, self.rng)
        return problem.point(
            triplets.left[:, :rank] * lowered[:rank], lowered[:rank], triplets.right[:, :rank]
        )

    @property
    def _limited(self) -> bool:
        """Whether the rank is at a limit that was set."""
        return self.point.values.size == self.problem.max_rank < self.problem.observed.shape[1]

    def _fit(self, converged: bool, n_iter: int) -> NuclearNormFit:
        point = self.point
        left = np.divide(point.scaled, point.values)
        return NuclearNormFit(
            left, point.values, point.right, self.problem.regularization, self.objective, self.gap, converged, n_iter,
            self.subspace,
        )  # fmt: skip
