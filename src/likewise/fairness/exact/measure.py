"""Measure one or several sets of outputs against one fixed reference distance, over all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from likewise.checks import checked_confidence, checked_flag
from likewise.errors import InputError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.accumulated import Request
from likewise.fairness.exact.exact_metrics import summarise
from likewise.fairness.exact.sweep import bytes_in_memory, measure_in_memory, measure_streamed
from likewise.fairness.metrics.fairness_metrics import FairnessMetrics
from likewise.fairness.metrics.groups import PairGroups
from likewise.fairness.metrics.pair_metrics import chosen_metrics
from likewise.fairness.metrics.similar import nearest_neighbors
from likewise.fairness.options import (
    check_options,
    checked_bins,
    individual_ids,
    output_distance,
)
from likewise.memory import available_memory
from likewise.observations.index_alignment import aligned
from likewise.progress import Progress


def measure_fairness(
    outputs: ArrayLike | PairwiseDistance,
    reference: PairwiseDistance,
    *,
    nearest_share: float = 0.1,
    quantiles: Sequence[float] = (0.5, 0.9, 0.99),
    bins: int | ArrayLike = 60,
    worst: int = 10,
    lipschitz: float | None = None,
    slack: float = 0.0,
    n_neighbors: int | None = None,
    groups: ArrayLike | None = None,
    row_ids: ArrayLike | None = None,
    streaming: bool | None = None,
    confidence: float = 0.95,
    metrics: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> FairnessMetrics:
    """Measure how differently similar individuals are treated: D / d over all pairs of individuals.

    Parameters
    ----------
    outputs : array-like of shape (n_individuals,) or (n_individuals, n_outputs), or PairwiseDistance
        What the algorithm gave each individual, compared by l2, or an output distance D. What differs by rounding alone is equal; see
        `RowDistance.of_outputs`.
    reference : PairwiseDistance
        d between individuals, from the data before any pre-processing.
    nearest_share : float, default 0.1
        Share of the pairs, in (0, 1], that counts as most similar.
    quantiles : sequence of float
        Each in [0, 1].
    bins : int or array-like, default 60
        Number of histogram bins, or their edges, increasing.
    worst : int, default 10
        How many of the pairs with the largest ratios to list.
    lipschitz, slack : float, optional
        L > 0 and gamma >= 0: how often, and by how much, is ``D <= L d + gamma`` broken?
    n_neighbors : int, optional
        Also measure each individual against this many nearest ones.
    groups : array-like, shape (n_individuals,), optional
        Also measure pairs within and across groups apart.
    row_ids : array-like, optional
        Names for the worst pairs. By default those of `reference`, or positions.
    streaming : bool, optional
        Measure distances twice, block by block, instead of holding one number for each pair and arm. By default where those do not fit into
        memory. All stays exact, but quantiles and `needed_slack` are bracketed to 0.025%, and the radius of the most similar pairs is
        rounded up by as much; see ``docs/all_pairs.md``.
    confidence : float, default 0.95
        In (0, 1), of the interval over individuals.
    metrics : sequence of str, optional
        Metrics that others added (`register_pair_metric`); by default all registered so far.
    progress : callable, optional
        Called with (done, total) pairs.

    Returns
    -------
    FairnessMetrics

    Raises
    ------
    ShapeError
        Outputs and reference differ in their number of individuals.
    InputError
        An option out of its range.
    MemoryLimitError
        With ``streaming=False``, one number for each pair and arm does not fit.

    Warns
    -----
    ConstantOutputWarning
        The spread of the outputs is below 1% of their size.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.fairness import RowDistance
    >>> people = RowDistance(np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), "l1")
    >>> found = measure_fairness(np.array([0.0, 0.5, 1.0]), people)
    >>> found.max_ratio, found.mean_ratio.value == 2 * (1 / 2 + 1 / 2 + 1 / 6) / 9
    (ExactValue(value=0.5, n_pairs=3), True)
    """
    return measure_arms(
        {"outputs": outputs},
        reference,
        nearest_share=nearest_share,
        quantiles=quantiles,
        bins=bins,
        worst=worst,
        lipschitz=lipschitz,
        slack=slack,
        n_neighbors=n_neighbors,
        groups=groups,
        row_ids=row_ids,
        streaming=streaming,
        confidence=confidence,
        metrics=metrics,
        progress=progress,
    )["outputs"]


def measure_arms(
    arms: Mapping[str, ArrayLike | PairwiseDistance],
    reference: PairwiseDistance,
    *,
    nearest_share: float = 0.1,
    quantiles: Sequence[float] = (0.5, 0.9, 0.99),
    bins: int | ArrayLike = 60,
    worst: int = 10,
    lipschitz: float | None = None,
    slack: float = 0.0,
    n_neighbors: int | None = None,
    groups: ArrayLike | None = None,
    row_ids: ArrayLike | None = None,
    streaming: bool | None = None,
    confidence: float = 0.95,
    metrics: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, FairnessMetrics]:
    """Measure several sets of outputs against the same reference distance, which is computed once.

    Parameters
    ----------
    arms : mapping of str to outputs or PairwiseDistance
        For example ``{"without": Yh, "with": Yf}``; see `measure_fairness`. Their histograms have common bins.
    reference, nearest_share, quantiles, bins, worst, lipschitz, slack, n_neighbors, groups, row_ids, streaming, confidence, metrics, progress
        See `measure_fairness`.

    Returns
    -------
    dict of str to FairnessMetrics

    Raises
    ------
    InputError, ShapeError, MemoryLimitError
        See `measure_fairness`.
    """
    if not isinstance(arms, Mapping) or not arms:
        raise InputError("no arms", "outputs of at least one algorithm, by name")
    if streaming is not None:
        checked_flag("streaming", streaming)
    distances = {name: output_distance(name, outputs, reference) for name, outputs in arms.items()}
    check_options(nearest_share, quantiles, worst, lipschitz, slack)
    groups, _ = aligned("groups", groups, reference.row_ids)
    request = Request(
        ids=individual_ids(row_ids, reference),
        nearest_share=nearest_share,
        quantiles=tuple(map(float, quantiles)),
        bins=checked_bins(bins),
        worst=worst,
        condition=None if lipschitz is None else (lipschitz, slack),
        groups=None if groups is None else PairGroups.of(groups, reference.n_individuals),
        confidence=checked_confidence(confidence),
        metrics=chosen_metrics(metrics),
    )
    if streaming is None:
        # Distances are measured twice where one number for each pair and arm would not fit.
        streaming = bytes_in_memory(reference, distances) > available_memory()
    measure = measure_streamed if streaming else measure_in_memory
    found = measure(reference, distances, request, progress)
    neighbors = None if n_neighbors is None else nearest_neighbors(reference, n_neighbors)
    return {
        name: summarise(found, name, distance, reference, request, neighbors)
        for name, distance in distances.items()
    }
