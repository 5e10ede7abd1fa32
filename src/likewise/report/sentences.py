"""Say in plain sentences what an audit shows, and what it does not: the answer first."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan
from typing import TYPE_CHECKING

from likewise.checks import checked_flag, checked_instance
from likewise.errors import InputError
from likewise.fairness import SampledFairness, SampledValue
from likewise.report.accuracy import (
    accuracy_sentence,
    cost_of,
    error_alone,
    error_sentence,
    outside_test_sentence,
)
from likewise.report.equal_pairs import nobody_is_told_apart, set_apart
from likewise.report.gap import Gap, are_same, changed, compared, interval_text, is_rounding
from likewise.report.numbers import brief, change_text, direction

if TYPE_CHECKING:
    from likewise.fairness import FairnessMetrics, PairedDifferences
    from likewise.fairness.held_out import HeldOutFairness
    from likewise.report.records import Arm

BY_ACTIVITY = (
    'Here d mostly measures how much was observed of an individual, so "similar" means similarly active.'
)
"""Stands in the answer wherever it rests on such a distance."""


def _check(arms: object, *records: object) -> None:
    """Raise InputError unless arms are one or two, by name, beside records of what was measured on them."""
    if (
        not isinstance(arms, Mapping)
        or not 1 <= len(arms) <= 2
        or not all(hasattr(arm, "fairness") for arm in arms.values())
    ):
        raise InputError(
            f"arms of type {type(arms).__name__}", "one Arm or two, by name", "report.arms has them"
        )
    for record in records:
        if record is not None and not hasattr(record, "__dataclass_fields__"):
            raise InputError(
                f"what was measured, of type {type(record).__name__}", "a record of likewise.fairness"
            )


def findings(
    arms: Mapping[str, Arm],
    *,
    valid: bool = True,
    by_activity: bool = False,
    paired: PairedDifferences | None = None,
    truth: HeldOutFairness | None = None,
    gap_change: SampledValue | None = None,
    error_change: SampledValue | None = None,
    change: str | None = None,
    advice: str | None = None,
    unmeasured: str | None = None,
) -> tuple[str, ...]:
    """Put what was measured into words.

    Parameters
    ----------
    arms : mapping of str to Arm
        One, or two: before and after, in this order.
    valid : bool, default True
        Whether both have the same reference distance.
    by_activity : bool, default False
        Whether d mostly measures activity.
    paired : PairedDifferences, optional
    truth : HeldOutFairness, optional
        What was measured on the truth: then the answer is about that.
    gap_change : SampledValue, optional
        The gap after the change minus that before it, over the same pairs; without it, intervals of the two that lie apart tell.
    error_change : SampledValue, optional
        The RMSE after the change minus that before it; without it, any change of half a percent is told as one.
    change : str, optional
        What made the difference, such as ``"with pre-processing"``; by default the names of the arms.
    advice : str, optional
        What to try, as a sentence, should the error rise.
    unmeasured : str, optional
        Why there is no error, to stand after "because", should there be none.

    Returns
    -------
    tuple of str
        One finding each; the first is the answer.
    """
    _check(arms, paired, truth, gap_change, error_change)
    checked_flag("valid", valid)
    checked_flag("by_activity", by_activity)
    for name, text in (("change", change), ("advice", advice), ("unmeasured", unmeasured)):
        if text is not None:
            checked_instance(name, text, str, "text, or None")
    before, *rest = arms.values()
    by = by_activity and not truth
    told: tuple[str, ...]
    if not rest:
        told = (_marked(_one_arm(before, truth, by), by), set_apart(before), _scale_free(before))
        told += (accuracy_sentence(before) or error_alone(before, unmeasured), outside_test_sentence(before))
    elif not valid:
        told = (_not_comparable(before, rest[0]), set_apart(before, rest[0]))
    else:
        cost = cost_of(before, rest[0], error_change)
        after, change = rest[0], change or "with {1!r} instead of {0!r}".format(*arms)
        told = (
            _marked(_answer(change, before, after, truth, gap_change, cost, by_activity=by), by),
            "" if truth is None and nobody_is_told_apart(before, after) else _gaps(before, after, gap_change),
            "" if truth is None else _on_truth(truth, before, after, by_activity),
            set_apart(before, after),
            _scale_free(before, after),
            accuracy_sentence(before, after)
            or error_sentence(before, after, error_change, advice, unmeasured),
            outside_test_sentence(before, after),
            _mean_ratio_sentence(before, after),
            "" if paired is None else _paired_sentence(paired),
        )
    return tuple(filter(None, (*told, _scope(before))))


def _marked(answer: str, by_activity: bool) -> str:
    return f"{answer} {BY_ACTIVITY}" if by_activity else answer


def _whom(arm: Arm, truth: HeldOutFairness | None, by_activity: bool) -> str:
    """Name the similar pairs: by which d, where that is mostly activity; and how many pairs have no distance, so that they cannot be among them."""
    if truth is not None:
        return f"the {truth.nearest_share:.0%} of pairs that are most similar on observations kept aside"
    fairness = arm.fairness
    asides = ["by a d that mostly measures activity"] if by_activity else []
    if n := fairness.n_undefined:
        drawn = "drawn " if isinstance(fairness, SampledFairness) else ""
        asides.append(
            f"{n:,} {drawn}{'pair whose d is' if n == 1 else 'pairs whose d is'} undefined left out"
        )
    aside = f" ({'; '.join(asides)})" if asides else ""
    return f"the {fairness.similar.share:.0%} most similar pairs of these {fairness.n_individuals:,} individuals{aside}"


def _answer(
    change: str,
    before: Arm,
    after: Arm,
    truth: HeldOutFairness | None,
    gap_change: SampledValue | None,
    cost: str,
    *,
    by_activity: bool,
) -> str:
    """Say better, worse, or cannot be told; for whom; at which cost."""
    if truth is None and (nobody := nobody_is_told_apart(before, after)):
        return nobody
    gaps = Gap.of_arm(before), Gap.of_arm(after)
    whom = _whom(after, truth, by_activity)
    told = compared(*gaps) if gap_change is None else changed(gap_change)
    numbers = f"gap {brief(gaps[0].value)} before, {brief(gaps[1].value)} after"
    if any(isnan(gap.value) for gap in gaps):
        return "Cannot be told: outputs that are the same for everybody, to within rounding, have no gap between similar individuals."
    if told == 0 and are_same(before.fairness, after.fairness):
        text = f"No difference: {change} outputs are as far apart as they were, by every metric to within rounding (gap {gaps[0]})"
    elif gaps[0].value == gaps[1].value == 0:
        text = f"Similar individuals are treated alike before and after: {whom} do not differ in their outputs at all (a gap of 0, without an interval)"
    elif told == 0:
        why = _why_open(*gaps, gap_change)
        text = f"Cannot be told: whether {change} {whom} are treated more alike ({numbers}; {why})"
    else:
        more = "more" if told < 0 else "less"
        verdict, who = "Better" if told < 0 else "Worse", f"{change} {whom}"
        if by_activity:  # who is similarly active is not who is similar
            verdict = f"Cannot be told whether {change} similar individuals are treated more alike, only whether the similarly active are"
            who = whom
        text = f"{verdict}: {who} are treated {more} alike ({numbers})"
    return f"{text}{cost}."


def _why_open(before: Gap, after: Gap, gap_change: SampledValue | None) -> str:
    """Say why it cannot be told whether a gap rises or falls."""
    if gap_change is not None and is_rounding(gap_change):
        return "the gap is the same to within rounding"
    if gap_change is not None:
        return f"the change may be none: {interval_text(gap_change)}"
    if 0 in (before.value, after.value):
        when = "before" if before.value == 0 else "after"
        return f"no similar pair of these data differs {when}, and what never varies has no interval"
    return (
        "their intervals overlap" if before.has_interval and after.has_interval else "they have no intervals"
    )


def _gaps(before: Arm, after: Arm, gap_change: SampledValue | None) -> str:
    changes = "" if gap_change is None else f", a change of {interval_text(gap_change)}"
    return (
        f"The gap is the mean distance of the outputs of similar pairs over that of all pairs: 0 means that the similar are treated alike, 1 that "
        f"similarity makes no difference. It is {Gap.of_arm(before)} before and {Gap.of_arm(after)} after{changes}{_intervals(before)}."
    )


def _on_truth(truth: HeldOutFairness, before: Arm, after: Arm, by_activity: bool) -> str:
    """Say what was kept aside, whom the pairs speak of, and what the paper's d on zero-filled data says beside it."""
    gaps = [brief(Gap.of(arm.fairness).value) for arm in (before, after)]
    activity = ", which mostly measures how much was observed" if by_activity else ""
    return (
        f"Similarity is measured on observations that neither the algorithm nor the estimator saw{_over_splits(truth)}. {truth.pairs} "
        f"{_noise_of_d(truth)} By the paper's d on zero-filled observations{activity}, the gap is {gaps[0]} before and {gaps[1]} after."
    )


def _noise_of_d(truth: HeldOutFairness) -> str:
    """Say how far two measurements of d agree, or that there are no two."""
    if isnan(truth.reliability):
        return "How much of d is noise is not known: no two halves of the features kept aside measure the same pairs."
    return (
        f"Two halves of the features kept aside put pairs in the same order with a rank correlation of {brief(truth.reliability)}: the nearer to 0, the more of d is "
        "noise, and noise moves gaps towards 1."
    )


def _over_splits(truth: HeldOutFairness) -> str:
    """Say what comes from all splits, where there are several."""
    if truth.n_splits == 1:
        return ""
    return f", in {truth.n_splits} random splits; gap, correlations and error are over all of them, all else is of the first"


def _intervals(arm: Arm) -> str:
    if arm.on_truth is not None:
        return f" (intervals over individuals, confidence {arm.on_truth.relative_gap.confidence:g})"
    if not Gap.of(arm.fairness).has_interval:
        return ""
    interval = arm.fairness.similar.relative_gap_interval
    over = "drawn pairs" if interval is None else "individuals"
    confidence = getattr(interval or arm.fairness.similar.relative_gap, "confidence", 0.95)
    return f" (intervals over {over}, confidence {confidence:g})"


_HARDLY = 0.05
"""Of a gap of 1: what lies no farther below it is hardly a difference, and praises nobody."""


def _one_arm(arm: Arm, truth: HeldOutFairness | None, by_activity: bool) -> str:
    if truth is None and (nobody := nobody_is_told_apart(arm)):
        return nobody
    gap = Gap.of_arm(arm)
    if isnan(gap.value):
        return "The outputs are the same for everybody: nothing tells similar individuals from others."
    if gap.value == 0 and not by_activity:
        return (
            f"Similar individuals are treated alike: {_whom(arm, truth, by_activity)} do not differ in their outputs at all (a gap of 0; 1 would say that "
            "similarity makes no difference). What never varies has no interval, so this speaks of these individuals alone."
        )
    text = (
        f"The outputs of {_whom(arm, truth, by_activity)} are {gap} times as far apart as those of all pairs, on average "
        f"(0: the similar are treated alike; 1: similarity makes no difference)"
    )
    return f"{_how_alike(gap, by_activity)}: {_lower(text)}."


def _how_alike(gap: Gap, by_activity: bool) -> str:
    """Say what a gap tells of similar individuals: by a few percent is hardly; nothing where the similar are the similarly active."""
    hardly = "Similar individuals are treated hardly more alike than others, by"
    if not by_activity:
        if gap.high < 1 and gap.value > 1 - _HARDLY:
            return f"{hardly} {100 * (1 - gap.value):.2g}%"
        if gap.high < 1:
            return "Similar individuals are treated more alike than others"
        if gap.low >= 1:
            return "Similar individuals are treated no more alike than others"
        if gap.low > 1 - _HARDLY:
            return f"{hardly} less than {_HARDLY:.0%} if at all"
    return "Whether similar individuals are treated more alike than others cannot be told"


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _scale_free(*arms: Arm) -> str:
    """State the scale-free ratio beside the level that it has where outputs do not depend on the individuals."""
    values = [brief(arm.fairness.similar.scale_free_ratio.value) for arm in arms]
    levels = list(dict.fromkeys(brief(arm.fairness.similar.no_difference) for arm in arms))
    if any(not isfinite(arm.fairness.similar.scale_free_ratio.value) for arm in arms):
        return ""
    return (
        f"The scale-free ratio of similar pairs is {' before and '.join(values)}{' after' if len(arms) > 1 else ''}; if similarity made no "
        f"difference it would be {' and '.join(levels)}."
    )


def _mean_ratio_sentence(before: Arm, after: Arm) -> str:
    ratio = (_mean_ratio(before.fairness), _mean_ratio(after.fairness))
    spread = (before.fairness.output_spread.value, after.fairness.output_spread.value)
    text = f"The mean ratio IF {change_text(*ratio)}, while the spread of the outputs {change_text(*spread)}"
    if direction(*ratio) < 0 and direction(*spread) < 0:
        return f"{text}: a mean ratio also falls when all outputs shrink, so it alone shows no gain."
    return f"{text}."


def _not_comparable(before: Arm, after: Arm) -> str:
    pair = (_mean_ratio(before.fairness), _mean_ratio(after.fairness))
    return (
        f"Cannot be told: each arm has its own reference distance (as in the paper's released code), so this is not a valid before/after "
        f"comparison. The mean ratio {change_text(*pair)}; the change may come from the distance, not from the outputs."
    )


def _paired_sentence(paired: PairedDifferences) -> str:
    closer, farther = paired.similar.share_lower, paired.similar.share_higher
    condition = (
        "; this holds for the population only if neither the rule that gave the outputs nor d was made from these individuals"
        if "population" in paired.population
        else ""
    )
    return (
        f"Pair by pair, for {paired.population}: of the most similar pairs {closer.low:.0%} to {closer.high:.0%} get outputs closer together than "
        f"before, {farther.low:.0%} to {farther.high:.0%} farther apart (each with confidence {closer.confidence:g}{condition})."
    )


def _mean_ratio(fairness: FairnessMetrics) -> float:
    """Return the mean ratio IF; that of the finite pairs where some are infinite."""
    return (fairness.finite_mean_ratio if fairness.n_infinite else fairness.mean_ratio).value


def _scope(arm: Arm) -> str:
    if isinstance(arm.fairness, SampledFairness):
        return (
            f"These numbers come from {arm.fairness.n_pairs:,} drawn pairs of {arm.fairness.n_individuals:,} individuals; each interval "
            f"has a confidence of {arm.fairness.confidence:g} and is about {arm.fairness.population}."
        )
    defined = f" whose d is defined ({arm.fairness.n_undefined:,} others)" if arm.fairness.n_undefined else ""
    return (
        f"All {arm.fairness.n_pairs:,} pairs{defined} of the {arm.fairness.n_individuals:,} individuals in these data were measured; numbers without an "
        "interval say nothing about other individuals."
    )
