"""Progress bars on standard error, for steps that take more than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import perf_counter
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

from likewise.checks import checked_callable
from likewise.errors import InputError, option

Progress = Callable[[int, int], None]
"""Called with (done, total) as the work goes on; total is the same in every call."""

StepProgress = Callable[[str, int, int], None]
"""Called with (step, done, total) as a job goes on; a step begins at done = 0 and is over at done = total."""

PATIENCE = 2.0
"""Seconds before a step shows its bar."""

_LONG = 3600.0
"""Seconds over which the speed is averaged: a step may report once a minute."""


class StepBars:
    """A bar for each slow step of a job; called with (step, done, total), as `likewise.audit` calls its `progress`.

    Bars go to the console, by default standard error, if that is a terminal and nobody asked for quiet. `remaining` adds the time left, by
    the speed of the last hour.
    """

    def __init__(
        self, *, quiet: bool = False, remaining: bool = False, console: Console | None = None
    ) -> None:
        console = console or Console(stderr=True)
        columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
        if remaining:
            columns += [TimeRemainingColumn(), TextColumn("left")]
        self._bars = RichProgress(
            *columns,
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
            speed_estimate_period=_LONG,
        )
        self._step = ""
        self._task: TaskID | None = None
        self._reveal = Timer(PATIENCE, lambda: None)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._reveal.cancel()
        self._bars.stop()

    def __call__(self, step: str, done: int, total: int) -> None:
        """Say how far a step is; a total of 1 means that it does not tell how far."""
        if self._bars.disable:
            return
        task = self._task if step == self._step and self._task is not None else self._begin(step)
        self._bars.update(task, completed=done, total=total if total > 1 or done else None)

    def _begin(self, step: str) -> TaskID:
        """Put the bar of this step in the place of the last one's, to be seen if it takes long."""
        self._reveal.cancel()
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._step = step
        self._task = task = self._bars.add_task(step, total=None, visible=False)
        # A quick step ends before its bar is seen: bars that flash say nothing.
        self._reveal = Timer(PATIENCE, self._show, (task,))
        self._reveal.daemon = True
        self._reveal.start()
        return task

    def _show(self, task: TaskID) -> None:
        if task == self._task:
            self._bars.update(task, visible=True)


@contextmanager
def shown(progress: StepProgress | bool | None, *, remaining: bool = False) -> Iterator[StepProgress | None]:
    """Yield what a job reports its progress to: the caller's function, or bars where somebody sees them.

    None and True show bars if standard error is a terminal; False shows nothing; all else but a function is refused. `remaining` adds the time left.

    >>> with shown(False) as progress:
    ...     progress is None
    True
    """
    if callable(progress):
        yield progress
    elif progress is not None and not isinstance(progress, bool):
        raise InputError(
            option("progress", repr(progress)), "a function of (step, done, total), True or False"
        )
    elif progress is False or not sys.stderr.isatty():
        yield None
    else:
        with StepBars(remaining=remaining) as bars:
            yield bars


class Steps:
    """Run the steps of a job one after another, keeping how long each took.

    Parameters
    ----------
    progress : callable, optional
        Called at the beginning and end of each step, and within it where the step reports.

    Attributes
    ----------
    seconds : dict of str to float
        Wall time of each finished step, in order; of all of one name together.

    Examples
    --------
    >>> steps = Steps(lambda step, done, total: print(step, done, "of", total))
    >>> with steps.step("estimate"):
    ...     pass
    estimate 0 of 1
    estimate 1 of 1
    >>> list(steps.seconds)
    ['estimate']
    """

    def __init__(self, progress: StepProgress | None = None) -> None:
        checked_callable("progress", progress, "a function of (step, done, total)")
        self.seconds: dict[str, float] = {}
        self._progress = progress

    @contextmanager
    def step(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """Run the body as one step; the body may report (done, total) through what this yields."""
        began = perf_counter()
        last_total = 1

        def report(done: int, total: int) -> None:
            nonlocal last_total
            last_total = total
            if self._progress is not None:
                self._progress(name, done, total)

        report(0, 1)
        yield report
        report(last_total, last_total)
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - began
