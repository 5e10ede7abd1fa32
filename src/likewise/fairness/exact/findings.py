"""What is asked of all pairs, and what was found: the same whether distances were held in memory or measured again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.exact.tally import Tally
from likewise.fairness.exact.thresholds import Thresholds
from likewise.fairness.figure import AnyFigure
from likewise.fairness.groups import PairGroups
from likewise.fairness.histogram import RatioHistogram


@dataclass(frozen=True, eq=False)
class Request:
    """What to report of every arm; see `likewise.fairness.measure_fairness`.

    Parameters
    ----------
    ids : ndarray, shape (n_individuals,)
    nearest_share : float
    quantiles : tuple of float
    bins : int or ndarray
        Number of histogram bins, or their edges.
    worst : int
    condition : (float, float) or None
        L and gamma.
    groups : PairGroups or None
    """

    ids: NDArray[Any]
    nearest_share: float
    quantiles: tuple[float, ...]
    bins: int | NDArray[np.float64]
    worst: int
    condition: tuple[float, float] | None
    groups: PairGroups | None


@dataclass(frozen=True, eq=False)
class ArmFindings:
    """What was found of one set of outputs.

    Parameters
    ----------
    tally : Tally
    quantiles : mapping of float to Figure or BracketedFigure
    needed_slack : mapping of float to Figure or BracketedFigure
        Empty without a condition.
    histogram : RatioHistogram
    """

    tally: Tally
    quantiles: Mapping[float, AnyFigure]
    needed_slack: Mapping[float, AnyFigure]
    histogram: RatioHistogram


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found of all pairs.

    Parameters
    ----------
    thresholds : Thresholds
    n_undefined : int
        Pairs without a defined reference distance.
    tie_width : float
        To within this share of the radius pairs count as tied with the last of the most similar ones.
    arms : mapping of str to ArmFindings
    """

    thresholds: Thresholds
    n_undefined: int
    tie_width: float
    arms: Mapping[str, ArmFindings]


def counted_histogram(edges: NDArray[np.float64], counts: NDArray[np.int64], infinite: int) -> RatioHistogram:
    """Make a histogram from counts below, between and above the edges; infinite ratios are among those above."""
    return RatioHistogram(edges, counts[1:-1].copy(), int(counts[-1]) - infinite, infinite)
