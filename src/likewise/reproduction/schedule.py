"""Run units of work in this process or in several, one thread each; what is finished is handed over at once."""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import cast

from likewise.errors import KernelWarning, MemoryLimitError
from likewise.reproduction.settings import Settings
from likewise.reproduction.simulation import Record
from likewise.reproduction.units import Unit
from likewise.reproduction.work import run_unit

_BROKEN = (
    "a process of the run ended before its work: killed from outside, most likely for want of memory (go on with fewer jobs; finished "
    "simulations are kept), or started from a script that calls reproduce outside of `if __name__ == '__main__':`"
)


def run_units(
    units: list[Unit], settings: Settings, ratings: Path | None, jobs: int
) -> Generator[tuple[Unit, Record], None, None]:
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
        yield from _in_processes(units, settings, ratings, min(jobs, len(units)))


def _in_processes(
    units: list[Unit], settings: Settings, ratings: Path | None, jobs: int
) -> Generator[tuple[Unit, Record], None, None]:
    """Give each process its next unit as it hands over its last.

    The standard library's pool is not used: its thread waits for ever for the rest of what a process was sending when it was ended, so
    one interruption in fifteen left a program that could not end.
    """
    # The dear ones first, so that no processor is left with one of them at the end.
    left = sorted(units, key=lambda unit: unit.cost(settings))
    workers: list[SpawnProcess] = []
    at_work: dict[Connection, Unit] = {}

    def give(line: Connection) -> None:
        if left:
            at_work[line] = left.pop()
            line.send(at_work[line])

    try:
        with _interruptions_not_inherited():
            lines = [_start(workers, settings, ratings) for _ in range(jobs)]
        for line in lines:
            give(line)
        while at_work:
            for line in cast("list[Connection]", connection.wait(list(at_work))):
                unit, record = at_work.pop(line), line.recv()
                if isinstance(record, Exception):
                    raise record
                give(line)
                yield unit, record
    except (EOFError, ConnectionError) as error:
        raise MemoryLimitError(_BROKEN) from error
    finally:
        # Wait for no work: what is not finished will be computed again.
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


def _start(workers: list[SpawnProcess], settings: Settings, ratings: Path | None) -> Connection:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    workers.append(context.Process(target=_work, args=(theirs, settings, ratings)))
    workers[-1].start()
    theirs.close()  # so that the line ends with the process
    return ours


@contextmanager
def _interruptions_not_inherited() -> Iterator[None]:
    """Start processes that leave interruptions to this one from their first moment on."""
    if current_thread() is not main_thread():  # it alone may say what a signal does
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(line: Connection, settings: Settings, ratings: Path | None) -> None:
    """Answer each unit with its record or with what went wrong, until the other end of the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", KernelWarning)  # the process that started this one has given it
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        unit: Unit = line.recv()
        try:
            answer: Record | Exception = run_unit(unit, settings, ratings)
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = error
        line.send(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
