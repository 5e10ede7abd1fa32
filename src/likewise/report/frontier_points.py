"""The points of a frontier, with what a repair of the outputs costs instead; their table for a terminal, and as a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likewise.estimation.budget.budget import BudgetSolution
from likewise.estimation.budget.regression import StrongerPrior
from likewise.fairness import Certificate, ErrorMetrics, FairnessMetrics
from likewise.fairness.metrics.metric_value import MetricValue
from likewise.report.gap import Gap
from likewise.report.numbers import finite_text, number, value_text

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes


_COLOR_OF_REPAIR = "#d55e00"


@dataclass(frozen=True, eq=False)
class RepairedPoint:
    """The outputs without a budget, repaired until they are as fair as a budget L makes them: D <= L d in the metric of its constant."""

    error: ErrorMetrics | None  # on the hidden observations
    # By how much people's outputs change, l2: root mean square, and of the one who changes most.
    change: float
    largest_change: float
    # The same of pre-processing within the budget.
    change_by_budget: float
    largest_change_by_budget: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "error": None if self.error is None else self.error.to_dict()}


@dataclass(frozen=True, eq=False)
class FrontierPoint:
    """Error and fairness at one budget.

    Parameters
    ----------
    budget : float or None
        L; None without a budget.
    certificate : Certificate
        The proved constant K* of pre-processing, at most L.
    moved : float
        Frobenius norm of what the budget changes in the estimate before clipping and offsets, as a share of that of the estimate.
    change : BudgetSolution, StrongerPrior or None
        What the budget did: to the gains, with its duality gap; or to the prior of rows that are regressions.
    error : ErrorMetrics or None
        On the hidden observations; None if nothing was hidden or the outputs do not predict entries.
    fairness : FairnessMetrics
        Of the outputs, against the one reference distance.
    repaired : RepairedPoint or None
        What it costs to repair the outputs instead, where that was asked for.
    """

    budget: float | None
    certificate: Certificate
    moved: float
    change: BudgetSolution | StrongerPrior | None
    error: ErrorMetrics | None
    fairness: FairnessMetrics
    repaired: RepairedPoint | None = None

    @property
    def k_star(self) -> float:
        """The proved constant."""
        return self.certificate.value

    @property
    def mean_ratio(self) -> MetricValue:
        """Mean of D / d over pairs (Section 6)."""
        return self.fairness.mean_ratio

    @property
    def gap(self) -> Gap:
        """Mean D of the most similar pairs over that of all pairs, with its interval where there is one."""
        return Gap.of(self.fairness)

    @property
    def similar_ratio(self) -> MetricValue:
        """Scale-free ratio over the most similar pairs: it does not fall when all outputs shrink."""
        return self.fairness.similar.scale_free_ratio

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; of the budget's solution its distance, duality gap and size, not the gains."""
        change = self.change
        return {
            "budget": self.budget,
            "k_star": self.k_star,
            "moved": self.moved,
            "change": None if change is None else change.to_dict(),
            "error": None if self.error is None else self.error.to_dict(),
            "gap": self.gap.to_dict(),
            "certificate": self.certificate.to_dict(),
            "fairness": self.fairness.to_dict(),
            "repaired": None if self.repaired is None else self.repaired.to_dict(),
        }


_HEADINGS = ("budget", "K*", "RMSE", "gap", "mean D/d", "relative D/d", "moved")


def table_lines(points: Sequence[FrontierPoint]) -> list[str]:
    """Return a line for each point under their headings, then what the measured columns mean."""
    rows = [_HEADINGS, *map(_cells, points)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    table = [
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    ]
    return [*table, "", *_legend(points)]


def _legend(points: Sequence[FrontierPoint]) -> list[str]:
    similar = points[0].fairness.similar
    return [
        f"gap: mean D of the {similar.share:.3g} of pairs that are most similar, over mean D of all; 0: they are treated alike, 1: similarity makes no difference",
        "mean D/d: over all pairs; it falls wherever outputs shrink, so a smaller one is not by itself fairer",
        "relative D/d: mean over the most similar pairs, D and d each in units of its mean over all pairs, so it is not of the size of the mean D/d; "
        f"{number(similar.no_difference)}: similarity makes no difference; none: a pair at d = 0 gets different outputs",
        "moved: how far the budget takes the estimate from the one without, as a share of the size of that",
    ]


def _cells(point: FrontierPoint) -> tuple[str, ...]:
    return (
        "none" if point.budget is None else number(point.budget),
        number(point.k_star),
        "" if point.error is None else number(point.error.rmse),
        str(point.gap),
        value_text(point.fairness.finite_mean_ratio),
        finite_text(point.similar_ratio),
        f"{point.moved:.1%}",
    )


def to_frame(points: Sequence[FrontierPoint]) -> polars.DataFrame:
    """Return a polars frame with one row for each point.

    Returns
    -------
    polars.DataFrame
        ``budget`` (null without one), ``k_star``, ``moved``, ``rmse``, ``mae``, and ``gap``, ``mean_ratio`` and ``similar_ratio``, each with ``_low``
        and ``_high``, which are null where there is no interval; last ``duality_gap``, by how much the squared distance that was moved can exceed
        the least, null where no such problem was solved.
    """
    import polars

    columns = ["budget", "k_star", "moved", "rmse", "mae"]
    columns += [
        f"{name}{end}" for name in ("gap", "mean_ratio", "similar_ratio") for end in ("", "_low", "_high")
    ]
    columns += ["duality_gap"]
    return polars.DataFrame(list(map(_record, points)), schema=dict.fromkeys(columns, polars.Float64))


def _record(point: FrontierPoint) -> dict[str, float | None]:
    record: dict[str, float | None] = {
        "budget": point.budget,
        "k_star": point.k_star,
        "moved": point.moved,
        "rmse": None if point.error is None else point.error.rmse,
        "mae": None if point.error is None else point.error.mae,
        "duality_gap": point.change.gap if isinstance(point.change, BudgetSolution) else None,
    }
    record |= {"gap" if name == "value" else f"gap_{name}": end for name, end in point.gap.to_dict().items()}
    for name in ("mean_ratio", "similar_ratio"):
        figure = getattr(point, name)
        ends = {f"{name}_{end}": getattr(figure, end, None) for end in ("low", "high")}
        record |= {name: figure.value, **ends}
    return record


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
