"""The same figures over the pairs that the reference distance calls most similar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.figure import ExactFigure, Figure
from likewise.fairness.ratios import finite_mean, order_statistics, share_rank

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SimilarPairs:
    """Figures over the nearest share of all pairs.

    Parameters
    ----------
    share : float
        Share of all pairs that was asked for.
    radius : float
        Largest reference distance among them. Every pair at this distance is in, so ties can make `n_pairs` larger than asked.
    n_pairs : int
    mean_ratio, max_ratio : Figure
        Of D / d.
    output_gap : Figure
        Mean of D.
    scale_free_ratio : Figure
        Mean of (D over its mean) / (d over its mean), both means over *all* pairs.
    finite_mean_ratio : Figure or None
        Mean over the pairs of finite ratio; None where it was not estimated.
    """

    share: float
    radius: float
    n_pairs: int
    mean_ratio: Figure
    max_ratio: Figure
    output_gap: Figure
    scale_free_ratio: Figure
    finite_mean_ratio: Figure | None = None


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

    @property
    def n_tied(self) -> int:
        """How many pairs count as most similar only because they tie with the last one."""
        return int(np.count_nonzero(self.near)) - share_rank(self.share, self.values.size) - 1

    def select(self, measured: Floats) -> Floats:
        """Return the entries of a vector over all pairs whose reference distance is defined."""
        return measured if self.places is None else measured[self.places]


def similar_figures(
    reference: ReferencePairs, ratios: Floats, output: Floats, rescale: float
) -> SimilarPairs:
    """Compute figures over the most similar pairs; `rescale` is mean d over mean D."""
    near, gap = ratios[reference.near], output[reference.near]
    mean = float(near.mean())
    values = (mean, float(near.max()), float(gap.mean()), mean * rescale, finite_mean(near))
    figures = (ExactFigure(value, near.size) for value in values)
    return SimilarPairs(reference.share, reference.radius, near.size, *figures)
