"""The numbers that the paper prints (Section 6), to stand beside ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from likewise.checks import is_number

SOURCE = 'Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", ICML 2023, Section 6'

ROWS: dict[str, str] = {
    "mse_h": "MSE of h",
    "mse_f": "MSE of f",
    "if1_h_Z": "IF_1 of h on Z",
    "if1_f_Z": "IF_1 of f on Z",
    "k2": "K2",
    "if2_h_A": "IF_2 of h on A",
    "if2_f_A": "IF_2 of f on A",
}
"""The seven rows of each published table."""


@dataclass(frozen=True)
class PublishedCell:
    """One number of a published table.

    Parameters
    ----------
    value : float
        As printed.
    bar : float
        Half-width of the printed bar: two standard deviations over ten simulations.
    """

    value: float
    bar: float


def published_cell(experiment: str, row: str, level: float) -> PublishedCell | None:
    """Look a number up.

    Parameters
    ----------
    experiment : str
        ``"1"``, ``"3"`` or ``"4"``; the others have no table.
    row : str
        One of `ROWS`.
    level : float
        ``p_hat``, in Experiment 4 n.

    Returns
    -------
    PublishedCell or None
        None where the paper prints nothing.

    Examples
    --------
    >>> published_cell("1", "mse_h", 0.2)
    PublishedCell(value=0.1, bar=0.003)
    """
    table = _tables().get(f"experiment_{experiment}")
    if (
        table is None
        or not isinstance(row, str)
        or row not in table
        or not is_number(level)
        or level not in table["levels"]
    ):
        return None
    return PublishedCell(*table[row][table["levels"].index(level)])


@cache
def _tables() -> dict[str, Any]:
    file = resources.files("likewise.reproduction").joinpath("published_tables.json")
    tables: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return tables
