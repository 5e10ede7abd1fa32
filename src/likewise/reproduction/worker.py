"""A process that does units of work, one after another, and answers each with its record or with what went wrong."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Collection
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from threading import Thread

from likewise.errors import KernelWarning, MemoryLimitError
from likewise.reproduction.settings import Settings
from likewise.reproduction.simulation import Record
from likewise.reproduction.units import Unit
from likewise.reproduction.work import run_unit

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
