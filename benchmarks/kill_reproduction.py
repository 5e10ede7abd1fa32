"""Kill a run of Experiment 1 with SIGKILL at random moments, resume it each time, and compare its tables with an undisturbed run's.

    python benchmarks/kill_reproduction.py [--kills 20] [--simulations 10] [--model identity] [--jobs 2] [--seed 0]

Each start is left to finish a random number of further simulations, sometimes none, and is killed a random moment later; once all are kept, while it
writes tables and figures. Every file that both runs leave is compared byte for byte. Exits with 1 if any differs. With ``--model dnn`` (needs PyTorch)
the algorithm is the paper's net.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def command(options: argparse.Namespace, folder: Path) -> list[str]:
    """Return the command of a run."""
    settings = ["--experiment", "1", "--simulations", str(options.simulations), "--model", options.model]
    run = ["--jobs", str(options.jobs), "--out", str(folder), "--quiet"]
    return [sys.executable, "-m", "likewise", "reproduce", *settings, *run]


def run_to_the_end(options: argparse.Namespace, folder: Path) -> tuple[float, float, float]:
    """Run undisturbed; return the seconds to the first simulation, between two, and from the last to the end."""
    began, process, seen = time.monotonic(), subprocess.Popen(command(options, folder)), [0.0]
    while process.poll() is None:
        if len(kept(folder)) >= len(seen):
            seen.append(time.monotonic() - began)
        time.sleep(0.01)
    if process.returncode:
        sys.exit(process.returncode)
    _, first, *_ = seen
    return first, (seen[-1] - first) / max(len(seen) - 2, 1), time.monotonic() - began - seen[-1]


def kept(folder: Path) -> list[Path]:
    """Return the simulations that are kept."""
    return list(folder.glob("simulations/*.json"))


def kill(options: argparse.Namespace, folder: Path, further: int, pause: float) -> str:
    """Run, kill a moment after so many further simulations are kept, and say what happened."""
    wanted = len(kept(folder)) + further
    process = subprocess.Popen(command(options, folder), start_new_session=True)
    while process.poll() is None and len(kept(folder)) < wanted:
        time.sleep(0.002)
    try:
        process.wait(timeout=pause)
        return "had finished"
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    until = time.monotonic() + 30
    while is_alive(process.pid) and time.monotonic() < until:
        time.sleep(0.01)
    return "killed" if not is_alive(process.pid) else "killed, BUT LEFT PROCESSES"


def is_alive(group: int) -> bool:
    """Whether a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a run."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--simulations", type=int, default=10)
    parser.add_argument("--model", default="identity")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as place:
        whole, killed = Path(place) / "whole", Path(place) / "killed"
        first, between, last = run_to_the_end(options, whole)
        total = len(kept(whole))
        print(
            f"undisturbed: first of {total} simulations after {first:.1f} s, then every {between:.1f} s, files in {last:.1f} s"
        )
        for k in range(options.kills):
            left = total - len(kept(killed))
            further = min(left, chance.randint(0, 2 * total // options.kills))
            pause = chance.uniform(0, between if further else first if left else first + last)
            outcome = kill(options, killed, further, pause)
            when = f"{pause:.2f} s after {further} further simulations"
            print(f"kill {k + 1:2d}, {when}: {outcome}; {len(kept(killed))} of {total} kept", flush=True)
        run_to_the_end(options, killed)
        expected, found = contents(whole), contents(killed)
    differing = [name for name in expected if expected[name] != found.get(name)]
    left_over = sorted(set(found) - set(expected))
    print(
        f"{len(expected)} files compared; differing: {differing or 'none'}; left over: {left_over or 'none'}"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
