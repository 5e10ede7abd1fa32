"""The report as JSON: the same bytes for the same data, settings and seed (described in docs/report_schema.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.report.description import all_findings

if TYPE_CHECKING:
    from likewise.pipeline.result import Arm, AuditReport

SCHEMA = "likewise.audit"
SCHEMA_VERSION = 1
"""Raised when a key changes its meaning or goes; new keys do not raise it."""


def document(report: AuditReport) -> dict[str, Any]:
    """Return plain dictionaries, lists, strings and numbers that are valid JSON.

    Parameters
    ----------
    report : AuditReport

    Returns
    -------
    dict
        Without times and versions, which are in `run_document`: the rest is then the same on every run.
    """
    tree = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "findings": all_findings(report),
        "data": asdict(report.data),
        "settings": report.settings,
        "reference": asdict(report.reference),
        "estimate": None if report.estimate is None else asdict(report.estimate),
        "certificates": None if report.certificates is None else report.certificates.to_dict(),
        "arms": {name: _arm(arm) for name, arm in report.arms.items()},
    }
    return dict(plain(tree))


def run_document(report: AuditReport) -> dict[str, Any]:
    """Return what differs from run to run: wall time of each step and the versions of what computed it."""
    from likewise.report.versions import versions

    return {
        "schema": "likewise.run",
        "schema_version": SCHEMA_VERSION,
        "seconds": plain(report.seconds),
        **versions(),
    }


def to_json(tree: Mapping[str, Any]) -> str:
    """Write a document as text that ends with a line break; the order of the keys is that of the document."""
    return json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _arm(arm: Arm) -> dict[str, Any]:
    error = None if arm.error is None else arm.error.to_dict()
    verdict = None if arm.verdict is None else arm.verdict.to_dict()
    certificate = None if arm.certificate is None else arm.certificate.to_dict()
    return {
        "title": arm.title,
        "error": error,
        "verdict": verdict,
        "certificate": certificate,
        "fairness": arm.fairness.to_dict(),
    }


def plain(value: Any) -> Any:
    """Turn a tree into what JSON has; NaN and infinities, which it has not, become strings, and unknown ids their text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
