"""Which versions of what are at work: for `likewise doctor` and for the record of a run."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.report.description import all_findings

if TYPE_CHECKING:
    from likewise.report.records import Arm, AuditRecord

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


def run_document(report: AuditRecord) -> dict[str, Any]:
    """Return what differs from run to run: wall time of each step and the versions of what computed it."""
    from likewise.report.json_document import versions

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
