"""Every engine: what it returns, in which order, to which bits, and what happens when a worker dies."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.engines import ENGINES, Engine, engine_of
from likewise.engines.engine import groups_of, in_tree
from likewise.engines.local import _into_file
from likewise.errors import EngineError, InputError, MissingDependencyError, OutputError

INSTALLED = [
    pytest.param(
        name,
        marks=[
            pytest.mark.skipif(
                name in ("dask", "ray") and not find_spec("distributed" if name == "dask" else name),
                reason=f"{name} is not installed",
            ),
            *([pytest.mark.slow] if name in ("processes", "dask", "ray") else []),
        ],
    )
    for name in ENGINES
]


@pytest.fixture(params=INSTALLED, scope="module")
def engine(request):
    with engine_of(request.param) as started:
        yield started


def random_sums():
    """A task whose sums depend on the order; nested, so that other processes get it by value."""

    def task(seed, shared):
        rng = np.random.default_rng(seed)
        return (rng.standard_normal((7, 3)) * 10.0 ** rng.integers(-8, 8), np.full(2, shared[0] * seed))

    return task


def level_by_level(sums):
    """The tree as one draws it: neighbours, then pairs of neighbours; the last without a neighbour moves up."""
    while len(sums) > 1:
        pairs = [
            tuple(a + b for a, b in zip(*sums[k : k + 2], strict=True)) for k in range(0, len(sums) - 1, 2)
        ]
        sums = pairs + sums[len(sums) - len(sums) % 2 :]
    return sums[0]


def test_results_come_in_the_order_of_the_blocks(engine):
    assert list(engine.map(lambda block, shared: block**2 + shared, range(40), 1)) == [
        k**2 + 1 for k in range(40)
    ]


def test_no_blocks_no_results(engine):
    assert list(engine.map(lambda block, _: block, [])) == []


@pytest.mark.parametrize("n_blocks", [1, 5, 64, 101])
def test_every_engine_gives_the_bits_of_the_tree(engine, n_blocks):
    task, shared = random_sums(), np.array([0.1])
    expected = level_by_level([task(block, shared) for block in range(n_blocks)])
    found = engine.reduce(task, range(n_blocks), shared)
    assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]


def test_an_error_of_a_task_comes_through(engine):
    def task(block, _):
        if block == 3:
            raise InputError("block 3", "another")
        return (np.zeros(1),)

    with pytest.raises(InputError, match="block 3"):
        engine.reduce(task, range(9))
    with pytest.raises(InputError, match="block 3"):
        list(engine.map(task, range(9)))


def suicide(marks):
    """A task that kills its process the first time that it sees block 5."""

    def task(block, _):
        mark = marks / "seen"
        if block == 5 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return (np.array([block * 0.1]),)

    return task


@pytest.mark.parametrize(
    "name", [name for name in INSTALLED if name.values[0] in ("processes", "dask", "ray")]
)
def test_a_killed_worker_changes_no_bit(name, tmp_path):
    with engine_of(name) as engine:
        found = engine.reduce(suicide(tmp_path), range(32))
    expected = level_by_level([(np.array([block * 0.1]),) for block in range(32)])
    assert (tmp_path / "seen").exists()
    assert found[0].tobytes() == expected[0].tobytes()


def large(block, _):
    return np.full(2_000_000, float(block))


@pytest.mark.slow
def test_workers_killed_while_they_send_large_results_stop_nobody():
    """Most of a block's time is the sending of its 16 MB, and five workers die at any moment of it."""
    rng = np.random.default_rng(0)
    with engine_of("processes") as engine:
        killed = 0
        for block, found in enumerate(engine.map(large, range(60))):
            assert found.size == 2_000_000
            assert (found == block).all()
            if block % 10 == 5:
                time.sleep(rng.uniform(0, 0.05))
                os.kill(next(iter(engine._executor._processes)), signal.SIGKILL)
                killed += 1
        assert killed == 6
        folder = Path(engine._folder)
    assert not folder.exists()


@pytest.mark.slow
def test_a_block_that_kills_every_worker_is_named():
    with engine_of("processes") as engine, pytest.raises(EngineError, match="on block 7"):
        list(engine.map(lambda *_: os.kill(os.getpid(), signal.SIGKILL), ["block 7"]))


def test_an_engine_and_its_name_are_taken(engine):
    assert engine_of(engine) is engine
    assert engine.name in repr(engine).lower()
    assert engine.n_workers >= 1


def test_an_engine_of_ones_own_needs_map_alone():
    class Backwards(Engine):
        name = "backwards"

        def map(self, task, blocks, shared=None):
            return iter([task(block, shared) for block in reversed(list(blocks))][::-1])

    task, shared = random_sums(), np.array([0.1])
    expected = level_by_level([task(block, shared) for block in range(11)])
    found = engine_of(Backwards()).reduce(task, range(11), shared)
    assert found[0].tobytes() == expected[0].tobytes()


@pytest.mark.parametrize("wrong", ["spark", "threads=2", "", 3, None, "dask=", "ray="])
def test_what_is_no_engine_is_refused(wrong):
    with pytest.raises(InputError):
        engine_of(wrong)


@pytest.mark.parametrize(("name", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_what_is_not_installed_is_told_with_the_command(name, module, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'likewise\[{name}\]'"):
        engine_of(name)


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
def test_a_client_is_taken_as_it_is_and_left_open():
    from distributed import Client

    with Client(processes=False, n_workers=1, dashboard_address=None) as client:
        with engine_of(client) as engine:
            assert list(engine.map(lambda block, _: -block, [1, 2])) == [-1, -2]
        assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
def test_a_client_that_found_nobody_is_closed():
    """Freed later, it would stop another one's start for ever."""
    from distributed import Client

    with pytest.raises(EngineError, match="no Dask scheduler answers at") as told:
        engine_of("dask=nonsense")
    assert told.value.__traceback__ is not None  # which holds the client, so that it is there to be looked at
    clients = [thing for thing in gc.get_objects() if isinstance(thing, Client)]
    assert clients
    assert "connecting" not in {client.status for client in clients}


@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1:99999"])
def test_nobody_at_an_address_of_dask(address):
    with pytest.raises(EngineError, match="no Dask scheduler answers at"):
        engine_of(f"dask={address}")


@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
def test_who_listens_and_says_nothing_is_no_scheduler(monkeypatch):
    """Dask itself waits for a greeting for ever."""
    from likewise.engines import clusters

    monkeypatch.setattr(clusters, "_PATIENCE", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(EngineError, match=r"no Dask scheduler answers at .*timed out"),
    ):
        engine_of(f"dask=127.0.0.1:{silent.getsockname()[1]}")


def test_who_listens_and_says_nothing_is_no_cluster_of_ray(monkeypatch):
    from likewise.engines import clusters

    monkeypatch.setattr(clusters, "_PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TimeoutError):
        clusters._check_answers("127.0.0.1", str(silent.getsockname()[1]))


@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
def test_who_greets_otherwise_is_no_scheduler():
    """What a web server says stands for 3 EiB."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            with suppress(OSError):
                while True:
                    server.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        Thread(target=greet, daemon=True).start()
        with pytest.raises(EngineError, match="no Dask scheduler answers at"):
            engine_of(f"dask=127.0.0.1:{server.getsockname()[1]}")
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
@pytest.mark.parametrize(
    ("client", "told"),
    [
        (SimpleNamespace(asynchronous=True, status="running"), "an asynchronous client"),
        (SimpleNamespace(asynchronous=False, status="closed"), "is closed; make another"),
    ],
)
def test_a_client_that_cannot_be_waited_for_is_refused(client, told, monkeypatch):
    import distributed

    monkeypatch.setattr(distributed, "Client", SimpleNamespace)
    from likewise.engines.clusters import Dask

    with pytest.raises(EngineError, match=told):
        Dask(client)


@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
def test_a_script_whose_workers_begin_it_again_is_told_what_to_do(monkeypatch):
    import distributed

    def failing(**_):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(
        distributed, "Client", type("Client", (), {"__new__": lambda _, **options: failing(**options)})
    )
    with pytest.raises(EngineError, match="if __name__ == '__main__'"):
        engine_of("dask")


def test_a_result_that_no_disk_holds_is_told(tmp_path):
    with pytest.raises(OutputError, match="cannot write what a worker process found"):
        _into_file(random_sums(), 1, np.ones(1), str(tmp_path / "gone"))


LOSES_ITS_SCHEDULER = """
import time
from distributed import Client, LocalCluster
from likewise.engines import engine_of
from likewise.errors import EngineError

def slow(block, _):
    time.sleep(0.2)
    return block

if __name__ == "__main__":
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        results = engine_of(Client(cluster.scheduler_address, timeout=60)).map(slow, range(20))
        assert next(results) == 0
        cluster.close()
        try:
            list(results)
        except EngineError as error:
            print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
def test_a_scheduler_that_is_lost_is_told():
    """In a process of its own: the library keeps one loop a process, which other tests use."""
    run = subprocess.run(
        [sys.executable, "-c", LOSES_ITS_SCHEDULER], capture_output=True, text=True, timeout=120, check=False
    )
    assert "was lost" in run.stdout, run.stderr


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
def test_a_cluster_without_workers_is_told(monkeypatch):
    from distributed import Client

    from likewise.engines import clusters

    monkeypatch.setattr(clusters, "_NO_WORKER", 0.5)
    with Client(processes=False, n_workers=0, dashboard_address=None) as client:
        with pytest.raises(EngineError, match="no worker of Dask is left"):
            engine_of(client).reduce(random_sums(), range(3), np.zeros(1))
        client.cluster.scale(1)
        assert list(engine_of(client).map(lambda block, _: -block, [1])) == [-1]


def joined(left, right):
    return f"({left}{right})"


def joined_by_level(leaves):
    leaves = list(leaves)
    while len(leaves) > 1:
        pairs = [joined(*leaves[k : k + 2]) for k in range(0, len(leaves) - 1, 2)]
        leaves = pairs + leaves[len(leaves) - len(leaves) % 2 :]
    return leaves[0]


@given(st.integers(1, 200))
def test_the_tree_is_the_one_of_levels(n_leaves):
    leaves = [f"{k}." for k in range(n_leaves)]
    assert in_tree(leaves, joined) == joined_by_level(leaves)


@given(st.integers(1, 300), st.integers(1, 40))
def test_groups_are_branches_whatever_their_size(n_blocks, n_workers):
    blocks = [f"{k}." for k in range(n_blocks)]
    groups = groups_of(blocks, n_workers)
    assert [block for group in groups for block in group] == blocks
    assert in_tree([in_tree(group, joined) for group in groups], joined) == in_tree(blocks, joined)


@given(st.integers(1, 500))
def test_few_sums_exist_at_a_time(n_leaves):
    alive, most = 0, 0

    def leaves():
        nonlocal alive, most
        for _ in range(n_leaves):
            alive += 1
            most = max(most, alive)
            yield 1

    def add(left, right):
        nonlocal alive
        alive -= 1
        return left + right

    assert in_tree(leaves(), add) == n_leaves
    assert most <= n_leaves.bit_length() + 1
