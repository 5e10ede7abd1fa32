"""The nuclear-norm problem: its objective, the matrix that a step decomposes, how far a point can be from the minimum, and when nothing moves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import CompressedRows, sampled_entries
from likewise._typing import AnyFloats, Floats
from likewise.estimation.base.folding import ridge_rows
from likewise.estimation.base.weighting import transposed_weights
from likewise.observations.table import Values
from likewise.spectrum.operators import RowOperator, SparseRows
from likewise.spectrum.orthonormal import continue_triplets
from likewise.spectrum.proof import certify_norm_bound

_SPARED = 0.5
"""Of what the tolerance leaves of the gap: given away, so that the level of the proof stays clear of the singular values, which are lambda."""
_LOOSE = 0.1
"""Of a gap that is above the tolerance: by so much more of it is proved."""

_LEAST_GAP = 4 * float(np.finfo(np.float64).eps)
_UNLIKE = 2.0
_ROUNDING = 1e-12
"""Of the largest singular value: what is below it is nothing."""


@dataclass(frozen=True, eq=False)
class Point:
    """A = ``scaled right^T`` with its residual on Omega; `values` are its singular values."""

    scaled: AnyFloats
    values: AnyFloats
    right: AnyFloats
    residual: NDArray[np.float64]

    def plus(self, other: Point, weight: float) -> Point:
        """Return A + weight (A - other), as factors of twice the rank; its singular values are not known."""
        return Point(
            np.hstack([(1 + weight) * self.scaled, -weight * other.scaled]),
            np.zeros(0),
            np.hstack([self.right, other.right]),
            (1 + weight) * self.residual - weight * other.residual,
        )


@dataclass(frozen=True)
class DualityGap:
    """How far an objective can be above its minimum, given a bound of the largest singular value of the weighted residual.

    c times the weighted residual is a feasible point of the dual problem where ``c bound <= lambda``; its value, ``c linear - c^2 / 2
    quadratic``, is below every objective.

    Z = 5, A = 4, lambda = 1: nothing is left to gain. Where the residual could be twice as large, half of it is feasible:

    >>> gap = DualityGap(objective=4.5, linear=5.0, quadratic=1.0, regularization=1.0)
    >>> gap.at(1.0), round(gap.at(2.0), 3), round(gap.bound_for(gap.at(2.0)), 3)
    (0.0, 0.472, 2.0)
    """

    objective: float
    linear: float  # <w R, Z>, R the residual
    quadratic: float  # <w R, R>
    regularization: float  # lambda

    def at(self, bound: float) -> float:
        """Return the gap relative to the objective: the minimum is at least ``(1 - gap)`` times it."""
        if not self.objective:
            return 0.0
        scale = self._best_scale
        if scale * bound > self.regularization:
            scale = self.regularization / bound
        dual = scale * self.linear - scale**2 / 2 * self.quadratic
        return max(self.objective - dual, 0.0) / self.objective

    def bound_for(self, gap: float) -> float:
        """Return the largest bound with which the gap is so small, for a gap that some bound has."""
        wanted = (1 - gap) * self.objective
        # The smallest c with c linear - c^2 / 2 quadratic = wanted, written so that nothing cancels; c bound = lambda then.
        root = sqrt(max(self.linear**2 - 2 * self.quadratic * wanted, 0.0))
        scale = 2 * wanted / (self.linear + root) if self.linear > 0 else 0.0
        return self.regularization / scale if scale else float("inf")

    @property
    def _best_scale(self) -> float:
        """Of greatest dual value, feasible or not."""
        return max(self.linear / self.quadratic, 0.0) if self.quadratic else 0.0


def proved_gap(
    gap: DualityGap, residual: RowOperator, seen: float, tol: float, rng: np.random.Generator
) -> float:
    """Return a gap that is proved; somewhat above the true one, but below `tol` where that is possible.

    `residual` is the weighted residual, `seen` its largest singular value as far as is known; `rng` draws the vectors of a randomised test, where
    columns are many.
    """
    least = gap.at(seen)
    # Nothing can be proved to be below rounding; and doubled, 0 stays 0 for ever.
    target = max(least + max(_SPARED * (tol - least), _LOOSE * least), _LEAST_GAP)
    while target < 1:
        # If no singular value of the residual is above the level, the gap is at most the target.
        level = gap.bound_for(target)
        if level == np.inf or certify_norm_bound(residual, level, seen, rng).complete:
            return target
        target *= 2
    return 1.0


class NuclearNormProblem:
    """``1/2 sum w (z - a)^2 + lambda ||A||_*``, on observations at least as tall as wide; all w are 1 where there are no weights."""

    def __init__(
        self,
        observed: Values,
        regularization: float,
        max_rank: int,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.observed, self.regularization, self.max_rank = observed, regularization, max_rank
        self.weights = weights
        self.curvature = 1.0 if weights is None else float(weights.max())
        """Of the squared loss at most, in any direction: a step of one over it never overshoots."""

    @cached_property
    def rows(self) -> CompressedRows:
        """The places of the observations, laid out once; only the values that stand there change."""
        return CompressedRows.from_csr(self.observed, np.float64)

    def point(self, scaled: AnyFloats, values: AnyFloats, right: AnyFloats) -> Point:
        """Complete a point with its residual."""
        return Point(
            scaled, values, right, self.observed.data - sampled_entries(self.observed, scaled, right)
        )

    @property
    def weights_are_unlike(self) -> bool:
        """Whether the largest weight is several times the mean, so that gradient steps are small for most observations."""
        return self.weights is not None and self.curvature > _UNLIKE * float(self.weights.mean())

    def swept(self, point: Point) -> Point:
        """Regress rows on the factor of the columns, then columns on that of the rows, with the penalty lambda.

        From ``U = scaled / sqrt(s)`` and ``V = right sqrt(s)`` on: of all factors of A these have the least ``|U|^2 + |V|^2``, twice the
        nuclear norm.
        """
        if not point.values.size:
            return point
        penalties = np.full(point.values.size, self.regularization)
        basis = np.asarray(point.right * np.sqrt(point.values), dtype=np.float64)
        rows = ridge_rows(self.observed, basis, penalties, self.weights)
        columns = ridge_rows(self._transposed, rows, penalties, self._transposed_weights)
        # U V^T = Q_1 (R_1 R_2^T) Q_2^T, whose singular values are those of the small matrix in the middle.
        left, first = np.linalg.qr(rows)
        right, second = np.linalg.qr(columns)
        turn_left, values, turn_right = np.linalg.svd(first @ second.T)
        kept = values > _ROUNDING * values[0]
        return self.point(left @ turn_left[:, kept] * values[kept], values[kept], right @ turn_right[kept].T)

    @cached_property
    def _transposed(self) -> Values:
        return self.observed.T.tocsr()

    @cached_property
    def _transposed_weights(self) -> NDArray[np.float64] | None:
        return transposed_weights(self.weights, self.observed)

    def objective(self, point: Point) -> float:
        """``1/2 sum w (z - a)^2 + lambda ||A||_*``."""
        return float(0.5 * self._weighted(point) @ point.residual + self.regularization * point.values.sum())

    def filled(self, point: Point) -> SparseRows:
        """What a gradient step makes of a point: the point itself plus its weighted residual over the curvature.

        Without weights that is what is observed, and what the point says of the rest.
        """
        step = self._weighted(point) / self.curvature
        return SparseRows(self.rows.with_values(step).plus_low_rank(point.scaled, point.right))

    def lowered(self, values: AnyFloats) -> AnyFloats:
        """What the nuclear norm leaves of singular values in a step: those above 0, `max_rank` of them at most."""
        lowered = np.maximum(values - self.regularization / self.curvature, 0.0)[: self.max_rank]
        return np.asarray(lowered[lowered > 0])

    def estimated_gap(self, point: Point, subspace: AnyFloats) -> float:
        """Return the gap as it would be if a subspace held the largest singular value of the residual: never above the true one."""
        return self._gap(point).at(self._seen(point, subspace))

    def proved_gap(self, point: Point, subspace: AnyFloats, tol: float, rng: np.random.Generator) -> float:
        """Return a gap that is proved; somewhat above the true one, but below `tol` where that is possible.

        Where columns are many the proof is a randomised test, whose vectors `rng` draws: anew, so that they do not depend on the point.
        """
        gap, seen = self._gap(point), self._seen(point, subspace)
        return proved_gap(gap, SparseRows(self._residual_rows(point)), seen, tol, rng)

    def _gap(self, point: Point) -> DualityGap:
        pull = self._weighted(point)
        return DualityGap(
            self.objective(point),
            float(pull @ self.observed.data),
            float(pull @ point.residual),
            self.regularization,
        )

    def _seen(self, point: Point, subspace: AnyFloats) -> float:
        """The largest singular value of the weighted residual in a subspace."""
        within = continue_triplets(SparseRows(self._residual_rows(point)), subspace)
        return float(within.values.max(initial=0.0))

    def _residual_rows(self, point: Point) -> CompressedRows:
        return self.rows.with_values(self._weighted(point))

    def _weighted(self, point: Point) -> NDArray[np.float64]:
        return point.residual if self.weights is None else self.weights * point.residual


ROUNDED = 1e-8
"""What is left to gain, as a share: where nothing moves any more, so little of it is rounding, and the result as good as double precision has it."""


class Stall:
    """Tells that what should fall has not fallen by more than rounding for `patience` steps."""

    def __init__(self, patience: int = 20) -> None:
        self.patience, self.least, self.since = patience, inf, 0

    def after(self, value: float) -> bool:
        """Take the next value; return whether nothing moves any more."""
        fell = value < self.least * (1 - 1e-14)
        self.least, self.since = (value, 0) if fell else (self.least, self.since + 1)
        return self.over

    @property
    def over(self) -> bool:
        """Whether nothing moves any more."""
        return self.since >= self.patience


def note_on_rounding(tol: float, reached: float, n_iter: int) -> tuple[str, ...]:
    """Say that a tolerance was below what rounding leaves; nothing where it was reached."""
    if reached <= tol:
        return ()
    return (
        f"converged to double precision: after {n_iter:,} steps nothing changed any more, at {reached:.1g}; "
        f"the tolerance, {tol:.1g}, is below rounding",
    )


_INDEPENDENT = 1e-10
"""Of the largest singular value: directions of steps below it are the same up to rounding."""


class Mixing:
    """Anderson's mixing of ``x -> g(x)``: the combination of the last steps of least residual ``g(x) - x``, as if g were linear.

    Walker, Ni, "Anderson acceleration for fixed-point iterations", SIAM Journal on Numerical Analysis 49 (2011). Of a linear map of one number the
    second point is the fixed one:

    >>> mixing, x = Mixing(), np.array([0.0])
    >>> for _ in range(2):
    ...     x = mixing.after(x, 0.5 * x + 1)
    >>> x
    array([2.])
    """

    def __init__(self, memory: int = 5) -> None:
        self.memory = memory
        self._steps: list[Floats] = []
        self._images: list[Floats] = []

    def after(self, point: Floats, image: Floats) -> Floats:
        """Take a point with its image, and return the next point."""
        keep = self.memory + 1
        self._steps = [*self._steps, (image - point).ravel()][-keep:]
        self._images = [*self._images, image.ravel()][-keep:]
        if len(self._steps) == 1:
            return image
        steps, images = (np.diff(np.array(kept), axis=0).T for kept in (self._steps, self._images))
        # The combination of the last points whose residual would be least; its image is the next point.
        weights = np.linalg.lstsq(steps, self._steps[-1], rcond=_INDEPENDENT)[0]
        return np.asarray((image.ravel() - images @ weights).reshape(image.shape))
