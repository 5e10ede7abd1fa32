"""What it costs to repair outputs, beside pre-processing at the same guarantee: the record, in words, and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likewise.fairness import ErrorMetrics
from likewise.report.numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOR_OF_REPAIR = "#d55e00"


@dataclass(frozen=True, eq=False)
class RepairedPoint:
    """The outputs without a budget, repaired until they are as fair as a budget L makes them: D <= L d in the metric of its constant.

    Parameters
    ----------
    error : ErrorMetrics or None
        On the hidden observations.
    change, largest_change : float
        By how much the repair changed people's outputs, l2: root mean square, and of the one who changed most.
    change_by_budget, largest_change_by_budget : float
        The same of pre-processing within the budget.
    """

    error: ErrorMetrics | None
    change: float
    largest_change: float
    change_by_budget: float
    largest_change_by_budget: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "error": None if self.error is None else self.error.to_dict()}


Priced = tuple[float, ErrorMetrics | None, RepairedPoint | None]
"""Of one budget: L, the error of pre-processing, and what a repair costs instead."""


def repaired_lines(points: Sequence[Priced]) -> list[str]:
    """Say at each budget what a repair of the outputs costs, and what pre-processing does; nothing where none was made."""
    lines = []
    for limit, error, repaired in points:
        if repaired is None:
            continue
        errors = ""
        if error is not None and repaired.error is not None:
            errors = f"RMSE {number(error.rmse)} by pre-processing, {number(repaired.error.rmse)} by repair; "
        changes = f"{number(repaired.change_by_budget)} and {number(repaired.change)}"
        lines.append(f"  at L = {number(limit)}: {errors}outputs change by {changes} root mean square")
    return (
        ["", "Pre-processing against repair of the outputs, at the same guarantee D <= L d:", *lines]
        if lines
        else []
    )


def plot_repaired(points: Sequence[Priced], ax: Axes) -> None:
    """Draw what it costs to repair the outputs to the same L, where that was measured in the same units."""
    drawn = [(limit, repaired.error.rmse) for limit, _, repaired in points if repaired and repaired.error]
    if drawn:
        limits, heights = zip(*drawn, strict=True)
        ax.plot(limits, heights, "^--", color=_COLOR_OF_REPAIR, label="repair of the outputs, same L")
