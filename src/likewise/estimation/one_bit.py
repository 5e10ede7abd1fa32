"""1-bit matrix completion: the probability of each entry to be observed, from which entries were, if its logits have low nuclear norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.special import expit

from likewise._typing import Floats
from likewise.errors import InputError
from likewise.memory import ensure_fits

RADII = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Radii that are tried one after another, until held-out cells become less likely."""

_LARGEST = 4e9
"""Operations of one decomposition, ``m n min(m, n)``, up to which this takes a minute or so."""
_HELD_OUT = 0.1
_GAP = 1e-4
_MAX_ITERATIONS = 500
_LOOK_EVERY = 10
_ARRAYS = 10


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

    probabilities: Floats
    radius: float
    gap: float
    converged: bool
    n_iter: int


def one_bit_completion(
    observed: NDArray[np.bool_],
    radius: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> OneBitFit:
    """Maximise the likelihood of a 0/1 matrix with ``logit p_ij = intercept + B_ij``, ``||B||_* <= radius sqrt(m n)``.

    By projected gradients with momentum (FISTA with restarts); a bound on what is left to gain comes from the gradient's largest
    singular value. Ma and Chen have no intercept and bound the logits too; here the intercept is free, so that the nuclear norm is
    spent on differences, and the probabilities are clipped by whoever uses them.

    Parameters
    ----------
    observed : ndarray of bool, shape (m, n)
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
    m, n = observed.shape
    if m * n * min(m, n) > _LARGEST:
        raise InputError(
            f"1-bit matrix completion of {m:,} x {n:,} cells",
            f"m n min(m, n) <= {_LARGEST:.0e}",
            "use propensities='degrees'",
        )
    ensure_fits(
        8 * _ARRAYS * m * n, f"1-bit matrix completion of {m:,} x {n:,} cells", "use propensities='degrees'"
    )
    target = observed.astype(np.float64)
    everything = np.ones((m, n))
    if radius is None:
        radius = _chosen_radius(target, np.random.default_rng(random_state))
    elif not radius >= 0:
        raise InputError(f"radius {radius!r}", "a number >= 0")
    return _Descent(target, everything).run(radius)


def _chosen_radius(target: Floats, rng: np.random.Generator) -> float:
    hidden = rng.random(target.shape) < _HELD_OUT
    descent = _Descent(target, (~hidden).astype(np.float64))
    best, lowest = RADII[0], np.inf
    for radius in RADII:
        loss = float(_losses(_logits(descent.run(radius).probabilities), target)[hidden].mean())
        if loss >= lowest:
            break
        best, lowest = radius, loss
    return best


class _Descent:
    """Projected gradients on the cells of weight 1; each run starts from where the last one ended."""

    def __init__(self, target: Floats, weights: Floats) -> None:
        self.target, self.weights = target, weights
        self.size = float(np.sqrt(target.size))
        share = float(np.clip((target * weights).sum() / weights.sum(), 1e-12, 1 - 1e-12))
        # The intercept times sqrt(m n), so that it and B have gradients of one scale.
        self.level = float(np.log(share / (1 - share))) * self.size
        self.low_rank = np.zeros_like(target)

    def run(self, radius: float) -> OneBitFit:
        """Minimise the mean loss for one radius."""
        limit = radius * self.size
        level, low_rank = self.level, self.low_rank
        ahead, momentum, gap, iteration = (level, low_rank), 1.0, np.inf, 0
        for iteration in range(1, _MAX_ITERATIONS + 1):
            slope_level, slope = self._gradient(*ahead)
            # The loss has curvature 1/4 in the logits, and (level, B) -> logits has squared norm 2.
            new = ahead[0] - 2.0 * slope_level, projected_on_nuclear_ball(ahead[1] - 2.0 * slope, limit)
            moved = new[0] - level, new[1] - low_rank
            uphill = (ahead[0] - new[0]) * moved[0] + float(np.vdot(ahead[1] - new[1], moved[1])) > 0
            following = 1.0 if uphill else (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            push = 0.0 if uphill else (momentum - 1) / following
            level, low_rank = new
            ahead, momentum = (level + push * moved[0], low_rank + push * moved[1]), following
            if iteration % _LOOK_EVERY == 0 and (gap := self._gap(level, low_rank, limit)) < _GAP:
                break
        self.level, self.low_rank = level, low_rank
        probabilities = expit(level / self.size + low_rank)
        return OneBitFit(probabilities, radius, gap, gap < _GAP, iteration)

    def _gradient(self, level: float, low_rank: Floats) -> tuple[float, Floats]:
        slope = self.weights * (expit(level / self.size + low_rank) - self.target)
        return float(slope.sum()) / self.size, slope

    def _gap(self, level: float, low_rank: Floats, limit: float) -> float:
        """Bound what can be gained, relative to the loss: by convexity no more than the linearised loss falls within the limit.

        The intercept has no limit; it counts for twice what a Newton step would gain.
        """
        slope_level, slope = self._gradient(level, low_rank)
        gain = float(np.vdot(slope, low_rank)) + limit * float(np.linalg.norm(slope, 2))
        chances = expit(level / self.size + low_rank)
        curvature = float((self.weights * chances * (1 - chances)).sum()) / self.size**2
        gain += slope_level**2 / max(curvature, 1e-300)
        loss = float((self.weights * _losses(level / self.size + low_rank, self.target)).sum())
        return gain / max(loss, 1e-300)


def projected_on_nuclear_ball(matrix: Floats, radius: float) -> Floats:
    """Return the nearest matrix whose singular values add up to at most `radius`: each less a common amount, or 0.

    Examples
    --------
    >>> projected_on_nuclear_ball(np.diag([3.0, 1.0]), 2.0).round(9)
    array([[2., 0.],
           [0., 0.]])
    """
    if radius == 0:
        return np.zeros_like(matrix)
    wide = matrix.shape[0] <= matrix.shape[1]
    gram = matrix @ matrix.T if wide else matrix.T @ matrix
    squares, vectors = eigh(gram)
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    if values.sum() <= radius:
        return matrix
    excess = (np.cumsum(values) - radius) / np.arange(1, values.size + 1)
    cut = float(excess[np.count_nonzero(values > excess) - 1])
    kept = values > cut
    basis, factors = vectors[:, ::-1][:, kept], 1 - cut / values[kept]
    result: Floats = (basis * factors) @ (basis.T @ matrix) if wide else (matrix @ basis * factors) @ basis.T
    return result


def _losses(logits: Floats, target: Floats) -> Floats:
    """Negative log-likelihood of each cell."""
    return np.asarray(np.logaddexp(0.0, logits) - target * logits)


def _logits(probabilities: Floats) -> Floats:
    return np.asarray(np.log(probabilities) - np.log1p(-probabilities))
