"""Ratings of Netflix's shape in Parquet parts, up to 10^9 and more, sorted, decomposed and audited under a hard limit of memory.

    python benchmarks/bench_billion.py --users 479999 --copies 1 11 [--memory 2] [--estimator svt | soft-impute | auto]

Parts are made in the folder for temporary files, a block of people at a time, with a tenth of the lines in the part after that of the person. For each number
of copies so many sets of people have these ratings, each in parts of its own: 11 copies of 92 million are 10^9. A process of its own, whose data segment the operating
system limits, reads them, fits SVT above a threshold that keeps some 20 components (or SoftImpute with this lambda, or what `auto` chooses), draws people and audits them. Then the parts are removed. Per observation
a part takes 2.3 bytes and the sorted copy 3. At the end: by which power of the observations time grew from each size to the next.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

THRESHOLD = 0.338
"""Per root of the number of people, with which all singular values grow where m is much above n: keeps some 20 components (24 of 150,000 people)."""
PEOPLE_OF_A_PART = 32_768
ALLOCATORS = {
    "MALLOC_ARENA_MAX": "2",
    "POLARS_MAX_THREADS": "2",
    "_RJEM_MALLOC_CONF": "retain:false,dirty_decay_ms:0,muzzy_decay_ms:0",
}
"""Memory that polars has freed counts as the process's own unless its allocator is told to give it back: 1.4 GB after 10^9 lines, instead of 0.3."""


def write_parts(n_users: int, folder: Path) -> int:
    """Write the parts; return the number of ratings."""
    import polars as pl

    from netflix_shaped import MEAN_PER_USER, N_ITEMS, SEED, USERS_AT_A_TIME, _World

    rng = np.random.default_rng(SEED)
    world, total, late = _World(n_users, N_ITEMS, MEAN_PER_USER, rng), 0, []
    for number, first in enumerate(range(0, n_users, PEOPLE_OF_A_PART)):
        frames = []
        for start in range(first, min(first + PEOPLE_OF_A_PART, n_users), USERS_AT_A_TIME):
            stop = min(start + USERS_AT_A_TIME, n_users)
            values, items, counts = world.ratings(start, stop)
            users = np.repeat(np.arange(start, stop, dtype=np.int32), counts)
            frames.append(pl.DataFrame({"user": users, "item": items, "rating": values}))
        here = pl.concat(frames)
        total += here.height
        stays = rng.random(here.height) >= 0.1
        pl.concat([*late, here.filter(stays)]).write_parquet(folder / f"{number:05}.parquet")
        late = [here.filter(~stays)]
    late[0].write_parquet(folder / f"{n_users // PEOPLE_OF_A_PART + 1:05}.parquet")
    return total


def made(kind: str, n_users: int) -> Any:
    """Return the estimator."""
    from likewise.estimation import make_estimator

    level = THRESHOLD * math.sqrt(n_users)
    options = {"svt": {"threshold": level}, "soft-impute": {"regularization": level}}
    return make_estimator(kind, random_state=0, **options.get(kind, {}))


def work(folder: Path, n_users: int, kind: str, gibibytes: float) -> None:
    """Sort, fit and audit within the limit; print what it took as JSON: the work of one process."""
    resource.setrlimit(resource.RLIMIT_DATA, (int(gibibytes * 2**30),) * 2)
    from likewise import audit_partitioned, read_partitioned

    said, clock = {}, Clock()
    own = gibibytes / 2 if kind == "svt" else gibibytes  # a Krylov space takes what it is given
    with read_partitioned(
        folder, value_range=(1, 5), engine="threads", memory_limit=f"{own:g} GiB"
    ) as observed:
        said["observations"] = observed.n_observed
        said["sort"] = clock.lap()
        estimator = made(kind, n_users)
        report = audit_partitioned(observed, estimator=estimator, pairs=200, reference="held-out")
        said["fit and audit"] = clock.lap()
    said["rank"], said["says"] = report.estimate.rank, " ".join(str(report).splitlines()[:5])
    said["fit"] = [str(report.estimate.completeness), report.estimate.converged, report.estimate.n_iter]
    said["notes"] = report.estimate.notes
    said["mebibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(json.dumps(said))


class Clock:
    """Processor and wall seconds since the last lap."""

    def __init__(self) -> None:
        self._last = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used), perf_counter()

    def lap(self) -> tuple[float, float]:
        """Return both, and begin anew."""
        before, self._last = self._last, self._now()
        return self._last[0] - before[0], self._last[1] - before[1]


def copy_parts(source: Path, n_users: int, n_copies: int, folder: Path) -> None:
    """Write the same ratings of so many sets of people."""
    import polars as pl

    for copy in range(n_copies):
        for part in sorted(source.glob("*.parquet")):
            people = (pl.col("user") + copy * n_users).alias("user")
            pl.read_parquet(part).with_columns(people).write_parquet(folder / f"{copy:03}-{part.name}")


def run(folder: Path, n_users: int, kind: str, gibibytes: float) -> dict[str, object] | None:
    """Let a process work on the parts, and print its row."""
    size = sum(part.stat().st_size for part in folder.iterdir())
    print(f"{n_users:,} people, {size / 1e9:.2f} GB of parts; load {os.getloadavg()[0]:.1f}", flush=True)
    told = ["--worker", str(folder), str(n_users), "--memory", str(gibibytes), "--estimator", kind]
    command = [sys.executable, __file__, *told]
    environment = os.environ | ALLOCATORS
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        print("\n".join(done.stderr.strip().splitlines()[-3:]), flush=True)
        return None
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    print(f"  {found['observations']:,} observations")
    for stage in ("sort", "fit and audit"):
        cpu, wall = found[stage]  # type: ignore[misc]
        print(f"  {stage}: {cpu:.0f} CPU s, {wall:.0f} s")
    print(
        f"  rank {found['rank']}, {found['fit']}, {found['notes']}; peak {found['mebibytes']:.0f} MiB\n  {found['says']}",
        flush=True,
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=479_999)
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 11])
    parser.add_argument("--memory", type=float, default=2.0, help="GiB")
    parser.add_argument("--estimator", choices=["svt", "soft-impute", "auto"], default="svt")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(Path(options.worker[0]), int(options.worker[1]), options.estimator, options.memory)
        return
    rows = []
    with tempfile.TemporaryDirectory() as source:
        write_parts(options.users, Path(source))
        for copies in options.copies:
            with tempfile.TemporaryDirectory() as folder:
                copy_parts(Path(source), options.users, copies, Path(folder))
                rows.append(run(Path(folder), copies * options.users, options.estimator, options.memory))
    rows = [row for row in rows if row is not None]
    for small, large in pairwise(rows):
        ratio = large["observations"] / small["observations"]  # type: ignore[operator]
        for place, kind in enumerate(("CPU", "wall")):
            times = [sum(row[stage][place] for stage in ("sort", "fit and audit")) for row in (small, large)]  # type: ignore[index]
            print(
                f"{kind} seconds grew with the observations to the power of {math.log(times[1] / times[0]) / math.log(ratio):.2f}"
            )


if __name__ == "__main__":
    main()
