"""The frontier of error against fairness: its points in one record that prints, exports, draws and saves itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.checks import checked_name
from likewise.errors import InputError, printable
from likewise.fairness.metrics.curves import new_axes
from likewise.plain import json_tree
from likewise.report.description import data_lines
from likewise.report.frontier_points import (
    FrontierPoint,
    Priced,
    plot_repaired,
    repaired_lines,
    table_lines,
    to_frame,
)
from likewise.report.json_document import to_json
from likewise.report.numbers import number
from likewise.report.plots import FORMATS, to_files
from likewise.report.records import DataSummary, ReferenceSummary
from likewise.writing import Content, PathLike, check_folder, write_folder

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FairnessAxis = Literal["k_star", "mean_ratio", "similar_ratio"]
"""What a frontier is drawn over: the proved constant, or a measured figure."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """The result of `likewise.frontier`: one point for each budget, from none to the tightest. Iterate over it to get the points.

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

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers; without times, the same on every run."""
        return document(self)

    def to_json(self) -> str:
        """Return `to_dict` as JSON text: the same bytes for the same data, settings and seed."""
        return to_json(self.to_dict())

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row for each point: budget, K*, error, the gap of similar pairs, and ratios, with their intervals."""
        return to_frame(self.points)

    def plot(self, ax: Axes | None = None, over: FairnessAxis = "k_star", label: str | None = None) -> Axes:
        """Draw error against fairness.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        over : {"k_star", "mean_ratio", "similar_ratio"}, default "k_star"
            Which measure of fairness; smaller is fairer in each.
        label : str, optional
            Name of this frontier, where several are drawn on one ax: each then has a colour of its own, and the legend says which distance its K*
            is from. Budgets are not written at the points.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InputError
            An unknown measure of fairness; with a label, axes on which frontiers are drawn over another measure, or with another height.
        """
        return plot_frontier(self, ax, over, label)

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
        return save(self, folder)

    def __str__(self) -> str:
        return as_text(self)

    __repr__ = __str__


SCHEMA = "likewise.frontier"
SCHEMA_VERSION = 1
"""Raised when a key changes its meaning or goes; new keys do not raise it."""

_AXES = {
    "k_star": "K*: proved Lipschitz constant of pre-processing",
    "mean_ratio": "mean of D / d over pairs",
    "similar_ratio": "scale-free ratio over the most similar pairs",
}
_DRAWN: dict[str, FairnessAxis] = {"frontier": "k_star", "frontier_similar": "similar_ratio"}
"""Figures that are saved, by the name of their file."""

FILES = ("frontier.json", "frontier.csv", *(f"{name}.{form}" for name in _DRAWN for form in FORMATS))

_COLOR = "#0072b2"
"""Blue of Okabe and Ito (2008), the colour of the arm with pre-processing."""


def as_text(frontier: Frontier) -> str:
    """Return the frontier as a table of plain text, with what its columns mean."""
    said = (
        *_head(frontier),
        *table_lines(frontier.points),
        *repaired_lines(_priced(frontier)),
        *_foot(frontier),
    )
    return "\n".join(map(printable, said))


def document(frontier: Frontier) -> dict[str, Any]:
    """Return plain dictionaries, lists, strings and numbers that are valid JSON; without times, the same on every run."""
    tree = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "data": asdict(frontier.data),
        "estimator": frontier.estimator,
        "model": frontier.model,
        "reference": asdict(frontier.reference),
        "settings": frontier.settings,
        "notes": frontier.notes,
        "points": [point.to_dict() for point in frontier],
    }
    return dict(json_tree(tree))


def plot_frontier(
    frontier: Frontier, ax: Axes | None = None, over: FairnessAxis = "k_star", label: str | None = None
) -> Axes:
    """Draw error (or, where nothing was hidden, how far the estimate moved) against fairness; see `Frontier.plot`."""
    checked_name("measure of fairness", over, _AXES)
    ax = new_axes(ax)
    has_error = frontier.unconstrained.error is not None
    titles = (
        f"{_AXES[over]}; to the left is fairer",
        "RMSE of hidden observations" if has_error else "change of the estimate, as a share",
    )
    if label is None:
        _draw(frontier, ax, over, _COLOR, ("within a budget", "without a budget"))
        _write_budgets(frontier, ax)
        if over == "k_star":
            plot_repaired(_priced(frontier), ax)
    else:
        _check_same_axes(ax, titles)
        color = f"C{len(ax.get_legend_handles_labels()[1]) % 10}"
        _draw(frontier, ax, over, color, (_named(frontier, over, label), None))
    ax.set_xlabel(titles[0])
    ax.set_ylabel(titles[1])
    ax.set_xlim(left=0, auto=True)  # the right end still follows what is drawn later
    ax.legend()
    return ax


def _priced(frontier: Frontier) -> list[Priced]:
    return [(point.k_star, point.error, point.repaired) for point in frontier]


def _draw(
    frontier: Frontier, ax: Axes, over: FairnessAxis, color: str, labels: tuple[str, str | None]
) -> None:
    """Draw a line through the points, those within a budget as dots, the one without as an open square."""
    fairness = [float(getattr(point, over)) for point in frontier]
    heights = [point.error.rmse if point.error is not None else point.moved for point in frontier]
    ax.plot(fairness, heights, "-", color=color, alpha=0.5)
    ax.plot(fairness[1:], heights[1:], "o", color=color, label=labels[0])
    free = ax.plot(fairness[:1], heights[:1], "s", color=color, markersize=9, label=labels[1])
    free[0].set_markerfacecolor("none")


def _write_budgets(frontier: Frontier, ax: Axes) -> None:
    """Write its budget beside each dot, which are the second line that was drawn."""
    places = np.column_stack(ax.lines[-2].get_data()).tolist()
    for point, (x, y) in zip(frontier.points[1:], places, strict=True):
        ax.annotate(f"{point.budget:.3g}", (x, y), xytext=(4, 5), textcoords="offset points", fontsize=8)


def _named(frontier: Frontier, over: FairnessAxis, label: str) -> str:
    """Return the name with the distance that K* is from: those of other estimators are from other ones."""
    return f"{label}, from {frontier.unconstrained.certificate.from_norm}" if over == "k_star" else label


def _check_same_axes(ax: Axes, titles: tuple[str, str]) -> None:
    """Raise where lines that are there already would stand under titles that are not theirs."""
    present = ax.get_xlabel(), ax.get_ylabel()
    if ax.lines and present != titles:
        raise InputError(
            f"a frontier of {titles[1]!r} over {titles[0]!r} on axes of {present[1]!r} over {present[0]!r}",
            "frontiers of the same on one ax",
        )


def save(frontier: Frontier, folder: PathLike) -> Path:
    """Write document, table and figures to a folder; see `Frontier.save`."""
    contents: dict[str, Content] = {
        f"{name}.{form}": drawing
        for name, over in _DRAWN.items()
        for form, drawing in to_files(partial(_paint, frontier, over), name).items()
    }
    contents["frontier.json"] = to_json(document(frontier))
    contents["frontier.csv"] = to_frame(frontier.points).write_csv()
    write_folder(folder, {name: contents[name] for name in FILES})
    return Path(folder) / f"{next(iter(_DRAWN))}.svg"


def check_frontier_folder(folder: PathLike) -> None:
    """Raise OutputError now if `save` could not write there: before a long computation, not after it."""
    check_folder(folder, FILES)


def _paint(frontier: Frontier, over: FairnessAxis, figure: Figure) -> None:
    plot_frontier(frontier, figure.subplots(), over)


def _head(frontier: Frontier) -> Iterator[str]:
    yield from data_lines(frontier.data)
    yield frontier.estimator
    yield f"output: {frontier.model}, on the estimate"
    yield f"d: {frontier.reference.description}"
    yield f"D and d of {'all' if frontier.settings['pairs'] == 'all' else 'drawn'} pairs: {frontier.unconstrained.fairness.n_pairs:,}"
    yield ""


def _foot(frontier: Frontier) -> Iterator[str]:
    free = frontier.unconstrained
    half = frontier.within(free.k_star / 2)
    if half is not None and half.error is not None and free.error is not None:
        change = half.error.rmse - free.error.rmse
        yield ""
        yield (
            f"K* at half or less, from {number(free.k_star)} to {number(half.k_star)}: RMSE {number(free.error.rmse)} becomes "
            f"{number(half.error.rmse)} ({change / free.error.rmse:+.2%})"
        )
    yield from (f"note: {note}" for note in frontier.notes)
