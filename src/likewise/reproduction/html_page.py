"""The tables and figures of a run as one page that works offline."""

from __future__ import annotations

from collections.abc import Mapping

from likewise.report.drawing import as_inline
from likewise.report.page_templates import page_environment, page_style
from likewise.reproduction.document import all_tables, provenance
from likewise.reproduction.figures import all_figures
from likewise.reproduction.results import Reproduction


def as_page(found: Reproduction, drawn: Mapping[str, bytes]) -> str:
    """Return one HTML page with everything in it.

    Parameters
    ----------
    found : Reproduction
    drawn : mapping of str to bytes
        The figures as SVG, by name.

    Returns
    -------
    str
        The same text for the same run; names of arms and models are escaped.
    """
    from markupsafe import Markup

    # The drawings are our own; matplotlib escapes the names of arms in them.
    figures = [
        (Markup(as_inline(drawn[drawing.name], drawing.name)), drawing.caption)
        for drawing in all_figures(found)
    ]
    return (
        page_environment("likewise.reproduction")
        .get_template("reproduction.html.j2")
        .render(
            style=page_style(),
            tables=all_tables(found),
            figures=figures,
            provenance=provenance(found),
            quick=found.settings.quick,
        )
    )
