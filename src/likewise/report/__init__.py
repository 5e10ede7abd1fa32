"""An audit's result as a page, as text, as figures and as JSON."""

from likewise.report.answer import Answer
from likewise.report.audit_report import AuditReport, check_report_folder
from likewise.report.checks import Check, with_checks
from likewise.report.difference import Difference, difference
from likewise.report.html import as_page
from likewise.report.json_document import document, run_document, to_json
from likewise.report.plots import plot_epsilon_delta, plot_histogram, plot_spectrum
from likewise.report.records import (
    Arm,
    AuditRecord,
    CheckResult,
    DataSummary,
    EstimateSummary,
    Provenance,
    ReferenceSummary,
)
from likewise.report.sentences import findings
from likewise.report.table import as_renderable, as_text

__all__ = [
    "Answer",
    "Arm",
    "AuditRecord",
    "AuditReport",
    "Check",
    "CheckResult",
    "DataSummary",
    "Difference",
    "EstimateSummary",
    "Provenance",
    "ReferenceSummary",
    "as_page",
    "as_renderable",
    "as_text",
    "check_report_folder",
    "difference",
    "document",
    "findings",
    "plot_epsilon_delta",
    "plot_histogram",
    "plot_spectrum",
    "run_document",
    "to_json",
    "with_checks",
]
