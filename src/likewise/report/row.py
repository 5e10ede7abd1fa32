"""A line of the table: what a number is called, what it tells, and what it is in each arm."""

from __future__ import annotations

from dataclasses import dataclass

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Row:
    """One metric of every arm.

    Parameters
    ----------
    label : str
        Its name.
    meaning : str
        What it tells, in a sentence.
    values : tuple of str
        One for each arm.
    change : str
        From the first arm to the second; empty where the arms cannot be compared.
    """

    label: str
    meaning: str
    values: tuple[str, ...]
    change: str = ""


@dataclass(frozen=True)
class Group:
    """Rows that are read together."""

    title: str
    rows: tuple[Row, ...]
