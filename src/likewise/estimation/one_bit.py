"""1-bit matrix completion: the probability of each entry to be observed, from which entries were, if its logits have low nuclear norm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigvalsh, qr, svd
from scipy.special import expit

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
_GAP, _GAP_TO_CHOOSE = 1e-4, 1e-3
_MAX_ITERATIONS = 500
_LOOK_EVERY = 10
_ARRAYS = 8

_Start = tuple[float, AnyFloats]
"""The intercept times sqrt(m n), and B."""


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
        tau >= 0; by default one of `RADII`, with which a tenth of the cells is best foretold from the others.
    random_state : int, Generator or None
        For these cells.

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
        radius, start = _chosen_radius(target, rng)
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
    """Projected gradients on the cells of weight 1; each run starts from where the last one ended.

    Parameters
    ----------
    target : ndarray, shape (m, n)
        m >= n; 0 and 1.
    weights : ndarray, shape (m, n), or None
        0 for cells that are held out, 1 for the others; None where none are.
    rng : Generator
        For directions that a subspace lacks.
    start : tuple of float and ndarray, optional
        Level and matrix; by default the logit of the observed share, and 0.
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
        # The intercept times sqrt(m n), so that it and B have gradients of one scale.
        level = float(np.log(share / (1 - share))) * self.size
        self.level, self.low_rank = start or (level, np.zeros_like(target))
        self.ball = NuclearBall(target.shape[1], rng)

    def logits(self) -> AnyFloats:
        """Of every cell."""
        logits: AnyFloats = self.low_rank + target_type(self.target)(self.level / self.size)
        return logits

    def run(self, radius: float, tol: float = _GAP) -> OneBitFit:
        """Minimise the mean loss for one radius."""
        limit = radius * self.size
        level, low_rank = self.level, self.low_rank
        ahead, momentum, gap, iteration = (level, low_rank), 1.0, np.inf, 0
        for iteration in range(1, _MAX_ITERATIONS + 1):
            slope_level, slope = self._gradient(*ahead)
            # The loss has curvature 1/4 in the logits, and (level, B) -> logits has squared norm 2: a step of 2 never overshoots.
            slope *= -2
            slope += ahead[1]
            new = ahead[0] - 2.0 * slope_level, self.ball.projected(slope, limit)
            moved = new[0] - level, new[1] - low_rank
            # Momentum that would lead uphill starts again from 1 (O'Donoghue and Candes).
            uphill = (ahead[0] - new[0]) * moved[0] + float(np.vdot(ahead[1] - new[1], moved[1])) > 0
            following = 1.0 if uphill else (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            push = 0.0 if uphill else (momentum - 1) / following
            level, low_rank = new
            ahead = level + push * moved[0], low_rank + target_type(low_rank)(push) * moved[1]
            momentum = following
            if iteration % _LOOK_EVERY == 0 and (gap := self._gap(level, low_rank, limit)) < tol:
                break
        self.level, self.low_rank = level, low_rank
        return OneBitFit(expit(self.logits()), radius, gap, gap < tol, iteration)

    def _gradient(self, level: float, low_rank: AnyFloats) -> tuple[float, AnyFloats]:
        slope: AnyFloats = expit(low_rank + target_type(low_rank)(level / self.size))
        slope -= self.target
        if self.weights is not None:
            slope *= self.weights
        return float(slope.sum(dtype=np.float64)) / self.size, slope

    def _gap(self, level: float, low_rank: AnyFloats, limit: float) -> float:
        """Bound what can be gained, relative to the loss: by convexity no more than the linearised loss falls within the limit.

        The intercept has no limit; it counts for twice what a Newton step would gain.
        """
        slope_level, slope = self._gradient(level, low_rank)
        logits = low_rank + target_type(low_rank)(level / self.size)
        curvature, losses = slope * (1 - np.abs(slope)), _losses(logits, self.target)
        if self.weights is not None:
            losses = losses * self.weights
        # |p - t| (1 - |p - t|) is p (1 - p), for t of 0 or 1.
        curved = float(np.abs(curvature).sum(dtype=np.float64)) / self.size**2
        gain = float(np.vdot(slope, low_rank)) + limit * largest_singular_value(slope)
        gain += slope_level**2 / max(curved, 1e-300)
        return gain / max(float(losses.sum(dtype=np.float64)), 1e-300)


def target_type(array: AnyFloats) -> type[np.floating[Any]]:
    """Return the type of the numbers of an array, so that a factor does not make them longer."""
    return array.dtype.type


def largest_singular_value(matrix: AnyFloats) -> float:
    """Return sigma_1 of a tall matrix, from the Gram matrix of its columns."""
    gram = (matrix.T @ matrix).astype(np.float64)
    return float(np.sqrt(max(eigvalsh(gram, subset_by_index=(gram.shape[0] - 1,) * 2)[0], 0.0)))


class NuclearBall:
    """Projections on ``||B||_* <= radius``: each singular value less a common amount, or 0.

    Only those above that amount are needed. Of a narrow matrix all are found, from the Gram matrix of its columns; of a wider one the
    leading ones, by one step of subspace iteration from where the last projection left off, with as many directions as it takes for the
    least of them to be cut.
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
        return _projected_exactly(matrix, radius)


def _leading(matrix: AnyFloats, basis: AnyFloats) -> tuple[AnyFloats, AnyFloats, AnyFloats]:
    """Return approximate leading singular triplets from a basis of about their right vectors."""
    left = qr(matrix @ basis, mode="economic", overwrite_a=True, check_finite=False)[0]
    turn, values, right = svd(left.T @ matrix, full_matrices=False, check_finite=False)
    return left @ turn, values, right.T


def _cut(values: AnyFloats, radius: float) -> float:
    """Return the amount by which decreasing singular values are lowered for their sum to be the radius; not above 0 where it is less."""
    excess = (np.cumsum(values, dtype=np.float64) - radius) / np.arange(1, values.size + 1)
    return float(excess[max(int(np.count_nonzero(values > excess)) - 1, 0)])


def _projected_exactly(matrix: AnyFloats, radius: float) -> AnyFloats:
    squares, vectors = np.linalg.eigh((matrix.T @ matrix).astype(np.float64))
    values: Floats = np.sqrt(np.maximum(squares[::-1], 0.0))
    if values.sum() <= radius:
        return matrix
    cut = _cut(values, radius)
    kept = np.asarray(values > cut)
    basis = vectors[:, ::-1][:, kept].astype(matrix.dtype)
    factors = (1 - cut / values[kept]).astype(matrix.dtype)
    result: AnyFloats = (matrix @ basis * factors) @ basis.T
    return result


def _losses(logits: AnyFloats, target: AnyFloats) -> AnyFloats:
    """Negative log-likelihood of each cell."""
    return np.asarray(np.logaddexp(target_type(logits)(0), logits) - target * logits)
