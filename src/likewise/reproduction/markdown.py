"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from likewise.reproduction.document import all_tables, provenance
from likewise.reproduction.figures import all_figures
from likewise.reproduction.results import Reproduction
from likewise.reproduction.tables import Row, Table


def as_markdown(found: Reproduction) -> str:
    """Return all tables as one Markdown text, which shows the figures that are saved beside it."""
    lines = ["# Reproduction of the experiments", ""]
    for table in all_tables(found):
        lines += [*_table_lines(table), ""]
    lines += ["## Figures", ""]
    for drawing in all_figures(found):
        lines += [f"![{drawing.name}]({drawing.name}.svg)", "", drawing.caption, ""]
    lines += ["## How these tables came about", ""]
    lines += [f"- {name}: {text}" for name, text in provenance(found).items()]
    return "\n".join(lines) + "\n"


def _table_lines(table: Table) -> Iterator[str]:
    yield from (f"## {table.title}", "", table.caption, "")
    for section in table.sections:
        yield from (f"**{section.title}**" + (f" ({section.note})" if section.note else ""), "")
        yield _line(["", *table.columns])
        yield _line(["---", *["---:"] * len(table.columns)])
        yield from (_line(_cells(row)) for row in section.rows)
        yield ""


def _cells(row: Row) -> list[str]:
    cells = [row.label, *row.cells]
    return [f"*{cell}*" if row.published and cell else cell for cell in cells]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
