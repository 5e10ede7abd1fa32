"""Draw what was measured, on axes of the caller's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from likewise.fairness.figures import RatioHistogram


def plot_ratio_histogram(histogram: RatioHistogram, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw the share of pairs per bin of D / d; pairs beyond the axis are named in the legend.

    Parameters
    ----------
    histogram : RatioHistogram
    ax : matplotlib Axes, optional
        New ones by default; give the same axes twice to lay two arms over each other.
    label : str, optional

    Returns
    -------
    matplotlib Axes
    """
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(layout="constrained").subplots()
    beyond = histogram.above + histogram.infinite
    total = max(int(histogram.counts.sum()) + beyond, 1)
    tail = f"{beyond / total:.2%} beyond" if beyond else ""
    words = ", ".join(filter(None, [label, tail])) or None
    ax.stairs(histogram.counts / total, np.asarray(histogram.edges), fill=True, alpha=0.5, label=words)
    ax.set_xlabel("output distance / reference distance")
    ax.set_ylabel("share of pairs")
    if words:
        ax.legend()
    return ax
