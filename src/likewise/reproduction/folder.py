"""What a run leaves in its folder: tables in every format, figures, documents and the page, written together or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likewise.report.drawing import FileFormat, to_bytes
from likewise.report.json_document import to_json
from likewise.reproduction.csv_table import as_csv
from likewise.reproduction.document import provenance
from likewise.reproduction.figures import all_figures
from likewise.reproduction.html_page import as_page
from likewise.reproduction.latex import as_latex
from likewise.reproduction.markdown import as_markdown
from likewise.reproduction.plain import plain
from likewise.reproduction.results import Reproduction
from likewise.reproduction.terminal import as_text
from likewise.reproduction.units import units_of
from likewise.writing import Content, PathLike, check_folder, write_folder

PAGE = "reproduction.html"
TEXTS = ("tables.txt", "tables.md", "tables.tex", "cells.csv", "results.json", PAGE)
_FORMATS: tuple[FileFormat, ...] = ("svg", "png")


def save(found: Reproduction, folder: PathLike) -> Path:
    """Write everything that a run found.

    Parameters
    ----------
    found : Reproduction
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


def as_document(found: Reproduction) -> dict[str, Any]:
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
    document: dict[str, Any] = plain(
        {
            "schema": "likewise.reproduction",
            "schema_version": 1,
            "settings": found.settings.to_dict(),
            "versions": found.versions,
            "provenance": provenance(found),
            "simulations": records,
        }
    )
    return document
