"""The experiments of Section 6 as data: which sizes, which levels, how the observations of a cell are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from likewise.checks import checked_names
from likewise.errors import InputError, unknown_name
from likewise.observations.synthetic import ClusteredData, Sampling, clustered

Kind = Literal["synthetic", "ratings", "rate", "minimax"]

NOISE = 0.1
"""Standard deviation of the noise: the paper writes N(0, 0.1)."""


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Parameters
    ----------
    key : str
        What it is called on the command line.
    title : str
    kind : {"synthetic", "ratings", "rate", "minimax"}
        Generated data with a table of cells; real ratings with a histogram; the error beside the rate of Proposition 4.4, or beside the
        shape of the minimax lower bound on matrices that are hard to estimate.
    axis : str
        What its levels are.
    levels : tuple of float
    n_individuals, n_features, n_clusters : int
        m, n and c, where no level says otherwise.
    observed_fraction : float
        p, where no level says otherwise.
    sampling : {"uniform", "by-cluster"}
    threshold : str
        The threshold that the paper prints for it; see `likewise.estimation.THRESHOLDS`.
    """

    key: str
    title: str
    kind: Kind
    axis: str
    levels: tuple[float, ...]
    n_individuals: int = 200
    n_features: int = 800
    n_clusters: int = 10
    observed_fraction: float = 0.2
    sampling: Sampling = "uniform"
    threshold: str = "paper-synthetic"

    def sizes(self, level: float) -> dict[str, int | float]:
        """Return m, n, c and p of a level, as `likewise.observations.clustered` takes them."""
        sizes: dict[str, int | float] = {
            "n_individuals": self.n_individuals,
            "n_features": self.n_features,
            "n_clusters": self.n_clusters,
            "observed_fraction": self.observed_fraction,
        }
        if self.axis == "p":
            sizes["observed_fraction"] = level
        elif self.axis == "n":
            sizes["n_features"] = int(level)
        elif self.axis == "m":
            sizes |= {"n_individuals": int(level), "n_features": _ASPECT * int(level)}
        return sizes

    def data(
        self, level: float, random_state: int | np.random.Generator | None, noise: float = NOISE
    ) -> ClusteredData:
        """Draw the truth and the observations of one simulation.

        Parameters
        ----------
        level : float
            One of `levels`.
        random_state : int, Generator or None
        noise : float, default 0.1
            Standard deviation.

        Returns
        -------
        ClusteredData
        """
        sizes = self.sizes(level)
        return clustered(
            int(sizes["n_individuals"]),
            int(sizes["n_features"]),
            int(sizes["n_clusters"]),
            observed_fraction=float(sizes["observed_fraction"]),
            noise=noise,
            sampling=self.sampling,
            random_state=random_state,
        )


_ASPECT = 4
"""Features for each individual while both grow: the shape of Experiment 1."""

_FRACTIONS = (0.05, 0.1, 0.2, 0.4)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.key: experiment
    for experiment in (
        Experiment("1", "Experiment 1: synthetic data", "synthetic", "p", _FRACTIONS),
        Experiment(
            "2",
            "Experiment 2: MovieLens 1M",
            "ratings",
            "",
            (0.0,),
            6040,
            3952,
            sampling="uniform",
            threshold="paper-ratings",
        ),
        Experiment(
            "3",
            "Experiment 3: not observed uniformly at random",
            "synthetic",
            "p",
            _FRACTIONS,
            sampling="by-cluster",
        ),
        Experiment(
            "4",
            "Experiment 4: length of the feature vectors",
            "synthetic",
            "n",
            (25, 100, 400, 800),
            n_individuals=500,
            n_clusters=20,
        ),
        Experiment("rate", "Proposition 4.4: error as m and n grow", "rate", "m", (100, 200, 400, 800)),
        Experiment(
            "minimax",
            "The minimax remark: matrices that nobody can estimate well",
            "minimax",
            "theta^2",
            (0.1, 0.2, 0.4, 0.8),
        ),
    )
}
"""The four experiments of Section 6, a check of Proposition 4.4 on data like those of Experiment 1, and one of the minimax remark."""


def chosen_experiments(keys: str | Iterable[str]) -> tuple[str, ...]:
    """Return the keys of experiments, in the order of `EXPERIMENTS`, from ``"all"``, a key, several separated by commas, or a list of keys.

    InputError for an unknown key, for none, or for others beside ``"all"``.

    >>> chosen_experiments("3,1"), chosen_experiments("all")
    (('1', '3'), ('1', '2', '3', '4', 'rate', 'minimax'))
    """
    listed = checked_names("experiments", keys)
    if listed == ("all",):
        return tuple(EXPERIMENTS)
    if "all" in listed:
        raise InputError(
            f"experiments {', '.join(map(repr, listed))}", f"'all' alone, or some of {', '.join(EXPERIMENTS)}"
        )
    for key in listed:
        if key not in EXPERIMENTS:
            raise InputError(*unknown_name("experiment", key, [*EXPERIMENTS, "all"]))
    if not listed:
        raise InputError("no experiment", f"some of {', '.join(EXPERIMENTS)}, or all")
    return tuple(key for key in EXPERIMENTS if key in listed)
