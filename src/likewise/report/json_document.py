"""The report as JSON, and beside it the record of the run: times, versions, files, command."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from likewise.fairness import Unavailable
from likewise.plain import json_tree
from likewise.report.answer import Answer
from likewise.report.description import all_findings
from likewise.report.records import checked_report

if TYPE_CHECKING:
    from likewise.report.records import Arm, AuditRecord, EstimateAlone

REQUIRED = (
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "polars",
    "cyclopts",
    "rich",
    "matplotlib",
    "jinja2",
)
OPTIONAL = ("torch", "dask", "distributed")


def versions() -> dict[str, Any]:
    """Return the versions of likewise, Python and the libraries, and the system; None for what is not installed.

    Examples
    --------
    >>> sorted(versions())
    ['libraries', 'likewise', 'python', 'system']
    """
    import likewise

    return {
        "likewise": likewise.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries": {name: _version(name) for name in (*REQUIRED, *OPTIONAL)},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


SCHEMA = "likewise.audit"
SCHEMA_VERSION = 1
"""Raised when a key changes its meaning or goes; new keys do not raise it."""


def document(report: AuditRecord) -> dict[str, Any]:
    """Return plain dictionaries, lists, strings and numbers that are valid JSON.

    Parameters
    ----------
    report : AuditRecord

    Returns
    -------
    dict
        Without times and versions, which are in `run_document`: the rest is then the same on every run.
    """
    checked_report(report)
    tree = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "answer": Answer.of(report).to_dict(),
        "findings": all_findings(report),
        "data": report.data,
        "settings": report.settings,
        "reference": report.reference,
        "estimate": report.estimate,
        "certificates": None if report.certificates is None else report.certificates.to_dict(),
        "arms": {name: _arm(arm) for name, arm in report.arms.items()},
        "paired": None if report.paired is None else report.paired.to_dict(),
        "truth": report.truth,
        "gap_change": report.gap_change,
        "error_change": report.error_change,
        "checks": [check.to_dict() for check in report.checks],
        "estimate_alone": None if report.estimate_alone is None else _estimate_alone(report.estimate_alone),
    }
    return dict(json_tree(tree))


def run_document(report: AuditRecord) -> dict[str, Any]:
    """Return what differs from run to run: date, wall time of each step, files, command, and the versions of what computed it."""
    checked_report(report)
    made = report.provenance
    return {
        "schema": "likewise.run",
        "schema_version": SCHEMA_VERSION,
        "date": None if made is None else made.date,
        "command": None if made is None else made.command,
        "files": [] if made is None else json_tree(made.files),
        "seconds": json_tree(report.seconds),
        **(versions() if made is None else dict(made.versions)),
    }


def to_json(tree: Mapping[str, Any]) -> str:
    """Write a document as text that ends with a line break; the order of the keys is that of the document."""
    return json.dumps(json_tree(tree), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _arm(arm: Arm) -> dict[str, Any]:
    return {
        "title": arm.title,
        "error": _told(arm.error),
        "test_error": _told(arm.test_error),
        "accuracy": _told(arm.accuracy),
        "verdict": _told(arm.verdict),
        "certificate": _told(arm.certificate),
        "fairness": arm.fairness.to_dict(),
        "group_effects": _group_effects(arm),
        "consistency": arm.consistency,
        "explained": [pair.to_dict() for pair in arm.explained],
        "sandwich": arm.sandwich,
        "completions": _told(arm.completions),
        "lists": _told(arm.lists),
    }


def _group_effects(arm: Arm) -> Any:
    found = arm.group_effects
    return found.to_dict() if isinstance(found, Unavailable) else found


def _estimate_alone(estimate: EstimateAlone) -> dict[str, Any]:
    return {
        "title": "the estimate itself",
        "error": _told(estimate.error),
        "certificate": _told(estimate.certificate),
        "on_truth": estimate.on_truth,
        "sandwich": estimate.sandwich,
    }


def _told(record: Any) -> Any:
    return None if record is None else record.to_dict()
