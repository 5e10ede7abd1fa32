"""Requests to stop, put off while a step runs that must not be left half done, and kept from processes that are started."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from threading import Thread, current_thread, main_thread
from types import FrameType

from likewise.errors import KernelWarning, MemoryLimitError
from likewise.reproduction.settings import Settings
from likewise.reproduction.simulation import Record
from likewise.reproduction.units import Unit, run_unit

_REQUESTS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def put_off() -> Iterator[None]:
    """Do what is within to its end, then stop if that was asked for meanwhile."""
    if current_thread() is not main_thread():  # it alone is interrupted, and may say what a signal does
        yield
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    # What does not run Python, as the default of SIGTERM, leaves nothing half done that could be set right.
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
    """Let processes that are started within leave Ctrl-C to this one from their first moment on, where a system can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # where it is started with the first process, it lets the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


MOST_AT_ONCE = 60 if sys.platform == "win32" else 1000
"""Windows waits for at most 63 lines at once."""

_GLANCE = 1.0
"""Seconds after which it is looked whether processes are still there."""

_BROKEN = (
    "a process of the run ended before its work: killed from outside, most likely for want of memory (go on with fewer jobs; finished "
    "simulations are kept), or started from a script that calls reproduce outside of `if __name__ == '__main__':`"
)


class Worker:
    """A process at the other end of a line.

    Parameters
    ----------
    settings : Settings
    ratings : Path or None
    """

    def __init__(self, settings: Settings, ratings: Path | None) -> None:
        context = get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, settings, ratings))
        try:
            self._process.start()
        except ConnectionError as error:  # it ended while it was told what to do
            raise MemoryLimitError(_BROKEN) from error
        finally:
            theirs.close()  # so that the line ends with the process

    def give(self, unit: Unit) -> None:
        """Hand over a unit of work.

        Raises
        ------
        MemoryLimitError
            If the process has ended.
        """
        try:
            self._line.send(unit)
        except OSError as error:
            raise MemoryLimitError(_BROKEN) from error

    def take(self) -> Record:
        """Return the record of the unit that was given last; raise what went wrong.

        Raises
        ------
        MemoryLimitError
            If the process has ended without an answer, or within one.
        Exception
            Whatever the work raised.
        """
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
        """What is ready with an answer, and mostly with the end of the process."""
        return self._line

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone.

        The end of the line does not tell of it everywhere: whatever the work started may hold the line too, and on Windows it stays open
        where the process ended before it had taken it over.
        """
        return self._process.exitcode is not None


def ready(workers: Collection[Worker]) -> list[Worker]:
    """Wait for workers with an answer, or that have ended."""
    while True:
        speaking = connection.wait([worker.line for worker in workers], _GLANCE)
        if found := [worker for worker in workers if worker.line in speaking or worker.has_ended]:
            return found


def _work(line: Connection, settings: Settings, ratings: Path | None) -> None:
    """Answer each unit until the other end of the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", KernelWarning)  # the process that started this one has given it
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # nobody is there to be told
        while True:
            line.send_bytes(_answer(line.recv(), settings, ratings))


def _answer(unit: Unit, settings: Settings, ratings: Path | None) -> memoryview:
    """Return the record or the error as a message, as `Connection.send` would make it."""
    try:
        return ForkingPickler.dumps(run_unit(unit, settings, ratings))
    except (Exception, SystemExit) as error:
        error.add_note(traceback.format_exc())
        return ForkingPickler.dumps(_portable(error))


def _portable(error: BaseException) -> Exception:
    """Return an error, or one that says the same where another process could not rebuild it."""
    with suppress(Exception):
        again = ForkingPickler.loads(ForkingPickler.dumps(error))
        # What the script itself defines has another name in the process that runs the script.
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
    os._exit(1)


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
