"""Engines on clusters, of Dask and of Ray: tasks alone, none of their arrays, data frames or sums."""

from __future__ import annotations

import os
import socket
from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from typing import Any

from likewise._kernels.backend import usable_processors
from likewise.engines.engine import Arrays, Engine, Task, add_arrays, grouped, in_tree
from likewise.engines.local import alone
from likewise.errors import EngineError, MissingDependencyError

_PATIENCE = 5
"""Seconds to wait for whoever is at an address to answer."""
_NO_WORKER = 60
"""Seconds after which an answer of Dask is asked for again, and whether there is a worker that could give it."""
_AHEAD = 4
"""Blocks for each worker that are begun before their turn."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class _Cluster(Engine):
    """Workers elsewhere, which begin some blocks ahead; sums are added on them, so that one comes back."""

    @abstractmethod
    def _begun(self, function: Any, *arguments: Any) -> Any:
        """Begin a call on some worker, and return what stands for its result, here and in the arguments of other calls."""

    @abstractmethod
    def _result(self, begun: Any) -> Any:
        """Wait for a result."""

    @abstractmethod
    def _told(self) -> AbstractContextManager[None]:
        """Say what was lost where something was."""

    def map(self, task: Task, blocks: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """Yield what `task` makes of each block, in their order."""
        with self._told():
            rest, handle, begun = iter(blocks), self.broadcast(shared), deque[Any]()
            while True:
                ahead = islice(rest, _AHEAD * self.n_workers - len(begun))
                begun.extend(self._begun(alone, task, block, handle) for block in ahead)
                if not begun:
                    return
                yield self._result(begun.popleft())

    def reduce(self, task: Task, blocks: Sequence[Any], shared: Any = None) -> Arrays:
        """Return the sum of what `task` makes of the blocks, added on the workers."""
        with self._told():
            handle = self.broadcast(shared)
            leaves = (self._begun(alone, grouped(task), group, handle) for group in self._branches(blocks))
            # The same tree as on one machine, of what stands for sums: so the bits are the same.
            total = in_tree(leaves, lambda left, right: self._begun(add_arrays, left, right))
            arrays: Arrays = self._result(total)
            return arrays


def _check_answers(host: str, port: str, *, greets: bool = True) -> None:
    """Find out within seconds whether somebody listens, and greets unasked; an `OSError` says that nobody does.

    Dask itself waits for ever where nobody greets, and Ray for minutes.
    """
    with socket.create_connection((host, int(port)), _PATIENCE) as connection:
        connection.settimeout(_PATIENCE)
        if greets and not connection.recv(1):
            raise ConnectionError("whoever listens there hangs up")


class Dask(_Cluster):
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

    def broadcast(self, value: Any) -> Any:
        """Hand a value to the scheduler once; workers get it from one another, and again where one that had it is lost."""
        # Unlike scattered data, the result of a task can be made again.
        return None if value is None else self._begun(_same, value)

    def _begun(self, function: Any, *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False, retries=3)

    def _result(self, begun: Any) -> Any:
        """Wait for a result, as long as there is a worker."""
        while True:
            try:
                return begun.result(timeout=_NO_WORKER)
            except TimeoutError:
                if begun.done():  # the task's own
                    raise
                if not self.client.nthreads():
                    raise EngineError("no worker of Dask is left, and none has come for a minute") from None

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what was lost, and where: the scheduler, or worker after worker on one task."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            yield
        except KilledWorker as error:
            raise EngineError(f"Dask lost worker after worker on one task ({error})") from error
        except (CancelledError, CommClosedError, TimeoutError) as error:
            scheduler = self.client.scheduler
            raise EngineError(
                f"the Dask scheduler at {scheduler.address if scheduler else 'its address'} was lost ({type(error).__name__})"
            ) from error

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


def _client(address: str | None) -> Any:
    from distributed import Client

    if address is None:
        return _of_this_machine()
    scheme, _, rest = address.rpartition("://")
    host, colon, port = rest.rpartition(":")
    try:
        if scheme in ("", "tcp") and colon and port.isdecimal() and ":" not in host:
            _check_answers(host, port)
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


class Ray(_Cluster):
    """Workers of a Ray cluster, on which sums are added: of the one at an address, or for None of one on this machine.

    In a program that has called ``ray.init`` its cluster is taken.
    """

    name = "ray"

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingDependencyError("the engine 'ray' needs Ray: pip install 'likewise[ray]'") from error
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            _connect(address)
        elif address is not None:
            _check_connected_to(address)
        self.n_workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        # Also a task whose worker was killed is tried again, on another.
        self._remote = {function: ray.remote(max_retries=10)(function) for function in (alone, add_arrays)}

    def reduce(self, task: Task, blocks: Sequence[Any], shared: Any = None) -> Arrays:
        """Return the sum of what `task` makes of the blocks, added on the workers."""
        # Arrays in the object store are read-only, and the caller may write to its own.
        return tuple(array.copy() for array in super().reduce(task, blocks, shared))

    def _begun(self, function: Any, *arguments: Any) -> Any:
        return self._remote[function].remote(*arguments)

    def _result(self, begun: Any) -> Any:
        import ray

        return ray.get(begun)

    def broadcast(self, value: Any) -> Any:
        """Put a value into the object store, from which every worker reads it."""
        import ray

        return ray.put(value)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise what a task raised as itself, and say what was lost where something was."""
        from ray.exceptions import RayError, RayTaskError

        try:
            yield
        # Before `RayError`, of which it is one: the task itself raised.
        except RayTaskError as error:
            raise error.cause from error
        except RayError as error:
            raise EngineError(f"Ray lost a task and could not do it again ({error})") from error

    def close(self) -> None:
        """Leave the cluster, and end it if it was begun here; one that the program had before goes on."""
        import ray

        if self._is_ours:
            ray.shutdown()


def _connect(address: str | None) -> None:
    import ray

    own: dict[str, Any] = {"num_cpus": usable_processors(), "include_dashboard": False}
    host, colon, port = (address or "").rpartition(":")
    try:
        if colon and "://" not in host and port.isdecimal():
            _check_answers(host, port, greets=os.environ.get("RAY_USE_TLS", "0") == "0")
        ray.init(address, log_to_driver=False, **(own if address is None else {}))
    except (ConnectionError, OSError, ValueError, RuntimeError, TimeoutError) as error:
        raise EngineError(
            f"no Ray cluster answers at {address} ({error}); start one with: ray start --head; where it asks for a token, this program "
            "needs the same one: see ray get-auth-token"
        ) from error


def _check_connected_to(address: str) -> None:
    """Refuse another cluster than the one that this program is connected to, which would be taken silently."""
    import ray

    there = ray.get_runtime_context().gcs_address
    (host, _, port), (asked, _, its_port) = there.rpartition(":"), address.rpartition(":")
    # Ray tells a machine's own address even where a loopback one was given.
    if port != its_port or (asked != host and asked not in _LOOPBACK):
        raise EngineError(
            f"this program is connected to the Ray cluster at {there}, and another one was given: {address}; call ray.shutdown() before, or "
            "name the engine 'ray', without an address, for the one that is connected"
        )
