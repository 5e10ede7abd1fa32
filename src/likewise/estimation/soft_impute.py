"""Nuclear-norm regularised completion (SoftImpute) as a pure function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.estimation.nuclear_norm import NuclearNormProblem, Point
from likewise.estimation.weighting import checked_weights, transposed_weights
from likewise.observations.table import Values
from likewise.spectrum.continuation import continue_triplets, first_subspace, with_room
from likewise.spectrum.result import Floats
from likewise.spectrum.slabs import one_blas_thread

_LOOK = 0.03  # of the tolerance: a relative decrease of the objective below it is worth a look at the gap


@dataclass(frozen=True, eq=False)
class NuclearNormFit:
    """``A = U diag(s) V^T``, the minimiser of ``1/2 sum w (z - a)^2 + lambda ||A||_*``, and how near to it.

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
        Proved: the smallest possible objective is at least ``(1 - gap)`` times this one; of more than 1,000 columns by a randomised
        test, which errs with a probability of at most 1e-8.
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
    weights: NDArray[np.float64] | None = None,
    max_rank: int | None = None,
    tol: float = 1e-4,
    max_iter: int = 500,
    start: NuclearNormFit | None = None,
    random_state: int | np.random.Generator | None = None,
) -> NuclearNormFit:
    """Minimise ``1/2 sum w (z - a)^2 + lambda ||A||_*``, the sum over what is observed.

    Each step fills what is missing from the last estimate, which leaves a sparse plus low rank matrix, takes its singular
    triplets from a subspace that the last step left, and lowers the singular values by lambda; with Nesterov's momentum,
    dropped where the objective would rise. With weights an observation moves the estimate by its weight over the largest one, and
    the singular values are lowered by lambda over that: a majorising step, so the more unlike the weights, the more steps. The end
    is proved by a duality gap: the weighted residual, scaled so that its largest singular value is at most lambda, is a feasible point
    of the dual problem.

    Parameters
    ----------
    observed : csr_array, shape (m, n)
        Z on Omega: a stored entry is an observation.
    regularization : float
        lambda > 0.
    weights : ndarray, shape (n_observed,), optional
        >= 0; all 1 by default. With inverse propensities over their mean, lambda keeps its scale.
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

    Raises
    ------
    InputError
        Weights that are negative or not finite, or all 0.
    ShapeError
        Not one weight for each observation.

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
    weights = checked_weights(weights, observed)
    if observed.shape[0] < observed.shape[1]:
        options: dict[str, Any] = {"max_rank": max_rank, "tol": tol, "max_iter": max_iter}
        options["start"] = None if start is None else start.transposed()
        options["weights"] = transposed_weights(weights, observed)
        turned = soft_impute(observed.T.tocsr(), regularization, random_state=random_state, **options)
        return turned.transposed()
    problem = NuclearNormProblem(observed, regularization, max_rank or observed.shape[1], weights)
    with one_blas_thread():
        return _Descent(problem, start, np.random.default_rng(random_state)).run(tol, max_iter)


class _Descent:
    """Proximal gradient steps with momentum."""

    def __init__(
        self, problem: NuclearNormProblem, start: NuclearNormFit | None, rng: np.random.Generator
    ) -> None:
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
                look_at = done + 1 + done // 10
                if self._limited or self.problem.hoped_gap(self.point, self.subspace) <= tol:
                    self._prove(tol)
                    if self._limited or self.gap <= tol:
                        return self._fit(True, done)
        self._prove(tol)
        return self._fit(self.gap <= tol, done)

    def _prove(self, tol: float) -> None:
        self.gap = self.problem.proved_gap(self.point, self.subspace, tol, self.rng)

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

    def _step(self, point: Point) -> Point:
        """Fill from a point, decompose, lower the singular values."""
        problem = self.problem
        triplets = continue_triplets(problem.filled(point), self.subspace)
        lowered = problem.lowered(triplets.values)
        rank = lowered.size
        self.subspace = with_room(triplets.right, rank, self.rng)
        return problem.point(triplets.left[:, :rank] * lowered, lowered, triplets.right[:, :rank])

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
