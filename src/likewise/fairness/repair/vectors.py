"""Repair of several outputs: how L is shared among them, what no repair can do without, and probabilities that stay probabilities."""

from __future__ import annotations

import numpy as np

from likewise._typing import Floats
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.repair.projection import DistanceBlocks, project


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
    """Return what no repair to ``D <= L d`` can do without, whatever L is shared like.

    Two people with an excess ``D - L d``, D = l2, move by half of it at least. And each output of such a repair has the constant L itself, so squares sum to
    at least what the outputs need one by one.

    Parameters
    ----------
    columns : ndarray, shape (m, k)
    blocks : DistanceBlocks
    budget : float
        L.
    objective : {"largest-change", "least-squares"}

    Returns
    -------
    float
        Of the largest change, or of the root mean square of all.

    Examples
    --------
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

    Examples
    --------
    >>> nearest_distributions(np.array([[0.6, 0.6], [2.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    decreasing = -np.sort(-rows, axis=1)
    excess = np.cumsum(decreasing, axis=1) - 1
    counts = np.arange(1, rows.shape[1] + 1)
    kept = (decreasing * counts > excess).sum(axis=1)
    taken = excess[np.arange(len(rows)), kept - 1] / kept
    return np.asarray(np.maximum(rows - taken[:, None], 0.0))
