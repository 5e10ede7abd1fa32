"""Nuclear-norm regularised completion (SoftImpute) as a pure function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import sampled_entries
from likewise._kernels.backend import one_blas_thread
from likewise._typing import AnyFloats, Floats
from likewise.arrays import checked_sparse
from likewise.checks import checked_instance, checked_positive, checked_whole
from likewise.estimation.base.weighting import (
    checked_weights,
    kept_weights,
    self_normalised_error,
    transposed_weights,
)
from likewise.estimation.nuclear_norm.problem import ROUNDED, NuclearNormProblem, Point, Stall
from likewise.observations.table import Values, keep_entries, with_data
from likewise.randomness import generator_of
from likewise.spectrum import singular_triplets
from likewise.spectrum.orthonormal import continue_triplets, first_subspace, with_room

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

    left: AnyFloats
    values: AnyFloats
    right: AnyFloats
    regularization: float
    objective: float
    gap: float
    converged: bool
    n_iter: int
    subspace: AnyFloats

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

    Each step fills the missing entries from the last estimate, which gives a sparse plus low rank matrix. It finds the singular triplets of
    that, beginning with the last subspace, and lowers the singular values by lambda. Nesterov's momentum is dropped where the objective would
    rise. With weights, an observation moves the estimate by its weight over the largest one, and singular values are lowered by lambda over
    that: a majorising step, so unlike weights take more steps. A duality gap proves the end: the weighted residual, scaled so that its largest
    singular value is at most lambda, is a feasible point of the dual problem.

    Parameters
    ----------
    observed : csr_array, shape (m, n)
        Z on Omega: a stored entry is an observation.
    regularization : float
        lambda > 0.
    weights : ndarray, shape (n_observed,), optional
        >= 0; all 1 by default. With inverse propensities over their mean, lambda keeps its scale.
    max_rank : int, optional
        Keep at most so many singular values. The problem is then not convex: `gap` bounds the distance to the problem without
        the limit, and convergence means that the objective has settled.
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
    checked_sparse(observed, "observations")
    checked_positive("regularization", regularization)
    checked_positive("tol", tol)
    checked_whole("max_iter", max_iter)
    if max_rank is not None:
        checked_whole("max_rank", max_rank, or_else="None")
    if start is not None:
        checked_instance("start", start, NuclearNormFit, "a NuclearNormFit, or None")
    weights = checked_weights(weights, observed)
    if observed.shape[0] < observed.shape[1]:
        options: dict[str, Any] = {"max_rank": max_rank, "tol": tol, "max_iter": max_iter}
        options["start"] = None if start is None else start.transposed()
        options["weights"] = transposed_weights(weights, observed)
        turned = soft_impute(observed.T.tocsr(), regularization, random_state=random_state, **options)
        return turned.transposed()
    problem = NuclearNormProblem(observed, regularization, max_rank or observed.shape[1], weights)
    with one_blas_thread():
        return _Descent(problem, start, generator_of(random_state)).run(tol, max_iter)


class _Descent:
    """Proximal gradient steps, with momentum; where weights are unlike, each followed by a sweep of regressions instead.

    A gradient step moves an observation by its weight over the largest one, so that where that is many times the mean most of them hardly
    move. In factors ``A = U V^T`` the objective is at most ``1/2 sum w (z - a)^2 + lambda / 2 (|U|^2 + |V|^2)``, the same for
    ``U diag(sqrt(s))`` and ``V diag(sqrt(s))``, so regressing rows on V and columns on U lowers it whatever the weights. The gradient step
    finds the directions that are missing.
    """

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
        self.by_regressions = problem.weights_are_unlike
        self.objective, self.gap = problem.objective(self.point), 1.0
        self.flat, self.rest = Stall(), Stall()

    def run(self, tol: float, max_iter: int) -> NuclearNormFit:
        """Step until the objective has settled and the gap is closed, or nothing moves any more."""
        look_at, done = 0, 0
        for done in range(1, max_iter + 1):
            settled = self._advance() <= _LOOK * tol * self.objective
            if self._rests():
                break
            if settled and (self._limited or done >= look_at):
                # An estimate of the gap takes a decomposition, a proof several: after one in vain, a tenth more steps go by.
                look_at = done + 1 + done // 10
                if self._limited or self._estimated_gap() <= tol:
                    self._prove(tol)
                    if self._limited or self.gap <= tol:
                        return self._fit(True, done)
        self._prove(tol)
        if self.rest.over:
            return self._fit(self._limited or self.gap <= max(tol, ROUNDED), done)
        return self._fit(self.gap <= tol, done)

    def _rests(self) -> bool:
        """Whether nothing moves any more: near the minimum the objective is flat, so it rests long before the gap does."""
        return self.flat.after(self.objective) and self.rest.after(self._estimated_gap())

    def _estimated_gap(self) -> float:
        return self.problem.estimated_gap(self.point, self.subspace)

    def _prove(self, tol: float) -> None:
        self.gap = self.problem.proved_gap(self.point, self.subspace, tol, self.rng)

    def _advance(self) -> float:
        """Take a step and return how far the objective fell; infinity where momentum led uphill and starts again."""
        # Nesterov's weights. Momentum can lead uphill; a step without it never does, so it starts again from there.
        momentum = 0.0 if self.by_regressions else self.age / (self.age + 3)
        candidate = self._step(self.point.plus(self.previous, momentum) if momentum else self.point)
        if self.by_regressions:
            candidate = self.problem.swept(candidate)
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


_LARGEST = 0.9
"""Of the largest singular value: where a path begins; above it the solution is 0."""
SMALLEST = 0.02
"""Of the same: where it ends at the latest."""
HIDDEN = 0.1
"""Share of the observations that is held out to choose."""
LOOSER = 10
"""How many times the tolerance is enough to compare solutions: their held-out errors differ by far more than the last steps change them."""
PATIENCE = 1
"""How many solutions may be worse than the best before the path ends: those of smaller lambdas cost the most."""


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A solution on the path."""

    fit: NuclearNormFit
    # Root mean squared error, weighted where the fit is, on the observations held out; NaN where none are.
    held_out_error: float = float("nan")


def largest_singular_value(values: Values) -> float:
    """Return sigma_1 of the observations, missing entries 0: the smallest lambda at which the solution is 0."""
    return float(singular_triplets(values, at_most=1, random_state=0).values.max(initial=0.0))


def solution_path(
    values: Values, regularizations: AnyFloats, start: NuclearNormFit | None = None, **options: Any
) -> Iterator[NuclearNormFit]:
    """Yield the solutions for decreasing lambdas above 0, each started from the last, the first from `start`; options are those of `soft_impute`."""
    for regularization in regularizations.tolist():
        start = soft_impute(values, regularization, start=start, **options)
        yield start


def lambdas_down_to(smallest: float, largest: float, n_path: int) -> AnyFloats:
    """Return `n_path` lambdas in geometric steps, the last of them `smallest`.

    >>> lambdas_down_to(1.0, 10.0, 3).round(6)
    array([9., 3., 1.])
    """
    first = max(_LARGEST * largest, smallest)
    return np.asarray(np.geomspace(smallest, first, n_path if first > smallest else 1)[::-1])


def chosen_on_path(
    values: Values,
    n_path: int,
    rng: np.random.Generator,
    weights: Floats | None = None,
    **options: Any,
) -> list[PathPoint]:
    """Follow the path on part of the observations until the error on the rest has risen for good, and return it up to there.

    The whole path has `n_path` solutions, from `_LARGEST` to `SMALLEST` of the largest singular value. `rng` draws the observations held out,
    `weights` are those of squared errors, in the fit and held out, and options those of `soft_impute`. Nothing is returned where there are too few
    observations to hold any out, or nothing to explain but 0.
    """
    hidden = np.zeros(values.nnz, dtype=bool)
    hidden[rng.choice(values.nnz, round(HIDDEN * values.nnz), replace=False)] = True
    if not hidden.any():
        return []
    training, rest = keep_entries(values, ~hidden), keep_entries(values, hidden)
    seen, unseen = kept_weights(weights, ~hidden), kept_weights(weights, hidden)
    # From lambda = sigma_1 on the solution is 0: the path begins just below.
    largest = largest_singular_value(training if seen is None else with_data(training, seen * training.data))
    if not largest:
        return []
    points: list[PathPoint] = []
    lambdas = lambdas_down_to(SMALLEST * largest, largest, n_path)
    options["tol"] *= LOOSER
    for fit in solution_path(training, lambdas, weights=seen, **options):
        errors = rest.data - sampled_entries(rest, fit.left * fit.values, fit.right)
        points.append(PathPoint(fit, self_normalised_error(errors, unseen)))
        if len(points) - 1 - best_of(points) >= PATIENCE:
            break
    return points


def best_of(points: list[PathPoint]) -> int:
    """Return which point has the smallest held-out error."""
    return int(np.argmin([point.held_out_error for point in points]))


def scaled_up(regularization: float) -> float:
    """Return the lambda for all observations that goes with one for those that were not held out: noise grows with the root of their number."""
    return float(regularization / np.sqrt(1 - HIDDEN))
