"""Draw what was measured, on axes of the caller's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from likewise.fairness.epsilon_delta import EpsilonDeltaCurve
    from likewise.fairness.histogram import RatioHistogram


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
    ax = new_axes() if ax is None else ax
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


def plot_epsilon_delta(curve: EpsilonDeltaCurve, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw the largest output distance among pairs that are at most epsilon apart.

    Parameters
    ----------
    curve : EpsilonDeltaCurve
    ax : matplotlib Axes, optional
        New ones by default; give the same axes twice to lay two arms over each other.
    label : str, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes() if ax is None else ax
    ax.step(curve.epsilon, curve.delta, where="post", label=label)
    ax.set_xlabel("epsilon: reference distance at most")
    ax.set_ylabel("delta: largest output distance")
    if label:
        ax.legend()
    return ax


def new_axes() -> Axes:
    """Return the axes of a new figure that belongs to no window."""
    from matplotlib.figure import Figure

    return Figure(layout="constrained").subplots()
