"""A unit of work is one simulation of one cell with all arms: its seed, its cost, and how it is done, on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from likewise._kernels.backend import one_blas_thread, single_threaded
from likewise.reproduction.algorithm import resolve_algorithm
from likewise.reproduction.arms import Arm, resolve_arm
from likewise.reproduction.experiments import EXPERIMENTS, Experiment
from likewise.reproduction.movielens import read_movielens, run_ratings
from likewise.reproduction.settings import Settings
from likewise.reproduction.simulation import Record, simulate
from likewise.reproduction.theory import least_favourable, run_minimax, run_rate

SEEDING = "SeedSequence(random_state, spawn_key=(experiment, level, simulation))"
"""How the seed of a unit comes about; experiment and level are counted from 0 as they are listed."""


@dataclass(frozen=True)
class Unit:
    """One simulation of one cell, all arms."""

    experiment: str  # key of an experiment
    level: float
    simulation: int  # counted from 1

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
        # By its place alone, so that no seed depends on which units are run, or in what order.
        place = list(EXPERIMENTS).index(self.experiment), self.definition.levels.index(self.level)
        sequence = np.random.SeedSequence(random_state, spawn_key=(*place, self.simulation))
        data, rest = sequence.spawn(2)
        return np.random.default_rng(data), int(rest.generate_state(1)[0])

    def cost(self, settings: Settings) -> float:
        """Return about how long it takes, for the time that is left; a net is trained in as many steps on small data as on large."""
        sizes = self.definition.sizes(self.level)
        entries = float(sizes["n_individuals"]) * float(sizes["n_features"])
        if self.definition.kind in ("rate", "minimax"):
            return entries / 1e6
        return len(settings.arms) * (1.0 + entries / 4e5)


def units_of(settings: Settings) -> list[Unit]:
    """Return all units of a run, in the order of its tables. Real ratings are what they are, so there is one unit for them."""
    return [
        Unit(key, level, simulation)
        for key in settings.experiments
        for level in settings.levels(EXPERIMENTS[key])
        for simulation in range(1, 1 + (1 if EXPERIMENTS[key].kind == "ratings" else settings.simulations))
    ]


def run_unit(unit: Unit, settings: Settings, ratings: Path | None) -> Record:
    """Do one unit of work: the same for the same unit and settings, whatever else runs. Experiment 2 alone needs the file of `ratings`."""
    with one_thread():
        return _run(unit, settings, ratings)


def _run(unit: Unit, settings: Settings, ratings: Path | None) -> Record:
    experiment, arms = unit.definition, [resolve_arm(arm) for arm in settings.arms]
    generator, seed = unit.seeds(settings.random_state)
    if experiment.kind == "ratings":
        assert ratings is not None
        return run_ratings(read_movielens(ratings, experiment), experiment, arms, seed)
    if experiment.kind == "minimax":
        return _run_minimax(experiment, arms, unit.level, generator, seed)
    data = experiment.data(unit.level, generator, settings.deviation)
    if experiment.kind == "rate":
        fraction = float(experiment.sizes(unit.level)["observed_fraction"])
        return run_rate(data, experiment, arms, fraction, min(settings.deviation**2, 1.0), seed)
    algorithm = resolve_algorithm(settings.model)
    return simulate(data, experiment, arms, algorithm, settings.model, settings.targets, seed)


def _run_minimax(
    experiment: Experiment, arms: list[Arm], size: float, generator: np.random.Generator, seed: int
) -> Record:
    m, n, fraction = experiment.n_individuals, experiment.n_features, experiment.observed_fraction
    data = least_favourable(m, n, fraction, size, generator)
    return run_minimax(data, experiment, arms, fraction, size, seed)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and our kernels use one thread, so that sums are rounded in one order however many processes run."""
    with one_blas_thread(of_all_libraries=True), single_threaded():
        yield
