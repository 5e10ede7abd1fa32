"""Kill workers of every engine, and schedulers, with SIGKILL at random moments of a fit, and compare what comes of it bit by bit.

    python benchmarks/kill_engines.py [--estimator svt] [--engines processes dask ray] [--kills 10] [--schedulers 10] [--users 3000] [--items 1200] [--seed 0]

A worker is killed once in each of `--kills` fits, at a moment drawn uniformly over what an undisturbed fit takes. A scheduler, which runs in a process of its own
with one worker, is killed in each of `--schedulers` fits that keep a checkpoint; then the same fit runs again on a new one, from that checkpoint.
Exits with 1 if any result differs from that of one thread. Kills that came after the end are counted apart.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import Event, Thread

import numpy as np
import polars as pl

from likewise import read_partitioned
from likewise.engines import Engine, engine_of
from likewise.errors import EngineError
from likewise.estimation import MatrixEstimator, make_estimator
from likewise.observations import clustered
from likewise.observations.partitioned.parts import Parts
from likewise.observations.partitioned.reading import _read

BLOCKS = 14
"""So many that a fit on little data has many tasks that a worker may be killed in."""


N_ITEMS = 1_200
"""So many that the decomposition iterates, and has many sums that a checkpoint may hold."""

OPTIONS: dict[str, dict[str, object]] = {"soft-impute": {"regularization": "half", "centering": "biases"}}
"""Other than an estimator's defaults."""

_MOST = 4
"""Times as many fits as kills, at most: some end before their kill comes."""


def write_parts(n_users: int, n_items: int, folder: Path) -> None:
    """Write ratings of people in five clusters, in four parts."""
    observed = clustered(n_users, n_items, 5, observed_fraction=0.08, random_state=0).observed
    people, items = observed.positions()
    for number, lines in enumerate(np.array_split(np.random.default_rng(0).permutation(people.size), 4)):
        part = {"user": people[lines], "item": items[lines], "rating": observed.values.data[lines]}
        pl.DataFrame(part).write_parquet(folder / f"{number}.parquet")


def estimator(name: str) -> MatrixEstimator:
    return make_estimator(name, random_state=0, **OPTIONS.get(name, {}))


def digest(fitted: MatrixEstimator) -> str:
    """Return a fingerprint of all bits of the estimate."""
    estimate = fitted.estimate_
    hashed = blake2b(digest_size=8)
    for array in (estimate.left, estimate.singular_values, estimate.right):
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()


def fit(folder: Path, engine: str | Engine, name: str) -> str:
    """Sort the parts, and fit; return the fingerprint."""
    parts = Parts.found(folder, None, None, None)
    entries = pl.scan_parquet(folder / "*.parquet").select(pl.len()).collect().item() // BLOCKS
    with _read(parts, (-1, 1), "error", engine, None, None, entries) as observed:
        return digest(estimator(name).fit(observed))


def pid_of(_: object, __: object) -> int:
    time.sleep(0.05)
    return os.getpid()


def killed_at(moment: float, pids: list[int], over: Event) -> tuple[Thread, list[str]]:
    """Kill the first of some processes that is there at a moment; say what happened."""
    said: list[str] = []

    def wait_and_kill() -> None:
        if over.wait(moment):
            said.append("after the end")
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            said.append("killed")
            return
        said.append("nobody there")

    thread = Thread(target=wait_and_kill)
    thread.start()
    return thread, said


def kill_workers(name: str, folder: Path, kind: str, n_kills: int, expected: str, rng: random.Random) -> bool:
    """Fit with one worker killed on the way, so many times on one engine."""
    equal, outcomes = 0, []
    with engine_of(name) as engine:
        fit(folder, engine, kind)  # workers start
        began = time.monotonic()
        assert fit(folder, engine, kind) == expected
        seconds = time.monotonic() - began
    while outcomes.count("killed") < n_kills and len(outcomes) < _MOST * n_kills:
        with engine_of(name) as engine:
            pids, over = list(set(engine.map(pid_of, range(4 * engine.n_workers)))), Event()
            rng.shuffle(pids)
            thread, said = killed_at(rng.uniform(0, seconds), pids, over)
            try:
                equal += fit(folder, engine, kind) == expected
            except EngineError as error:
                print(f"{name}: {error}", flush=True)
            finally:
                over.set()
                thread.join()
            outcomes += said
    counted = ", ".join(f"{outcomes.count(one)} {one}" for one in sorted(set(outcomes)))
    print(
        f"{kind} on {name}: {len(outcomes)} fits of {seconds:.1f} s, workers {counted}; {equal} results equal to the bit",
        flush=True,
    )
    return equal == len(outcomes)


@contextmanager
def cluster() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a scheduler of Dask and a worker, each in a process of its own; yield the address, and the scheduler."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, quiet = f"tcp://127.0.0.1:{port}", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-dashboard",
    ]
    scheduler = subprocess.Popen(run, **quiet)
    run = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        address,
        "--nworkers",
        "1",
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
        "--death-timeout",
        "60",
    ]
    worker = subprocess.Popen(run, **quiet)
    try:
        yield address, scheduler
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def fit_on(address: str, folder: Path, checkpoint: Path, kind: str) -> subprocess.Popen[str]:
    """Begin a fit on a cluster, in a process of its own, which prints the fingerprint."""
    run = [sys.executable, __file__, "--one", address, str(folder), str(checkpoint), "--estimator", kind]
    return subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def one(address: str, folder: Path, checkpoint: Path, kind: str) -> None:
    """Fit as soon as there is a worker; print the fingerprint, or what was lost."""
    deadline = time.monotonic() + 60
    while True:
        try:
            engine = engine_of(f"dask={address}")
            break
        except EngineError:
            if time.monotonic() > deadline:
                raise
    engine.client.wait_for_workers(1, timeout=60)  # type: ignore[attr-defined]
    print("begun", flush=True)
    try:
        options = {"value_range": (-1, 1), "engine": engine, "checkpoint": checkpoint}
        with read_partitioned(folder, **options) as observed:
            print(digest(estimator(kind).fit(observed)), flush=True)
    except EngineError as error:
        print(f"EngineError: {error}", flush=True)


def kill_schedulers(folder: Path, kind: str, n_kills: int, rng: random.Random) -> bool:
    """Kill the scheduler of a fit with a checkpoint, and go on from that on a new one, so many times."""
    with read_partitioned(folder, value_range=(-1, 1), engine="serial") as observed:
        expected = digest(estimator(kind).fit(observed))
    with tempfile.TemporaryDirectory() as scratch:
        seconds, told = 0.0, []
        with cluster() as (address, _):
            process = fit_on(address, folder, Path(scratch) / "undisturbed", kind)
            assert process.stdout is not None
            process.stdout.readline()
            began = time.monotonic()
            assert process.stdout.readline().strip() == expected
            seconds = time.monotonic() - began
            process.wait()
        equal, sums = 0, []
        for number in range(n_kills):
            checkpoint = Path(scratch) / str(number)
            with cluster() as (address, scheduler):
                process = fit_on(address, folder, checkpoint, kind)
                assert process.stdout is not None
                process.stdout.readline()
                time.sleep(rng.uniform(0, 0.95 * seconds))
                scheduler.kill()
                told.append(process.stdout.readline().partition(":")[0])
                process.wait()
            sums.append(len(list(checkpoint.glob("*.npz"))))
            with cluster() as (address, _):
                process = fit_on(address, folder, checkpoint, kind)
                equal += process.communicate()[0].split()[-1] == expected
        errors = told.count("EngineError")
        print(
            f"{kind}, schedulers: {n_kills} killed in fits of {seconds:.1f} s, {errors} told by an EngineError, {n_kills - errors} after the end; "
            f"{equal} results equal to the bit, from {min(sums)} to {max(sums)} sums that were kept",
            flush=True,
        )
    return equal == n_kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", nargs="*", default=["processes", "dask", "ray"])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--schedulers", type=int, default=10)
    parser.add_argument("--estimator", default="svt")
    parser.add_argument("--users", type=int, default=3000)
    parser.add_argument("--items", type=int, default=N_ITEMS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        address, folder, checkpoint = options.one
        one(address, Path(folder), Path(checkpoint), options.estimator)
        return 0
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_parts(options.users, options.items, folder)
        kind = options.estimator
        expected = fit(folder, "serial", kind)
        good = [
            kill_workers(engine, folder, kind, options.kills, expected, rng) for engine in options.engines
        ]
        if options.schedulers:
            good.append(kill_schedulers(folder, kind, options.schedulers, rng))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
