"""Draw error against the proved constant for every estimator by name that has one, on generated ratings.

    python docs/frontiers.py            # writes docs/frontiers.svg; seconds

People of five tastes with biases of their own, 30% observed with noise. Every frontier hides the same tenth of the observations.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from likewise import ObservedMatrix, frontier
from likewise.errors import LikewiseWarning
from likewise.report.frontier import Frontier

ESTIMATORS = ("svt", "als", "soft-impute", "biases", "auto")
SHAPE = (300, 200)


def ratings() -> ObservedMatrix:
    """Return observations in [-1, 1]: the taste of the person, a bias of the person and one of the feature, and noise."""
    rng, (m, n) = np.random.default_rng(0), SHAPE
    tastes = rng.normal(size=(5, n))
    people, features = rng.normal(size=(m, 1)), rng.normal(size=n)
    values = 0.2 * tastes[rng.integers(5, size=m)] + 0.15 * people + 0.15 * features
    values += 0.2 * rng.normal(size=SHAPE)
    return ObservedMatrix(
        np.where(rng.random(SHAPE) < 0.3, np.clip(values, -1, 1), np.nan), value_range=(-1, 1)
    )


def frontiers() -> dict[str, Frontier]:
    """Return the frontier of each estimator."""
    Z = ratings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        return {name: frontier(Z, estimator=name, pairs=1000, random_state=0) for name in ESTIMATORS}


def paint(ax: Axes, found: dict[str, Frontier]) -> None:
    """Draw all of them."""
    for name, one in found.items():
        one.plot(ax, label=name)


def main() -> None:
    """Write the drawing, and print its points."""
    mpl.rcParams |= {"svg.hashsalt": "likewise", "svg.fonttype": "path"}
    found, figure = frontiers(), Figure(figsize=(8, 4.6), layout="tight")
    paint(figure.subplots(), found)
    figure.savefig(Path(__file__).with_name("frontiers.svg"), metadata={"Date": None})
    for name, one in found.items():
        print(name, *(f"K {point.k_star:.3g} RMSE {float(point.error.rmse):.4f}" for point in one), sep="; ")


if __name__ == "__main__":
    main()
