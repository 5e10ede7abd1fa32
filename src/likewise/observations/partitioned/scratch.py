"""A folder for a sorted copy: with a name of its own, so that two runs side by side never meet, and gone with who holds it."""

from __future__ import annotations

from os import PathLike, fspath
from tempfile import TemporaryDirectory

from likewise.errors import OutputError


def scratch_folder(scratch: str | PathLike[str] | None) -> TemporaryDirectory[str]:
    """Make a folder below another, by default that for temporary files.

    Raises
    ------
    OutputError
        It cannot be made.

    Examples
    --------
    >>> with scratch_folder(None) as name:
    ...     "likewise-" in name
    True
    """
    try:
        return TemporaryDirectory(prefix="likewise-", dir=scratch)
    except OSError as error:
        where = "the folder for temporary files" if scratch is None else fspath(scratch)
        raise OutputError(f"cannot write a sorted copy to {where}: {error.strerror}") from error
