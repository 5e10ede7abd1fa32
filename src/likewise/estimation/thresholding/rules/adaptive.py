"""The edge of noise where that predicts, and what predicts best where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from likewise.estimation.thresholding.rules.cross_validation import CrossValidated, ThresholdPath
from likewise.estimation.thresholding.statistics import ObservationStatistics, ShrinkerChoice, ThresholdRule

_FEWEST = 60
"""Observations; what is hidden of fewer tells nothing."""
_ENOUGH = 200
"""Hidden observations to judge by, where there are so many: of few, other tenths are hidden in turn."""


@dataclass(frozen=True)
class Adaptive(ThresholdRule):
    """The noise edge, tried on hidden observations: where they speak against it, the threshold that predicts them best, or none of the components.

    A tenth of the observations is hidden, and every number of components is tried on them, as by `CrossValidated`; the centre is found anew without
    them. Of fewer than 2,000 other tenths are hidden in turn, until some 200 observations, or all, were. Then tau is

    - the edge of noise, ``(sqrt(m) + sqrt(n)) sqrt(v)``, if what is above it predicts better than nothing, and nothing predicts better than it;
    - else the threshold of least error, if that is better than nothing;
    - else what keeps nothing.

    *Better* means by more than a standard error of the difference. So an estimate is on average no worse than its centre alone, also where noise
    is far from one variance, as it is on ratings. Whether people and features differ in how much they hold is not asked: signal makes them
    differ too. With fewer than 60 observations nothing can be tried, and nothing is kept.

    Parameters
    ----------
    path : CrossValidated
        How observations are hidden, and which shrinker is tried: by default the estimator's own.

    Examples
    --------
    >>> Adaptive()(ObservationStatistics(100, 400, 0.5, 0.25))  # from numbers alone: the edge
    15.0
    """

    path: CrossValidated = field(default_factory=CrossValidated)
    is_adaptive: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        edge = _edge(statistics)
        if statistics.matrix is None:
            return edge
        # Noise goes with the square root of how much is observed, and so do thresholds.
        growth = 1 / sqrt(1 - self.path.share)
        if _is_scarce(statistics):
            return sqrt(statistics.energy) * growth
        path = _pooled(self.path.several(statistics, _ENOUGH), edge / growth)
        at_edge, best = path.errors.size - 1, int(np.argmin(path.errors))
        if path.is_better(at_edge, 0) and not path.is_better(best, at_edge):
            return edge
        chosen = best if path.is_better(best, 0) else 0
        return float(path.thresholds[chosen]) * growth

    def trying(self, shrinker: ShrinkerChoice) -> Adaptive:
        """Return the rule that tries this shrinker, unless it was given one."""
        return replace(self, path=self.path.trying(shrinker))

    def notes(self, statistics: ObservationStatistics, threshold: float) -> tuple[str, ...]:
        """Say where hidden observations spoke against the edge."""
        edge = _edge(statistics)
        if statistics.operator is not None:
            return ("the threshold is the edge of noise, not tried on hidden observations as in memory",)
        if threshold == edge:
            return ()
        if _is_scarce(statistics):
            return (f"no component is kept: nothing can be tried with fewer than {_FEWEST} observations",)
        return (
            f"the threshold is {threshold:.3g}, which predicts hidden observations best, not the noise edge of {edge:.3g}",
        )

    @property
    def when_nothing_is_kept(self) -> str:
        """What to say of rank 0."""
        return "with this shrinker no number of components is seen to predict hidden observations better than none"


def _pooled(paths: Sequence[ThresholdPath], edge: float) -> ThresholdPath:
    """Return the mean of paths at the thresholds of the first one and at the edge, which comes last."""
    thresholds = np.append(paths[0].thresholds, edge)
    found = [path.at(thresholds) for path in paths]
    errors = np.mean([path.errors for path in found], axis=0)
    # No observation is hidden twice.
    covariance = np.sum([path.covariance for path in found], axis=0) / len(found) ** 2
    return replace(found[0], errors=errors, covariance=covariance)


def _is_scarce(statistics: ObservationStatistics) -> bool:
    return statistics.matrix is not None and statistics.matrix.nnz < _FEWEST


def _edge(statistics: ObservationStatistics) -> float:
    return statistics.noise_edge(statistics.mean_square)
