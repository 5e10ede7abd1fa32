"""Do one unit of work, on one thread: in this process or in another, the same numbers come out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from scipy import sparse
from threadpoolctl import ThreadpoolController

from likewise._kernels.threads import single_threaded
from likewise.observations import ObservedMatrix
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction.algorithm import resolve_algorithm
from likewise.reproduction.arms import resolve_arm
from likewise.reproduction.error_rate import run_rate
from likewise.reproduction.movielens import read_movielens, run_ratings
from likewise.reproduction.settings import Settings, Targets
from likewise.reproduction.simulation import Record, simulate
from likewise.reproduction.units import Unit


def run_unit(unit: Unit, settings: Settings, ratings: Path | None) -> Record:
    """Do one unit of work.

    Parameters
    ----------
    unit : Unit
    settings : Settings
    ratings : Path or None
        File of the real ratings; needed by Experiment 2 alone.

    Returns
    -------
    dict
        The same for the same unit and settings, whatever else runs.
    """
    with one_thread():
        return _run(unit, settings, ratings)


def _run(unit: Unit, settings: Settings, ratings: Path | None) -> Record:
    experiment, arms = unit.definition, [resolve_arm(arm) for arm in settings.arms]
    generator, seed = unit.seeds(settings.random_state)
    if experiment.kind == "ratings":
        assert ratings is not None
        return run_ratings(read_movielens(ratings, experiment), experiment, arms, seed)
    data = experiment.data(unit.level, generator)
    if experiment.kind == "rate":
        return run_rate(
            data, experiment, arms, float(experiment.sizes(unit.level)["observed_fraction"]), seed
        )
    targets = targets_of(data, settings.targets)
    algorithm = resolve_algorithm(settings.model)
    return simulate(data, experiment, arms, algorithm, settings.model, targets, seed)


def targets_of(data: ClusteredData, targets: Targets) -> sparse.csr_array:
    """Return what the algorithm learns at the observed entries: Z, or A as the released code does."""
    observed: ObservedMatrix = data.observed
    if targets == "observed":
        return observed.values
    return observed.with_values(data.truth[observed.positions()]).values


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and our kernels use one thread, so that sums are rounded in one order however many processes run."""
    with _controller().limit(limits=1), single_threaded():
        yield


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  its BLAS is a library of its own, which must be there to be limited

    return ThreadpoolController()
