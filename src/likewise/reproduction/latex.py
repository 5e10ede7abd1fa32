"""Tables as LaTeX, for booktabs."""

from __future__ import annotations

from collections.abc import Iterator

from likewise.reproduction.document import all_tables, provenance
from likewise.reproduction.results import Reproduction
from likewise.reproduction.tables import Row, Table

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


def as_latex(found: Reproduction) -> str:
    """Return all tables as LaTeX, for any document that uses the package booktabs."""
    lines = [f"% {name}: {text}" for name, text in provenance(found).items()]
    for table in all_tables(found):
        lines += ["", *_table_lines(table)]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Write text so that LaTeX prints it.

    Examples
    --------
    >>> print(escaped("K_2 ±5%"))
    K\_2 $\pm$5\%
    """
    return text.translate(_ESCAPES)


def _table_lines(table: Table) -> Iterator[str]:
    width = len(table.columns) + 1
    yield from (r"\begin{table}", r"\centering", rf"\caption{{{escaped(f'{table.title}. {table.caption}')}}}")
    yield from (rf"\label{{tab:{table.key}}}", rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}")
    yield from (r"\toprule", _line(["", *table.columns]))
    for section in table.sections:
        note = f" ({section.note})" if section.note else ""
        yield from (
            r"\midrule",
            rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{escaped(section.title + note)}}}}} \\",
        )
        yield from map(_row_line, section.rows)
    yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}")


def _row_line(row: Row) -> str:
    return _line([row.label, *row.cells], r"\textit{%s}" if row.published else "%s")


def _line(cells: list[str], form: str = "%s") -> str:
    return " & ".join(form % escaped(cell) if cell else "" for cell in cells) + r" \\"
