"""The report as a table for the terminal, 80 columns wide, plain where the output is not a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from likewise.report.certificates import PROVED_SCOPE, proved_domains, tabled_rows, unproved
from likewise.report.comparison import comparison
from likewise.report.description import (
    all_findings,
    all_notes,
    data_lines,
    estimate_lines,
    measured_lines,
    reference_lines,
)
from likewise.report.numbers import number, printable

if TYPE_CHECKING:
    from likewise.report.records import AuditRecord

_WIDTH = 80
_WORST_SHOWN = 3


def as_text(report: AuditRecord, width: int = _WIDTH) -> str:
    """Return the table as plain text.

    Parameters
    ----------
    report : AuditRecord
    width : int, default 80
        In characters.

    Returns
    -------
    str
    """
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(as_renderable(report))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def as_renderable(report: AuditRecord) -> RenderableType:
    """Return what a rich console prints.

    Parameters
    ----------
    report : AuditRecord

    Returns
    -------
    rich renderable
    """
    return Group(*_parts(report))


def _parts(report: AuditRecord) -> Iterator[RenderableType]:
    yield from _section("Findings", all_findings(report), bullet=True)
    yield from _section("Data", data_lines(report.data))
    if report.estimate is not None:
        yield from _section("Estimate", estimate_lines(report.estimate))
    yield from _section("Reference distance d", reference_lines(report))
    yield Text("\nMeasured", style="bold")
    yield from map(_indented, measured_lines(report))
    yield Padding(_comparison_table(report), (1, 0, 0, 1))
    yield from _section("Treated worst (largest ratios)", _worst_lines(report))
    if report.certificates is not None:
        yield Text("\nProved", style="bold")
        yield from map(_indented, (PROVED_SCOPE, *proved_domains(report), *unproved(report)))
        yield from _proved_table(report)
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
    comparable = len(report.arms) == 2 and report.reference.valid_comparison
    for heading in [*report.arms, *(["change"] if comparable else [])]:
        table.add_column(heading, justify="right")
    for group in comparison(report):
        table.add_row(Text(group.title, style="italic"))
        for row in group.rows:
            cells = [*row.values, *([row.change] if comparable else [])]
            table.add_row(Text(f"  {row.label}"), *map(Text, cells))
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
            yield (
                f"{arm.name}: {printable(pair.left)} and {printable(pair.right)}, ratio {number(pair.ratio)} "
                f"(D {number(pair.output_distance)}, d {number(pair.reference_distance)})"
            )
