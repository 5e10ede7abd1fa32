"""Say in plain sentences what a comparison shows, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Protocol

from likewise.fairness.accuracy import ErrorFigures
from likewise.fairness.figures import FairnessFigures
from likewise.fairness.paired import PairedDifferences
from likewise.fairness.sampled import SampledFairness

_SAME = 0.005
"""Relative changes below half a percent are called no change: they would print as equal figures."""


class Measured(Protocol):
    """Outputs whose fairness was measured, with their error beside."""

    @property
    def fairness(self) -> FairnessFigures:
        """Figures over pairs."""

    @property
    def error(self) -> ErrorFigures | None:
        """Error, or None if accuracy was not measured."""


def findings(
    arms: Mapping[str, Measured],
    *,
    valid: bool = True,
    paired: PairedDifferences | None = None,
    change: str | None = None,
) -> tuple[str, ...]:
    """Put what was measured into words.

    Parameters
    ----------
    arms : mapping of str to Measured
        One, or two: before and after, in this order.
    valid : bool, default True
        Whether both have the same reference distance.
    paired : PairedDifferences, optional
    change : str, optional
        What made the difference, to begin a sentence with, for example ``"With pre-processing"``; by default the names of the arms.

    Returns
    -------
    tuple of str
        One sentence each; the first is the most important.
    """
    before, *rest = arms.values()
    if not rest:
        return (_one_arm(before), _scope(before))
    (after,) = rest
    change = change or "From {!r} to {!r}".format(*arms)
    if not valid:
        return (_not_comparable(before, after), _scope(before))
    sentences = (
        _fairness_sentence(change, before, after),
        _error_sentence(before, after),
        _mean_ratio_sentence(before, after),
        _scope(before),
    )
    return sentences if paired is None else (*sentences, _paired_sentence(paired))


def _one_arm(arm: Measured) -> str:
    similar = arm.fairness.similar
    return (
        f"Over the {similar.share:.0%} most similar pairs outputs differ {_number(similar.scale_free_ratio.value)} times as much, "
        "relative to similarity, as over all pairs on average (scale-free ratio; 1 means that similarity makes no difference)."
    )


def _fairness_sentence(change: str, before: Measured, after: Measured) -> str:
    pair = (before.fairness.similar.scale_free_ratio.value, after.fairness.similar.scale_free_ratio.value)
    share = f"{before.fairness.similar.share:.0%}"
    if not all(map(isfinite, pair)):
        return (
            f"Whether similar individuals are treated more alike is not shown: over the {share} most similar pairs the "
            f"scale-free ratio is {_number(pair[0])} before and {_number(pair[1])} after, because some individuals whose data are "
            "equal get different outputs."
        )
    treated = {-1: "treated more alike", 0: "treated as they were", 1: "treated less alike"}[
        _direction(*pair)
    ]
    gap = (before.fairness.similar.output_gap.value, after.fairness.similar.output_gap.value)
    overall = (before.fairness.mean_output_distance.value, after.fairness.mean_output_distance.value)
    return (
        f"{change} similar individuals are {treated}, relative to how much outputs differ overall: the scale-free ratio over the "
        f"{share} most similar pairs {_change(*pair)}. The mean distance of their outputs {_change(*gap)}, "
        f"that of all pairs {_change(*overall)}."
    )


def _error_sentence(before: Measured, after: Measured) -> str:
    if before.error is None or after.error is None:
        return "Accuracy was not measured, so whether fairness cost accuracy is not shown."
    pair = (before.error.rmse, after.error.rmse)
    verb = {-1: "falls", 0: "stays the same", 1: "rises"}[_direction(*pair)]
    return f"The error on hidden observations {verb}: RMSE {_change(*pair)}, in the units of the data."


def _mean_ratio_sentence(before: Measured, after: Measured) -> str:
    ratio = (before.fairness.mean_ratio.value, after.fairness.mean_ratio.value)
    spread = (before.fairness.output_spread.value, after.fairness.output_spread.value)
    text = f"The mean ratio IF {_change(*ratio)}, while the spread of the outputs {_change(*spread)}"
    if _direction(*ratio) < 0 and _direction(*spread) < 0:
        return f"{text}: a mean ratio also falls when all outputs shrink, so it alone shows no gain."
    return f"{text}."


def _not_comparable(before: Measured, after: Measured) -> str:
    pair = (before.fairness.mean_ratio.value, after.fairness.mean_ratio.value)
    return (
        f"The mean ratio {_change(*pair)}, but each arm has its own reference distance (as in the paper's released code), "
        "so this is not a valid before/after comparison: the change may come from the distance, not from the outputs."
    )


def _paired_sentence(paired: PairedDifferences) -> str:
    closer, farther = paired.similar.share_lower, paired.similar.share_higher
    return (
        f"For {paired.population}: of the most similar pairs {closer.low:.0%} to {closer.high:.0%} get outputs closer together than "
        f"before, {farther.low:.0%} to {farther.high:.0%} farther apart (each with confidence {closer.confidence:g}; a population is "
        "spoken of only if neither the outputs' rule nor d was made from these individuals)."
    )


def _scope(arm: Measured) -> str:
    if isinstance(arm.fairness, SampledFairness):
        return (
            f"These figures come from {arm.fairness.n_pairs:,} drawn pairs of {arm.fairness.n_individuals:,} individuals; each interval "
            f"speaks, with confidence {arm.fairness.confidence:g}, of {arm.fairness.population}."
        )
    return (
        f"These are exact figures over the {arm.fairness.n_pairs:,} pairs of the {arm.fairness.n_individuals:,} individuals in these data; "
        "about other individuals they say nothing."
    )


def _direction(before: float, after: float) -> int:
    """Return -1, 0 or 1 for a fall, no change, or a rise."""
    if before == after or (isfinite(before) and abs(after - before) <= _SAME * abs(before)):
        return 0
    return 1 if after > before else -1


def _change(before: float, after: float) -> str:
    if _direction(before, after) == 0:
        return f"is {_number(before)} before and {_number(after)} after"
    text = f"goes from {_number(before)} to {_number(after)}"
    if before and isfinite(before) and isfinite(after):
        text += f" ({after / before - 1:+.0%})"
    return text


def _number(value: float) -> str:
    return f"{value:.3g}"
