"""The folder of a report: page, documents and figures, written together or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from likewise.report.html import as_page
from likewise.report.json_document import document, run_document, to_json
from likewise.report.plots import FIGURES, FileFormat, draw
from likewise.writing import Content, PathLike, check_folder, write_folder

if TYPE_CHECKING:
    from likewise.report.records import AuditRecord


_FORMATS: tuple[FileFormat, ...] = ("svg", "png")

FILES = (
    *(f"{name}.{file_format}" for name in FIGURES for file_format in _FORMATS),
    "report.json",
    "run.json",
    "report.html",
)
"""What a report consists of; the page, which is what people open, is put in place last."""


def save(report: AuditRecord, folder: PathLike) -> Path:
    """Write page, documents and figures of a report to a folder.

    Parameters
    ----------
    report : AuditRecord
    folder : path-like
        Made if it is not there. Files in it under other names are left alone; an earlier report is replaced.

    Returns
    -------
    Path
        Of the page, to open.

    Raises
    ------
    OutputError
        The folder cannot be written to; then nothing has been.
    """
    contents: dict[str, Content] = {
        f"{name}.{file_format}": draw(plot, report, file_format)
        for name, (plot, _) in FIGURES.items()
        for file_format in _FORMATS
    }
    contents["report.json"] = to_json(document(report))
    contents["run.json"] = to_json(run_document(report))
    contents["report.html"] = as_page(report)
    write_folder(folder, {name: contents[name] for name in FILES})
    return Path(folder) / "report.html"


def check_report_folder(folder: PathLike) -> None:
    """Raise OutputError now if `save` could not write there: before a long computation, not after it."""
    check_folder(folder, FILES)
