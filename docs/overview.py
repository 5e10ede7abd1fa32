"""Draw the overview of the method: from what was observed of people to two sets of outputs, and what is held against what.

    python docs/overview.py            # writes docs/overview.svg

The paper has such a drawing as its Figure 2. This one is our own: it says what likewise does, the comparison and the proof included.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from likewise import SVT
from likewise.observations import clustered

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#444444"
SHOWN = (12, 16)  # people and features of the matrices in the drawing


def matrices() -> tuple[np.ndarray, np.ndarray]:
    """Return Z with NaN where nothing was observed, and A_hat: a real fit of few people, so that the drawing shows what happens."""
    data = clustered(120, 160, 3, observed_fraction=0.35, random_state=4)
    estimate = SVT().fit(data.observed).estimate_.to_dense()
    rows = np.concatenate([np.flatnonzero(data.clusters == k)[: SHOWN[0] // 3] for k in range(3)])
    seen = np.full(data.truth.shape, np.nan)
    seen[data.observed.positions()] = data.observed.values.data
    return seen[rows][:, : SHOWN[1]], estimate[rows][:, : SHOWN[1]]


def matrix(ax: Axes, values: np.ndarray, left: float, bottom: float, title: str, words: str) -> None:
    """Draw a matrix of people and features, blank where nothing was observed."""
    width, height = 2.1, 1.6
    ax.imshow(
        np.ma.masked_invalid(values),
        extent=(left, left + width, bottom, bottom + height),
        cmap="RdBu",
        vmin=-1,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
    )
    ax.add_patch(Rectangle((left, bottom), width, height, fill=False, edgecolor=GREY, linewidth=1))
    ax.text(left + width / 2, bottom + height + 0.12, title, ha="center", fontsize=11, color=GREY)
    ax.text(left + width / 2, bottom - 0.14, words, ha="center", va="top", fontsize=8.5, color=GREY)


def box(ax: Axes, left: float, bottom: float, text: str, color: str) -> None:
    """Draw a step."""
    ax.add_patch(Rectangle((left, bottom), 1.5, 0.7, facecolor="white", edgecolor=color, linewidth=1.6))
    ax.text(left + 0.75, bottom + 0.35, text, ha="center", va="center", fontsize=9.5, color=color)


def arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], color: str = GREY) -> None:
    """Draw where data go."""
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, color=color, linewidth=1.4))


def paint(ax: Axes) -> None:
    """Draw h above, f below, and the one distance that both are held against."""
    observed, estimate = matrices()
    matrix(
        ax,
        observed,
        0.2,
        1.7,
        "$Z$: what was observed",
        "rows are people, columns features;\nblank is missing, not zero",
    )
    matrix(ax, estimate, 5.0, 0.2, r"$\hat A = \Pi(Z)$", "a few patterns that stand\nout from noise")
    box(ax, 3.0, 0.65, "estimate\n" + r"$\Pi$", ORANGE)
    arrow(ax, (2.3, 2.0), (3.0, 1.1), ORANGE)
    arrow(ax, (4.5, 1.0), (5.0, 1.0), ORANGE)
    for bottom, color, words, start in (
        (3.3, BLUE, r"$h(i, Z)$", (2.3, 2.9)),
        (0.65, ORANGE, r"$f(i, Z) = h(i, \hat A)$", (7.1, 1.0)),
    ):
        box(ax, 7.6, bottom, "algorithm\n$h$", color)
        arrow(ax, start, (7.6, bottom + 0.35), color)
        ax.text(10.35, bottom + 0.35, f"outputs\n{words}", ha="center", va="center", fontsize=10, color=color)
        arrow(ax, (9.1, bottom + 0.35), (9.55, bottom + 0.35), color)
    ax.text(
        10.35,
        2.3,
        "compared by one distance $d$,\nfixed before anything is processed:\n$D \\leq L\\, d$ for every pair?",
        ha="center",
        va="center",
        fontsize=9.5,
        color=GREY,
        bbox={"boxstyle": "round,pad=0.4", "facecolor": "#f4f4f4", "edgecolor": GREY},
    )
    arrow(ax, (10.35, 3.35), (10.35, 2.85), BLUE)
    arrow(ax, (10.35, 1.35), (10.35, 1.75), ORANGE)
    ax.text(4.6, 2.55, r"proved: $D_f \leq K_1 K^{*}\, d$ on $Z$", ha="center", fontsize=9.5, color=ORANGE)
    ax.set_xlim(0, 12.1)
    ax.set_ylim(-0.7, 4.4)
    ax.axis("off")


def main() -> None:
    """Write the drawing, the same bytes on every run."""
    mpl.rcParams |= {"svg.hashsalt": "likewise", "svg.fonttype": "path"}
    figure = Figure(figsize=(9.6, 4.1), layout="tight")
    paint(figure.subplots())
    figure.savefig(Path(__file__).with_name("overview.svg"), metadata={"Date": None}, transparent=True)


if __name__ == "__main__":
    main()
