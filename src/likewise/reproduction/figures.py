"""The figures of a run: histograms of ratios (the paper's Figures 1 and 3), cells beside the published ones, error and rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.reproduction.arms import WITHOUT
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.published import published_cell
from likewise.reproduction.references import BIN_EDGES
from likewise.reproduction.results import METRICS, ON_INPUT, ON_OBSERVED, Results, Summary
from likewise.reproduction.theory import estimating

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = ("#d55e00", "#e69f00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#7f7f7f", "#f0e442")
"""Of Okabe and Ito (2008): told apart with any colour vision."""
_LINES = ("--", ":", "-", "-.")

_REACH = 0.999
"""A histogram ends where nearly all ratios of every arm do."""
_N_BINS = 60
_PANEL = 3.1
_REFERENCES = {"observed": ON_OBSERVED, "input": ON_INPUT}


@dataclass(frozen=True)
class Drawing:
    """A figure to be drawn."""

    name: str  # of its file
    caption: str
    size: tuple[float, float]  # in inches
    paint: Callable[[Figure], Any]  # draws on an empty figure


def all_figures(found: Results) -> list[Drawing]:
    """Return the figures of a run, in the order of its tables."""
    return [drawing for experiment in found.experiments for drawing in _of_experiment(found, experiment)]


def _of_experiment(found: Results, experiment: Experiment) -> Iterator[Drawing]:
    levels = found.settings.levels(experiment)
    if experiment.kind == "minimax":  # four numbers a row, which the table shows
        return
    if experiment.kind == "rate":
        words = "Error over all entries and the rate of Proposition 4.4, as m and n = 4 m grow."
        yield Drawing("rate", words, (6.4, 3.8), partial(_paint_rate, found, experiment.key, levels))
        return
    words = (
        f"{experiment.title}: output distance over reference distance of pairs, smaller is fairer. Upper: {ON_OBSERVED}. "
        f"Lower: {ON_INPUT}."
    )
    size = (_PANEL * max(len(levels), 2), 5.6)
    yield Drawing(f"ratios-{experiment.key}", words, size, partial(_paint_ratios, found, experiment, levels))
    if experiment.kind == "synthetic":
        beside = " beside the published ones (crosses)" if found.has_published_model else ""
        words = (
            f"{experiment.title}: our cells (lines, bars of two standard deviations){beside}. In the second panel "
            f"{ON_OBSERVED}; in the third {ON_INPUT}."
        )
        yield Drawing(
            f"cells-{experiment.key}", words, (12.4, 3.6), partial(_paint_cells, found, experiment, levels)
        )


def _paint_ratios(found: Results, experiment: Experiment, levels: tuple[float, ...], figure: Figure) -> None:
    axes = figure.subplots(2, len(levels), squeeze=False, sharex="col")
    reaches = [_common_reach(found, experiment.key, level) for level in levels]
    for row, reference in enumerate(_REFERENCES):
        for column, level in enumerate(levels):
            ax = axes[row, column]
            counted = {
                arm.name: _pooled(found, experiment.key, level, arm.name, reference) for arm in found.arms
            }
            _draw_histograms(counted, reaches[column], ax)
            what = "d on Z" if reference == "observed" else "d on each arm's input"
            where = f"{experiment.axis} = {level:g}, " if experiment.axis else ""
            ax.set_title(f"{where}{what}", fontsize=10)
            if row:
                ax.set_xlabel("D / d")
        axes[row, 0].set_ylabel("share of pairs")
    axes[0, -1].legend(fontsize=9)


def _common_reach(found: Results, key: str, level: float) -> int:
    """Return the bin in which nearly all ratios of every arm end, on both references, so that their panels can be compared."""
    return max(
        _reach(_pooled(found, key, level, arm.name, reference))
        for arm in found.arms
        for reference in _REFERENCES
    )


def _draw_histograms(counted: dict[str, NDArray[np.int64]], reach: int, ax: Axes) -> None:
    width = max(1, -(-reach // _N_BINS))
    tallest = 0.0
    for k, (name, counts) in enumerate(counted.items()):
        inside = np.add.reduceat(counts[:-1], np.arange(0, width * (reach // width + 1), width))
        edges = BIN_EDGES[::width][: inside.size + 1]
        shares = inside[: edges.size - 1] / max(counts.sum(), 1)
        tallest = max(tallest, float(shares[1:].max(initial=0.0)))
        ax.stairs(
            shares,
            edges,
            label=name,
            color=_COLORS[k % len(_COLORS)],
            linestyle=_LINES[k % len(_LINES)],
            linewidth=1.6,
        )
    ax.set_xlim(left=0)
    if (
        tallest > 0
    ):  # outputs that are all alike have every ratio in the first bin, and would flatten the others
        ax.set_ylim(0, 1.1 * tallest)


def _pooled(found: Results, key: str, level: float, arm: str, reference: str) -> NDArray[np.int64]:
    """Add up the histograms of all simulations; the last number counts ratios beyond the bins."""
    total = np.zeros(BIN_EDGES.size, dtype=np.int64)
    for record in found.of_arm(key, level, arm):
        *inside, beyond = record["histograms"][reference]
        total[: len(inside)] += np.asarray(inside, dtype=np.int64)
        total[-1] += beyond
    return total


def _reach(counts: NDArray[np.int64]) -> int:
    """Return the bin in which nearly all ratios end."""
    cumulative = np.cumsum(counts[:-1])
    return int(np.searchsorted(cumulative, _REACH * cumulative[-1])) if cumulative[-1] else 1


def _paint_cells(found: Results, experiment: Experiment, levels: tuple[float, ...], figure: Figure) -> None:
    shown = ("mse", "if1_observed", "if1_input", "if2_truth")
    titles = ("MSE, entries not observed", "IF_1, d on Z", "IF_1, d on A_hat for f", "IF_2 (A)")
    for ax, key, title in zip(figure.subplots(1, len(shown)), shown, titles, strict=True):
        for k, arm in enumerate(found.arms):
            summaries = [found.summary(experiment.key, level, arm.name, key) for level in levels]
            _draw_line(ax, summaries, arm.name, k)
        metric = METRICS[key]
        if found.has_published_model:
            _draw_published(ax, experiment, levels, metric.published_h, _color(found, WITHOUT), "x")
            _draw_published(ax, experiment, levels, metric.published_f, _color(found, "f-released"), "+")
        ax.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
        ax.set_xlabel(experiment.axis)
        ax.set_title(title, fontsize=10)
        ax.set_ylim(bottom=0)
    figure.axes[0].legend(fontsize=8)


def _draw_line(ax: Axes, summaries: list[Summary | None], label: str, k: int) -> None:
    places = [place for place, summary in enumerate(summaries) if summary and np.isfinite(summary.mean)]
    known = [summary for summary in summaries if summary and np.isfinite(summary.mean)]
    bars = [summary.two_sd if np.isfinite(summary.two_sd) else 0.0 for summary in known]
    ax.errorbar(
        places,
        [summary.mean for summary in known],
        yerr=bars,
        label=label,
        color=_COLORS[k % len(_COLORS)],
        linestyle=_LINES[k % len(_LINES)],
        capsize=2,
        linewidth=1.4,
    )


def _draw_published(
    ax: Axes, experiment: Experiment, levels: tuple[float, ...], row: str, color: str, marker: str
) -> None:
    cells = [published_cell(experiment.key, row, level) for level in levels]
    known = [(place, cell) for place, cell in enumerate(cells) if cell is not None]
    if known:
        ax.plot(
            [place for place, _ in known],
            [cell.value for _, cell in known],
            marker,
            color=color,
            markersize=9,
            markeredgewidth=2,
            label=f"published {'h' if row.endswith(('_h', 'h_Z', 'h_A')) else 'f'}",
        )


def _color(found: Results, name: str) -> str:
    names = [arm.name for arm in found.arms]
    return _COLORS[names.index(name) % len(_COLORS)] if name in names else "#7f7f7f"


def _paint_rate(found: Results, key: str, levels: tuple[float, ...], figure: Figure) -> None:
    ax = figure.subplots()
    rates = [Summary.of(record["rate"] for record in found.simulations(key, level)) for level in levels]
    ax.plot(
        levels, [rate.mean for rate in rates if rate], color="#7f7f7f", linewidth=3, alpha=0.5, label="rate"
    )
    names = [arm.name for arm in estimating(found.arms)]
    for k, name in enumerate(names):
        errors = [
            Summary.of(record["metrics"]["mse_all"] for record in found.of_arm(key, level, name))
            for level in levels
        ]
        ax.plot(
            levels,
            [error.mean for error in errors if error],
            "o",
            linestyle=_LINES[k % len(_LINES)],
            color=_COLORS[k % len(_COLORS)],
            label=name,
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(levels, [f"{level:g}" for level in levels])
    ax.set_xlabel("m")
    ax.set_ylabel("mean squared error")
    ax.legend(fontsize=9)
