"""The fair outputs closest to those given: in squared error by a projection, in the largest change by envelopes.

An envelope is the largest or the smallest function with a given Lipschitz constant that the outputs allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise._typing import Floats, Indices
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.progress import Progress

_BLOCK_BYTES = 32 << 20


def envelopes(distances: Floats, outputs: Floats, budgets: Floats) -> tuple[Floats, Floats]:
    """Return the upper and the lower envelope at some individuals, given their distances to those whose outputs are known.

    Upper: ``min_j (y_j + L d(x, x_j))``. Lower: ``max_j (y_j - L d(x, x_j))``. Each is L-Lipschitz in x, for any metric d, since it is a minimum
    or a maximum of functions that are (McShane 1934, Whitney 1934).

    Parameters
    ----------
    distances : ndarray, shape (q, m)
        All defined: a pair that constrained nothing itself could be constrained by way of others.
    outputs : ndarray, shape (m, k)
    budgets : ndarray, shape (k,)
        L of each output.

    Returns
    -------
    upper, lower : ndarray, shape (q, k)

    Examples
    --------
    >>> envelopes(np.array([[0.0, 2.0]]), np.array([[5.0], [1.0]]), np.array([1.0]))
    (array([[3.]]), array([[5.]]))
    """
    reach = distances
    upper = np.empty((len(reach), outputs.shape[1]))
    lower = np.empty_like(upper)
    scaled = np.empty_like(reach)
    for column, (values, budget) in enumerate(zip(outputs.T, budgets, strict=True)):
        np.multiply(reach, budget, out=scaled)
        scaled += values
        scaled.min(axis=1, out=upper[:, column])
        # y - L d = 2 y - (y + L d): the sum is reused, but rounds otherwise, so it is made again from the distances.
        np.multiply(reach, -budget, out=scaled)
        scaled += values
        scaled.max(axis=1, out=lower[:, column])
    return upper, lower


def defined(distances: Floats, name: str) -> Floats:
    """Return distances, all of which must be numbers.

    Raises
    ------
    DistanceError
    """
    wrong = int((~np.isfinite(distances)).sum())
    if wrong:
        raise DistanceError(
            f"the distance {name!r} with {wrong:,} pairs of which it is not defined",
            "a metric between all individuals",
        )
    return distances


def envelopes_of_all(
    distance: PairwiseDistance, outputs: Floats, budgets: Floats, progress: Progress | None = None
) -> tuple[Floats, Floats]:
    """Return both envelopes at everybody, a few rows of distances at a time: no m x m array is held.

    Parameters
    ----------
    distance : PairwiseDistance
        Between m individuals.
    outputs : ndarray, shape (m, k)
    budgets : ndarray, shape (k,)
    progress : callable, optional
        Called with (rows done, m).

    Returns
    -------
    upper, lower : ndarray, shape (m, k)
    """
    m = distance.n_individuals
    upper, lower = np.empty(outputs.shape), np.empty(outputs.shape)
    step = max(1, _BLOCK_BYTES // (8 * m))
    for start in range(0, m, step):
        stop = min(start + step, m)
        block = defined(distance.block(start, stop), distance.name)
        upper[start:stop], lower[start:stop] = envelopes(block, outputs, budgets)
        if progress is not None:
            progress(stop, m)
    return upper, lower


_MOST_ROUNDS = 50
_MOST_STEPS = 20_000
_LOOK_EVERY = 50
_GAP = 1e-9
"""Of the squared change: how far the result may be from the least, proved by the dual."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Fair outputs and a proof of how close they are to the closest.

    Parameters
    ----------
    outputs : ndarray, shape (m,)
        They satisfy every constraint.
    squared_change : float
        Sum of squares of what was changed.
    lower_bound : float
        No fair outputs have a smaller sum: the value of the dual, at most `squared_change`.
    """

    outputs: Floats
    squared_change: float
    lower_bound: float


def project(outputs: Floats, limits: Floats) -> Projection:
    """Minimise ``sum_i (g_i - y_i)^2`` subject to ``|g_i - g_j| <= limits_ij``.

    Few constraints bind. The dual is solved on the pairs that were violated so far; its solution violates others, which join them, until none
    does. Each dual is a sum of a quadratic and absolute values and is climbed by accelerated proximal steps, one step length for each pair.

    Parameters
    ----------
    outputs : ndarray, shape (m,)
        y.
    limits : ndarray, shape (m, m)
        L d, symmetric, obeying the triangle inequality; infinite where nothing is asked.

    Returns
    -------
    Projection

    Examples
    --------
    >>> project(np.array([0.0, 3.0]), np.array([[0.0, 1.0], [1.0, 0.0]])).outputs
    array([1., 2.])
    """
    left = right = np.empty(0, dtype=np.intp)
    multipliers = np.empty(0)
    solution, bound = outputs, 0.0
    for _ in range(_MOST_ROUNDS):
        pairs = _violated(solution, limits)
        new = np.setdiff1d(pairs, left * outputs.size + right)
        if not new.size:
            break
        more_left, more_right = np.divmod(new, outputs.size)
        left, right = np.append(left, more_left), np.append(right, more_right)
        multipliers = np.append(multipliers, np.zeros(new.size))
        solution, multipliers, bound = _climb(outputs, left, right, limits[left, right], multipliers)
    fair = _closed(solution, limits)
    return Projection(fair, float(np.sum((fair - outputs) ** 2)), 2 * bound)


def _violated(outputs: Floats, limits: Floats) -> Indices:
    """Return the pairs i < j whose outputs are too far apart, each as ``i m + j``."""
    gaps = np.abs(outputs[:, None] - outputs)
    wrong = np.triu(gaps > limits * (1 + 1e-12) + 1e-14 * np.abs(outputs).max(initial=0.0), 1)
    return np.flatnonzero(wrong)


def _closed(outputs: Floats, limits: Floats) -> Floats:
    """Move outputs that are fair but for rounding to the middle between their envelopes, which are fair exactly."""
    upper, lower = envelopes(limits, outputs[:, None], np.ones(1))
    middle: Floats = (upper[:, 0] + lower[:, 0]) / 2
    return middle


def _climb(
    outputs: Floats, left: Indices, right: Indices, limits: Floats, multipliers: Floats
) -> tuple[Floats, Floats, float]:
    """Maximise ``u^T A y - ||A^T u||^2 / 2 - b^T |u|`` over u, where ``(A g)_p = g_left - g_right``; g = y - A^T u.

    A pair's step is one over the number of pairs that either of its people is in: ``A A^T`` is at most that diagonal.
    """
    m = outputs.size
    degrees = np.bincount(left, minlength=m) + np.bincount(right, minlength=m)
    steps = 1.0 / (degrees[left] + degrees[right])

    def moved(u: Floats) -> Floats:
        change = np.bincount(left, u, m) - np.bincount(right, u, m)
        solved: Floats = outputs - change
        return solved

    u = ahead = multipliers
    momentum = 1.0
    for number in range(1, _MOST_STEPS + 1):
        g = moved(ahead)
        climbed = ahead + steps * (g[left] - g[right])
        after = np.sign(climbed) * np.maximum(np.abs(climbed) - steps * limits, 0.0)
        if np.sum((ahead - after) * (after - u) / steps) > 0:  # the momentum leads back: begin it anew
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = after + (momentum - 1) / following * (after - u)
        u, momentum = after, following
        if number % _LOOK_EVERY == 0 and _is_close(outputs, moved(u), u, left, right, limits):
            break
    g = moved(u)
    return g, u, _dual(outputs, g, u, left, right, limits)


def _dual(outputs: Floats, g: Floats, u: Floats, left: Indices, right: Indices, limits: Floats) -> float:
    change = outputs - g
    return float(u @ (outputs[left] - outputs[right]) - change @ change / 2 - limits @ np.abs(u))


def _is_close(outputs: Floats, g: Floats, u: Floats, left: Indices, right: Indices, limits: Floats) -> bool:
    """Whether primal and dual agree, and what is still violated is next to nothing."""
    half = float(np.sum((outputs - g) ** 2)) / 2
    gaps = np.abs(g[left] - g[right])
    violated = float(np.max(gaps - limits, initial=0.0))
    return half - _dual(outputs, g, u, left, right, limits) <= _GAP * half and violated <= _GAP * max(
        float(gaps.max(initial=0.0)), float(np.abs(outputs).max(initial=0.0))
    )
