"""The engine on a Dask cluster: futures only, none of its arrays or data frames."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from likewise.engines.engine import Arrays, Engine, Task, add_arrays, grouped, in_tree
from likewise.engines.local import alone
from likewise.errors import EngineError, MissingDependencyError

_PATIENCE = 5
"""Seconds to wait for a scheduler to answer."""
_NO_WORKER = 60
"""Seconds after which an answer is asked for again, and whether there is a worker that could give it."""
_AHEAD = 4
"""Blocks for each worker that are begun before their turn."""


class Dask(Engine):
    """Workers of a Dask cluster, given by the address of its scheduler or a client; None begins one here, with a process for each processor.

    Sums are added on the workers, so that one comes back. A worker that is lost costs what it had in hand; the scheduler has it done
    again elsewhere.
    """

    name = "dask"

    def __init__(self, cluster: Any = None) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingDependencyError(
                "the engine 'dask' needs Dask: pip install 'likewise[dask]'"
            ) from error
        self._is_ours = not isinstance(cluster, Client)
        self.client = _client(cluster) if self._is_ours else _usable(cluster)
        self.n_workers = max(1, sum(self.client.nthreads().values()))

    def map(self, task: Task, blocks: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """Yield what `task` makes of each block, in their order."""
        with _told(self.client):
            rest, handle, begun = iter(blocks), self.broadcast(shared), deque[Any]()
            while True:
                ahead = islice(rest, _AHEAD * self.n_workers - len(begun))
                begun.extend(self._begun(alone, task, block, handle) for block in ahead)
                if not begun:
                    return
                yield self._result(begun.popleft())

    def reduce(self, task: Task, blocks: Sequence[Any], shared: Any = None) -> Arrays:
        """Return the sum of what `task` makes of the blocks, added on the workers."""
        with _told(self.client):
            handle = self.broadcast(shared)
            leaves = (self._begun(alone, grouped(task), group, handle) for group in self._branches(blocks))
            total = in_tree(leaves, lambda left, right: self._begun(add_arrays, left, right))
            arrays: Arrays = self._result(total)
            return arrays

    def broadcast(self, value: Any) -> Any:
        """Hand a value to the scheduler once; workers get it from one another, and again where one that had it is lost."""
        # Unlike scattered data, the result of a task can be made again.
        return None if value is None else self._begun(_same, value)

    def _begun(self, function: Any, *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False, retries=3)

    def _result(self, future: Any) -> Any:
        """Wait for a result, as long as there is a worker."""
        while True:
            try:
                return future.result(timeout=_NO_WORKER)
            except TimeoutError:
                if future.done():  # the task's own
                    raise
                if not self.client.nthreads():
                    raise EngineError("no worker of Dask is left, and none has come for a minute") from None

    def close(self) -> None:
        """End the cluster if it was begun here; one that was given goes on."""
        if self._is_ours:
            self.client.close()


def _same(value: Any) -> Any:
    return value


def _usable(client: Any) -> Any:
    """Refuse a client that cannot be waited for."""
    if client.asynchronous:
        raise EngineError("an asynchronous client of Dask was given; give one that waits for its results")
    if client.status != "running":
        raise EngineError(f"the client of Dask that was given is {client.status}; make another one")
    return client


def _of_this_machine() -> Any:
    from distributed import Client

    try:
        return Client(processes=True, threads_per_worker=1, dashboard_address=None)
    except RuntimeError as error:
        raise EngineError(
            f"no cluster of Dask could be begun on this machine ({error}); its workers run a script again from the top, so in a script what "
            "begins it stands below: if __name__ == '__main__':"
        ) from error


def _check_greets(address: str) -> None:
    """Find out within seconds whether somebody greets, as a scheduler does unasked; Dask itself waits for ever where nobody does.

    An `OSError` says that nobody listens, or that whoever does says nothing.
    """
    scheme, _, rest = address.rpartition("://")
    host, colon, port = rest.rpartition(":")
    if scheme in ("", "tcp") and colon and port.isdecimal() and ":" not in host:
        with socket.create_connection((host, int(port)), _PATIENCE) as connection:
            connection.settimeout(_PATIENCE)
            if not connection.recv(1):
                raise ConnectionError("whoever listens there hangs up")


def _client(address: str | None) -> Any:
    from distributed import Client

    if address is None:
        return _of_this_machine()
    try:
        _check_greets(address)
    except (OSError, OverflowError) as error:
        raise _nobody(address, error) from error
    client: Any = Client.__new__(Client)  # so that there is something to close where the rest fails
    try:
        client.__init__(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, MemoryError) as error:  # the last by what is no greeting
        # A client left to the garbage collector takes a lock when it is freed: in the middle of starting another, which holds it, for ever.
        client.close()
        raise _nobody(address, error) from error
    return client


def _nobody(address: str, error: Exception) -> EngineError:
    return EngineError(f"no Dask scheduler answers at {address} ({error}); start one with: dask scheduler")


@contextmanager
def _told(client: Any) -> Iterator[None]:
    """Say what was lost, and where: the scheduler, or worker after worker on one task."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise EngineError(f"Dask lost worker after worker on one task ({error})") from error
    except (CancelledError, CommClosedError, TimeoutError) as error:
        raise EngineError(
            f"the Dask scheduler at {client.scheduler.address if client.scheduler else 'its address'} was lost ({type(error).__name__})"
        ) from error
