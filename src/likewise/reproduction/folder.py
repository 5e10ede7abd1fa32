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
from likewise.writing import Content, PathLike, write_folder

PAGE = "reproduction.html"
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
    contents |= {
        "tables.txt": as_text(found) + "\n",
        "tables.md": as_markdown(found),
        "tables.tex": as_latex(found),
        "cells.csv": as_csv(found),
        "results.json": to_json(as_document(found)),
        PAGE: as_page(found, drawn["svg"]),
    }
    write_folder(folder, contents)
    return Path(folder) / PAGE


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
