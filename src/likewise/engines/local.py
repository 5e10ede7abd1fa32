"""Engines of one machine: one block after the other, threads, processes."""

from __future__ import annotations

import os
import tempfile
from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from likewise._kernels.backend import single_threaded, thread_count
from likewise.engines.engine import Engine, Task
from likewise.errors import EngineError, OutputError

_AHEAD = 2
"""Blocks for each worker that are begun before their turn: so many results wait for a slow one."""
_MOST_LOSSES = 3
"""Times in a row that processes may be lost without a result in between."""


def alone(task: Task, block: Any, shared: Any) -> Any:
    """Run a task on one thread: its fellows have the other processors, and sums must not depend on how many there are."""
    with single_threaded():
        return task(block, shared)


class Serial(Engine):
    """One block after the other, in this thread."""

    name = "serial"

    def map(self, task: Task, blocks: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """Yield what `task` makes of each block."""
        for block in blocks:
            yield alone(task, block, shared)


class _Pool(Engine):
    """Workers of the standard library's kind."""

    def __init__(self, n_workers: int | None = None) -> None:
        self.n_workers = thread_count(n_workers)
        self._executor: Executor | None = None

    @abstractmethod
    def _started(self) -> Executor: ...

    def map(self, task: Task, blocks: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """Yield what `task` makes of each block, in their order; what a killed worker had in hand is done again."""
        rest, losses = iter(blocks), 0
        begun: deque[tuple[Any, Future[Any]]] = deque()
        while True:
            # Only so many are begun ahead: results that wait for a slow one must not fill the memory.
            for block in islice(rest, _AHEAD * self.n_workers - len(begun)):
                begun.append((block, self._begin(task, block, shared)))
            if not begun:
                return
            try:
                result = begun[0][1].result()
            except BrokenProcessPool as error:
                # One death breaks the whole pool: what was finished is kept, all else begins again in a new one.
                losses += 1
                if losses > _MOST_LOSSES:
                    raise _lost(begun[0][0]) from error
                self.close()
                begun = deque((block, self._again(task, block, shared, future)) for block, future in begun)
                continue
            begun.popleft()
            # A result in between shows that the loss was not the block's own fault.
            losses = 0
            yield self._received(result)

    def _begin(self, task: Task, block: Any, shared: Any) -> Future[Any]:
        try:
            return self._submitted(task, block, shared)
        except BrokenProcessPool:  # a worker died while none was waited for
            self.close()
            return self._submitted(task, block, shared)

    def _submitted(self, task: Task, block: Any, shared: Any) -> Future[Any]:
        if self._executor is None:
            self._executor = self._started()
        return self._sent(self._executor, task, block, shared)

    def _sent(self, executor: Executor, task: Task, block: Any, shared: Any) -> Future[Any]:
        return executor.submit(alone, task, block, shared)

    def _received(self, result: Any) -> Any:
        return result

    def _again(self, task: Task, block: Any, shared: Any, future: Future[Any]) -> Future[Any]:
        """Begin a block once more, unless it was finished."""
        if future.done() and not future.cancelled() and future.exception() is None:
            return future  # finished before the pool broke
        return self._begin(task, block, shared)

    def close(self) -> None:
        """Give back the workers; the next call starts others."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None


def _lost(block: Any) -> EngineError:
    return EngineError(
        f"a worker process was killed {_MOST_LOSSES + 1} times over on {block}; if memory ran out, take fewer workers or another engine"
    )


class Threads(_Pool):
    """Threads of this process: nothing is copied; the kernels and file reading run side by side."""

    name = "threads"

    def _started(self) -> Executor:
        return ThreadPoolExecutor(self.n_workers, "likewise")


def _into_file(task: Task, block: Any, shared: Any, folder: str) -> str:
    """Run a task and leave its result in a file of its own; return the name."""
    result = alone(task, block, shared)
    try:
        handle, path = tempfile.mkstemp(dir=folder)
        with Connection(handle, readable=False) as file:
            file.send(result)
    except OSError as error:
        raise OutputError(
            f"cannot write what a worker process found to {folder}: {error.strerror}"
        ) from error
    return Path(path).name


class Processes(_Pool):
    """Other processes of this machine, begun when first needed: what is shared is copied to each; what a killed one had in hand is done again.

    All workers answer through one pipe, in which half a message of a worker that was killed would stop the rest for ever. So a result
    goes into a file, in a private folder, and only its name into the pipe: so few bytes are written whole or not at all.
    """

    name = "processes"

    def __init__(self, n_workers: int | None = None) -> None:
        super().__init__(n_workers)
        self._results: tempfile.TemporaryDirectory[str] | None = None

    @property
    def _folder(self) -> str:
        if self._results is None:
            self._results = tempfile.TemporaryDirectory(prefix="likewise-", ignore_cleanup_errors=True)
        return self._results.name

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._results is not None:  # what killed workers had finished and nobody asked for
            self._results.cleanup()
            self._results = None

    def _sent(self, executor: Executor, task: Task, block: Any, shared: Any) -> Future[Any]:
        return executor.submit(_into_file, task, block, shared, self._folder)

    def _received(self, result: Any) -> Any:
        path = Path(self._folder) / result
        with Connection(os.open(path, os.O_RDONLY), writable=False) as file:
            content = file.recv()
        path.unlink()
        return content

    def _started(self) -> Executor:
        # The pool that joblib brings: unlike the standard library's, it does not run the caller's script again in each worker.
        from joblib.externals.loky import ProcessPoolExecutor

        executor: Executor = ProcessPoolExecutor(self.n_workers)
        return executor

    def close(self) -> None:
        """End the worker processes; the next call starts others."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]
            self._executor = None
