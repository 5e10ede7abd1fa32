"""1-bit matrix completion: the probability of each entry to be observed, from which entries were, if its logits have low nuclear norm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigvalsh, qr, svd

from likewise._typing import AnyFloats, Floats
from likewise.arrays import as_array
from likewise.checks import checked_non_negative
from likewise.errors import InputError, option
from likewise.memory import ensure_fits
from likewise.observations.table import Values, rows_of_entries
from likewise.randomness import generator_of

RADII = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Radii that are tried one after another, until held-out cells become less likely."""

_LARGEST_CELLS = 4e7
_LONGEST_SHORT_SIDE = 3_000
"""Size up to which this takes minutes: each step passes over all cells, and the end is proved by the short side's Gram matrix."""
_EXACT_SIDE = 300
"""Short side up to which a step is decomposed exactly, in double precision; beyond it in single, from the subspace of the last step."""
_SPARE = 10
"""Directions of a subspace beyond those that are kept."""
_HELD_OUT = 0.1
_ROWS_A_COLUMN, _LEAST_CELLS = 2, 2_000_000
"""Size of the sample of rows that the radius is chosen on.

Of as many rows as this for each column the error, of the order ``sqrt(1/m + 1/n)`` (Davenport et al., Theorem 1), is at most 1.23 times that of any
number of rows, and radii differ by a factor of 2. A radius means the same for a sample: on average over samples S of s rows
``||B_S||_* <= sqrt(s / m) ||B||_*``, since the norm is a concave function of the Gram matrix, the mean of which is s/m of that of all rows.
"""
_STEP = 4.0
"""The loss has curvature 1/4 in each logit at most, and no more in B where the intercept is always the best one for it: the step never overshoots.

One Newton step a time keeps the intercept near that; that the end is reached is proved there, whatever led to it.
"""
_CELLS_AT_ONCE = 1 << 16
"""So many pass through the processor's cache together."""
_GAP, _GAP_TO_CHOOSE = 1e-4, 1e-3
_MAX_ITERATIONS = 500
_LOOK_EVERY = 10
_ARRAYS = 8

_Start = tuple[float, AnyFloats]
"""The intercept, and B."""


@dataclass(frozen=True, eq=False)
class OneBitFit:
    """Fitted probabilities and how they were found.

    Parameters
    ----------
    probabilities : ndarray, shape (m, n)
        In (0, 1).
    radius : float
        tau: the nuclear norm of the logits, the intercept apart, is at most ``tau sqrt(m n)``.
    gap : float
        How much smaller the negative log-likelihood can become, relative to itself, at most: by convexity, apart from the intercept's
        part, which is estimated.
    converged : bool
        Whether the gap came below 1e-4.
    n_iter : int
    """

    probabilities: AnyFloats
    radius: float
    gap: float
    converged: bool
    n_iter: int


def one_bit_completion(
    observed: NDArray[np.bool_] | Values,
    radius: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> OneBitFit:
    """Maximise the likelihood of a 0/1 matrix with ``logit p_ij = intercept + B_ij``, ``||B||_* <= radius sqrt(m n)``.

    By projected gradients with momentum (FISTA with restarts); a bound on what is left to gain comes from the gradient's largest
    singular value. Ma and Chen have no intercept and bound the logits too; here the intercept is free, so that the nuclear norm is
    spent on differences, and the probabilities are clipped by whoever uses them.

    Parameters
    ----------
    observed : ndarray of bool, or csr_array of which the stored entries are observed; shape (m, n)
    radius : float, optional
        tau >= 0; by default one of `RADII`, with which a tenth of the cells is best foretold from the others. Of a large matrix it is chosen on a
        sample of rows, two for each column.
    random_state : int, Generator or None
        For these cells and rows.

    Returns
    -------
    OneBitFit

    Raises
    ------
    InputError
        If the radius is negative, or the matrix is so large that this would take many minutes.
    MemoryLimitError
        If the dense arrays do not fit.

    References
    ----------
    Ma and Chen, "Missing not at random in matrix completion: the effectiveness of estimating missingness probabilities under a low
    nuclear norm assumption", NeurIPS (2019), Section 2. Davenport, Plan, van den Berg, Wootters, "1-bit matrix completion",
    Information and Inference 3 (2014). O'Donoghue and Candes, "Adaptive restart for accelerated gradient schemes" (2015).

    Examples
    --------
    >>> blocks = np.kron(np.array([[1, 0], [0, 1]]), np.ones((10, 10))) > 0
    >>> likely = one_bit_completion(blocks, radius=1.0).probabilities
    >>> bool(likely[0, 0] > 0.6 > 0.4 > likely[0, 15])
    True
    """
    if radius is not None:
        checked_non_negative("radius", radius, "None")
    target = _dense(observed)
    tall = target.shape[0] >= target.shape[1]
    target, rng = target if tall else np.ascontiguousarray(target.T), generator_of(random_state)
    start = None
    if radius is None:
        rows = _rows_to_choose_on(target.shape, rng)
        radius, start = _chosen_radius(target if rows is None else target[rows], rng)
        start = start if rows is None else None
    fit = _Descent(target, None, rng, start).run(radius)
    return fit if tall else replace(fit, probabilities=fit.probabilities.T)


def _dense(observed: NDArray[np.bool_] | Values) -> AnyFloats:
    """Return 0 and 1 for every cell, asked for before they are allocated."""
    if not sparse.issparse(observed):
        observed = as_array(observed, "a mask")
    if (
        observed.ndim != 2
        or 0 in observed.shape
        or (not sparse.issparse(observed) and observed.dtype != np.bool_)
    ):
        kind = f"type {observed.dtype}, shape {observed.shape}"
        raise InputError(
            f"a mask of {kind}", "True or False for each cell, or a csr_array whose stored cells are observed"
        )
    m, n = observed.shape
    what, instead = (
        f"1-bit matrix completion of {m:,} x {n:,} cells",
        f"use {option('propensities', repr('degrees'))}",
    )
    if m * n > _LARGEST_CELLS or min(m, n) > _LONGEST_SHORT_SIDE:
        expected = f"at most {_LARGEST_CELLS:.0e} cells and {_LONGEST_SHORT_SIDE:,} on the short side"
        raise InputError(what, expected, instead)
    dtype = np.float64 if min(m, n) <= _EXACT_SIDE else np.float32
    ensure_fits(_ARRAYS * np.dtype(dtype).itemsize * m * n, what, instead)
    if not sparse.issparse(observed):
        return np.asarray(observed, dtype=dtype)
    target = np.zeros((m, n), dtype)
    target[rows_of_entries(observed), observed.indices] = 1
    return target


def _rows_to_choose_on(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.intp] | None:
    """Draw the rows that the radius is chosen on; None for all."""
    n_rows = max(_ROWS_A_COLUMN * shape[1], -(-_LEAST_CELLS // shape[1]))
    return np.sort(rng.choice(shape[0], n_rows, replace=False)) if n_rows < shape[0] else None


def _chosen_radius(target: AnyFloats, rng: np.random.Generator) -> tuple[float, _Start | None]:
    """Return the radius, with what was fitted to the cells that were not held out, near which the fit to all of them is."""
    hidden = rng.random(target.shape) < _HELD_OUT
    if not hidden.any() or hidden.all():  # of a few cells
        return RADII[0], None
    descent = _Descent(target, (~hidden).astype(target.dtype), rng)
    best, start, lowest = RADII[0], None, np.inf
    for radius in RADII:
        descent.run(radius, _GAP_TO_CHOOSE)
        loss = float(_losses(descent.logits()[hidden], target[hidden]).mean())
        if loss >= lowest:
            break
        best, start, lowest = radius, (descent.level, descent.low_rank), loss
    return best, start


class _Descent:
    """Projected gradients on the cells of weight 1, of a matrix of 0 and 1 at least as tall as wide; each run starts from where the last one ended.

    Weights are 0 for cells that are held out, 1 for the others; None where none are. The start is by default the logit of the observed share, and 0.
    """

    def __init__(
        self,
        target: AnyFloats,
        weights: AnyFloats | None,
        rng: np.random.Generator,
        start: _Start | None = None,
    ) -> None:
        self.target, self.weights = target, weights
        self.size = float(np.sqrt(target.size))
        known = target.size if weights is None else float(weights.sum(dtype=np.float64))
        seen = target if weights is None else target * weights
        share = float(np.clip(seen.sum(dtype=np.float64) / known, 1e-12, 1 - 1e-12))
        level = float(np.log(share / (1 - share)))
        self.level, self.low_rank = start or (level, np.zeros_like(target))
        self.ball = NuclearBall(target.shape[1], rng)
        n_rows = max(_CELLS_AT_ONCE // target.shape[1], 1)
        self.parts = [slice(first, first + n_rows) for first in range(0, target.shape[0], n_rows)]
        self.scratch, self.pushed = np.empty_like(target), np.empty_like(target)

    def logits(self) -> AnyFloats:
        """Of every cell."""
        return self.low_rank + self.level

    def run(self, radius: float, tol: float = _GAP) -> OneBitFit:
        """Minimise the mean loss for one radius."""
        limit, gap, iteration = radius * self.size, np.inf, 0
        ahead, momentum = self.low_rank, 1.0
        for iteration in range(1, _MAX_ITERATIONS + 1):
            here, new = self.low_rank, self.ball.projected(self._stepped(ahead), limit)
            # Momentum that would lead uphill starts again from 1 (O'Donoghue and Candes).
            uphill = self._leads_uphill(ahead, here, new)
            following = 1.0 if uphill else (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = self._ahead(here, new, 0.0 if uphill else float((momentum - 1) / following))
            self.low_rank, momentum = new, following
            if iteration % _LOOK_EVERY == 0 and (gap := self._gap(limit)) < tol:
                break
        return OneBitFit(_probabilities(self.logits()), radius, gap, gap < tol, iteration)

    def _slopes(self, rows: slice, low_rank: AnyFloats) -> AnyFloats:
        """Return the derivatives of the loss in the logits of some rows."""
        slopes = _probabilities(low_rank[rows] + self.level)
        slopes -= self.target[rows]
        if self.weights is not None:
            slopes *= self.weights[rows]
        return slopes

    def _stepped(self, ahead: AnyFloats) -> AnyFloats:
        """Bring the intercept to where it is best for B, by a Newton step, and return B after a step downhill from there, before the projection."""
        total = curved = 0.0
        for rows in self.parts:
            slopes = self.scratch[rows] = self._slopes(rows, ahead)
            total += float(slopes.sum(dtype=np.float64))
            curved += float(_curvatures(slopes).sum(dtype=np.float64))
        # A Newton step of at most 1: far from the best intercept the loss has hardly any curvature, and the step would overshoot.
        change = -float(np.clip(total / max(curved, 1e-300), -1, 1))
        self.level += change
        for rows in self.parts:
            slopes = self.scratch[rows]
            # The slopes after the change of the intercept, to first order, so that no cell is passed through the exponential again.
            slopes += change * _curvatures(slopes)
            slopes *= -_STEP
            slopes += ahead[rows]
        return self.scratch

    def _leads_uphill(self, ahead: AnyFloats, here: AnyFloats, new: AnyFloats) -> bool:
        return sum(float(np.vdot(ahead[rows] - new[rows], new[rows] - here[rows])) for rows in self.parts) > 0

    def _ahead(self, here: AnyFloats, new: AnyFloats, push: float) -> AnyFloats:
        """Return where momentum leads."""
        if not push:
            return new
        for rows in self.parts:
            moved = new[rows] - here[rows]
            moved *= push
            np.add(moved, new[rows], out=self.pushed[rows])
        return self.pushed

    def _gap(self, limit: float) -> float:
        """Bound what can be gained, relative to the loss: by convexity no more than the linearised loss falls within the limit.

        The intercept has no limit; it counts for twice what a Newton step would gain.
        """
        total = curved = lost = inner = 0.0
        for rows in self.parts:
            slopes = self.scratch[rows] = self._slopes(rows, self.low_rank)
            losses = _losses(self.low_rank[rows] + self.level, self.target[rows])
            if self.weights is not None:
                losses *= self.weights[rows]
            total += float(slopes.sum(dtype=np.float64))
            curved += float(_curvatures(slopes).sum(dtype=np.float64))
            lost += float(losses.sum(dtype=np.float64))
            inner += float(np.vdot(slopes, self.low_rank[rows]))
        # Within ||B'||_* <= limit, <slopes, B - B'> is at most <slopes, B> + limit sigma_1(slopes).
        gain = inner + limit * _largest_singular_value(self.scratch) + total**2 / max(curved, 1e-300)
        return gain / max(lost, 1e-300)


def _curvatures(slopes: AnyFloats) -> AnyFloats:
    """``p (1 - p)``, which is ``|p - t| (1 - |p - t|)`` for t of 0 or 1; 0 for cells of weight 0."""
    sizes = np.abs(slopes)
    curvatures: AnyFloats = sizes * (1 - sizes)
    return curvatures


def _probabilities(logits: AnyFloats) -> AnyFloats:
    """``1 / (1 + exp(-logits))``, in place of the logits; 0 where the exponential is too large for the type."""
    with np.errstate(over="ignore"):
        np.exp(np.negative(logits, out=logits), out=logits)
    logits += 1
    return np.reciprocal(logits, out=logits)


def _largest_singular_value(matrix: AnyFloats) -> float:
    """Return sigma_1 of a tall matrix, from the Gram matrix of its columns."""
    gram = (matrix.T @ matrix).astype(np.float64)
    return float(np.sqrt(max(eigvalsh(gram, subset_by_index=(gram.shape[0] - 1,) * 2)[0], 0.0)))


class NuclearBall:
    """Projections on ``||B||_* <= radius``: each singular value less a common amount, or 0.

    Only those above that amount are needed. Of a narrow matrix all are found, from the Gram matrix of its columns; of a wider one the
    leading ones, by one step of subspace iteration from where the last projection left off, with as many directions as it takes for the
    least of them to be cut; all where that is a third of them or more.
    """

    def __init__(self, n_columns: int, rng: np.random.Generator) -> None:
        self.rng, self.exact = rng, n_columns <= _EXACT_SIDE
        self.basis = rng.standard_normal((n_columns, 2 * _SPARE), dtype=np.float32)

    def projected(self, matrix: AnyFloats, radius: float) -> AnyFloats:
        """Return the nearest matrix in the ball, for one that is at least as tall as wide."""
        if radius == 0:
            return np.zeros_like(matrix)
        while not self.exact and 3 * self.basis.shape[1] < matrix.shape[1]:
            left, values, right = _leading(matrix, self.basis)
            cut = _cut(values, radius)
            kept = int(np.count_nonzero(values > cut))
            spare = self.rng.standard_normal((matrix.shape[1], kept + _SPARE), dtype=np.float32)
            if cut > 0 and kept < values.size:
                # Of all singular values the amount could only be smaller, and then one that was not found would have to exceed it.
                self.basis = right[:, : kept + _SPARE]
                lowered = left[:, :kept] * (values[:kept] - values.dtype.type(cut))
                return np.asarray(lowered @ right[:, :kept].T)
            self.basis = np.hstack([right, spare])
        projected, right = _projected_exactly(matrix, radius)
        self.basis = right.astype(np.float32)
        return projected


def _leading(matrix: AnyFloats, basis: AnyFloats) -> tuple[AnyFloats, AnyFloats, AnyFloats]:
    """Return approximate leading singular triplets from a basis of about their right vectors."""
    left = qr(matrix @ basis, mode="economic", overwrite_a=True, check_finite=False)[0]
    turn, values, right = svd(left.T @ matrix, full_matrices=False, check_finite=False)
    return left @ turn, values, right.T


def _cut(values: AnyFloats, radius: float) -> float:
    """Return the amount by which decreasing singular values are lowered for their sum to be the radius; not above 0 where it is less."""
    # If k values are left, they are lowered by (their sum - radius) / k; k is the largest for which the k-th stays above 0.
    excess = (np.cumsum(values, dtype=np.float64) - radius) / np.arange(1, values.size + 1)
    return float(excess[max(int(np.count_nonzero(values > excess)) - 1, 0)])


def _projected_exactly(matrix: AnyFloats, radius: float) -> tuple[AnyFloats, AnyFloats]:
    """Return the projection, and the right singular vectors that it keeps with some spare ones."""
    squares, vectors = np.linalg.eigh((matrix.T @ matrix).astype(np.float64))
    values: Floats = np.sqrt(np.maximum(squares[::-1], 0.0))
    vectors = vectors[:, ::-1]
    if values.sum() <= radius:
        return matrix.copy(), vectors
    cut = _cut(values, radius)
    kept = int(np.count_nonzero(values > cut))
    # M V diag(1 - cut / s) V^T = U diag(s - cut) V^T: no left vectors are made.
    basis = vectors[:, :kept].astype(matrix.dtype)
    factors = (1 - cut / values[:kept]).astype(matrix.dtype)
    return (matrix @ basis * factors) @ basis.T, vectors[:, : kept + _SPARE]


def _losses(logits: AnyFloats, target: AnyFloats) -> AnyFloats:
    """Negative log-likelihood of each cell."""
    return np.asarray(np.logaddexp(logits.dtype.type(0), logits) - target * logits)
