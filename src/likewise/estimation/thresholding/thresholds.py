"""Thresholds by name, and how a name, a rule or a number becomes tau."""

from __future__ import annotations

from typing import Any

from likewise.errors import ThresholdError, unknown_name
from likewise.estimation.base.statistics import ObservationStatistics, ThresholdRule
from likewise.estimation.thresholding.rules import (
    CrossValidated,
    NoiseEdge,
    OptimalHard,
    PaperRatings,
    PaperSynthetic,
    ReleasedCode,
    ScreeNOT,
    SignFlipEdge,
    Universal,
    UniversalWithVariance,
)
from likewise.estimation.thresholding.shrinkers import Shrinker, ShrinkerRule

__all__ = [
    "THRESHOLDS",
    "ObservationStatistics",
    "ThresholdRule",
    "resolve_threshold",
    "threshold_name",
    "threshold_rule",
]

THRESHOLDS: dict[str, ThresholdRule] = {
    "noise-edge": NoiseEdge(),
    "noise-edge-residual": NoiseEdge(noise="residual"),
    "sign-flip": SignFlipEdge(),
    "optimal-hard": OptimalHard(),
    "screenot": ScreeNOT(),
    "cross-validated": CrossValidated(),
    "universal": Universal(),
    "universal-variance": UniversalWithVariance(),
    "paper-synthetic": PaperSynthetic(),
    "paper-ratings": PaperRatings(),
    "released-code": ReleasedCode(),
}
"""Threshold rules by name."""


def threshold_rule(threshold: str | ThresholdRule, shrinker: str | Shrinker | ShrinkerRule) -> ThresholdRule:
    """Return the rule of a name; one that has to try the shrinker is told which."""
    if isinstance(threshold, str):
        if threshold not in THRESHOLDS:
            raise ThresholdError(*unknown_name("threshold", threshold, THRESHOLDS))
        threshold = THRESHOLDS[threshold]
    return threshold.trying(shrinker) if isinstance(threshold, CrossValidated) else threshold


def resolve_threshold(
    threshold: float | str | ThresholdRule,
    statistics: ObservationStatistics,
    shrinker: str | Shrinker | ShrinkerRule = "rescaled",
) -> float:
    """Turn a name, a rule or a number into the number tau >= 0.

    Parameters
    ----------
    threshold : float, str or callable
        A number; one of `THRESHOLDS`; or a callable that takes `ObservationStatistics`.
    statistics : ObservationStatistics
    shrinker : str, ShrinkerRule or callable, default "rescaled"
        What will become of the kept singular values; `CrossValidated` tries it.

    Returns
    -------
    float

    Raises
    ------
    ThresholdError
        Unknown name; negative, infinite or NaN value.

    Examples
    --------
    >>> resolve_threshold("noise-edge", ObservationStatistics(100, 400, 0.5, 0.25))
    15.0
    """
    value: Any = threshold
    if isinstance(threshold, str) or callable(threshold):
        value = threshold_rule(threshold, shrinker)(statistics)
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ThresholdError(
            f"threshold {value!r}", "a finite number >= 0, a known name, or a rule"
        ) from error
    if not 0 <= number < float("inf"):
        raise ThresholdError(f"threshold {number!r}", "a finite number >= 0")
    return number


def threshold_name(threshold: float | str | ThresholdRule) -> str:
    """Return how a threshold was chosen, in words.

    Examples
    --------
    >>> threshold_name("universal"), threshold_name(Universal(eta=0.02)), threshold_name(3.5)
    ('universal', 'Universal(eta=0.02)', 'given')
    """
    if isinstance(threshold, str):
        return threshold
    return repr(threshold) if callable(threshold) else "given"
