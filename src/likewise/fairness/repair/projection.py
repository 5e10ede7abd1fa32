"""The fair outputs closest to those given: in squared error by a projection, in the largest change by envelopes.

An envelope is the largest or the smallest function with a given Lipschitz constant that the outputs allow. Of several outputs each has a
share of L; what no repair can do without is asked of all, and probabilities stay probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from likewise._typing import Floats, Indices, Mask
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import RowDistance
from likewise.progress import Progress

_BLOCK_BYTES = 32 << 20
_CACHE_BYTES = 1 << 20
"""Of the distances that are worked on at once: what the cache of a core holds is gone through twice as fast."""


def envelopes(distances: Floats, outputs: Floats, budgets: Floats) -> tuple[Floats, Floats]:
    """Return the upper and the lower envelope, (q, k), at individuals with `distances` (q, m) to those whose `outputs` (m, k) are known.

    Upper: ``min_j (y_j + L d(x, x_j))``. Lower: ``max_j (y_j - L d(x, x_j))``, L of each output from `budgets` (k,). Each is L-Lipschitz in x,
    for any metric d, since it is a minimum or a maximum of functions that are (McShane 1934, Whitney 1934). All distances are defined: a pair
    that constrained nothing itself could be constrained by way of others.

    >>> envelopes(np.array([[0.0, 2.0]]), np.array([[5.0], [1.0]]), np.array([1.0]))
    (array([[3.]]), array([[5.]]))
    """
    upper = np.empty((len(distances), outputs.shape[1]))
    lower = np.empty_like(upper)
    columns = np.ascontiguousarray(outputs.T)
    for rows in _slices(distances):
        reach = distances[rows]
        scaled = np.empty_like(reach)
        for column, (values, budget) in enumerate(zip(columns, budgets, strict=True)):
            np.multiply(reach, budget, out=scaled)
            scaled += values
            scaled.min(axis=1, out=upper[rows, column])
            # y - L d = 2 y - (y + L d): the sum is reused, but rounds otherwise, so it is made again from the distances.
            np.multiply(reach, -budget, out=scaled)
            scaled += values
            scaled.max(axis=1, out=lower[rows, column])
    return upper, lower


def _slices(distances: Floats) -> Iterator[slice]:
    """Yield a few rows after another."""
    step = max(1, _CACHE_BYTES // (8 * max(1, distances.shape[1])))
    for start in range(0, len(distances), step):
        yield slice(start, min(start + step, len(distances)))


@dataclass(frozen=True, eq=False)
class DistanceBlocks:
    """Distances between everybody, a few rows at a time; kept for the next time where all of them are one block."""

    distance: PairwiseDistance

    def __iter__(self) -> Iterator[tuple[slice, Floats]]:
        """Yield which rows, and their distances to all; DistanceError for a pair of which the distance is not defined."""
        m = self.distance.n_individuals
        step = max(1, _BLOCK_BYTES // (8 * m))
        if step >= m:
            yield slice(0, m), self._whole
            return
        for start in range(0, m, step):
            rows = slice(start, min(start + step, m))
            yield rows, self._block(rows)

    @cached_property
    def _whole(self) -> Floats:
        return self._block(slice(0, self.distance.n_individuals))

    def _block(self, rows: slice) -> Floats:
        return _defined(self.distance.block(rows.start, rows.stop), self.distance.name)


def _defined(distances: Floats, name: str) -> Floats:
    """Return distances, all of which must be numbers."""
    wrong = int((~np.isfinite(distances)).sum())
    if wrong:
        raise DistanceError(
            f"the distance {name!r} with {wrong:,} pairs of which it is not defined",
            "a metric between all individuals",
        )
    return distances


def envelopes_of_all(
    blocks: DistanceBlocks, outputs: Floats, budgets: Floats, progress: Progress | None = None
) -> tuple[Floats, Floats]:
    """Return both envelopes, (m, k), at everybody, a few rows of distances at a time: no m x m array is held.

    `progress` is called with (rows done, m).
    """
    upper, lower = np.empty(outputs.shape), np.empty(outputs.shape)
    for rows, block in blocks:
        upper[rows], lower[rows] = envelopes(block, outputs, budgets)
        if progress is not None:
            progress(rows.stop, len(outputs))
    return upper, lower


_MOST_ROUNDS = 100
_GAP = 1e-9
"""Of the squared change: how far the result may be from the least, proved by the dual."""
_FIRST_WEIGHT, _LARGEST_WEIGHT, _GROWTH = 10.0, 1e7, 10.0
_MOST_WEIGHTS, _MOST_NEWTON, _MOST_HALVINGS = 40, 100, 30
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Projection:
    """Fair outputs and a proof of how close they are to the closest."""

    outputs: Floats  # (m,), they satisfy every constraint
    squared_change: float  # sum of squares of what was changed
    # no fair outputs have a smaller sum: the value of the dual, less what it may have been rounded up by
    lower_bound: float


def project(outputs: Floats, blocks: DistanceBlocks, budget: float) -> Projection:
    """Minimise ``sum_i (g_i - y_i)^2`` subject to ``|g_i - g_j| <= L d_ij``, for y of shape (m,), d a pseudometric, L the budget.

    Few of the m (m - 1) / 2 constraints bind. Those that are known to matter are kept, and the problem is solved with them alone; its solution has
    envelopes, and the pairs that make them, one from above and one from below for each person, are the most violated ones: they join. The middle
    between the envelopes satisfies every constraint, and the dual of the small problem bounds the least sum from below, so each pass over
    all pairs says how far the result is from the least.

    >>> from likewise.fairness import PrecomputedDistance
    >>> d = PrecomputedDistance([[0.0, 1.0], [1.0, 0.0]])
    >>> project(np.array([0.0, 3.0]), DistanceBlocks(d), 1.0).outputs
    array([1., 2.])
    """
    # In [-1, 1], so that every tolerance below is a share of the outputs' size.
    middle = (outputs.max() + outputs.min()) / 2
    unit = max(float(np.abs(outputs - middle).max()), float(np.finfo(np.float64).tiny))
    fair, bound = _project_within_one(
        (outputs - middle) / unit, blocks, min(budget / unit, np.finfo(np.float64).max)
    )
    found = middle + unit * fair
    # Outputs far from 0 are rounded, and rounded ones may be nearer than any that are fair.
    rounding = 2 * _EPSILON * float(np.abs(outputs).max()) * np.sqrt(outputs.size)
    least = max(unit * np.sqrt(bound) - rounding, 0.0)
    return Projection(found, float(np.sum((found - outputs) ** 2)), float(least**2))


def _project_within_one(y: Floats, blocks: DistanceBlocks, budget: float) -> tuple[Floats, float]:
    """Return the fair outputs closest to y in [-1, 1], and a lower bound on the sum of squared changes."""
    g, best, least, bound = y, y, np.inf, 0.0
    pairs = _Pairs.none()
    for _ in range(_MOST_ROUNDS):
        upper, lower, violated = _envelopes_with_pairs(g, blocks, budget)
        # L-Lipschitz as both envelopes are, so fair whatever g is; and as near to g as any fair outputs in
        # the largest change.
        fair = (upper + lower) / 2
        squares = float(np.sum((fair - y) ** 2))
        if squares < least:
            best, least = fair, squares
        # Pairs that are kept already are met to within the solver's tolerance.
        new = np.setdiff1d(violated, pairs.left * y.size + pairs.right)
        # Proved near enough; or g, the best under fewer constraints, breaks none of the others.
        if least - bound <= _GAP * least or not new.size:
            break
        left, right = np.divmod(new, y.size)
        pairs = pairs.joined_by(left, right, budget * blocks.distance.between(left, right))
        g, pairs = _closest_on_pairs(y, pairs, g)
        bound = max(bound, pairs.lower_bound(y))
    return best, bound


def _envelopes_with_pairs(g: Floats, blocks: DistanceBlocks, budget: float) -> tuple[Floats, Floats, Indices]:
    """Return both envelopes at everybody, and the violated pairs that they are made by, each as ``i m + j`` with ``g_i`` the larger one."""
    m = g.size
    upper, lower = np.empty(m), np.empty(m)
    below, above = np.empty(m, dtype=np.intp), np.empty(m, dtype=np.intp)
    for rows, block in blocks:
        for part in _slices(block):
            at = slice(rows.start + part.start, rows.start + part.stop)
            with np.errstate(over="ignore"):  # a limit beyond all numbers asks for nothing
                limits = budget * block[part]
            reached = g + limits
            below[at] = reached.argmin(axis=1)
            upper[at] = np.take_along_axis(reached, below[at][:, None], 1)[:, 0]
            np.subtract(g, limits, out=reached)
            above[at] = reached.argmax(axis=1)
            lower[at] = np.take_along_axis(reached, above[at][:, None], 1)[:, 0]
    # Whose own output is above the upper envelope breaks a constraint with the person who makes it, and by
    # most; so from below.
    high, low = np.flatnonzero(g > upper), np.flatnonzero(g < lower)
    return upper, lower, np.unique(np.concatenate([high * m + below[high], above[low] * m + low]))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Constraints ``g_left - g_right <= limit`` with their multipliers, which are at least 0."""

    left: Indices
    right: Indices
    limits: Floats
    multipliers: Floats

    @classmethod
    def none(cls) -> _Pairs:
        nobody, nothing = np.empty(0, dtype=np.intp), np.empty(0)
        return cls(nobody, nobody, nothing, nothing)

    def joined_by(self, left: Indices, right: Indices, limits: Floats) -> _Pairs:
        """Return these pairs and others, whose multipliers are 0."""
        return _Pairs(
            np.append(self.left, left),
            np.append(self.right, right),
            np.append(self.limits, limits),
            np.append(self.multipliers, np.zeros(left.size)),
        )

    def excess(self, g: Floats) -> Floats:
        """Return by how much each constraint is violated; below 0 where it is not."""
        found: Floats = g[self.left] - g[self.right] - self.limits
        return found

    def pull(self, forces: Floats, m: int) -> Floats:
        """Return what forces on pairs add up to on each person."""
        return np.asarray(np.bincount(self.left, forces, m) - np.bincount(self.right, forces, m))

    def lower_bound(self, y: Floats) -> float:
        """Return what the dual says: for any multipliers, no g within these constraints has a smaller sum of squared changes."""
        f, moved = self.multipliers, self.pull(self.multipliers, y.size)
        # The sum is known to within its rounding, a few units of its largest terms: taken off, so that the
        # bound stays one.
        size = f @ (np.abs(y[self.left]) + np.abs(y[self.right]) + self.limits) + moved @ moved
        return float(2 * (f @ self.excess(y)) - moved @ moved - 8 * _EPSILON * size)


def _closest_on_pairs(y: Floats, pairs: _Pairs, g: Floats) -> tuple[Floats, _Pairs]:
    """Minimise ``||g - y||^2 / 2`` under these constraints alone, by augmented Lagrangians whose weight grows.

    Each is ``||g - y||^2 / 2 + sum (f + w excess)_+^2 / (2 w)``, strongly convex and piecewise quadratic.
    """
    weight = _FIRST_WEIGHT
    for _ in range(_MOST_WEIGHTS):
        # Then multipliers move by what is still violated, and never below 0.
        g = _least_lagrangian(y, pairs, weight, g)
        excess = pairs.excess(g)
        pairs = replace(pairs, multipliers=np.maximum(pairs.multipliers + weight * excess, 0.0))
        squares = float(np.sum((g - y) ** 2))
        # A tenth of the gap for each: what is left then is the envelopes' and the dual's.
        is_fair = excess.max() <= 0.1 * _GAP
        if is_fair and abs(squares - pairs.lower_bound(y)) <= 0.1 * _GAP * squares:
            break
        weight = min(weight * _GROWTH, _LARGEST_WEIGHT)
    return g, pairs


_FLAT = 1e-13
"""Of the outputs' size: a gradient below it is rounding, at which steps between kinks go on without end."""


def _least_lagrangian(y: Floats, pairs: _Pairs, weight: float, g: Floats) -> Floats:
    """Minimise an augmented Lagrangian by Newton steps: between kinks it is quadratic, so the last step is exact."""
    m = y.size
    for _ in range(_MOST_NEWTON):
        # Negative forces would pull people apart: a constraint only pushes, where it binds.
        forces = pairs.multipliers + weight * pairs.excess(g)
        gradient = g - y + pairs.pull(np.maximum(forces, 0.0), m)
        if np.abs(gradient).max() <= _FLAT * np.abs(y).max():
            break
        step = _newton_step(pairs, forces > 0, weight, gradient)
        moved = g + _share_of_step(y, pairs, weight, g, step) * step
        still = np.abs(moved - g).max() <= 4 * _EPSILON
        g = moved
        if still:
            break
    return g


def _newton_step(pairs: _Pairs, active: Mask, weight: float, gradient: Floats) -> Floats:
    """Solve ``(I + w A^T A) step = -gradient`` over the active pairs: a graph of few edges, which is factored with little fill."""
    m, left, right = gradient.size, pairs.left[active], pairs.right[active]
    # I + w L, L the Laplacian of the graph of active pairs: positive definite, at least I.
    diagonal = 1 + weight * (np.bincount(left, minlength=m) + np.bincount(right, minlength=m))
    everybody, off = np.arange(m), np.full(2 * left.size, -weight)
    rows, columns = (np.concatenate([everybody, *both]) for both in ((left, right), (right, left)))
    matrix = sparse.coo_array((np.concatenate([diagonal, off]), (rows, columns)), shape=(m, m)).tocsc()
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.asarray(factors.solve(-gradient))


def _share_of_step(y: Floats, pairs: _Pairs, weight: float, g: Floats, step: Floats) -> float:
    """Return how much of a step to take, in (0, 1]: all of it, or up to where the Lagrangian stops falling."""
    forces = pairs.multipliers + weight * pairs.excess(g)
    slopes = weight * (step[pairs.left] - step[pairs.right])
    start, bend = float(step @ (g - y)), float(step @ step)

    def slope(share: float) -> float:
        return start + share * bend + float(np.maximum(forces + share * slopes, 0.0) @ slopes) / weight

    # The Lagrangian is convex, so its slope along the step increases: bisect for its zero.
    if slope(1.0) <= 1e-12 * abs(slope(0.0)):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_MOST_HALVINGS):
        share = (low + high) / 2
        low, high = (low, share) if slope(share) > 0 else (share, high)
    return (low + high) / 2


def shared_budgets(columns: Floats, budget: float) -> Floats:
    """Share the budget among outputs in proportion to their spread; equally where none has any."""
    if columns.shape[1] == 1:
        return np.array([budget])
    spread = columns.std(axis=0)
    size = float(np.linalg.norm(spread))
    shares = spread / size if size else np.full(spread.size, spread.size**-0.5)
    # Norms are rounded: the squares are to sum to at most one.
    return budget * shares * (1 - 4 * np.finfo(np.float64).eps)


def least_change_of_several(columns: Floats, blocks: DistanceBlocks, budget: float, objective: str) -> float:
    """Return what no repair of `columns`, (m, k), to ``D <= L d`` can do without, whatever L is shared like: of the largest change, or of the root mean square.

    Two people with an excess ``D - L d``, D = l2, move by half of it at least. And each output of such a repair has the constant L itself, so squares sum to
    at least what the outputs need one by one.

    >>> from likewise.fairness import PrecomputedDistance
    >>> d = DistanceBlocks(PrecomputedDistance([[0.0, 1.0], [1.0, 0.0]]))
    >>> least_change_of_several(np.array([[3.0, 0.0], [0.0, 4.0]]), d, 1.0, "largest-change")
    2.0
    """
    if objective == "least-squares":
        bound = sum(project(values, blocks, budget).lower_bound for values in columns.T)
        return float(np.sqrt(max(bound, 0.0) / len(columns)))
    D, largest = RowDistance(columns, "l2"), 0.0
    for rows, distances in blocks:
        with np.errstate(over="ignore"):  # a limit beyond all numbers asks for nothing
            excess = D.block(rows.start, rows.stop) - budget * distances
        largest = max(largest, float(excess.max()))
    return largest / 2


def nearest_distributions(rows: Floats) -> Floats:
    """Return the probability distribution that is closest to each row in l2 (Held, Wolfe, Crowder 1974).

    The distributions are a convex set, so no two rows are farther apart afterwards, and none is farther from any distribution.

    >>> nearest_distributions(np.array([[0.6, 0.6], [2.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    decreasing = -np.sort(-rows, axis=1)
    excess = np.cumsum(decreasing, axis=1) - 1
    counts = np.arange(1, rows.shape[1] + 1)
    # The closest one takes the same amount off every entry and cuts at 0: of those that stay above 0, their
    # sum less 1, shared equally.
    kept = (decreasing * counts > excess).sum(axis=1)
    taken = excess[np.arange(len(rows)), kept - 1] / kept
    return np.asarray(np.maximum(rows - taken[:, None], 0.0))
