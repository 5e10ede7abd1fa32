"""The same figures over the pairs that the reference distance calls most similar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import TIE
from likewise.fairness.figure import Figure

Distances = TypeVar("Distances", float, NDArray[np.float64])


def reach(distance: Distances) -> Distances:
    """Return how large another distance can have been measured that is no larger than this one.

    A sum that is not exact depends on the order of its terms, so pairs that are equally far apart can differ in their last digits. They
    are taken for tied, or which pairs are the most similar would depend on the order of the columns.

    Examples
    --------
    >>> 0.1 + 0.2 + 0.3 <= 0.3 + 0.2 + 0.1, 0.1 + 0.2 + 0.3 <= reach(0.3 + 0.2 + 0.1)
    (False, True)
    """
    return distance * (1 + TIE)


@dataclass(frozen=True)
class SimilarPairs:
    """Figures over the nearest share of all pairs.

    Parameters
    ----------
    share : float
        Share of all pairs that was asked for.
    radius : float
        Largest reference distance among them. Every pair at this distance, to within rounding, is in, so ties can make `n_pairs` larger
        than asked.
    n_pairs : int
    mean_ratio, max_ratio : Figure
        Of D / d.
    output_gap : Figure
        Mean of D.
    scale_free_ratio : Figure
        Mean of (D over its mean) / (d over its mean), both means over *all* pairs.
    finite_mean_ratio : Figure
        Mean over the pairs of finite ratio; NaN without one.
    """

    share: float
    radius: float
    n_pairs: int
    mean_ratio: Figure
    max_ratio: Figure
    output_gap: Figure
    scale_free_ratio: Figure
    finite_mean_ratio: Figure
