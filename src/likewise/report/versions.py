"""Which versions of what are at work: for `likewise doctor` and for the record of a run."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

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
