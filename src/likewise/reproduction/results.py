"""What a run found, by experiment, level, arm and metric, as plain records; which metrics there are, and how simulations are summarised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import fsum, isfinite, nan, sqrt
from typing import Any

from likewise.reproduction.algorithm import DENSE_NET
from likewise.reproduction.arms import Arm, resolve_arm
from likewise.reproduction.experiments import EXPERIMENTS, Experiment
from likewise.reproduction.settings import Settings
from likewise.reproduction.simulation import Record
from likewise.reproduction.units import Unit, units_of


@dataclass(frozen=True)
class Summary:
    """A metric over the simulations of a cell.

    Parameters
    ----------
    mean : float
    two_sd : float
        Two standard deviations of single simulations; NaN where there is one.
    n : int
        How many simulations.
    """

    mean: float
    two_sd: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float | str | None]) -> Summary | None:
        """Summarise the simulations that have the metric; None if none has.

        Examples
        --------
        >>> Summary.of([1.0, 2.0, None, 3.0]), Summary.of([None])
        (Summary(mean=2.0, two_sd=2.0, n=3), None)
        """
        known = [float(value) for value in values if value is not None]
        if not known:
            return None
        n = len(known)
        # fsum rounds once, so a mean does not depend on the order of simulations; it refuses infinities.
        mean = fsum(known) / n if all(map(isfinite, known)) else sum(known) / n
        spread = (
            sqrt(fsum((value - mean) ** 2 for value in known) / (n - 1)) if n > 1 and isfinite(mean) else nan
        )
        return cls(mean, 2 * spread, n)


ON_OBSERVED = "d = l1 on Z for every arm: one fixed reference, a valid comparison"
ON_INPUT = "d = l1 on what each arm was given, Z for h and A_hat for f: the released code's reference, not a valid comparison"
ON_TRUTH = "d = l2 on A for every arm"


@dataclass(frozen=True)
class Metric:
    """A metric of a cell."""

    title: str
    reference: str = ""  # against which distance it is measured; empty where against none
    published_h: str = ""  # the row of the published table that h stands beside; empty where there is none
    published_f: str = ""  # the same of f
    of_truth: bool = False  # whether the metric of A itself, as outputs, tells the reader something


METRICS: dict[str, Metric] = {
    "mse": Metric("Mean squared error of entries not observed", "", "mse_h", "mse_f"),
    "mse_printed": Metric(
        "Error as the released code prints it: predictions from Z's features", "", "mse_h", "mse_f"
    ),
    "if1_observed": Metric("IF_1 (Z), mean ratio", ON_OBSERVED, "if1_h_Z", "if1_f_Z", of_truth=True),
    "if1_input": Metric("IF_1, mean ratio with d on A_hat", ON_INPUT, "if1_h_Z", "if1_f_Z"),
    "if2_truth": Metric("IF_2 (A), mean ratio", ON_TRUTH, "if2_h_A", "if2_f_A", of_truth=True),
    "similar_ratio": Metric("Mean ratio of the tenth of pairs most similar by A", ON_OBSERVED, of_truth=True),
    "scale_free_ratio": Metric("Scale-free mean ratio", ON_OBSERVED, of_truth=True),
    "similar_scale_free_ratio": Metric(
        "Scale-free mean ratio of the tenth of pairs most similar by A", ON_OBSERVED, of_truth=True
    ),
    "spread": Metric("Output spread", of_truth=True),
    "k2": Metric("K2 of Theorem 4.1", "l1 on Z to l2 on A_hat, proved", "", "k2"),
    "k_star": Metric("K*, the exact constant before clipping", "l1 on Z to l2 on A_hat, proved"),
    "rank": Metric("Rank: singular values kept"),
    "threshold": Metric("Threshold tau"),
    "clipped": Metric("Share of A_hat that clipping changes"),
}
"""The metrics of a cell, in the order of a table; smaller ratios are stronger fairness."""


@dataclass(frozen=True, eq=False)
class Results:
    """The records of all simulations of a run."""

    settings: Settings
    records: Mapping[Unit, Record]  # in any order; whatever is shown of them is in the order of `units_of`
    versions: Mapping[str, Any]  # of what computed it

    @property
    def arms(self) -> list[Arm]:
        """The arms, in the order of the settings."""
        return [resolve_arm(arm) for arm in self.settings.arms]

    @property
    def has_published_model(self) -> bool:
        """Whether the algorithm is the one whose numbers are published."""
        return self.settings.model == DENSE_NET

    @property
    def experiments(self) -> list[Experiment]:
        """The experiments, in the order of the paper."""
        return [EXPERIMENTS[key] for key in self.settings.experiments]

    def simulations(self, experiment: str, level: float) -> list[Record]:
        """Return the records of a cell, in the order of the simulations."""
        return [
            self.records[unit]
            for unit in units_of(self.settings)
            if (unit.experiment, unit.level) == (experiment, level)
        ]

    def of_arm(self, experiment: str, level: float, arm: str) -> list[Record]:
        """Return the records of an arm in a cell, in the order of the simulations."""
        return [record["arms"][arm] for record in self.simulations(experiment, level)]

    def summary(self, experiment: str, level: float, arm: str, metric: str) -> Summary | None:
        """Summarise a metric, a key of `METRICS`, of an arm over the simulations of a cell; None where the arm has no such metric, as h has no rank."""
        found = self.of_arm(experiment, level, arm) if self.has_arm(arm) else []
        return Summary.of(record["metrics"].get(metric) for record in found)

    def summary_of_truth(self, experiment: str, level: float, metric: str) -> Summary | None:
        """Summarise a metric of the truth A itself, taken as outputs."""
        return Summary.of(record["truth"][metric] for record in self.simulations(experiment, level))

    def has_arm(self, name: str) -> bool:
        """Whether an arm was run."""
        return any(arm.name == name for arm in self.arms)

    def cells(self) -> Iterator[tuple[Experiment, float]]:
        """Yield (experiment, level) of every cell of the experiments on generated data."""
        for experiment in self.experiments:
            if experiment.kind == "synthetic":
                yield from ((experiment, level) for level in self.settings.levels(experiment))
