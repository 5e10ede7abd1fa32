"""The edge of noise where that predicts, and what predicts best where it does not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from likewise.estimation.thresholding.rules.cross_validation import CrossValidated
from likewise.estimation.thresholding.statistics import ObservationStatistics, ShrinkerChoice, ThresholdRule

_FEW = 200
"""Observations up to which a tenth of them is too few to judge by."""


@dataclass(frozen=True)
class Adaptive(ThresholdRule):
    """The noise edge, tried on hidden observations: where they speak against it, the threshold that predicts them best, or none of the components.

    A tenth of the observations is hidden, and every number of components is tried on them, as by `CrossValidated`; the centre is found anew without
    them. Then tau is

    - the edge of noise, ``(sqrt(m) + sqrt(n)) sqrt(v)``, if what is above it predicts better than nothing, and nothing predicts better than it;
    - else the threshold of least error, if that is better than nothing;
    - else what keeps nothing.

    *Better* means by more than a standard error of the difference. So an estimate is on average no worse than its centre alone, also where noise
    is far from one variance, as it is on ratings. Whether people and features differ in how much they hold is not asked: signal makes them
    differ too. With up to 200 observations nothing can be tried, and tau is the edge.

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
        if statistics.matrix is None or statistics.matrix.nnz <= _FEW:
            return edge
        path = self.path.path(statistics)
        # Noise goes with the square root of how much is observed, and so do thresholds.
        growth = 1 / sqrt(1 - self.path.share)
        at_edge, best = path.kept_at(edge / growth), int(np.argmin(path.errors))
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
        return (
            f"the threshold is {threshold:.3g}, which predicts hidden observations best, not the noise edge of {edge:.3g}",
        )

    @property
    def when_nothing_is_kept(self) -> str:
        """What to say of rank 0."""
        return "with this shrinker no number of components predicts hidden observations better than none"


def _edge(statistics: ObservationStatistics) -> float:
    return statistics.noise_edge(statistics.mean_square)
