"""What a run found, by experiment, level, arm and metric, as plain records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from likewise.reproduction.arms import Arm, resolve_arm
from likewise.reproduction.experiments import EXPERIMENTS, Experiment
from likewise.reproduction.metrics import Summary
from likewise.reproduction.settings import Settings
from likewise.reproduction.simulation import Record
from likewise.reproduction.units import Unit, units_of


@dataclass(frozen=True, eq=False)
class Results:
    """The records of all simulations of a run.

    Parameters
    ----------
    settings : Settings
    records : mapping of Unit to dict
        In any order; whatever is shown of them is in the order of `likewise.reproduction.units.units_of`.
    versions : mapping
        Of what computed it.
    """

    settings: Settings
    records: Mapping[Unit, Record]
    versions: Mapping[str, Any]

    @property
    def arms(self) -> list[Arm]:
        """The arms, in the order of the settings."""
        return [resolve_arm(arm) for arm in self.settings.arms]

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
        """Summarise a figure of an arm over the simulations of a cell.

        Parameters
        ----------
        experiment : str
        level : float
        arm : str
        metric : str
            A key of `likewise.reproduction.metrics.METRICS`.

        Returns
        -------
        Summary or None
            None where the arm has no such figure, as h has no rank.
        """
        found = self.of_arm(experiment, level, arm) if self.has_arm(arm) else []
        return Summary.of(record["figures"].get(metric) for record in found)

    def summary_of_truth(self, experiment: str, level: float, metric: str) -> Summary | None:
        """Summarise a figure of the truth A itself, taken as outputs."""
        return Summary.of(record["truth"][metric] for record in self.simulations(experiment, level))

    def has_arm(self, name: str) -> bool:
        """Whether an arm was run."""
        return any(arm.name == name for arm in self.arms)

    def cells(self) -> Iterator[tuple[Experiment, float]]:
        """Yield (experiment, level) of every cell of the experiments on generated data."""
        for experiment in self.experiments:
            if experiment.kind == "synthetic":
                yield from ((experiment, level) for level in self.settings.levels(experiment))
