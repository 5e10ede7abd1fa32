"""Any result in a file, and back."""

from __future__ import annotations

from importlib.metadata import entry_points
from os import PathLike as PathLikeObject
from pathlib import Path
from typing import Any

from likewise.estimation import ESTIMATORS, LowRankEstimate, MatrixEstimator
from likewise.estimation.base.persistence import FORMAT as ESTIMATE
from likewise.report.audit_report import AuditReport
from likewise.stored import read_parts, read_record, write_record
from likewise.writing import PathLike


def save(result: Any, path: PathLike) -> None:
    """Write a result to one file, from which `load` makes it again, bit for bit.

    Parameters
    ----------
    result : MatrixEstimator, LowRankEstimate, EntryIntervals, LevelProbabilities, LipschitzCertificates, AuditReport, Frontier, or any record that likewise returns
        An estimator comes with its parameters, the observations of the fit and all fitted attributes; its certificate is proved again when
        it is asked for.
    path : path-like
        ``.npz``, or ``.json`` for text. An existing file is replaced when the new one is whole.

    Raises
    ------
    OutputError
        The file cannot be written, or a part of the result is a function, a random generator or an object of somebody else; then nothing
        has been written.

    Examples
    --------
    >>> import tempfile, likewise
    >>> from likewise.observations import clustered
    >>> Z = clustered(30, 20, 2, observed_fraction=0.5, random_state=0).observed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     likewise.save(likewise.SVT(threshold=2.0).fit(Z), folder + "/svt.npz")
    ...     estimator = likewise.load(folder + "/svt.npz")
    >>> estimator, estimator.transform(Z).shape
    (SVT(threshold=2.0), (30, 20))
    """
    if isinstance(result, LowRankEstimate) and not str(path).lower().endswith(".json"):
        result.save(path)
    else:
        write_record(path, result)


def load(path: PathLike) -> Any:
    """Read what `save`, `LowRankEstimate.save` or `AuditReport.save` wrote, of this version or an earlier one.

    Parameters
    ----------
    path : path-like
        A file, or the folder of a report.

    Returns
    -------
    object
        What was saved: an estimator is fitted, a report prints, compares and draws.

    Raises
    ------
    FileFormatError
        Missing, cut short, altered, of a newer format, or something else. Nothing in a file is run: it can only name records of likewise, and
        estimators that were registered.

    Examples
    --------
    >>> import likewise
    >>> likewise.load("nothing.npz")
    Traceback (most recent call last):
    ...
    likewise.errors.FileFormatError: no file 'nothing.npz'; expected a result that was saved.
    """
    if isinstance(path, str | PathLikeObject) and Path(path).is_dir():
        return AuditReport.load(path)
    if read_parts(path)[0].get("format") == ESTIMATE:
        return LowRankEstimate.load(path)
    return read_record(path, _estimator_named)


def _estimator_named(name: str) -> type[MatrixEstimator] | None:
    """Return the estimator of somebody else whose class a file names, if it is registered or has an entry point."""
    for plugin in entry_points(group=ESTIMATORS.group):
        if plugin.value.replace(":", ".") == name:
            return ESTIMATORS.named(plugin.name)
    registered = map(ESTIMATORS.named, ESTIMATORS)
    return next((kind for kind in registered if f"{kind.__module__}.{kind.__qualname__}" == name), None)
