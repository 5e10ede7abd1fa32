"""Tables for the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from likewise.reproduction.document import all_tables, provenance
from likewise.reproduction.results import Reproduction
from likewise.reproduction.tables import Table

WIDTH = 100
_WIDEST = 24


def as_text(found: Reproduction, width: int = WIDTH) -> str:
    """Return all tables as plain text.

    Parameters
    ----------
    found : Reproduction
    width : int, default 100
        In characters.
    """
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(as_renderable(found))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def as_renderable(found: Reproduction) -> RenderableType:
    """Return what a rich console prints."""
    return Group(*_parts(found))


def _parts(found: Reproduction) -> Iterator[RenderableType]:
    for table in all_tables(found):
        yield Text(f"\n{table.title}", style="bold")
        yield Text(table.caption, style="dim")
        yield from _sections(table)
    yield Text("\nHow these tables came about", style="bold")
    yield from (Text(f"  {name}: {text}") for name, text in provenance(found).items())


def _sections(table: Table) -> Iterator[RenderableType]:
    """Yield a small table for each section, all with columns of the same widths."""
    rows = [row for section in table.sections for row in section.rows]
    label = max((len(row.label) for row in rows), default=0)
    widths = [
        max(len(column), *(len(row.cells[k]) for row in rows), 0) for k, column in enumerate(table.columns)
    ]
    for section in table.sections:
        yield Text(f"\n {section.title}", style="italic")
        if section.note:
            yield Text(f" {section.note}", style="dim")
        drawn = RichTable(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
        drawn.add_column("", min_width=label)
        for column, width in zip(table.columns, widths, strict=True):
            drawn.add_column(column, justify="right", min_width=min(width, _WIDEST))
        for row in section.rows:
            style = "cyan" if row.published else ""
            drawn.add_row(*(Text(cell, style=style) for cell in (row.label, *row.cells)))
        yield Padding(drawn, (0, 0, 0, 2))
