"""Measure one or several sets of outputs against one fixed reference distance, over all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import DistanceError, InputError
from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.epsilon_delta import EpsilonBins
from likewise.fairness.figures import FairnessFigures
from likewise.fairness.groups import PairGroups
from likewise.fairness.histogram import EqualBins, histogram_reach
from likewise.fairness.neighbors import nearest_neighbors
from likewise.fairness.options import (
    Progress,
    check_options,
    checked_bins,
    individual_ids,
    output_distance,
    progress_counter,
)
from likewise.fairness.pairs import all_pairs, pair_count
from likewise.fairness.ratios import pair_ratios
from likewise.fairness.similar import ReferencePairs
from likewise.fairness.summary import Request, summarise
from likewise.memory import ensure_fits


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
    progress: Progress | None = None,
) -> FairnessFigures:
    """Measure how differently similar individuals are treated: D / d over all pairs of individuals.

    Parameters
    ----------
    outputs : array-like of shape (n_individuals,) or (n_individuals, n_outputs), or PairwiseDistance
        What the algorithm gave each individual, compared by l2 (numbers: by absolute difference; what differs by rounding alone is
        equal, see `RowDistance.of_outputs`), or an output distance D.
    reference : PairwiseDistance
        The distance d between individuals, from the data before any pre-processing.
    nearest_share : float, default 0.1
        Share of the pairs, in (0, 1], that counts as most similar.
    quantiles : sequence of float
        Each in [0, 1].
    bins : int or array-like, default 60
        Number of histogram bins, or their edges, increasing.
    worst : int, default 10
        How many of the pairs with the largest ratios to list.
    lipschitz, slack : float, optional
        L > 0 and gamma >= 0 of a condition ``D <= L d + gamma``: how often and by how much is it broken?
    n_neighbors : int, optional
        Also measure everybody against this many nearest others.
    groups : array-like, shape (n_individuals,), optional
        An attribute: also measure within-group and across-group pairs apart.
    row_ids : array-like, optional
        Names for the worst pairs; by default those of `reference`, or positions.
    progress : callable, optional
        Called with (done, total) pairs.

    Returns
    -------
    FairnessFigures

    Raises
    ------
    ShapeError
        Outputs and reference speak of different numbers of individuals.
    InputError
        An option out of its range.
    MemoryLimitError
        Two numbers for each pair would not fit.

    Warns
    -----
    ConstantOutputWarning
        If the spread of the outputs is below 1% of their size.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.fairness import RowDistance
    >>> people = RowDistance(np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), "l1")
    >>> figures = measure_fairness(np.array([0.0, 0.5, 1.0]), people)
    >>> figures.max_ratio, figures.mean_ratio.value == 2 * (1 / 2 + 1 / 2 + 1 / 6) / 9
    (ExactFigure(value=0.5, n_pairs=3), True)
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
    progress: Progress | None = None,
) -> dict[str, FairnessFigures]:
    """Measure several sets of outputs against the same reference distance, which is computed once.

    Parameters
    ----------
    arms : mapping of str to outputs or PairwiseDistance
        For example ``{"without": Yh, "with": Yf}``; see `measure_fairness`. Their histograms have common bins.
    reference, nearest_share, quantiles, bins, worst, lipschitz, slack, n_neighbors, groups, row_ids, progress
        See `measure_fairness`.

    Returns
    -------
    dict of str to FairnessFigures

    Raises
    ------
    InputError, ShapeError, MemoryLimitError
        See `measure_fairness`.
    """
    if not arms:
        raise InputError("no arms", "outputs of at least one algorithm")
    distances = {name: output_distance(name, outputs, reference) for name, outputs in arms.items()}
    _ensure_memory(reference.n_individuals, len(distances))
    ids, known_bins = individual_ids(row_ids, reference), checked_bins(bins)
    check_options(nearest_share, quantiles, worst, lipschitz, slack)
    neighbors = None if n_neighbors is None else nearest_neighbors(reference, n_neighbors)
    labels = None if groups is None else PairGroups.of(groups, reference.n_individuals)
    advance = progress_counter(progress, (1 + len(distances)) * pair_count(reference.n_individuals))
    known = ReferencePairs.of(reference, all_pairs(reference, advance), nearest_share)
    if not known.values.size:
        raise DistanceError(f"no pair has a defined distance under {reference.name}", "at least one pair")
    outputs = {name: known.select(all_pairs(distance, advance)) for name, distance in distances.items()}
    request = Request(
        ids=ids,
        quantiles=tuple(map(float, quantiles)),
        bins=known_bins if isinstance(known_bins, np.ndarray) else _common_bins(known_bins, known, outputs),
        worst=worst,
        epsilons=EpsilonBins.of(known.values),
        lipschitz=lipschitz,
        slack=slack,
        neighbors=neighbors,
        groups=labels and labels.at(known.places),
    )
    return {name: summarise(known, output, distances[name], request) for name, output in outputs.items()}


def _common_bins(count: int, known: ReferencePairs, outputs: Mapping[str, NDArray[np.float64]]) -> EqualBins:
    """Return bins that hold nearly all finite ratios of every arm."""
    return EqualBins(
        count, max(histogram_reach(pair_ratios(output, known.values)) for output in outputs.values())
    )


def _ensure_memory(n_individuals: int, n_arms: int) -> None:
    """Refuse before allocating: d, D of each arm, ratios and a working copy, eight bytes each, and one byte for similarity."""
    n_bytes = pair_count(n_individuals) * (8 * (n_arms + 3) + 1)
    what = f"one number for each of {pair_count(n_individuals):,} pairs and {n_arms} arms"
    ensure_fits(n_bytes, what, "audit a sample of the individuals")
