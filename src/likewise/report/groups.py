"""What an audit says of groups: who gets other outputs than similar people, and which pairs that are equal on paper fare differently."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from likewise.fairness import GroupEffects, Unavailable
from likewise.fairness.metrics.group_effect import MATERIAL, SMALLEST_GROUP
from likewise.report.numbers import number, shown, with_ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from likewise.fairness import GroupEffect, GroupMetrics
    from likewise.report.records import Arm, AuditRecord

    Report = TypeVar("Report", bound=AuditRecord)

_MOST_KINDS = 10
"""Up to so many kinds of pairs of groups are listed in the answer."""

_NAMED = 3
"""How many groups or kinds of pairs a sentence names; the rest are counted."""

_BOTH = 2

_ROUNDING = 1e-9
"""Of a share of draws."""

FEWEST_SHARED = 5
"""Features known of two individuals, from which on they are called equal on paper where these are alike and the data are sparse."""

_LEFT_OUT = "misses are left out"
"""In the words of a distance that compares what both of two individuals have (Gower)."""

_A_TABLE = 0.5
"""Observed share from which a missing value is the exception."""


def group_alarms(report: AuditRecord, most: int = _NAMED) -> tuple[str, ...]:
    """Say, for each arm, which groups are treated unlike similar people of other groups, at most so many by name; nothing where none is known to be."""
    asked = report.settings.get("confidence", 0.0)
    told = ((arm, _alarm(arm.group_effects, most, asked)) for arm in report.arms.values())
    alone = len(report.arms) == 1
    return tuple(text if alone else f"{arm.label}: {text}" for arm, text in told if text)


def with_alarms(report: Report) -> Report:
    """Return the report with what is said of groups among its findings, behind the answer: who is treated differently, or why nobody is seen to be."""
    answer, *others = report.findings
    return replace(report, findings=(answer, *group_alarms(report), *no_group_alarm(report), *others))


def _alarm(effects: GroupEffects | Unavailable | None, most: int, asked: float) -> str:
    if not isinstance(effects, GroupEffects) or not effects.clear:
        return ""
    # Of two groups that are everybody, what one gets more the other gets less: said once.
    both = len(effects.effects) == _BOTH and not effects.n_small and not effects.n_apart
    clear = sorted(_own(effects), key=lambda effect: -effect.share) if not both else list(effects.clear[:1])
    # What one group gets less moves the mean that all others are held against: those effects are smaller, and counted.
    largest = [effect for effect in clear if effect.share >= clear[0].share / 2][:most]
    others = [effect for effect in clear if effect not in largest]
    named = "; ".join(map(_effect, largest))
    more = _others(others, largest) + ("" if both else _mirrored(effects))
    return f"A group is treated differently from similar people of other groups: {named}{more}{_without(effects, asked)}."


def _own(effects: GroupEffects) -> list[GroupEffect]:
    """Return the findings that no clearer one explains."""
    return [effect for effect in effects.clear if not effect.mirrored]


def _mirrored(effects: GroupEffects) -> str:
    """Say which groups may differ only because a group that is told is among the others they are held against."""
    told = [effect for effect in effects.clear if effect.mirrored]
    if not told:
        return ""
    verb = "differs" if len(told) == 1 else "differ"
    return f"; {_groups_named(told)} {verb} too, perhaps only because {_groups_named(_own(effects))} {'is' if len(_own(effects)) == 1 else 'are'} among the others"


def _others(effects: list[GroupEffect], largest: list[GroupEffect]) -> str:
    """Say who gets more and who less of the groups that are not told in full: often the mirror image of the one that is."""
    by_sign: dict[bool, list[GroupEffect]] = {}
    for effect in effects:
        by_sign.setdefault(effect.difference < 0, []).append(effect)
    told = [
        f"{_groups_named(these)} {'gets' if len(these) == 1 else 'get'} {'lower' if less else 'higher'} outputs"
        for less, these in sorted(by_sign.items())
    ]
    mirrored = not by_sign.keys() & {effect.difference < 0 for effect in largest}
    return f"; {'in turn' if mirrored else 'also'}, {' and '.join(told)}, by no more" if told else ""


def _groups_named(effects: list[GroupEffect]) -> str:
    """Name groups, or count them where they are many."""
    names = [shown(effect.group) for effect in effects]
    if len(names) > _NAMED:
        return f"{len(names)} more groups"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _without(effects: GroupEffects, asked: float) -> str:
    """Say of whom this does not speak, and which confidence it has where that is less than was asked for."""
    left, small = effects.n_left_out, effects.n_small
    lack = f" who lack{'s' * (left == 1)} {', '.join(map(shown, effects.lacking))}" if effects.lacking else ""
    few = "" if lack else ", of whom too little is known"
    people = f"; {left:,} {'person' if left == 1 else 'people'}{lack} {'is' if left == 1 else 'are'} left out of this test alone{few}"
    groups = (
        f"; {small:,} {'group' if small == 1 else 'groups'} of fewer than {SMALLEST_GROUP} people not tested"
    )
    n_apart = effects.n_apart
    apart = (
        f"; {n_apart:,} {'group' if n_apart == 1 else 'groups'} not tested as d keeps {'it' if n_apart == 1 else 'them'} apart from all others, as where it is "
        "made of the group"
    )
    sure = less_sure(effects, asked)
    return (people if left else "") + (groups if small else "") + (apart if n_apart else "") + sure


def less_sure(effects: GroupEffects, asked: float) -> str:
    """Say which confidence the test of groups has, where it cannot have the one that was asked for."""
    sure = effects.confidence
    return f"; with a confidence of {sure:g}, the most that this test has" if sure < asked else ""


def _effect(effect: GroupEffect) -> str:
    less, output = effect.difference < 0, shown(effect.output)
    # Of one that is not clear, the interval reaches to the other side of 0: below it, as "lower" is above.
    ends = (-effect.high, -effect.low) if less else (effect.low, effect.high)
    sizes = abs(effect.difference), *ends
    if effect.decides:  # of a yes or a no, a difference is one of shares
        points = with_ends(*(100 * size for size in sizes))
        told = f"{output} = 1 {'less' if less else 'more'} often, by {points} percentage points"
    else:
        told = f"{output} {with_ends(*sizes)} {'lower' if less else 'higher'}"
    return (
        f"{shown(effect.group)} ({effect.n_members:,} people) get {told}, {number(effect.share, 2)} times the mean difference "
        f"between two people (p = {number(effect.p_value, 2)})"
    )


def group_lines(report: AuditRecord) -> list[str]:
    """Say how similar pairs fare within and across groups, with counts; who is equal on paper but treated differently: of the arm that would be used first."""
    return [
        line if len(report.arms) == 1 else f"{arm.label}: {line}"
        for arm in reversed(list(report.arms.values()))
        for line in _lines_of(arm, is_sparse(report))
    ]


def _lines_of(arm: Arm, sparse: bool) -> list[str]:
    split = arm.fairness.groups
    if split is None:
        return []
    lines = [
        f"Outputs of similar pairs are {_gap(split.within)} within a group, {_gap(split.across)} across groups, on average.",
    ]
    kinds = [kind for kind in split.by_groups if kind.n_similar][:_MOST_KINDS]
    if len(split.by_groups) <= _MOST_KINDS and kinds:
        lines.append("By groups: " + "; ".join(f"{shown(kind.name)} {_gap(kind)}" for kind in kinds) + ".")
    return [lines[0], *_equal_on_paper(split.by_groups, sparse), *lines[1:]]


def is_sparse(report: AuditRecord) -> bool:
    """Return whether two individuals may have little in common: less than half is known of them, as of ratings, or d leaves out what is missing."""
    share = report.data.observed_fraction
    return (share is not None and share < _A_TABLE) or _LEFT_OUT in report.reference.description


def _equal_on_paper(by_groups: tuple[GroupMetrics, ...], sparse: bool) -> list[str]:
    """Count the pairs at distance 0 whose outputs differ, by the groups that have most of them."""
    equal = sorted((kind for kind in by_groups if kind.n_infinite), key=lambda kind: -kind.n_infinite)
    if not equal:
        return []
    named = "; ".join(f"{shown(kind.name)} {kind.n_infinite:,}" for kind in equal[:_NAMED])
    more = f"; {len(equal) - _NAMED} more kinds" if len(equal) > _NAMED else ""
    total = sum(kind.n_infinite for kind in equal)
    what = (
        "No difference in what is known of them, which may be little (d = 0)"
        if sparse
        else "Equal on paper (d = 0)"
    )
    return [
        f"{what}, different outputs: {total:,} {'pair' if total == 1 else 'pairs'}. By groups: {named}{more}."
    ]


def no_group_alarm(report: AuditRecord) -> tuple[str, ...]:
    """Say of the arm that would be used that no group effect was found, or why none was looked for; nothing where there is one."""
    return tuple(filter(None, [_no_alarm(report, report.main_arm)]))


def _no_alarm(report: AuditRecord, arm: Arm) -> str:
    effects = arm.group_effects
    of_arm = "" if len(report.arms) == 1 else f"{arm.label}: "
    if isinstance(effects, Unavailable):
        return f"{of_arm}Whether a group is treated differently from similar people was not tested: {effects.reason}."
    if effects is None or effects.clear:
        return ""
    without = _without(effects, report.settings.get("confidence", 0.0))
    if small := _small(effects):
        return (
            f"{of_arm}A difference is seen, too small to count: {_effect(small[0])}; from {MATERIAL:g} times on it counts"
            f"{_left_open(effects)}{without}."
        )
    smallest = min(effect.p_value for effect in effects.effects)
    return (
        f"{of_arm}No group is seen to get other outputs than similar people of other groups ({effects.n_individuals:,} people, smallest p = "
        f"{number(smallest, 2)}{_left_open(effects)}{without})."
    )


def _small(effects: GroupEffects) -> list[GroupEffect]:
    """Return those that are more than chance gives, but too small to count; the largest first."""
    most = 1 - effects.confidence + _ROUNDING
    seen = [effect for effect in effects.effects if not effect.clear and effect.p_value <= most]
    return sorted(seen, key=lambda effect: -effect.share)


def _left_open(effects: GroupEffects) -> str:
    """Say how large a difference there may be all the same, by the intervals: 'none is seen' is not 'there is none'."""
    widest = max(effects.effects, key=lambda effect: effect.at_most)
    if not isfinite(widest.at_most):
        return f"; how large a difference of {shown(widest.group)} may be is not bounded"
    if widest.at_most < MATERIAL:
        return f"; by the intervals none is as large as {MATERIAL:g} times the mean difference between two people"
    return f"; left open: up to {number(widest.at_most, 2)} times the mean difference between two people, for {shown(widest.group)}"


def group_details(report: AuditRecord) -> tuple[str, ...]:
    """Say of groups what is not among the findings: of every arm, each group with its interval, and similar pairs within and across."""
    told: list[str] = []
    for arm in report.arms.values():
        told += filter(None, [_no_alarm(report, arm) if arm is not report.main_arm else ""])
        told += _every_effect(report, arm)
    return (*told, *group_lines(report))


def _every_effect(report: AuditRecord, arm: Arm) -> Iterator[str]:
    """Yield a line for each group that was tested, or as many as a page holds."""
    if not isinstance(arm.group_effects, GroupEffects):
        return
    of_arm = "" if len(report.arms) == 1 else f"{arm.label}: "
    every = arm.group_effects.effects
    for effect in every[:_MOST_KINDS]:
        mirrored = "; perhaps only because a group that differs more clearly is among the others"
        yield f"{of_arm}Against similar people of other groups, {_effect(effect)}{mirrored if effect.mirrored else ''}."
    if len(every) > _MOST_KINDS:
        yield f"{of_arm}{len(every) - _MOST_KINDS:,} more groups are in report.json."


def _gap(kind: GroupMetrics) -> str:
    pairs = f"{kind.n_similar:,} {'pair' if kind.n_similar == 1 else 'pairs'}"
    return (
        f"{number(kind.similar_output_gap.value)} apart ({pairs})"
        if kind.n_similar
        else "not measured (no pair)"
    )
