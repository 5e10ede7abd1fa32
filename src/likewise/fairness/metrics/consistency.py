"""Consistency: how close everybody's outcome is to the mean outcome of their nearest neighbours."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.checks import checked_instance, checked_name
from likewise.errors import DistanceError, InputError, ShapeError, option
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import RowDistance, complete_rows
from likewise.fairness.metrics.metric_value import ExactValue
from likewise.fairness.metrics.similar import nearest_neighbors

Convention = Literal["others", "aif360"]


def consistency(
    outputs: ArrayLike, reference: PairwiseDistance, n_neighbors: int = 5, convention: Convention = "others"
) -> ExactValue:
    """Return ``1 - mean_i |y_i - mean of y over the k nearest neighbours of i|``.

    Parameters
    ----------
    outputs : array-like, shape (n_individuals,)
        A score, probability or 0/1 decision in [0, 1] for each individual.
    reference : PairwiseDistance
    n_neighbors : int, default 5
    convention : {"others", "aif360"}, default "others"
        ``"others"``: neighbours are other people. ``"aif360"`` equals AIF360's consistency, in which people are usually their own nearest
        neighbour, so that random 0/1 labels score 0.6 instead of 0.5 at k = 5; it needs l2 between complete rows.

    Returns
    -------
    ExactValue
        1: everybody is treated as their neighbours are on average. Over ``m k`` ordered pairs.

    Raises
    ------
    ShapeError
        Not one output for each individual.
    DistanceError
        AIF360's convention with another distance; or see `nearest_neighbors`.
    InputError
        An unknown convention; a number of neighbours out of its range.

    References
    ----------
    Zemel, Wu, Swersky, Pitassi, Dwork, "Learning fair representations", ICML 2013, Section 4.2 (yNN).

    Examples
    --------
    >>> people = RowDistance([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> consistency([0, 0, 1, 1, 1, 1], people, n_neighbors=2).value == 1 - (0.5 + 0.5 + 1) / 6
    True
    """
    checked_instance("reference", reference, PairwiseDistance, "a PairwiseDistance")
    scores = complete_rows(outputs)
    if scores.shape != (reference.n_individuals, 1):
        raise ShapeError(
            f"outputs of shape {np.shape(outputs)}",
            f"one number for each of {reference.n_individuals} individuals",
            "for vectors of outputs see n_neighbors of measure_fairness",
        )
    finders = {"others": nearest_neighbors, "aif360": _neighbors_as_aif360}
    checked_name("convention", convention, finders)
    neighbors = finders[convention](reference, n_neighbors)
    deviations = np.abs(scores[:, 0] - scores[neighbors, 0].mean(axis=1))
    return ExactValue(float(1 - deviations.mean()), neighbors.size)


def _neighbors_as_aif360(reference: PairwiseDistance, n_neighbors: int) -> NDArray[np.intp]:
    """Ask scikit-learn's ball tree as AIF360 does, ties included."""
    from sklearn.neighbors import NearestNeighbors

    if not (isinstance(reference, RowDistance) and reference.order == 2):
        raise DistanceError(
            f"AIF360's consistency under {reference.name}",
            "l2 between complete rows",
            "feature_distance(rows)",
        )
    if not 1 <= n_neighbors <= reference.n_individuals:
        raise InputError(option("n_neighbors", repr(n_neighbors)), f"from 1 to {reference.n_individuals}")
    tree = NearestNeighbors(n_neighbors=n_neighbors, algorithm="ball_tree").fit(reference.rows)
    return np.asarray(tree.kneighbors(reference.rows, return_distance=False))
