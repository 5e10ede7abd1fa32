"""From two vectors, the reference and the output distance of every pair, to all figures of one arm."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ConstantOutputWarning
from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.figures import ExactFigure, FairnessFigures, RatioHistogram, SimilarPairs, WorstPair
from likewise.fairness.pairs import pair_positions
from likewise.fairness.ratios import largest_pairs, order_statistics, ordered_mean, pair_ratios, share_rank

Floats = NDArray[np.float64]

NEAR_CONSTANT = 0.01
"""Outputs whose spread is below this share of their size are called nearly constant."""

_REACH = 0.999
"""A histogram ends at this quantile of the ratios, so that one extreme pair does not squeeze all others into a bin."""


@dataclass(frozen=True, eq=False)
class ReferencePairs:
    """The reference distance of every pair where it is defined, and which of these pairs are the most similar.

    Parameters
    ----------
    distance : PairwiseDistance
    values : ndarray, shape (n_pairs,)
    places : ndarray of int or None
        Places of the defined pairs among all; None if all are defined.
    n_undefined : int
    share : float
        Share of the pairs that counts as most similar.
    radius : float
    near : ndarray of bool, shape (n_pairs,)
    mean : float
    """

    distance: PairwiseDistance
    values: Floats
    places: NDArray[np.intp] | None
    n_undefined: int
    share: float
    radius: float
    near: NDArray[np.bool_]
    mean: float

    @classmethod
    def of(cls, distance: PairwiseDistance, measured: Floats, share: float) -> ReferencePairs:
        """Set undefined pairs apart and find the most similar ones."""
        undefined = int(np.count_nonzero(np.isnan(measured)))
        places = np.flatnonzero(~np.isnan(measured)) if undefined else None
        values = measured if places is None else measured[places]
        radius = order_statistics(values, [share_rank(share, values.size)])[0] if values.size else np.nan
        mean = float(values.mean()) if values.size else np.nan
        return cls(distance, values, places, undefined, share, radius, values <= radius, mean)

    def select(self, measured: Floats) -> Floats:
        """Return the entries of a vector over all pairs whose reference distance is defined."""
        return measured if self.places is None else measured[self.places]


@dataclass(frozen=True)
class EqualBins:
    """Histogram bins of equal width from 0 to `reach`: counted faster than bins with given edges."""

    count: int
    reach: float


Bins = EqualBins | Floats


@dataclass(frozen=True, eq=False)
class Request:
    """What to report of every arm: quantiles in [0, 1], histogram bins, how many worst pairs, and ids."""

    quantiles: tuple[float, ...]
    bins: Bins
    worst: int
    ids: NDArray[Any]


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
        The output distance, for its description and scale.
    request : Request

    Returns
    -------
    FairnessFigures
    """
    m, n_pairs = distance.n_individuals, output.size
    ratios = pair_ratios(output, reference.values)
    n_infinite = int(np.count_nonzero(np.isinf(ratios)))
    finite_total = float(np.sum(ratios, where=np.isfinite(ratios)))
    total = np.inf if n_infinite else finite_total
    ranks = [share_rank(q, n_pairs) for q in request.quantiles] if n_pairs else []
    *found, smallest_worst, largest = order_statistics(
        ratios, [*ranks, max(0, n_pairs - max(1, request.worst)), n_pairs - 1]
    )
    mean_output = float(output.mean())
    rescale = reference.mean / mean_output if mean_output else np.nan
    spread = float(np.sqrt(np.dot(output, output))) / m

    def exact(value: float) -> ExactFigure:
        return ExactFigure(float(value), n_pairs)

    return FairnessFigures(
        n_individuals=m,
        n_pairs=n_pairs,
        reference=reference.distance.description,
        output=distance.description,
        mean_ratio=exact(ordered_mean(total, m, reference.n_undefined)),
        pair_mean_ratio=exact(total / n_pairs),
        finite_mean_ratio=exact(ordered_mean(finite_total, m, reference.n_undefined + n_infinite)),
        max_ratio=exact(largest),
        quantiles={q: exact(value) for q, value in zip(request.quantiles, found, strict=True)},
        scale_free_ratio=exact(total / n_pairs * rescale),
        similar=_similar_pairs(reference, ratios, output, rescale),
        histogram=histogram(ratios, request.bins),
        worst=_worst_pairs(reference, ratios, output, request, smallest_worst),
        n_zero_distance=int(np.count_nonzero(reference.values == 0)),
        n_infinite=n_infinite,
        n_undefined=reference.n_undefined,
        mean_reference_distance=exact(reference.mean),
        mean_output_distance=exact(mean_output),
        output_spread=exact(spread),
        notes=_notes(reference, n_infinite, spread, distance.scale),
    )


def histogram_reach(ratios: Floats) -> float:
    """Return where nearly all finite ratios end; 1 if all are 0."""
    finite = ratios if np.isfinite(ratios).all() else ratios[np.isfinite(ratios)]
    return order_statistics(finite, [share_rank(_REACH, finite.size)])[0] or 1.0 if finite.size else 1.0


def histogram(ratios: Floats, bins: Bins) -> RatioHistogram:
    """Count the ratios in each bin."""
    if isinstance(bins, EqualBins):
        counts, edges = np.histogram(ratios, bins.count, (0.0, bins.reach))
    else:
        counts, edges = np.histogram(ratios, bins)
    infinite = int(np.count_nonzero(np.isinf(ratios)))
    above = int(np.count_nonzero(ratios > edges[-1])) - infinite
    return RatioHistogram(np.asarray(edges), counts.astype(np.int64), above, infinite)


def _similar_pairs(reference: ReferencePairs, ratios: Floats, output: Floats, rescale: float) -> SimilarPairs:
    near, gap = ratios[reference.near], output[reference.near]
    mean = float(near.mean())

    def exact(value: float) -> ExactFigure:
        return ExactFigure(float(value), near.size)

    return SimilarPairs(
        share=reference.share,
        radius=reference.radius,
        n_pairs=near.size,
        mean_ratio=exact(mean),
        max_ratio=exact(near.max()),
        output_gap=exact(gap.mean()),
        scale_free_ratio=exact(mean * rescale),
    )


def _worst_pairs(
    reference: ReferencePairs, ratios: Floats, output: Floats, request: Request, threshold: float
) -> tuple[WorstPair, ...]:
    chosen = largest_pairs(ratios, output, request.worst, threshold)
    places = chosen if reference.places is None else reference.places[chosen]
    left, right = pair_positions(places, reference.distance.n_individuals)
    names = zip(request.ids[left].tolist(), request.ids[right].tolist(), strict=True)
    numbers = zip(
        reference.values[chosen].tolist(), output[chosen].tolist(), ratios[chosen].tolist(), strict=True
    )
    return tuple(WorstPair(*name, *number) for name, number in zip(names, numbers, strict=True))


def _notes(reference: ReferencePairs, n_infinite: int, spread: float, scale: float | None) -> tuple[str, ...]:
    """Say what a reader must know, and warn of nearly constant outputs."""
    notes = []
    if n_infinite:
        notes.append(
            f"{n_infinite:,} pairs have reference distance 0 but different outputs: their ratio is infinite"
        )
    if reference.n_undefined:
        notes.append(f"{reference.n_undefined:,} pairs have no defined reference distance and count nowhere")
    asked = share_rank(reference.share, reference.values.size) + 1
    tied = int(np.count_nonzero(reference.near)) - asked
    if tied:
        notes.append(f"{tied:,} pairs tie with the last of the most similar ones and are counted with them")
    if spread == 0 or (scale is not None and spread < NEAR_CONSTANT * scale):
        notes.append("outputs are nearly constant: small ratios then say little")
        warnings.warn(f"{notes[-1]} (spread {spread:.3g})", ConstantOutputWarning, stacklevel=2)
    return tuple(notes)
