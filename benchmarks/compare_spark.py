"""Alternating least squares of Spark MLlib beside ours, on the same Parquet parts: error, seconds, memory, in one run.

    python benchmarks/compare_spark.py [--spark PYTHON] [--users 52083] [--rank 10] [--penalties 0.02 0.05 0.1]

`--spark` names the interpreter of an environment in which pyspark is installed (it needs Java); by default this one. The data are of
Netflix's shape (`netflix_shaped.py`; 52,083 people give 10 million ratings), a tenth hidden at random. Each run has a process of its own and two
threads: `local[2]` of Spark; of ours, parts read in blocks, and all in memory. Spark's penalty has to be chosen, so each of some is a row: take
the best for it, though it is chosen on the test set. Ours estimates its own from the training ratings. Both predict from ids; predictions
are clipped to 1..5. CPU seconds and peak memory are those of the process, of Spark those of Python and Java together, starting included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

LINES_OF_A_PART = 1_500_000
LOW, HIGH = 1, 5
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


def write_data(n_users: int, folder: Path) -> int:
    """Write training parts, and the hidden tenth as an array; return the number of training ratings."""
    import polars as pl

    from netflix_shaped import netflix_shaped

    matrix = netflix_shaped(n_users)
    rows, rng = np.repeat(np.arange(n_users), np.diff(matrix.indptr)), np.random.default_rng(0)
    order = rng.permutation(matrix.nnz)
    test, training = np.split(order, [matrix.nnz // 10])
    (folder / "parts").mkdir()
    for number, lines in enumerate(np.array_split(training, max(2, training.size // LINES_OF_A_PART))):
        part = {
            "user": rows[lines].astype(np.int32),
            "item": matrix.indices[lines],
            "rating": matrix.data[lines],
        }
        pl.DataFrame(part).write_parquet(folder / "parts" / f"{number:04}.parquet")
    hidden = {"user": rows[test].astype(np.int32), "item": matrix.indices[test], "rating": matrix.data[test]}
    pl.DataFrame(hidden).write_parquet(folder / "test.parquet")
    return int(training.size)


def hidden_entries(folder: Path, row_ids: np.ndarray, column_ids: np.ndarray) -> Entries:
    """Positions and values of the hidden ratings whose person and item were seen in training."""
    import polars as pl

    test = pl.read_parquet(folder / "test.parquet")
    known, places = np.ones(test.height, bool), []
    for ids, name in ((row_ids, "user"), (column_ids, "item")):
        ordered = np.argsort(numbers := ids.astype(np.int64))
        place = np.minimum(np.searchsorted(numbers, test[name].to_numpy(), sorter=ordered), ids.size - 1)
        places.append(ordered[place])
        known &= numbers[ordered[place]] == test[name].to_numpy()
    return places[0][known], places[1][known], test["rating"].to_numpy()[known]


def ours(folder: Path, in_memory: bool, rank: int) -> dict[str, float]:
    from likewise import make_estimator, read_partitioned

    als = make_estimator("als", rank=rank, random_state=0)
    with read_partitioned(folder / "parts", value_range=(LOW, HIGH), engine="threads") as parts:
        fitted = als.fit(parts.in_memory() if in_memory else parts)
        rows, columns, stars = hidden_entries(folder, parts.row_ids, parts.column_ids)
    # A part of the entries at a time, as their factors are copied.
    lots = zip(*(np.array_split(each, 20) for each in (rows, columns)), strict=True)
    predicted = np.concatenate([fitted.estimate_.entries(*lot) for lot in lots])
    return {"rmse": error(predicted, stars), "n_test": stars.size, **used(), "sweeps": fitted.n_iter_}


def spark(folder: Path, penalty: float, rank: int) -> dict[str, float]:
    from pyspark.ml.recommendation import ALS
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    als = ALS(
        rank=rank, maxIter=10, regParam=penalty, userCol="user", itemCol="item", ratingCol="rating", seed=0
    )
    model = als.setColdStartStrategy("drop").fit(session.read.parquet(str(folder / "parts")))
    model.transform(session.read.parquet(str(folder / "test.parquet"))).write.parquet(
        str(folder / f"out-{penalty}")
    )
    java = int(session._jvm.java.lang.ProcessHandle.current().pid())
    measured = used(java)
    session.stop()

    import pyarrow.parquet as pq  # Spark's own environment has it

    told = pq.read_table(folder / f"out-{penalty}").to_pydict()
    return {
        "rmse": error(np.array(told["prediction"]), np.array(told["rating"])),
        "n_test": len(told["rating"]),
        **measured,
        "sweeps": 10,
    }


def error(predicted: np.ndarray, stars: np.ndarray) -> float:
    return float(np.sqrt(np.mean((np.clip(predicted, LOW, HIGH) - stars) ** 2)))


def used(java: int | None = None) -> dict[str, float]:
    """CPU seconds and peak memory of this process, and of a Java virtual machine beside it."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    seconds, mebibytes = own.ru_utime + own.ru_stime, own.ru_maxrss / 2**10
    if java is not None:
        fields = Path(f"/proc/{java}/stat").read_text().rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        peak = next(
            line for line in Path(f"/proc/{java}/status").read_text().splitlines() if line.startswith("VmHWM")
        )
        mebibytes += int(peak.split()[1]) / 2**10
    return {"cpu": seconds, "mebibytes": mebibytes}


def run(title: str, python: str, folder: Path, what: str, rank: int) -> None:
    """Print the row that a process of its own finds."""
    began = perf_counter()
    command = [python, __file__, "--worker", what, str(folder), "--rank", str(rank)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = perf_counter() - began
    if done.returncode:
        print(f"| {title} | {(done.stderr.strip().splitlines() or ['no message'])[-1]} | | | | |", flush=True)
        return
    found = json.loads(done.stdout.splitlines()[-1])
    print(
        f"| {title} | {found['rmse']:.4f} | {found['n_test']:,} | {found['sweeps']} | {found['cpu']:.0f} | {wall:.0f} | {found['mebibytes']:.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spark", default=sys.executable, help="interpreter that has pyspark")
    parser.add_argument("--users", type=int, default=52_083)
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--penalties", type=float, nargs="*", default=[0.02, 0.05, 0.1])
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        what, folder = options.worker[0], Path(options.worker[1])
        by_us = what in ("blocks", "memory")
        found = (
            ours(folder, what == "memory", options.rank)
            if by_us
            else spark(folder, float(what), options.rank)
        )
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n_training = write_data(options.users, folder)
        print(f"{n_training:,} training ratings, rank {options.rank}; load {os.getloadavg()[0]:.1f}\n")
        print(
            "| | RMSE | of hidden ratings | sweeps | CPU s | wall s | peak MiB |\n|---|---|---|---|---|---|---|"
        )
        run("likewise, in blocks", sys.executable, folder, "blocks", options.rank)
        run("likewise, in memory", sys.executable, folder, "memory", options.rank)
        for penalty in options.penalties:
            run(f"Spark, penalty {penalty:g}", options.spark, folder, f"{penalty}", options.rank)


if __name__ == "__main__":
    main()
