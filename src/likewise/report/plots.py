"""Draw a figure for a file or to stand in a page: the same bytes for the same numbers, whatever matplotlib is set to."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.fairness.metrics.curves import new_axes
from likewise.report.numbers import number, shown
from likewise.report.records import checked_report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from likewise.report.records import AuditRecord

FileFormat = Literal["svg", "png"]
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
Paint = Callable[["Figure"], Any]
"""Draws on an empty figure."""

INK = "#1c1e21"
"""Text and axes; becomes the colour of the surrounding text where a figure stands in a page."""

SIZE = (7.2, 3.8)
"""Of a figure with one pair of axes, in inches."""

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.15,
    "grid.color": INK,
    "legend.frameon": False,
    "text.parse_math": False,  # a name with dollar signs is not a formula
} | dict.fromkeys(
    ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"), INK
)

_NO_DATE = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def to_files(
    paint: Paint, name: str, size: tuple[float, float] = SIZE, forms: Sequence[FileFormat] = FORMATS
) -> dict[FileFormat, bytes]:
    """Draw a figure once, and return it in the formats asked for.

    `name` makes the ids within an SVG the same on every run, and different between figures; `size` is in inches.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    drawn: dict[FileFormat, bytes] = {}
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE | {"svg.hashsalt": name})
        figure = Figure(figsize=size, layout="constrained")
        paint(figure)
        for axes in figure.axes:
            plain_ticks(axes)
        for form in forms:
            stream = io.BytesIO()
            figure.savefig(stream, format=form, dpi=150, transparent=form == "svg", metadata=_NO_DATE[form])
            drawn[form] = stream.getvalue()
            # To lay a figure out takes longer than to draw it, and the first format has done so.
            figure.set_layout_engine(None)
    return drawn


def plain_ticks(axes: Axes) -> None:
    """Label logarithmic axes with numbers: the default labels are formulas, which names with dollar signs forbid."""
    from matplotlib.ticker import FuncFormatter

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            low, high = sorted(abs(limit) for limit in axis.get_view_interval())
            decades = np.log10(high / low) if low else np.inf
            labelled = "123456789" if decades < 1 else "25" if decades < 2 else ""
            axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
            axis.set_minor_formatter(FuncFormatter(partial(_if_it_begins_with, labelled)))


def _if_it_begins_with(digits: str, value: float, _: int | None = None) -> str:
    """Label a tick whose number begins with one of these digits: the fewer decades an axis spans, the more of them."""
    return number(value) if f"{value:e}"[0] in digits else ""


def as_inline(svg: bytes, name: str, colors: Mapping[str, str] | None = None) -> str:
    """Make a drawing stand in a page: no file header, ids of its own, and the colours of the page.

    Parameters
    ----------
    svg : bytes
        From `to_files`.
    name : str
        Of the figure; no other in the page has it.
    colors : mapping of str to str, optional
        The page's names of colours that are drawn.
    """
    drawing = svg.decode()
    for mark in ('id="', "url(#", 'href="#'):
        drawing = drawing.replace(mark, f"{mark}{name.replace('_', '-')}-")
    for variable, color in (colors or {}).items():
        drawing = drawing.replace(color, f"var(--{variable}, {color})")
    return drawing[drawing.index("<svg") :].replace(INK, "currentColor").strip()


Plot = Callable[["AuditRecord", "Axes"], Any]
Caption = Callable[["AuditRecord"], str]

_ARM_COLORS = {"without": "#d55e00", "with": "#0072b2", "outputs": "#0072b2"}
"""Vermillion and blue of Okabe and Ito (2008): told apart with any colour vision, and in grey."""

_ARM_LINES = {"without": "--", "with": "-", "outputs": "-"}

_MOST_DRAWN = 500
"""Of a long spectrum so many values are drawn, evenly on the logarithmic axis: a page holds no megabytes of marks."""

_FEW_VALUES = 12
"""Up to so many singular values each has a mark and a place of its own: a line through two of them on a logarithmic axis shows nothing."""


def plot_histogram(report: AuditRecord, ax: Axes | None = None) -> Axes:
    """Draw the ratios D / d of all pairs, both arms over each other (the paper's Figures 1 and 3).

    Parameters
    ----------
    report : AuditRecord
    ax : matplotlib Axes, optional
        New ones by default.

    Returns
    -------
    matplotlib Axes
    """
    ax = _axes_for_arms(checked_report(report), ax)
    for arm in report.arms.values():
        arm.fairness.plot_histogram(ax, shown(arm.label))
    ax.set_xlim(left=0)
    return ax


def plot_epsilon_delta(report: AuditRecord, ax: Axes | None = None) -> Axes:
    """Draw, for each reference distance, the largest output distance of pairs that are no farther apart.

    Parameters as for `plot_histogram`.
    """
    ax = _axes_for_arms(checked_report(report), ax)
    for arm in report.arms.values():
        arm.fairness.plot_epsilon_delta(ax, shown(arm.label))
    if all(arm.fairness.epsilon_delta.epsilon[0] > 0 for arm in report.arms.values()):
        ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    return ax


def plot_spectrum(report: AuditRecord, ax: Axes | None = None) -> Axes:
    """Draw the singular values with the threshold tau: those above it make the estimate.

    Parameters as for `plot_histogram`.
    """
    checked_report(report)
    ax = new_axes(ax)
    ax.set_xlabel("rank of the singular value, largest first")
    ax.set_ylabel("singular value")
    if report.estimate is None:
        ax.text(0.5, 0.5, "nothing was estimated", ha="center", transform=ax.transAxes)
        return ax
    tau = report.estimate.threshold
    # A component of size 0 was not kept.
    values = report.estimate.singular_values[report.estimate.singular_values > 0]
    _plot_kept_and_cut(ax, values, values > (0.0 if tau is None else tau))
    if tau is not None:
        ax.axhline(tau, color=_ARM_COLORS["without"], linestyle="--", label=f"threshold tau = {number(tau)}")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def _plot_kept_and_cut(ax: Axes, values: Floats, is_kept: NDArray[np.bool_]) -> None:
    """Draw decreasing singular values: marks for those that are kept, a line for the rest."""
    drawn = _drawn(values.size)
    ranks, kept = drawn + 1, is_kept[drawn]
    is_short = drawn.size <= _FEW_VALUES
    of_kept: dict[str, Any] = {"color": _ARM_COLORS["with"], "markersize": 4}
    ax.plot(ranks[kept], values[drawn][kept], "o", **of_kept, label=f"kept ({is_kept.sum():,})")
    if not kept.all():
        cut: dict[str, Any] = {"color": INK, "alpha": 0.6, "marker": "o" if is_short else "", "markersize": 4}
        ax.plot(ranks[~kept], values[drawn][~kept], **cut, label=f"cut ({(~is_kept).sum():,})")
    if is_short:
        ax.set_xlim(0.5, max(drawn.size, 1) + 0.5)
        ax.set_xticks(ranks)
    else:
        ax.set_xscale("log")


def _drawn(count: int) -> NDArray[np.intp]:
    """Return which of so many values to draw."""
    if count <= _MOST_DRAWN:
        return np.arange(count)
    return np.unique(np.geomspace(1, count, _MOST_DRAWN).astype(np.intp)) - 1


def histogram_caption(report: AuditRecord) -> str:
    """Describe the histogram in a line."""
    beyond = ", ".join(
        f"{arm.fairness.histogram.above + arm.fairness.histogram.infinite:,} of {arm.fairness.n_pairs:,} pairs ({shown(name)})"
        for name, arm in report.arms.items()
    )
    return f"Output distance over reference distance of every pair, smaller is fairer; beyond the axis: {beyond}."


def epsilon_delta_caption(report: AuditRecord) -> str:
    """Describe the curve in a line."""
    lowest = " and ".join(
        f"{number(float(arm.fairness.epsilon_delta.delta[0]))} ({shown(name)})"
        for name, arm in report.arms.items()
    )
    return f"Largest output distance of pairs within each reference distance, lower is fairer; among the nearest pairs: {lowest}."


def spectrum_caption(report: AuditRecord) -> str:
    """Describe the spectrum in a line."""
    if report.estimate is None:
        return "Nothing was estimated."
    if report.estimate.threshold is None:
        return f"Singular values of the estimate without its offsets: {report.estimate.rank:,}."
    cut = report.estimate.singular_values.size - report.estimate.rank
    extent = f"and {cut:,} below" if cut > 0 else "those below were not computed"
    return f"Singular values of the zero-filled observations: {report.estimate.rank:,} above the threshold, {extent}."


FIGURES: dict[str, tuple[Plot, Caption]] = {
    "ratios": (plot_histogram, histogram_caption),
    "epsilon_delta": (plot_epsilon_delta, epsilon_delta_caption),
    "spectrum": (plot_spectrum, spectrum_caption),
}
"""The figures of a report by the name of their file, with the captions that go with them."""


def figures_of(report: AuditRecord) -> list[str]:
    """Return the names of those that stand in its page; where nothing was estimated there is no spectrum to see."""
    return [name for name in FIGURES if name != "spectrum" or report.estimate is not None]


def draw(name: str, report: AuditRecord, forms: Sequence[FileFormat] = FORMATS) -> dict[FileFormat, bytes]:
    """Draw one of `FIGURES`: the same bytes for the same report."""
    plot, _ = FIGURES[name]
    return to_files(lambda figure: plot(report, figure.subplots()), plot.__name__, forms=forms)


def inline_svg(name: str, svg: bytes) -> str:
    """Make one of `FIGURES` stand in a page: no file header, ids of its own, and the colours of the page."""
    return as_inline(svg, FIGURES[name][0].__name__, _ARM_COLORS)


def _axes_for_arms(report: AuditRecord, ax: Axes | None) -> Axes:
    """Prepare axes on which each arm has its colour and line, whoever else is shown."""
    ax = new_axes(ax)
    names = [
        name if name in _ARM_COLORS else list(_ARM_COLORS)[place] for place, name in enumerate(report.arms)
    ]
    ax.set_prop_cycle(
        color=[_ARM_COLORS[name] for name in names], linestyle=[_ARM_LINES[name] for name in names]
    )
    return ax
