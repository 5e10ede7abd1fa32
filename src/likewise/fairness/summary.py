"""From two vectors, the reference and the output distance of every pair, to all figures of one arm."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ConstantOutputWarning
from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.epsilon_delta import EpsilonBins
from likewise.fairness.figure import ExactFigure
from likewise.fairness.figures import FairnessFigures
from likewise.fairness.groups import PairGroups
from likewise.fairness.histogram import Bins, ratio_histogram
from likewise.fairness.neighbors import neighbor_figures
from likewise.fairness.ratios import order_statistics, ordered_mean, pair_ratios, share_rank
from likewise.fairness.similar import ReferencePairs, similar_figures
from likewise.fairness.violations import find_violations
from likewise.fairness.worst import WorstPair, largest_places, name_pairs

Floats = NDArray[np.float64]

NEAR_CONSTANT = 0.01
"""Outputs whose spread is below this share of their size are called nearly constant."""


@dataclass(frozen=True, eq=False)
class Request:
    """What to report of every arm.

    Parameters
    ----------
    ids : ndarray, shape (n_individuals,)
    quantiles : tuple of float
    bins : EqualBins or ndarray
    worst : int
    epsilons : EpsilonBins
    lipschitz, slack : float or None, float
    neighbors : ndarray of int, shape (n_individuals, n_neighbors), or None
    groups : PairGroups or None
    """

    ids: NDArray[Any]
    quantiles: tuple[float, ...]
    bins: Bins
    worst: int
    epsilons: EpsilonBins
    lipschitz: float | None
    slack: float
    neighbors: NDArray[np.intp] | None
    groups: PairGroups | None


def summarise(
    reference: ReferencePairs, output: Floats, distance: PairwiseDistance, request: Request
) -> FairnessFigures:
    """Compute every figure of one arm.

    Parameters
    ----------
    reference : ReferencePairs
    output : ndarray, shape (n_pairs,)
        D of the pairs in `reference`.
    distance : PairwiseDistance
        The output distance, for its description and scale, and to measure neighbours.
    request : Request

    Returns
    -------
    FairnessFigures
    """
    groups, limit, neighbors = request.groups, request.lipschitz, request.neighbors
    # Violations need a vector of their own: they go first, before the one of ratios is held.
    violations = None if limit is None else find_violations(output, reference.values, limit, request.slack)
    ratios = pair_ratios(output, reference.values)
    ordered = _order_statistics(ratios, request)
    mean_output = float(output.mean())
    rescale = reference.mean / mean_output if mean_output else np.nan
    spread = float(np.sqrt(np.dot(output, output))) / distance.n_individuals
    n_infinite = int(np.count_nonzero(np.isinf(ratios)))
    return FairnessFigures(
        n_individuals=distance.n_individuals,
        n_pairs=output.size,
        reference=reference.distance.description,
        output=distance.description,
        **_mean_ratios(reference, ratios, n_infinite, rescale),
        max_ratio=ExactFigure(ordered.largest, output.size),
        quantiles={q: ExactFigure(value, output.size) for q, value in ordered.quantiles.items()},
        similar=similar_figures(reference, ratios, output, rescale),
        histogram=ratio_histogram(ratios, request.bins),
        worst=_worst_pairs(reference, ratios, output, request, ordered.worst),
        n_zero_distance=int(np.count_nonzero(reference.values == 0)),
        n_infinite=n_infinite,
        n_undefined=reference.n_undefined,
        mean_reference_distance=ExactFigure(reference.mean, output.size),
        mean_output_distance=ExactFigure(mean_output, output.size),
        output_spread=ExactFigure(spread, output.size),
        epsilon_delta=request.epsilons.curve(output),
        groups=None if groups is None else groups.split(output, reference.values, ratios, reference.near),
        violations=violations,
        neighbors=None if neighbors is None else neighbor_figures(distance, reference.distance, neighbors),
        notes=_notes(reference, n_infinite, spread, distance.scale),
    )


@dataclass(frozen=True)
class _Ordered:
    """Order statistics of the ratios, from one partition."""

    quantiles: dict[float, float]
    worst: float
    largest: float


def _order_statistics(ratios: Floats, request: Request) -> _Ordered:
    last = ratios.size - 1
    ranks = [share_rank(q, ratios.size) for q in request.quantiles]
    *found, worst, largest = order_statistics(
        ratios, [*ranks, last - min(last, max(0, request.worst - 1)), last]
    )
    return _Ordered(dict(zip(request.quantiles, found, strict=True)), worst, largest)


def _mean_ratios(
    reference: ReferencePairs, ratios: Floats, n_infinite: int, rescale: float
) -> dict[str, ExactFigure]:
    """Return the figures that are means of ratios over all pairs, in their several conventions."""
    m, undefined = reference.distance.n_individuals, reference.n_undefined
    finite_total = float(np.sum(ratios, where=np.isfinite(ratios)))
    total = np.inf if n_infinite else finite_total
    means = {
        "mean_ratio": ordered_mean(total, m, undefined),
        "pair_mean_ratio": total / ratios.size,
        "finite_mean_ratio": ordered_mean(finite_total, m, undefined + n_infinite),
        "scale_free_ratio": total / ratios.size * rescale,
    }
    return {name: ExactFigure(value, ratios.size) for name, value in means.items()}


def _worst_pairs(
    reference: ReferencePairs, ratios: Floats, output: Floats, request: Request, threshold: float
) -> tuple[WorstPair, ...]:
    chosen = largest_places(ratios, output, request.worst, threshold)
    places = chosen if reference.places is None else reference.places[chosen]
    return name_pairs(places, request.ids, reference.values[chosen], output[chosen], ratios[chosen])


def _notes(reference: ReferencePairs, n_infinite: int, spread: float, scale: float | None) -> tuple[str, ...]:
    """Say what a reader must know."""
    notes = []
    if n_infinite:
        notes.append(
            f"{n_infinite:,} pairs have reference distance 0 but different outputs: their ratio is infinite"
        )
    if reference.n_undefined:
        notes.append(f"{reference.n_undefined:,} pairs have no defined reference distance and count nowhere")
    if reference.n_tied:
        notes.append(
            f"{reference.n_tied:,} pairs tie with the last of the most similar ones and are counted with them"
        )
    return (*notes, *constant_notes(spread, scale))


def constant_notes(spread: float, scale: float | None) -> list[str]:
    """Say, and warn, where outputs are nearly constant beside their size."""
    if spread > 0 and (scale is None or spread >= NEAR_CONSTANT * scale):
        return []
    note = "outputs are nearly constant: small ratios then say little"
    warnings.warn(f"{note} (spread {spread:.3g})", ConstantOutputWarning, stacklevel=3)
    return [note]
