"""All tables of a run in order, and how the run came about: as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from likewise.reproduction.agreement import agreement_tables
from likewise.reproduction.arms import WITHOUT
from likewise.reproduction.figures import all_figures
from likewise.reproduction.published import SOURCE, published_cell
from likewise.reproduction.results import METRICS, Results
from likewise.reproduction.settings import TARGETS_IN_WORDS
from likewise.reproduction.tables import (
    Row,
    Table,
    cell_table,
    estimates_table,
    minimax_table,
    rate_table,
    ratings_table,
    theory_table,
)
from likewise.reproduction.units import SEEDING


def all_tables(found: Results) -> list[Table]:
    """Return the tables of a run: each experiment, then agreement and theorems."""
    return list(_tables(found))


def _tables(found: Results) -> Iterator[Table]:
    makers = {"synthetic": cell_table, "ratings": ratings_table, "rate": rate_table, "minimax": minimax_table}
    for experiment in found.experiments:
        yield makers[experiment.kind](found, experiment)
        if experiment.kind == "ratings":
            yield estimates_table(found, experiment)
    yield from agreement_tables(found)
    if any(True for _ in found.cells()):
        yield theory_table(found)


def provenance(found: Results) -> dict[str, str]:
    """Return settings, seeds and versions in words, for every output."""
    settings, versions = found.settings, found.versions
    libraries = ", ".join(f"{name} {number}" for name, number in versions["libraries"].items() if number)
    arms = "; ".join(f"{arm.name}: {arm.title}" for arm in found.arms)
    return {
        "published numbers": SOURCE,
        "experiments": ", ".join(settings.experiments)
        + (" (quick: first and last level only, a look and not a result)" if settings.quick else ""),
        "simulations": str(settings.simulations),
        "arms": arms,
        "model": f"{settings.model} on generated data, 10 nearest neighbours in Experiment 2; without pre-processing ({WITHOUT}) it gets Z with "
        "missing entries as 0",
        "targets": TARGETS_IN_WORDS[settings.targets],
        "noise": f"standard deviation {settings.deviation:g} on generated data",
        "seeds": f"random_state = {settings.random_state}; {SEEDING}",
        "versions": f"likewise {versions['likewise']}, Python {versions['python']}, {libraries}",
    }


COLUMNS = (
    "experiment",
    "axis",
    "level",
    "metric",
    "reference",
    "arm",
    "mean",
    "two_sd",
    "n_simulations",
    "published",
    "published_bar",
)


def as_csv(found: Results) -> str:
    """Return the cells of generated data as CSV; lines that begin with ``#`` are comments."""
    stream = io.StringIO()
    stream.writelines(f"# {name}: {text}\n" for name, text in provenance(found).items())
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_lines(found))
    return stream.getvalue()


def _lines(found: Results) -> Iterator[tuple[object, ...]]:
    for experiment, level in found.cells():
        for key, metric in METRICS.items():
            for arm in found.arms:
                summary = found.summary(experiment.key, level, arm.name, key)
                if summary is None:
                    continue
                row = metric.published_h if arm.is_without else metric.published_f
                stands_beside = row and (found.has_published_model or arm.algorithm)
                published = published_cell(experiment.key, row, level) if stands_beside else None
                place = (experiment.key, experiment.axis, f"{level:g}", key, metric.reference, arm.name)
                beside = (published.value, published.bar) if published else ("", "")
                yield (*place, repr(summary.mean), repr(summary.two_sd), summary.n, *beside)


_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "<": r"$<$",
        ">": r"$>$",
        "|": r"$|$",
    }
)


def as_latex(found: Results) -> str:
    """Return all tables as LaTeX, for any document that uses the package booktabs."""
    lines = [f"% {name}: {text}" for name, text in provenance(found).items()]
    for table in all_tables(found):
        lines += ["", *_latex_table_lines(table)]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Write text so that LaTeX prints it.

    >>> print(escaped("K_2 ±5%"))
    K\_2 $\pm$5\%
    """
    return text.translate(_ESCAPES)


def _latex_table_lines(table: Table) -> Iterator[str]:
    width = len(table.columns) + 1
    yield from (r"\begin{table}", r"\centering", rf"\caption{{{escaped(f'{table.title}. {table.caption}')}}}")
    yield from (rf"\label{{tab:{table.key}}}", rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}")
    yield from (r"\toprule", _latex_line(["", *table.columns]))
    for section in table.sections:
        note = f" ({section.note})" if section.note else ""
        yield from (
            r"\midrule",
            rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{escaped(section.title + note)}}}}} \\",
        )
        yield from map(_row_line, section.rows)
    yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}")


def _row_line(row: Row) -> str:
    return _latex_line([row.label, *row.cells], r"\textit{%s}" if row.published else "%s")


def _latex_line(cells: list[str], form: str = "%s") -> str:
    return " & ".join(form % escaped(cell) if cell else "" for cell in cells) + r" \\"


def as_markdown(found: Results) -> str:
    """Return all tables as one Markdown text, which shows the figures that are saved beside it."""
    lines = ["# Results of the experiments", ""]
    for table in all_tables(found):
        lines += [*_markdown_table_lines(table), ""]
    lines += ["## Figures", ""]
    for drawing in all_figures(found):
        lines += [f"![{drawing.name}]({drawing.name}.svg)", "", drawing.caption, ""]
    lines += ["## How these tables came about", ""]
    lines += [f"- {name}: {text}" for name, text in provenance(found).items()]
    return "\n".join(lines) + "\n"


def _markdown_table_lines(table: Table) -> Iterator[str]:
    yield from (f"## {table.title}", "", table.caption, "")
    for section in table.sections:
        yield from (f"**{section.title}**" + (f" ({section.note})" if section.note else ""), "")
        yield _markdown_line(["", *table.columns])
        yield _markdown_line(["---", *["---:"] * len(table.columns)])
        yield from (_markdown_line(_cells(row)) for row in section.rows)
        yield ""


def _cells(row: Row) -> list[str]:
    cells = [row.label, *row.cells]
    return [f"*{cell}*" if row.published and cell else cell for cell in cells]


def _markdown_line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


WIDTH = 100
_WIDEST = 24


def as_text(found: Results, width: int = WIDTH) -> str:
    """Return all tables as plain text, `width` characters wide."""
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(as_renderable(found))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def as_renderable(found: Results) -> RenderableType:
    """Return what a rich console prints."""
    return Group(*_parts(found))


def _parts(found: Results) -> Iterator[RenderableType]:
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
