"""The same figures over the pairs that the reference distance calls most similar."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.fairness.figure import Figure


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
