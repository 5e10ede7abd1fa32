"""What the frontier of error against fairness is: its points, in one record that prints, exports, draws and saves itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from likewise.estimation.budget import BudgetSolution
from likewise.fairness import Certificate, ErrorFigures, FairnessFigures
from likewise.fairness.figure import Figure
from likewise.pipeline.result import DataSummary, ReferenceSummary

if TYPE_CHECKING:
    from pathlib import Path

    import polars
    from matplotlib.axes import Axes

    from likewise.writing import PathLike

FairnessAxis = Literal["k_star", "mean_ratio", "similar_ratio"]
"""What a frontier is drawn over: the proved constant, or a measured figure."""


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
    change : BudgetSolution or None
        What the budget did to the gains, with its duality gap.
    error : ErrorFigures or None
        On the hidden observations; None if nothing was hidden or the outputs do not predict entries.
    fairness : FairnessFigures
        Of the outputs, against the one reference distance.
    """

    budget: float | None
    certificate: Certificate
    moved: float
    change: BudgetSolution | None
    error: ErrorFigures | None
    fairness: FairnessFigures

    @property
    def k_star(self) -> float:
        """The proved constant."""
        return self.certificate.value

    @property
    def mean_ratio(self) -> Figure:
        """Mean of D / d over pairs (Section 6)."""
        return self.fairness.mean_ratio

    @property
    def similar_ratio(self) -> Figure:
        """Scale-free ratio over the most similar pairs: it does not fall when all outputs shrink."""
        return self.fairness.similar.scale_free_ratio

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; of the budget's solution its distance, gap and size, not the gains."""
        change = self.change
        numbers = ("limit", "constant", "unconstrained", "distance", "gap", "n_binding", "n_iterations")
        return {
            "budget": self.budget,
            "k_star": self.k_star,
            "moved": self.moved,
            "change": None if change is None else {name: getattr(change, name) for name in numbers},
            "error": None if self.error is None else self.error.to_dict(),
            "certificate": self.certificate.to_dict(),
            "fairness": self.fairness.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Frontier:
    """The result of `likewise.frontier`: points from no budget to the tightest one. Iterating gives them.

    Parameters
    ----------
    data : DataSummary
    estimator, model : str
        What ran, in words.
    reference : ReferenceSummary
        The one distance d of all points.
    points : tuple of FrontierPoint
        The first is without a budget.
    settings : mapping of str to any
    notes : tuple of str
        What the reader should know of the estimate.
    seconds : mapping of str to float
        Wall time of each step.
    """

    data: DataSummary
    estimator: str
    model: str
    reference: ReferenceSummary
    points: tuple[FrontierPoint, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def __iter__(self) -> Iterator[FrontierPoint]:
        return iter(self.points)

    @property
    def unconstrained(self) -> FrontierPoint:
        """The point without a budget."""
        return self.points[0]

    def within(self, limit: float) -> FrontierPoint | None:
        """Return the loosest point whose constant K* is at most a limit; None if there is none.

        Parameters
        ----------
        limit : float
        """
        return next((point for point in self.points if point.k_star <= limit), None)

    # The room of reports stands after this one, so it is only entered when a report is asked for.

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers; without times, the same on every run."""
        from likewise.report.frontier import document

        return document(self)

    def to_json(self) -> str:
        """Return `to_dict` as JSON text: the same bytes for the same data, settings and seed."""
        from likewise.report import to_json

        return to_json(self.to_dict())

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row for each point: budget, K*, error, and measured figures with their intervals."""
        from likewise.report.frontier import to_frame

        return to_frame(self)

    def plot(self, ax: Axes | None = None, over: FairnessAxis = "k_star") -> Axes:
        """Draw error against fairness.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        over : {"k_star", "mean_ratio", "similar_ratio"}, default "k_star"
            Which measure of fairness; smaller is fairer in each.

        Returns
        -------
        matplotlib Axes
        """
        from likewise.report.frontier import plot_frontier

        return plot_frontier(self, ax, over)

    def save(self, folder: PathLike) -> Path:
        """Write ``frontier.json``, ``frontier.csv`` and figures over K* and over similar pairs; returns the path of the first figure.

        Parameters
        ----------
        folder : path-like
            Made if it is not there; files in it under other names are left alone.

        Raises
        ------
        OutputError
            The folder cannot be written to; then nothing has been.
        """
        from likewise.report.frontier import save

        return save(self, folder)

    def __str__(self) -> str:
        from likewise.report.frontier import as_text

        return as_text(self)
