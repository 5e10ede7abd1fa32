"""Two reports compared on the command line."""

from __future__ import annotations

from likewise.cli.values import OldPath, existing


def diff(old: OldPath, new: OldPath, /) -> None:
    """Compare two reports: better, worse, or cannot be told, and which data and settings differ.

    Parameters
    ----------
    old
        A report as JSON (likewise audit --json FILE), or the folder of --out.
    new
        The other one.
    """
    for path in (old, new):
        existing(path, "a report")
    from likewise.report.difference import difference

    print(difference(old, new))
