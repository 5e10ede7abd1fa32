"""Say in plain sentences what a comparison shows, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite, isnan
from typing import Protocol

from likewise.fairness.metrics.accuracy import ErrorMetrics
from likewise.fairness.metrics.fairness_metrics import FairnessMetrics
from likewise.fairness.metrics.paired import PairedDifferences
from likewise.fairness.sampled.measure import SampledFairness

_SAME = 0.005
"""Relative changes below half a percent are called no change: they would print as equal figures."""

_ABOUT_SAME = 0.05
"""Relative changes of the scale-free ratio up to this are called neither more nor less alike: a headline is for more than that."""


class Measured(Protocol):
    """Outputs whose fairness was measured, with their error beside."""

    @property
    def fairness(self) -> FairnessMetrics:
        """Figures over pairs."""

    @property
    def error(self) -> ErrorMetrics | None:
        """Error, or None if accuracy was not measured."""


def findings(
    arms: Mapping[str, Measured],
    *,
    valid: bool = True,
    paired: PairedDifferences | None = None,
    change: str | None = None,
    advice: str | None = None,
    unmeasured: str | None = None,
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
    advice : str, optional
        What to try, as a sentence, should the error rise.
    unmeasured : str, optional
        Why there is no error, to stand after "because", should there be none.

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
        _error_sentence(before, after, advice, unmeasured),
        _mean_ratio_sentence(before, after),
        _scope(before),
    )
    return sentences if paired is None else (*sentences, _paired_sentence(paired))


def _one_arm(arm: Measured) -> str:
    similar, ratio = arm.fairness.similar, similar_ratio(arm.fairness)
    if not isfinite(ratio):
        return (
            f"{_set_apart(arm)}No finite ratio is known of the {similar.share:.0%} most similar pairs; over all pairs the mean ratio "
            f"IF is {_number(_mean_ratio(arm.fairness))}."
        )
    return (
        f"{_set_apart(arm)}Over the {similar.share:.0%} most similar pairs outputs differ {_number(ratio)} times as much, "
        "relative to similarity, as over all pairs on average (scale-free ratio; 1 means that similarity makes no difference)."
    )


def _fairness_sentence(change: str, before: Measured, after: Measured) -> str:
    pair = (similar_ratio(before.fairness), similar_ratio(after.fairness))
    set_apart = _set_apart(before, after)
    share = f"{before.fairness.similar.share:.0%}"
    if not all(map(isfinite, pair)):
        return (
            f"{set_apart}Whether similar individuals are treated more alike is not shown: over the {share} most similar pairs the "
            f"scale-free ratio is {_number(pair[0])} before and {_number(pair[1])} after."
        )
    treated = {-1: "more alike", 0: "about as alike as before", 1: "less alike"}[
        _direction(*pair, same=_ABOUT_SAME)
    ]
    gap = (before.fairness.similar.output_gap.value, after.fairness.similar.output_gap.value)
    overall = (before.fairness.mean_output_distance.value, after.fairness.mean_output_distance.value)
    return (
        f"{set_apart}{change} similar individuals are treated {treated}, relative to how much outputs differ overall: the scale-free ratio over the "
        f"{share} most similar pairs {_change(*pair)}. The mean distance of their outputs {_change(*gap)}, "
        f"that of all pairs {_change(*overall)}."
    )


def _error_sentence(before: Measured, after: Measured, advice: str | None, unmeasured: str | None) -> str:
    if before.error is None or after.error is None:
        because = f" because {unmeasured}" if unmeasured else ""
        return f"Accuracy was not measured{because}: whether fairness cost accuracy is not shown."
    pair = (before.error.rmse, after.error.rmse)
    verb = {-1: "falls", 0: "stays the same", 1: "rises"}[_direction(*pair)]
    text = f"The error on hidden observations {verb}: RMSE {_change(*pair)}, in the units of the data."
    return f"{text} {advice}" if advice and verb == "rises" else text


def _mean_ratio_sentence(before: Measured, after: Measured) -> str:
    ratio = (_mean_ratio(before.fairness), _mean_ratio(after.fairness))
    spread = (before.fairness.output_spread.value, after.fairness.output_spread.value)
    text = f"The mean ratio IF {_change(*ratio)}, while the spread of the outputs {_change(*spread)}"
    if _direction(*ratio) < 0 and _direction(*spread) < 0:
        return f"{text}: a mean ratio also falls when all outputs shrink, so it alone shows no gain."
    return f"{text}."


def _not_comparable(before: Measured, after: Measured) -> str:
    pair = (_mean_ratio(before.fairness), _mean_ratio(after.fairness))
    return (
        f"{_set_apart(before, after)}The mean ratio {_change(*pair)}, but each arm has its own reference distance (as in the paper's released code), "
        "so this is not a valid before/after comparison: the change may come from the distance, not from the outputs."
    )


def _paired_sentence(paired: PairedDifferences) -> str:
    closer, farther = paired.similar.share_lower, paired.similar.share_higher
    return (
        f"For {paired.population}: of the most similar pairs {closer.low:.0%} to {closer.high:.0%} get outputs closer together than "
        f"before, {farther.low:.0%} to {farther.high:.0%} farther apart (each with confidence {closer.confidence:g}; a population is "
        "spoken of only if neither the outputs' rule nor d was made from these individuals)."
    )


def _set_apart(*arms: Measured) -> str:
    """Count the pairs of infinite ratio, which one sentence with finite figures cannot speak of; empty where there is none."""
    counts = [f"{arm.fairness.n_infinite:,}" for arm in arms]
    if not any(arm.fairness.n_infinite for arm in arms):
        return ""
    return (
        f"Pairs at distance 0 whose outputs differ, so that their ratio is infinite: {' before and '.join(counts)}"
        f"{' after' if len(counts) > 1 else ''}, of {arms[0].fairness.n_pairs:,}; ratios here are those of the other pairs. "
    )


def similar_ratio(fairness: FairnessMetrics) -> float:
    """Return the scale-free ratio that the first sentence speaks of.

    Parameters
    ----------
    fairness : FairnessMetrics

    Returns
    -------
    float
        Of the most similar pairs, or of those of them whose ratio is finite; infinite without one.
    """
    similar = fairness.similar
    if not fairness.n_infinite or isfinite(similar.scale_free_ratio.value):
        return similar.scale_free_ratio.value
    finite = similar.finite_mean_ratio
    if not isfinite(finite.value):
        return inf
    return finite.value * fairness.mean_reference_distance.value / fairness.mean_output_distance.value


def _mean_ratio(fairness: FairnessMetrics) -> float:
    """Return the mean ratio IF; that of the finite pairs where some are infinite."""
    return (fairness.finite_mean_ratio if fairness.n_infinite else fairness.mean_ratio).value


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


def _direction(before: float, after: float, *, same: float = _SAME) -> int:
    """Return -1, 0 or 1 for a fall, no relative change beyond `same`, or a rise."""
    if before == after or (isfinite(before) and abs(after - before) <= same * abs(before)):
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
    if isnan(value):
        return "undefined"
    return f"{value:.3g}" if isfinite(value) else "infinite"
