"""A unit of work is one simulation of one cell with all arms: its seed, its cost, how it is done, and the processes that do many.

A unit runs on one thread. Processes get units of work, answer, fail and end, and Ctrl-C waits for a step that must be finished.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from threading import Thread, current_thread, main_thread
from types import FrameType

import numpy as np

from likewise._kernels.backend import one_blas_thread, single_threaded
from likewise.errors import KernelWarning, MemoryLimitError
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


_REQUESTS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def put_off() -> Iterator[None]:
    """Finish what is within; a request to stop that comes meanwhile is acted on afterwards."""
    if (
        current_thread() is not main_thread()
    ):  # only the main thread is interrupted, and only it may set handlers
        yield
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    # A handler that is not Python's, such as SIGTERM's default, ends the process at once: there is nothing to put off.
    before = {number: handler for number in _REQUESTS if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def not_inherited() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started within, from their first moment on; only this one acts on it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started with the first process, it would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


MOST_AT_ONCE = 60 if sys.platform == "win32" else 1000
"""Windows can wait for at most 63 pipes at once."""

_GLANCE = 1.0
"""Seconds between two looks at whether the processes still live."""

_BROKEN = (
    "a process of the run ended before its work: killed from outside, most likely for want of memory (go on with fewer jobs; finished "
    "simulations are kept), or started from a script that calls reproduce outside of `if __name__ == '__main__':`"
)


class Worker:
    """A process at the other end of a pipe."""

    def __init__(self, settings: Settings, ratings: Path | None) -> None:
        context = get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, settings, ratings))
        try:
            self._process.start()
        except ConnectionError as error:  # it ended while it was being started
            raise MemoryLimitError(_BROKEN) from error
        finally:
            theirs.close()  # so that the pipe ends with the process

    def give(self, unit: Unit) -> None:
        """Hand over a unit of work; MemoryLimitError if the process has ended."""
        try:
            self._line.send(unit)
        except OSError as error:
            raise MemoryLimitError(_BROKEN) from error

    def take(self) -> Record:
        """Return the record of the unit that was given last; raise what the work raised, or MemoryLimitError if the process has ended without an answer, or within one."""
        try:
            if not self._line.poll():
                raise EOFError
            answer: Record | Exception = self._line.recv()
        except (EOFError, OSError) as error:
            raise MemoryLimitError(_BROKEN) from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self) -> None:
        """End the process wherever it is; nothing is lost but its unit of work."""
        self._process.kill()

    def join(self) -> None:
        """Wait until the process has ended."""
        self._process.join()
        self._line.close()

    @property
    def line(self) -> Connection:
        """The pipe, which is ready when an answer is there and, nearly always, when the process has ended."""
        return self._line

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone.

        The pipe alone does not tell: a child of the process may hold it open, and on Windows it stays open if the process ends before it has
        taken its end over.
        """
        return self._process.exitcode is not None


def ready(workers: Collection[Worker]) -> list[Worker]:
    """Wait until some workers have an answer or have ended; return these."""
    while True:
        speaking = connection.wait([worker.line for worker in workers], _GLANCE)
        if found := [worker for worker in workers if worker.line in speaking or worker.has_ended]:
            return found


def _work(line: Connection, settings: Settings, ratings: Path | None) -> None:
    """Answer each unit until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", KernelWarning)  # the process that started this one has warned already
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # nobody is there to read the answer
        while True:
            line.send_bytes(_answer(line.recv(), settings, ratings))


def _answer(unit: Unit, settings: Settings, ratings: Path | None) -> memoryview:
    """Return the record, or the error, pickled as `Connection.send` does it."""
    try:
        return ForkingPickler.dumps(run_unit(unit, settings, ratings))
    except (Exception, SystemExit) as error:
        error.add_note(traceback.format_exc())
        return ForkingPickler.dumps(_portable(error))


def _portable(error: BaseException) -> Exception:
    """Return the error itself, or one with the same message where another process could not unpickle it."""
    with suppress(Exception):
        again = ForkingPickler.loads(ForkingPickler.dumps(error))
        # A class that the script defines has another module name in the process that runs the script.
        if (
            isinstance(error, Exception)
            and type(again) is type(error)
            and type(error).__module__ != "__mp_main__"
        ):
            return error
    said = RuntimeError(f"{type(error).__name__}: {error}")
    for note in getattr(error, "__notes__", ()):
        said.add_note(note)
    return said


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    # At once: a thread cannot end a process that is at work otherwise.
    os._exit(1)


Results = Generator[tuple[Unit, Record], None, None]


def run_units(units: list[Unit], settings: Settings, ratings: Path | None, jobs: int) -> Results:
    """Yield each unit with its record, as they finish, from as many processes as `jobs`; with 1 everything runs in this one."""
    if jobs == 1 or len(units) <= 1:
        yield from ((unit, run_unit(unit, settings, ratings)) for unit in units)
    else:
        yield from _in_processes(units, settings, ratings, min(jobs, len(units), MOST_AT_ONCE))


def _in_processes(units: list[Unit], settings: Settings, ratings: Path | None, jobs: int) -> Results:
    """Give each process its next unit as it hands over its last.

    The standard library's pool is not used: when a process is ended while it sends, the pool's thread waits for the rest for ever. One
    interruption in fifteen left a program that could not end.
    """
    # The costly units first, so that no processor works alone on one at the end.
    left = sorted(units, key=lambda unit: unit.cost(settings))
    workers: list[Worker] = []
    at_work: dict[Worker, Unit] = {}

    def give(worker: Worker) -> None:
        if left:
            at_work[worker] = left.pop()
            worker.give(at_work[worker])

    try:
        with put_off(), not_inherited():
            for _ in range(jobs):
                workers.append(Worker(settings, ratings))
        for worker in workers:
            give(worker)
        while at_work:
            for worker in ready(at_work):
                unit, record = at_work.pop(worker), worker.take()
                give(worker)
                yield unit, record
    finally:
        _end(workers)


def _end(workers: list[Worker]) -> None:
    """End all workers at once; unfinished units are computed again next time."""
    with put_off():
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join()
