"""Name, time and announce the steps of a long job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from likewise.progress_bars import StepProgress

Progress = StepProgress


class Steps:
    """Run the steps of a job one after another, keeping how long each took.

    Parameters
    ----------
    progress : callable, optional
        Called at the beginning and end of each step, and within it where the step reports.

    Attributes
    ----------
    seconds : dict of str to float
        Wall time of each finished step, in order.

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

    def __init__(self, progress: Progress | None = None) -> None:
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
        self.seconds[name] = perf_counter() - began
