"""Run units of work in this process or in several, one thread each; what is finished is handed over at once."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, connection, get_context, parent_process
from pathlib import Path
from threading import Thread

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
) -> Iterator[tuple[Unit, Record]]:
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
) -> Iterator[tuple[Unit, Record]]:
    earlier = set(active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_prepare_process)
    try:
        # The dear ones first, so that no processor is left with one of them at the end.
        ordered = sorted(units, key=lambda unit: -unit.cost(settings))
        waiting = {pool.submit(run_unit, unit, settings, ratings): unit for unit in ordered}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future.result()
    except BrokenProcessPool as error:
        raise MemoryLimitError(_BROKEN) from error
    finally:
        # Wait for nothing: what is not finished will be computed again.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - earlier:
            process.terminate()


def _prepare_process() -> None:
    """Leave interruptions to the process that started this one, and end with it, in whatever way it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", KernelWarning)  # that process has given it
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()
