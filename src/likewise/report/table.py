"""The report on a terminal: the answer in at most 25 lines, and all of it where details are asked for."""

from __future__ import annotations

import io
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from likewise.checks import checked_flag, checked_whole
from likewise.errors import printable
from likewise.report.answer import Answer, undecided_lines
from likewise.report.description import (
    PROVED_SCOPE,
    all_findings,
    all_notes,
    data_lines,
    estimate_lines,
    measured_lines,
    named_source,
    proved_domains,
    provenance_lines,
    reference_lines,
    sandwich_lines,
    tabled_rows,
    unproved,
)
from likewise.report.groups import group_alarms, group_details
from likewise.report.item_lists import made_lines
from likewise.report.numbers import number, ratio_text, shown
from likewise.report.records import checked_report
from likewise.report.rows import comparison

if TYPE_CHECKING:
    from likewise.report.records import AuditRecord

_NARROWEST = 20
_WIDTH = 80
_WORST_SHOWN = 3
_SPACE = 4
"""Two empty lines, and two for the columns."""

_FEW = 3
"""Up to so many columns are named where a line or two name those of all files."""

_REMARK = 200
"""Characters of a remark on the cells of a file: a sentence with names in it."""

_ROLE_LINES, _OUTPUTS_IN_FULL = 2, 100
"""Lines that name the columns of all files, and how many characters of them name outputs whatever their number."""

MOST_LINES = 25
"""Of a report as it is printed, at the usual width."""

_MORE = "All numbers: print(report.details()) in Python, --details on the command line."


def as_text(
    report: AuditRecord, width: int = _WIDTH, *, details: bool = False, most_lines: int = MOST_LINES
) -> str:
    """Return the report as plain text.

    Parameters
    ----------
    report : AuditRecord
    width : int, default 80
        In characters.
    details : bool, default False
        Everything instead of the answer.
    most_lines : int, default 25
        How long the answer may be, at the usual width; pairs and groups that do not fit are left out.

    Returns
    -------
    str
    """
    checked_report(report)
    checked_whole("width", width, _NARROWEST)
    checked_flag("details", details)
    stream = io.StringIO()
    console = Console(file=stream, width=width, color_system=None, force_terminal=False)
    console.print(as_renderable(report, width, details=details, most_lines=most_lines))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def as_renderable(
    report: AuditRecord, width: int = _WIDTH, *, details: bool = False, most_lines: int = MOST_LINES
) -> RenderableType:
    """Return what a rich console prints.

    Parameters
    ----------
    report : AuditRecord
    width : int, default 80
        In characters.
    details : bool, default False
    most_lines : int, default 25
        How long the answer may be, at the usual width.

    Returns
    -------
    rich renderable
    """
    checked_report(report)
    checked_whole("width", width, _NARROWEST)
    checked_flag("details", details)
    checked_whole("most_lines", most_lines, 1)
    return Group(*(_every_part(report) if details else _answer_lines(report, width, most_lines)))


def _answer_lines(report: AuditRecord, width: int, most_lines: int) -> list[Text]:
    """Return the answer line by line; what would be too many lines is left to the page and the details, and said to be."""
    answer = Answer.of(report)
    title = [*_wrapped(f"Individual fairness of {_sizes(report)}", width), ""]
    numbers = _row_lines(report, answer, width)
    columns, limit = _lines(answer.columns, width), f"Not shown: {_first_lower(answer.limits[0])}"
    end = _lines((limit, _MORE), width)
    said, folded = _said(report, answer, width, most_lines - len(title) - len(numbers) - len(end) - _SPACE)
    rows = [*title, *said, "", *numbers, ""]
    middle, left_out = _middle(answer, width, most_lines - len(rows) - len(columns) - len(end))
    if left_out:  # which columns are what gives way first
        cells = [_wrapped(text, width) for text in _cells(report)]
        room = most_lines - len(rows) - len(end)
        folded_roles = _folded(report, width)
        columns = [*folded_roles, *_fitting(cells, room - len(folded_roles))] if columns else []
        middle, left_out = _middle(answer, width, most_lines - len(rows) - len(columns) - len(end))
        left_out = [*(["columns"] if columns else []), *left_out]
    if left_out := list(dict.fromkeys([*folded, *left_out])):
        more = f"More (--details, print(report.details())): {', '.join(left_out)}."
        end = _lines((limit, more), width)
    lines = [*rows, *middle, *columns, *end]
    return [Text(line, style="bold" if k == 0 or line in said else "") for k, line in enumerate(lines)]


def _said(report: AuditRecord, answer: Answer, width: int, room: int) -> tuple[list[str], list[str]]:
    """Return the answer in words, and what of it is left to the details where all takes too much room: each check, then all groups but one."""
    verdicts, n_checks = answer.verdicts, len(report.checks)
    of_groups = group_alarms(report)
    others = (*answer.alarms[len(of_groups) :], *answer.tested)
    left_out: list[str] = []
    said = _lines((answer.sentence, *of_groups, *others, *verdicts), width)
    if len(said) > room and n_checks > 1:
        verdicts, left_out = (*verdicts[:-n_checks], _counted(report)), ["checks"]
        said = _lines((answer.sentence, *of_groups, *others, *verdicts), width)
    if len(said) > room and of_groups:  # the last arm is the one that would be used
        of_groups, left_out = group_alarms(report, 1)[-1:], [*left_out, "groups"]
        said = _lines((answer.sentence, *of_groups, *others, *verdicts), width)
    return said, left_out


def _counted(report: AuditRecord) -> str:
    """Say how many checks were kept, and what became of the others."""
    became = Counter("kept" if check.status == "holds" else check.status for check in report.checks)
    return f"{len(report.checks)} checks: {', '.join(f'{n} {status}' for status, n in became.items())}."


def _middle(answer: Answer, width: int, room: int) -> tuple[list[str], list[str]]:
    """Return what stands between the numbers and the end, as far as there is room, and what of it is left out."""
    lists, beside, groups = (
        [_wrapped(text, width) for text in told] for told in (answer.lists, answer.remarks, answer.groups)
    )
    listed = _fitting(lists, room)
    # Then at least one pair, where there is room for it; then the rest, and more pairs.
    first = len(_pair_lines(answer, width, room - len(listed))[: 1 + len(_first_pair(answer, width))])
    others = _fitting([*beside, *groups], room - len(listed) - first)
    pairs = _pair_lines(answer, width, room - len(listed) - len(others))
    lines = [*listed, *others, *pairs]
    told = {"lists": (lists, listed), "notes": (beside, others), "groups": (groups, others)}
    left_out = [name for name, (every, shown_) in told.items() if any(one[0] not in shown_ for one in every)]
    n_pairs = sum(line.startswith("- ") for line in pairs)
    return lines, left_out + (["worst pairs"] if n_pairs < min(_WORST_SHOWN, len(answer.pairs)) else [])


def _folded(report: AuditRecord, width: int) -> list[str]:
    """Say in two lines which columns were read as what, however many files there are: outputs first, which are never cut off."""
    named: dict[str, list[str]] = {"outputs": []}
    for roles in report.data.columns:
        for role, names in roles.by_role().items():
            if names:
                named.setdefault(role, []).append(_role(role, names))
    text = "; ".join(", ".join(dict.fromkeys(told)) for told in named.values() if told)
    wrapped = textwrap.wrap(
        f"Read: {text}.", width, max_lines=_ROLE_LINES, placeholder=" ...", subsequent_indent="  "
    )
    return wrapped or [""]


def _role(role: str, names: tuple[str, ...]) -> str:
    """Name the columns of one role; of many only their number, but outputs as long as there is room for them: nobody would miss one read by mistake."""
    told = f"{role} from {', '.join(map(shown, names))}"
    in_full = len(names) <= _FEW or (role == "outputs" and len(told) <= _OUTPUTS_IN_FULL)
    return told if in_full else f"{len(names):,} {role}"


def _cells(report: AuditRecord) -> list[str]:
    """Say how cells were understood, where that could surprise; nothing where no file left a doubt."""
    return [
        f"In {shown(roles.source)} {'; '.join(shown(remark, _REMARK) for remark in roles.remarks)}."
        for roles in report.data.columns
        if roles.remarks
    ]


def _lines(texts: Iterable[str], width: int) -> list[str]:
    return [line for text in texts for line in _wrapped(text, width)]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), width, subsequent_indent="  ", break_on_hyphens=False) or [""]


def _first_lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _sizes(report: AuditRecord) -> str:
    data = report.data
    observed = (
        "" if data.n_observed is None else f", {data.n_features:,} features, {data.n_observed:,} observations"
    )
    by = report.settings.get("model")
    model = f"{shown(by)} on " if isinstance(by, str) else ""
    return f"{model}{named_source(data)}: {data.n_individuals:,} individuals{observed}"


def _row_lines(report: AuditRecord, answer: Answer, width: int) -> list[str]:
    """Lay out the three rows, the change beside them where arms can be compared; below one another where they are too wide."""
    heading = [
        "",
        *(shown(arm.heading) for arm in report.arms.values()),
        *(["change"] if report.comparable else []),
    ]
    rows = [[row.label, *row.values, *([row.change] if report.comparable else [])] for row in answer.rows]
    widths = [max(len(line[k]) for line in [heading, *rows]) for k in range(len(heading))]
    if sum(widths) + 2 * len(widths) <= width:
        cells = [
            [cell.ljust(size) for cell, size in zip(line, widths, strict=True)] for line in [heading, *rows]
        ]
        return ["  ".join(line).rstrip() for line in cells]
    told = [
        f"{row[0]}: "
        + ", ".join(f"{of} {cell}" for of, cell in zip(heading[1:], row[1:], strict=True) if cell)
        for row in rows
    ]
    return [line for text in told for line in _wrapped(text, width)]


def _first_pair(answer: Answer, width: int) -> list[str]:
    return _wrapped(f"- {answer.pairs[0].brief}", width) if answer.pairs else []


def _pair_lines(answer: Answer, width: int, room: int) -> list[str]:
    """List the worst pairs that there is room for."""
    told = [_wrapped(f"- {pair.brief}", width) for pair in answer.pairs[:_WORST_SHOWN]]
    lines = _fitting(told, room - 1)
    return [f"Treated worst, {answer.arm}:", *lines] if lines else []


def _fitting(told: list[list[str]], room: int) -> list[str]:
    """Return the first of several sentences, each in lines, as many as there is room for."""
    lines: list[str] = []
    for sentence in told:
        if len(lines) + len(sentence) > room:
            break
        lines += sentence
    return lines


def _every_part(report: AuditRecord) -> Iterator[RenderableType]:
    answer = Answer.of(report)
    yield from _section("Findings", all_findings(report), bullet=True)
    yield from _section("Checks", map(str, report.checks), bullet=True)
    yield from _section("Data", (*data_lines(report.data), *provenance_lines(report)))
    if report.estimate is not None:
        yield from _section("Estimate", estimate_lines(report.estimate))
    yield from _section("Reference distance d", reference_lines(report))
    yield Text("\nMeasured", style="bold")
    yield from map(_indented, measured_lines(report))
    yield Padding(_comparison_table(report), (1, 0, 0, 1))
    if report.paired is not None:
        yield from _section("The same pairs, before and after", str(report.paired).splitlines())
    yield from _section("Lists of items", (*answer.lists, *made_lines(report)), bullet=True)
    yield from _section("Groups", group_details(report), bullet=True)
    yield from _section("Treated worst (largest ratios)", _worst_lines(report))
    if report.certificates is not None:
        yield Text("\nProved", style="bold")
        yield from map(_indented, (PROVED_SCOPE, *proved_domains(report), *unproved(report)))
        yield from _proved_table(report)
    yield from _section("Depends on what is missing", undecided_lines(report), bullet=True)
    yield from _section("Measured, found, proved", sandwich_lines(report), bullet=True)
    yield from _section("What this does not show", answer.limits, bullet=True)
    yield from _section("Notes", all_notes(report), bullet=True)


def _section(title: str, lines: Iterable[str], *, bullet: bool = False) -> Iterator[RenderableType]:
    """Yield a headed list; nothing at all where it is empty."""
    listed = list(lines)
    if listed:
        yield Text(f"\n{title}", style="bold")
        yield from (_indented(line, "- " if bullet else "") for line in listed)


def _indented(line: str, mark: str = "") -> RenderableType:
    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row(Text(f"  {mark}"), Text(printable(line)))
    return grid


def _comparison_table(report: AuditRecord) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    table.add_column("")
    for heading in [
        *(shown(arm.heading) for arm in report.arms.values()),
        *(["change"] if report.comparable else []),
    ]:
        table.add_column(Text(heading), justify="right")
    for group in comparison(report):
        table.add_row(Text(group.title, style="italic"))
        for row in group.rows:
            cells = [*row.values, *([row.change] if report.comparable else [])]
            table.add_row(Text(f"  {shown(row.label)}"), *map(Text, cells))
    return table


def _proved_table(report: AuditRecord) -> Iterator[RenderableType]:
    """Yield the table of constants; nothing where sentences have said it all."""
    rows = tabled_rows(report)
    if not rows:
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    for heading in ("constant", "value", "norms", "assuming"):
        table.add_column(heading)
    for row in rows:
        table.add_row(*map(Text, (row.name, row.value, row.norms, row.assuming)))
    yield Padding(table, (1, 0, 0, 1))


def _worst_lines(report: AuditRecord) -> Iterator[str]:
    for arm in report.arms.values():
        for pair in arm.fairness.worst[:_WORST_SHOWN]:
            word = "ratio " if isfinite(pair.ratio) else ""
            yield (
                f"{shown(arm.heading)}: {shown(pair.left)} and {shown(pair.right)}, {word}{ratio_text(pair.ratio)} "
                f"(D {number(pair.output_distance)}, d {number(pair.reference_distance)})"
            )
    answer = Answer.of(report)
    yield from map(str, (*answer.pairs, *answer.across))
