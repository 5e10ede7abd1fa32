"""Run units of work in this process or in several, one thread each; what is finished is handed over at once."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from likewise.reproduction.interruptions import not_inherited, put_off
from likewise.reproduction.settings import Settings
from likewise.reproduction.simulation import Record
from likewise.reproduction.units import Unit
from likewise.reproduction.work import run_unit
from likewise.reproduction.worker import MOST_AT_ONCE, Worker, ready

Results = Generator[tuple[Unit, Record], None, None]


def run_units(units: list[Unit], settings: Settings, ratings: Path | None, jobs: int) -> Results:
    """Yield each unit with its record, as they finish.

    Parameters
    ----------
    units : list of Unit
    settings : Settings
    ratings : Path or None
    jobs : int
        Processes; with 1 everything runs in this one.
    """
    if jobs == 1 or len(units) <= 1:
        yield from ((unit, run_unit(unit, settings, ratings)) for unit in units)
    else:
        yield from _in_processes(units, settings, ratings, min(jobs, len(units), MOST_AT_ONCE))


def _in_processes(units: list[Unit], settings: Settings, ratings: Path | None, jobs: int) -> Results:
    """Give each process its next unit as it hands over its last.

    The standard library's pool is not used: its thread waits for ever for the rest of what a process was sending when it was ended, so
    one interruption in fifteen left a program that could not end.
    """
    # The dear ones first, so that no processor is left with one of them at the end.
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
    """Wait for no work: what is not finished will be computed again."""
    with put_off():
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join()
