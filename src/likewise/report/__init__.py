"""An audit's result as a table, as figures, as JSON, and as one page."""

from likewise.report.folder import check_report_folder, save
from likewise.report.html import as_page
from likewise.report.json_document import document, run_document, to_json
from likewise.report.plots import plot_epsilon_delta, plot_histogram, plot_spectrum
from likewise.report.table import as_renderable, as_text

__all__ = [
    "as_page",
    "as_renderable",
    "as_text",
    "check_report_folder",
    "document",
    "plot_epsilon_delta",
    "plot_histogram",
    "plot_spectrum",
    "run_document",
    "save",
    "to_json",
]
