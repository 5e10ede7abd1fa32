"""The units of work of a run, one simulation of one cell each, with seeds that depend on nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.reproduction.experiments import EXPERIMENTS, Experiment
from likewise.reproduction.settings import Settings

SEEDING = "SeedSequence(random_state, spawn_key=(experiment, level, simulation))"
"""How the seed of a unit comes about; experiment and level are counted from 0 as they are listed."""


@dataclass(frozen=True)
class Unit:
    """One simulation of one cell, all arms.

    Parameters
    ----------
    experiment : str
        Key of an experiment.
    level : float
    simulation : int
        Counted from 1.
    """

    experiment: str
    level: float
    simulation: int

    @property
    def definition(self) -> Experiment:
        """The experiment."""
        return EXPERIMENTS[self.experiment]

    @property
    def name(self) -> str:
        """A name for its file."""
        axis = self.definition.axis
        level = f"-{axis}-{self.level:g}" if axis else ""
        return f"experiment-{self.experiment}{level}-simulation-{self.simulation:03d}"

    def seeds(self, random_state: int) -> tuple[np.random.Generator, int]:
        """Return a generator for the data, and a seed for everything that is drawn afterwards."""
        place = list(EXPERIMENTS).index(self.experiment), self.definition.levels.index(self.level)
        sequence = np.random.SeedSequence(random_state, spawn_key=(*place, self.simulation))
        data, rest = sequence.spawn(2)
        return np.random.default_rng(data), int(rest.generate_state(1)[0])

    def cost(self, settings: Settings) -> float:
        """Return about how long it takes, for the time that is left; a net is trained in as many steps on small data as on large."""
        sizes = self.definition.sizes(self.level)
        entries = float(sizes["n_individuals"]) * float(sizes["n_features"])
        if self.definition.kind == "rate":
            return entries / 1e6
        return len(settings.arms) * (1.0 + entries / 4e5)


def units_of(settings: Settings) -> list[Unit]:
    """Return all units of a run, in the order of its tables.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Unit
        Real ratings are what they are, so there is one unit for them.
    """
    return [
        Unit(key, level, simulation)
        for key in settings.experiments
        for level in settings.levels(EXPERIMENTS[key])
        for simulation in range(1, 1 + (1 if EXPERIMENTS[key].kind == "ratings" else settings.simulations))
    ]
