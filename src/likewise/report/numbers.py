"""Numbers as people read them, and the rows that hold them: the same in the table and on the page."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isinf, isnan
from typing import TYPE_CHECKING

from likewise.errors import printable

if TYPE_CHECKING:
    from likewise.fairness import AnyMetricValue


def number(value: float, digits: int = 4) -> str:
    """Write a number with four significant digits, or as many as asked for; large ones in full.

    >>> number(0.123456), number(14123.4), number(float("inf")), number(float("nan"))
    ('0.1235', '14,123', 'infinite', 'undefined')
    """
    if isnan(value):
        return "undefined"
    if not isfinite(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.{digits}g}"


def value_text(figure: AnyMetricValue) -> str:
    """Write a figure; one that was sampled shows its interval, one that is exact shows none.

    >>> from likewise.fairness import ExactValue, SampledValue
    >>> value_text(ExactValue(0.5, 10))
    '0.5'
    >>> value_text(SampledValue(0.5, 0.4, 0.6, 0.95, "all pairs", "normal", 10))
    '0.5 [0.4, 0.6]'
    """
    from likewise.fairness import SampledValue

    if isinstance(figure, SampledValue):
        return f"{number(figure.value)} [{number(figure.low)}, {number(figure.high)}]"
    return number(figure.value)


def with_ends(value: float, low: float, high: float) -> str:
    """Write a number with its interval, short enough for two of them to stand beside each other.

    >>> with_ends(0.32204, 0.2646, 0.3795)
    '0.322 [0.265, 0.38]'
    """
    return f"{number(value, 3)} [{number(low, 3)}, {number(high, 3)}]"


def percent_change(before: float, after: float) -> str:
    """Write the relative change, or nothing where there is none to speak of.

    >>> percent_change(0.2, 0.1), percent_change(1.0, 0.999), percent_change(0.0, 1.0), percent_change(1.0, float("inf"))
    ('-50%', '0%', '', '')
    """
    if not (isfinite(before) and isfinite(after) and before):
        return ""
    percent = round(100 * (after - before) / abs(before))
    return f"{percent:+,}%" if percent else "0%"


_LONGEST = 60
"""Characters of an id or a name that is shown; a longer one would push everything else away."""


def shown(name: object, most: int = _LONGEST) -> str:
    """Write an id, a group or a column's name so that it can neither steer a terminal nor fill a page; cut off after `most` characters.

    >>> shown("Zoë"), len(shown("z" * 10_000))
    ('Zoë', 60)
    """
    text = printable(name)
    return text if len(text) <= most else f"{text[: most - 3]}..."


_SAME = 0.005
"""Relative changes of an error below half a percent are called no change: they would print as equal numbers."""


def direction(before: float, after: float) -> int:
    """Return -1, 0 or 1 for a fall, no relative change to speak of, or a rise."""
    if before == after or (isfinite(before) and abs(after - before) <= _SAME * abs(before)):
        return 0
    return 1 if after > before else -1


def brief(value: float) -> str:
    """Write a number with three significant digits, for sentences."""
    if isnan(value):
        return "undefined"
    return f"{value:.3g}" if isfinite(value) else "infinite"


def change_text(before: float, after: float) -> str:
    """Write two numbers and by what share the second differs, for sentences."""
    if direction(before, after) == 0:
        return f"is {brief(before)} before and {brief(after)} after"
    text = f"goes from {brief(before)} to {brief(after)}"
    if before and isfinite(before) and isfinite(after):
        text += f" ({after / before - 1:+.0%})"
    return text


NOT_MEASURED = "not measured"


def ratio_text(ratio: float) -> str:
    """Write the ratio D/d of a pair, or what it means where d is 0 and D is not.

    >>> ratio_text(2.0), ratio_text(float("inf"))
    ('2', 'not told apart by d')
    """
    return number(ratio) if isfinite(ratio) else "not told apart by d"


@dataclass(frozen=True)
class Row:
    """One metric of every arm."""

    label: str
    meaning: str  # what it tells, in a sentence
    values: tuple[str, ...]  # one for each arm
    change: str = ""  # from the first arm to the second; empty where the arms cannot be compared


@dataclass(frozen=True)
class Group:
    """Rows that are read together."""

    title: str
    rows: tuple[Row, ...]


def metric_row(label: str, meaning: str, values: list[AnyMetricValue], comparable: bool) -> Row:
    """Make the row of a metric of every arm."""
    change = change_between([value.value for value in values]) if comparable else ""
    return Row(label, meaning, tuple(map(finite_text, values)), change)


def finite_text(figure: AnyMetricValue) -> str:
    """Write a figure, or that there is none where pairs at distance 0 make it infinite: these are counted beside it.

    >>> from likewise.fairness import ExactValue
    >>> finite_text(ExactValue(float("inf"), 10)), finite_text(ExactValue(0.5, 10))
    ('none', '0.5')
    """
    return "none" if isinf(figure.value) else value_text(figure)


def change_between(values: list[float]) -> str:
    """Write the change from the first of two arms to the second; nothing of one arm."""
    return percent_change(*values) if len(values) == 2 else ""
