"""Thresholds by name, and how a name, a rule, a function or a number becomes tau."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from likewise.checks import checked_non_negative
from likewise.errors import ThresholdError
from likewise.estimation.thresholding.rules.cross_validation import Adaptive, CrossValidated
from likewise.estimation.thresholding.rules.optimal import NoiseEdge, OptimalHard, ScreeNOT, SignFlipEdge
from likewise.estimation.thresholding.rules.paper import (
    PaperCorollary,
    PaperRatings,
    PaperSynthetic,
    ReleasedCode,
    Universal,
    UniversalWithVariance,
)
from likewise.estimation.thresholding.statistics import (
    ObservationStatistics,
    ShrinkerChoice,
    ThresholdChoice,
    ThresholdRule,
)
from likewise.registry import Registry, as_rule


@dataclass(frozen=True)
class _Function(ThresholdRule):
    """A plain function, or a number that is given, as a rule."""

    function: Callable[[ObservationStatistics], Any]

    def __call__(self, statistics: ObservationStatistics) -> float:
        tau: float = self.function(statistics)
        return tau

    @property
    def assumes_white_noise(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.function, "assumes_white_noise", False))


def _as_rule(thing: Any) -> ThresholdRule:
    """Return a rule, a class of rules with its defaults, or a plain function, as a rule."""
    refused = ThresholdError(f"threshold {thing!r}", "a finite number >= 0, a known name, or a rule")
    return as_rule(thing, ThresholdRule, _Function, refused)  # type: ignore[type-abstract]


THRESHOLDS: Registry[ThresholdRule] = Registry(
    "likewise.thresholds",
    "threshold",
    {
        "adaptive": Adaptive(),
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
        "paper-corollary": PaperCorollary(),
        "released-code": ReleasedCode(),
    },
    ThresholdError,
    _as_rule,
)
"""Threshold rules by name."""


def register_threshold(name: str) -> Callable[[Any], Any]:
    """Give a threshold rule a name, under which every call and the command line find it.

    Parameters
    ----------
    name : str
        Not one of the package's own.

    Returns
    -------
    callable
        Takes a `ThresholdRule`, a class of it that needs no argument, or a function of `ObservationStatistics`, and returns it: a decorator.

    Raises
    ------
    ThresholdError
        The name is taken, or the thing is not a rule.

    Examples
    --------
    >>> @register_threshold("half-the-edge")
    ... def half_the_edge(statistics):
    ...     return 0.5 * statistics.noise_edge(statistics.mean_square)
    >>> resolve_threshold("half-the-edge", ObservationStatistics(100, 400, 0.5, 0.25))
    7.5
    >>> THRESHOLDS.unregister("half-the-edge")
    """
    return lambda rule: THRESHOLDS.register(name, rule)


def threshold_rule(threshold: ThresholdChoice) -> ThresholdRule:
    """Return the rule that a name, a function or a number stands for; `ThresholdError` for an unknown name, or none of these."""
    if isinstance(threshold, str):
        return THRESHOLDS.named(threshold)
    return _as_rule(threshold) if callable(threshold) else _Function(lambda _: threshold)


def resolve_threshold(
    threshold: ThresholdChoice, statistics: ObservationStatistics, shrinker: ShrinkerChoice = "rescaled"
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
    value: Any = threshold_rule(threshold).trying(shrinker)(statistics)
    return checked_non_negative("threshold", value, "a known name, or a rule", error=ThresholdError)


def threshold_name(threshold: ThresholdChoice) -> str:
    """Return how a threshold was chosen, in words.

    Examples
    --------
    >>> threshold_name("universal"), threshold_name(Universal(eta=0.02)), threshold_name(3.5)
    ('universal', 'Universal(eta=0.02)', 'given')
    """
    if isinstance(threshold, str):
        return threshold
    return repr(threshold) if callable(threshold) else "given"
