"""Lists of items, as they are told: who would rather have another's, and what is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import TYPE_CHECKING

from likewise.fairness import Unavailable
from likewise.report.numbers import NOT_MEASURED, Group, Row, number, percent_change, shown, with_ends

if TYPE_CHECKING:
    from likewise.fairness import EnviousPair, Envy, Exposure
    from likewise.report.records import Arm, AuditRecord, ListFigures


_GROUPS = 4
"""How many groups of items a sentence names."""

_ROWS: dict[str, tuple[str, Callable[[ListFigures], float | None]]] = {
    "who would rather have another's list": (
        "Share of individuals, by the estimate: envy.",
        lambda told: None if isinstance(told.envy, Unavailable) else told.envy.share,
    ),
    "the same, whatever the estimates are within their intervals": (
        "Share of individuals, with every entry at the end of its interval that speaks against it.",
        lambda told: None if isinstance(told.envy, Unavailable) else told.envy.certain,
    ),
    "how much better that list is": (
        "On average over individuals, in the units of the ratings; 0 for those who envy nobody.",
        lambda told: None if isinstance(told.envy, Unavailable) else told.envy.mean,
    ),
    "Gini of the exposure of items": (
        "0, all items are shown as much; near 1, few get all.",
        lambda told: told.exposure.gini,
    ),
    "exposure of the tenth of items that is shown most": (
        "Share of all exposure, by 1 / log2(rank + 1).",
        lambda told: told.exposure.tenth,
    ),
    "items on no list": (
        "Share of all items.",
        lambda told: 1 - told.exposure.n_shown / told.exposure.n_items,
    ),
}


def list_lines(report: AuditRecord) -> tuple[str, ...]:
    """Say of the lists that would be used who is envious, and how exposure is shared; nothing where outputs are no lists."""
    told = report.main_arm.lists
    if told is None:
        return ()
    return (_envy_line(told.envy), *_exposure_lines(told.exposure))


def made_lines(report: AuditRecord) -> tuple[str, ...]:
    """Say of every arm where its lists come from, by what ratings were estimated, and who gains most from another's list."""
    lines: list[str] = []
    for arm in report.arms.values():
        if arm.lists is not None:
            told = arm.lists
            lines.append(f"{arm.label}: lists of {told.length}, {told.made}.")
            if not isinstance(told.envy, Unavailable):
                lines += [f"{arm.label}: {_envious(pair)}." for pair in told.envy.largest]
                lines.append(f"Ratings were estimated by {told.estimate}.")
    return tuple(dict.fromkeys(lines))


def list_groups(arms: list[Arm]) -> Iterator[Group]:
    """Yield a row for each number of every arm, if outputs are lists."""
    told = [arm.lists for arm in arms if arm.lists is not None]
    if told and len(told) == len(arms):
        rows = tuple(_row(label, told) for label in _ROWS)
        yield Group(f"Lists of {told[0].length} items", rows)


def _row(label: str, told: list[ListFigures]) -> Row:
    meaning, value_of = _ROWS[label]
    values = [value_of(one) for one in told]
    known = [value for value in values if value is not None]
    texts = tuple(NOT_MEASURED if value is None else number(value) for value in values)
    return Row(label, meaning, texts, percent_change(*known) if len(known) == 2 else "")


def _envy_line(envy: Envy | Unavailable) -> str:
    if isinstance(envy, Unavailable):
        return f"Who would rather have another's list was not measured: {envy.reason}."
    drawn = "drawn individuals" if envy.drawn else "individuals"
    text = (
        f"By an estimate, {envy.share:.0%} of {envy.n_individuals:,} {drawn} would rather have another's list"
    )
    if envy.certain is not None:
        text += f"; of {envy.certain:.0%} that is certain, whatever the ratings are within their intervals"
    return f"{text}."


def _envious(pair: EnviousPair) -> str:
    size = number(pair.difference)
    if pair.low is not None and pair.high is not None and isfinite(pair.low + pair.high):
        size = with_ends(pair.difference, pair.low, pair.high)
    return f"{shown(pair.individual)} would rather have the list of {shown(pair.other)}, by {size}"


def _exposure_lines(seen: Exposure) -> Iterator[str]:
    unseen = seen.n_items - seen.n_shown
    yield (
        f"The most shown tenth of the {seen.n_items:,} items gets {seen.tenth:.0%} of all exposure; "
        f"{unseen:,} {'is' if unseen == 1 else 'are'} on no list. "
        "That is a count over these lists, without an interval."
    )
    if seen.groups:
        named = "; ".join(
            f"{shown(one.group)} {one.share:.0%} with {one.share_of_items:.0%} of the items"
            for one in seen.groups[:_GROUPS]
        )
        more = f"; {len(seen.groups) - _GROUPS} more groups" if len(seen.groups) > _GROUPS else ""
        yield f"Exposure by groups of items: {named}{more}."
