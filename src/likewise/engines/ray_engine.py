"""The engine on a Ray cluster: tasks and its object store only."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from likewise._kernels.backend import usable_processors
from likewise.engines.engine import Arrays, Engine, Task, add_arrays, grouped, in_tree
from likewise.engines.local import alone
from likewise.errors import EngineError, MissingDependencyError

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PATIENCE = 5.0
"""Seconds in which a cluster has to take a connection."""

_AHEAD = 4
"""Blocks for each worker that are begun before their turn."""


class Ray(Engine):
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
        self._alone = ray.remote(max_retries=10)(alone)
        self._add = ray.remote(max_retries=10)(add_arrays)

    def map(self, task: Task, blocks: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """Yield what `task` makes of each block, in their order."""
        import ray

        with _told():
            rest, handle, begun = iter(blocks), self.broadcast(shared), deque[Any]()
            while True:
                ahead = islice(rest, _AHEAD * self.n_workers - len(begun))
                begun.extend(self._alone.remote(task, block, handle) for block in ahead)
                if not begun:
                    return
                yield ray.get(begun.popleft())

    def reduce(self, task: Task, blocks: Sequence[Any], shared: Any = None) -> Arrays:
        """Return the sum of what `task` makes of the blocks, added on the workers."""
        import ray

        with _told():
            handle = self.broadcast(shared)
            leaves = (self._alone.remote(grouped(task), group, handle) for group in self._branches(blocks))
            # Arrays in the object store are read-only, and the caller may write to its own.
            total = ray.get(in_tree(leaves, self._add.remote))
            return tuple(array.copy() for array in total)

    def broadcast(self, value: Any) -> Any:
        """Put a value into the object store, from which every worker reads it."""
        import ray

        return ray.put(value)

    def close(self) -> None:
        """Leave the cluster, and end it if it was begun here; one that the program had before goes on."""
        import ray

        if self._is_ours:
            ray.shutdown()


def _connect(address: str | None) -> None:
    import ray

    own: dict[str, Any] = {"num_cpus": usable_processors(), "include_dashboard": False}
    try:
        _check_listens(address)
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


def _check_listens(address: str | None) -> None:
    """Find out within seconds whether anybody listens and greets, as Ray does unasked unless it encrypts; Ray itself tries for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if colon and "://" not in host and port.isdecimal():
        with socket.create_connection((host, int(port)), _PATIENCE) as connection:
            connection.settimeout(_PATIENCE)
            if os.environ.get("RAY_USE_TLS", "0") == "0" and not connection.recv(1):
                raise ConnectionError("whoever listens there hangs up")


@contextmanager
def _told() -> Iterator[None]:
    """Raise what a task raised as itself, and say what was lost where something was."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        raise EngineError(f"Ray lost a task and could not do it again ({error})") from error
