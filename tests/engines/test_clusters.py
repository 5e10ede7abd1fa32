"""A Ray cluster by its address: in a file of its own, as a process is connected to one cluster at a time."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from likewise.engines import engine_of
from likewise.errors import EngineError

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not find_spec("ray"), reason="ray is not installed")]


def hundredths(block, shared):
    """A sum whose bits depend on the order."""
    return (np.array([block * shared]),)


@pytest.fixture
def ray_cluster(monkeypatch):
    """Start a Ray cluster in processes of its own; yield its address."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it and this program would need one token
    monkeypatch.setenv("RAY_DISABLE_USAGE_STATS", "1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ray = Path(sys.executable).with_name("ray")
    options = ["--port", str(port), "--include-dashboard", "false", "--num-cpus", "1", "--temp-dir"]
    # Paths of sockets have to be short, and those of pytest's folders are not. With --block all of the cluster ends with this one
    # process; "ray stop" would end other people's clusters too.
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [ray, "start", "--head", "--block", *options, folder],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as head,
    ):
        while head.poll() is None and not listens(port):
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"
        head.terminate()


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_cluster_that_runs_is_taken_by_its_address(ray_cluster):
    with engine_of("serial") as serial:
        expected = serial.reduce(hundredths, range(11), 0.01)
    with engine_of(f"ray={ray_cluster}") as engine:
        found = engine.reduce(hundredths, range(11), 0.01)
        with pytest.raises(EngineError, match="is connected to the Ray cluster"):
            engine_of("ray=127.0.0.1:9")
        assert engine_of(f"ray={ray_cluster}").n_workers == 1
    assert found[0].tobytes() == expected[0].tobytes()


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nonsense:1:2"])
def test_nobody_at_an_address(address):
    with pytest.raises(EngineError, match="no Ray cluster answers at"):
        engine_of(f"ray={address}")
