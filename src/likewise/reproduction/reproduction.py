"""What a run found, with its tables and figures: it prints itself, and saves itself to a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.plain import json_tree
from likewise.report.html import page_environment, page_style
from likewise.report.json_document import to_json
from likewise.report.plots import FileFormat, as_inline, to_bytes
from likewise.reproduction.figures import all_figures
from likewise.reproduction.formats import (
    all_tables,
    as_csv,
    as_latex,
    as_markdown,
    as_text,
    provenance,
)
from likewise.reproduction.results import Results
from likewise.reproduction.units import units_of
from likewise.writing import Content, PathLike, check_folder, write_folder


def as_page(found: Results, drawn: Mapping[str, bytes]) -> str:
    """Return one HTML page with everything in it.

    Parameters
    ----------
    found : Results
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


PAGE = "reproduction.html"
TEXTS = ("tables.txt", "tables.md", "tables.tex", "cells.csv", "results.json", PAGE)
_FORMATS: tuple[FileFormat, ...] = ("svg", "png")


def save(found: Results, folder: PathLike) -> Path:
    """Write everything that a run found.

    Parameters
    ----------
    found : Results
    folder : path-like

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    OutputError
        The folder cannot be written to; then nothing has been.
    """
    drawn = {
        file_format: {
            drawing.name: to_bytes(drawing.paint, drawing.name, file_format, drawing.size)
            for drawing in all_figures(found)
        }
        for file_format in _FORMATS
    }
    contents: dict[str, Content] = {
        f"{name}.{file_format}": content
        for file_format, figures in drawn.items()
        for name, content in figures.items()
    }
    texts = (
        as_text(found) + "\n",
        as_markdown(found),
        as_latex(found),
        as_csv(found),
        to_json(as_document(found)),
        as_page(found, drawn["svg"]),
    )
    write_folder(folder, contents | dict(zip(TEXTS, texts, strict=True)))
    return Path(folder) / PAGE


def check_results_folder(folder: PathLike) -> None:
    """Raise OutputError now if `save` could not write there: before a long run, not after it."""
    check_folder(folder, TEXTS)


def as_document(found: Results) -> dict[str, Any]:
    """Return settings, versions, and the record of every simulation, as JSON has them."""
    records = [
        {
            "experiment": unit.experiment,
            "level": unit.level,
            "simulation": unit.simulation,
            **found.records[unit],
        }
        for unit in units_of(found.settings)
    ]
    document: dict[str, Any] = json_tree(
        {
            "schema": "likewise.reproduction",
            "schema_version": 2,
            "settings": found.settings.to_dict(),
            "versions": found.versions,
            "provenance": provenance(found),
            "simulations": records,
        }
    )
    return document


@dataclass(frozen=True, eq=False)
class Reproduction(Results):
    """The result of `likewise.reproduction.reproduce`.

    Parameters
    ----------
    settings, records, versions
        As in `likewise.reproduction.results.Results`.
    """

    def save(self, folder: PathLike) -> Path:
        """Write tables, figures, documents and the page to a folder.

        Parameters
        ----------
        folder : path-like
            Made if it is not there; files of other names in it are left alone.

        Returns
        -------
        Path
            Of the page, to open.

        Raises
        ------
        OutputError
            It cannot be written to; then nothing has been.
        """
        return save(self, folder)

    def __str__(self) -> str:
        return as_text(self)
