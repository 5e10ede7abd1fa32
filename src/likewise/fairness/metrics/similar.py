"""Metrics of the most similar: over the pairs that the reference distance calls so, and over everybody's nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._kernels import TIE, pair_ratios
from likewise.checks import checked_instance, checked_name, checked_whole
from likewise.errors import DistanceError, InputError, ShapeError, option
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import RowDistance, complete_rows
from likewise.fairness.metrics.jackknife import Jackknife
from likewise.fairness.metrics.metric_value import ExactValue, MetricValue, finite_mean
from likewise.fairness.sampled.intervals.interval import Interval
from likewise.plain import IN_MEMORY

Distances = TypeVar("Distances", float, NDArray[np.float64])


def reach(distance: Distances) -> Distances:
    """Return how large another distance can have been measured that is no larger than this one.

    A sum that is not exact depends on the order of its terms, so pairs that are equally far apart can differ in their last digits. They
    are taken for tied, or which pairs are the most similar would depend on the order of the columns.

    >>> 0.1 + 0.2 + 0.3 <= 0.3 + 0.2 + 0.1, 0.1 + 0.2 + 0.3 <= reach(0.3 + 0.2 + 0.1)
    (False, True)
    """
    return distance * (1 + TIE)


@dataclass(frozen=True)
class SimilarPairs:
    """Metrics over the most similar pairs: a given share of all.

    Parameters
    ----------
    relative_gap : MetricValue
        Mean of D over these pairs by mean of D over all pairs: 0 where similar individuals are treated alike, 1 where similarity makes no
        difference.
    relative_gap_interval : Interval or None
        For the population that the individuals were drawn from, and its pairs that are at most `radius` apart; None where it cannot be had,
        see `likewise.fairness.metrics.jackknife.Jackknife`.
    share : float
        Share of all pairs that was asked for.
    radius : float
        Largest reference distance among them. Every pair at this distance, to within rounding, is in, so ties can make `n_pairs` larger
        than asked.
    n_pairs : int
    mean_ratio, max_ratio : MetricValue
        Of D / d.
    output_gap : MetricValue
        Mean of D.
    scale_free_ratio : MetricValue
        Mean of (D over its mean) / (d over its mean), both means over *all* pairs: 1 where D is proportional to d.
    no_difference : float
        What `scale_free_ratio` is where similarity makes no difference: mean of d over all pairs, times the mean of 1 / d over those of
        these pairs with d > 0; NaN without one.
    finite_mean_ratio : MetricValue
        Mean over the pairs of finite ratio; NaN without one.
    leaving_out : Jackknife or None
        How the gap moves where each individual is left out, which an interval for its change needs; not in files.
    """

    relative_gap: MetricValue
    relative_gap_interval: Interval | None
    share: float
    radius: float
    n_pairs: int
    mean_ratio: MetricValue
    max_ratio: MetricValue
    output_gap: MetricValue
    scale_free_ratio: MetricValue
    no_difference: float
    finite_mean_ratio: MetricValue
    leaving_out: Jackknife | None = field(default=None, repr=False, compare=False, metadata=IN_MEMORY)


_BLOCK_ENTRIES = 1 << 21


@dataclass(frozen=True)
class NeighborMetrics:
    """Ratio and outcome gap over the k nearest neighbours of every individual, the individual itself left out.

    Parameters
    ----------
    n_neighbors : int
        k.
    mean_ratio, max_ratio : MetricValue
        Of D / d, over the m k ordered pairs of an individual and a neighbour.
    finite_mean_ratio : MetricValue
        Mean over those of finite ratio.
    output_gap, max_output_gap : MetricValue
        Mean and maximum of D over them.
    """

    n_neighbors: int
    mean_ratio: MetricValue
    max_ratio: MetricValue
    finite_mean_ratio: MetricValue
    output_gap: MetricValue
    max_output_gap: MetricValue


def nearest_neighbors(distance: PairwiseDistance, n_neighbors: int) -> NDArray[np.intp]:
    """Find everybody's k nearest others, exactly, block by block.

    Parameters
    ----------
    distance : PairwiseDistance
    n_neighbors : int
        k, from 1 to m - 1.

    Returns
    -------
    ndarray of int, shape (n_individuals, n_neighbors)
        In increasing order of position. Of others at the same distance, to within rounding, those with the lower position are taken.

    Raises
    ------
    InputError
        k out of its range.
    DistanceError
        An individual with fewer than k others at a defined distance.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> nearest_neighbors(RowDistance([0.0, 1.0, 3.0, 7.0]), 2)
    array([[1, 2],
           [0, 2],
           [0, 1],
           [1, 2]])
    """
    checked_instance("distance", distance, PairwiseDistance, "a distance between individuals")
    m = distance.n_individuals
    checked_whole("n_neighbors", n_neighbors, most=m - 1)
    step = max(1, _BLOCK_ENTRIES // m)
    found = [_nearest_in_block(distance, k, min(k + step, m), n_neighbors) for k in range(0, m, step)]
    distance.release()
    return np.concatenate(found)


def _nearest_in_block(
    distance: PairwiseDistance, start: int, stop: int, n_neighbors: int
) -> NDArray[np.intp]:
    measured = distance.block(start, stop)
    measured[np.arange(stop - start), np.arange(start, stop)] = np.nan
    # NaN, of oneself and of undefined pairs, come last: the k-th is NaN where there are fewer.
    farthest = np.partition(measured, n_neighbors - 1, axis=1)[:, n_neighbors - 1, None]
    lonely = np.flatnonzero(np.isnan(farthest))
    if lonely.size:
        given = f"individual {start + lonely[0]} with fewer than {n_neighbors} others at a defined distance"
        raise DistanceError(given, "enough others", "use fewer neighbours or another distance")
    # Who is nearer than the k-th by more than rounding is in; the rest of the k are the first of those tied
    # with it.
    nearer = reach(measured) < farthest
    tied = ~nearer & (measured <= reach(farthest))
    room = n_neighbors - nearer.sum(axis=1, keepdims=True)
    chosen = nearer | (tied & (np.cumsum(tied, axis=1) <= room))
    return np.nonzero(chosen)[1].reshape(stop - start, n_neighbors)


def neighbor_metrics(
    output: PairwiseDistance, reference: PairwiseDistance, neighbors: NDArray[np.intp]
) -> NeighborMetrics:
    """Measure every individual against its neighbours, shape (n_individuals, n_neighbors), from `nearest_neighbors`."""
    m, k = neighbors.shape
    left, right = np.repeat(np.arange(m), k), neighbors.ravel()
    gaps = output.between(left, right)
    ratios = pair_ratios(gaps, reference.between(left, right))
    values = (ratios.mean(), ratios.max(), finite_mean(ratios), gaps.mean(), gaps.max())
    return NeighborMetrics(k, *(ExactValue(float(value), m * k) for value in values))


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
