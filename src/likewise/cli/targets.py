"""Files that a command is about to write: never one that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from likewise.errors import InputError


def refuse_to_overwrite(read: Iterable[Path | None], written: Iterable[Path]) -> None:
    """Raise before the work where a result would take the place of what it is made from.

    Parameters
    ----------
    read : iterable of Path or None
        Files that the command reads.
    written : iterable of Path
        Files that it writes.

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse_to_overwrite([Path("ratings.csv"), None], [Path("report/report.html")])
    """
    inputs = {path.resolve() for path in read if path is not None}
    for target in written:
        if target.resolve() in inputs:
            raise InputError(f"{target}, which is read, as a file to write", "another name or folder")
