"""The page: one file with everything in it. What a user named is escaped, and what a template lacks is an error."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from likewise.fairness.metrics.worst_pairs import WORST
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
from likewise.report.groups import group_details
from likewise.report.item_lists import made_lines
from likewise.report.numbers import number, ratio_text, shown
from likewise.report.plots import FIGURES, draw, figures_of, inline_svg
from likewise.report.records import checked_report
from likewise.report.rows import comparison

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

    from likewise.report.records import AuditRecord


def page_environment(package: str) -> Environment:
    """Return the environment of the templates that lie in a package."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def page_style() -> Markup:
    """Return the style sheet that all pages share, to stand in a page as it is."""
    from markupsafe import Markup

    sheet = resources.files("likewise.report").joinpath("templates/report.css")
    return Markup(sheet.read_text(encoding="utf-8"))


def as_page(report: AuditRecord) -> str:
    """Return the report as one HTML page with everything in it.

    Parameters
    ----------
    report : AuditRecord

    Returns
    -------
    str
        The same text for the same report. Ids and file names are escaped; scripts are forbidden by the page itself.
    """
    checked_report(report)
    return page_with(report, {name: draw(name, report, ("svg",))["svg"] for name in figures_of(report)})


def page_with(report: AuditRecord, drawn: Mapping[str, bytes]) -> str:
    """Return the page with figures that are drawn already, as SVG by name."""
    return _template().render(_context(report, drawn))


def _template() -> Template:
    environment = page_environment("likewise.report")
    environment.filters |= {"number": number, "ratio": ratio_text, "shown": shown}
    return environment.get_template("report.html.j2")


def _context(report: AuditRecord, drawn: Mapping[str, bytes]) -> dict[str, Any]:
    from markupsafe import Markup

    return {
        "report": report,
        "title": named_source(report.data),
        "answer": Answer.of(report),
        "n_worst": WORST,
        "findings": all_findings(report)[1:],
        "style": page_style(),
        "groups": comparison(report),
        "arrow": Markup(' <span class="arrow">&rarr;&nbsp;</span>'),
        "show_change": report.comparable,
        "figures": list(_figures(report, drawn)),
        "proved": tabled_rows(report),
        "unproved": unproved(report),
        "proved_scope": PROVED_SCOPE,
        "list_notes": made_lines(report),
        "group_details": group_details(report),
        "across_above": any(
            pair.left_group != pair.right_group for pair in report.main_arm.explained[:WORST]
        ),
        "undecided": undecided_lines(report),
        "proved_domains": proved_domains(report),
        "sandwiches": sandwich_lines(report),
        "description": _description(report),
        "notes": all_notes(report),
        "provenance": provenance_lines(report),
    }


def _figures(report: AuditRecord, drawn: Mapping[str, bytes]) -> list[dict[str, Any]]:
    from markupsafe import Markup

    # The drawings are our own and hold no text of the user's, so they may stand in the page unescaped.
    return [
        {"svg": Markup(inline_svg(name, drawn[name])), "caption": FIGURES[name][1](report)}
        for name in figures_of(report)
    ]


def _description(report: AuditRecord) -> dict[str, tuple[str, ...]]:
    lines = {"Data": data_lines(report.data)}
    if report.estimate is not None:
        lines["Estimate"] = estimate_lines(report.estimate)
    return lines | {"Reference distance d": reference_lines(report), "Measured": measured_lines(report)}
