"""Templates of pages: what a user named is escaped, and what a template lacks is an error."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


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
