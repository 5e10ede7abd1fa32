"""Read `ratings.dat` into a sparse matrix: ours beside pandas and bare parsers, first and best time, peak memory.

    LIKEWISE_DATA=... python benchmarks/bench_reading.py [--repeat 5]

Each reader runs in a process of its own. "First" is its first call, which also loads the libraries it needs beyond NumPy,
SciPy and likewise itself; "best" is the best of the later calls; memory is the peak beyond what the process held before.
Without LIKEWISE_DATA a file of the same size and shape is generated.

A second table has the same ratings in other clothes: quoted, with decimal commas, with quotes that no fast parser follows, as Parquet and JSON lines.

The floor: 13.6 MB are read, the separators of two bytes rewritten (11.6 MB), 3 million numbers parsed, and 1 million
observations sorted into 12 MB of CSR.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from likewise.observations import read_ratings

SHAPE = (6040, 3952)
N_RATINGS = 1_000_209


def ours(path: Path) -> sparse.csr_array:
    return read_ratings(path, shape=SHAPE, value_range=(1, 5)).values


def pandas_python_engine(path: Path) -> sparse.csr_array:
    import pandas as pd

    frame = pd.read_csv(path, sep="::", engine="python", header=None, usecols=[0, 1, 2])
    return to_csr(frame[0].to_numpy(), frame[1].to_numpy(), frame[2].to_numpy())


def pandas_c_engine_after_rewriting(path: Path) -> sparse.csr_array:
    import io

    import pandas as pd

    text = io.BytesIO(path.read_bytes().replace(b"::", b"\t"))
    frame = pd.read_csv(text, sep="\t", header=None, usecols=[0, 1, 2])
    return to_csr(frame[0].to_numpy(), frame[1].to_numpy(), frame[2].to_numpy())


def polars_after_rewriting_unchecked(path: Path) -> sparse.csr_array:
    import polars as pl

    text = path.read_bytes().replace(b"::", b"\t")
    frame = pl.read_csv(text, separator="\t", has_header=False, columns=[0, 1, 2])
    return to_csr(*(frame[:, position].to_numpy() for position in range(3)))


def to_csr(users: np.ndarray, items: np.ndarray, ratings: np.ndarray) -> sparse.csr_array:
    triplets = (ratings.astype(np.float64), ((users - 1).astype(np.int32), (items - 1).astype(np.int32)))
    return sparse.coo_array(triplets, shape=SHAPE).tocsr()


READERS: dict[str, Callable[[Path], sparse.csr_array]] = {
    "likewise.read_ratings": ours,
    "pandas, Python engine, sep='::'": pandas_python_engine,
    "pandas, C engine, '::' rewritten": pandas_c_engine_after_rewriting,
    "polars, '::' rewritten, unchecked": polars_after_rewriting_unchecked,
}


def measure(reader: str, path: Path, repeat: int) -> dict[str, float]:
    """Run one reader in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = []
    for _ in range(repeat):
        began = time.perf_counter()
        matrix = READERS[reader](path)
        seconds.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "first": seconds[0],
        "best": min(seconds[1:]),
        "peak": peak - before,
        "observed": matrix.nnz,
        "sum": float(matrix.data @ (matrix.indices + 1.0)),
    }


def generate(path: Path) -> None:
    """Write as many distinct pairs as MovieLens 1M has, grouped by user as there."""
    rng = np.random.default_rng(0)
    cells = np.sort(rng.choice(SHAPE[0] * SHAPE[1], N_RATINGS, replace=False))
    ratings = rng.integers(1, 6, N_RATINGS)
    rows = zip(
        (cells // SHAPE[1] + 1).tolist(), (cells % SHAPE[1] + 1).tolist(), ratings.tolist(), strict=True
    )
    path.write_text("".join(f"{user}::{item}::{rating}\n" for user, item, rating in rows))


def compare(path: Path, repeat: int) -> None:
    """Run every reader in a process of its own and print the table."""
    command = [sys.executable, __file__, "--path", str(path), "--repeat", str(repeat), "--reader"]
    print(f"{'':36}{'first, s':>9}{'best, s':>9}{'ratio':>7}{'peak, MiB':>11}{'observed':>11}")
    results = {}
    for reader in READERS:
        output = subprocess.run([*command, reader], check=True, capture_output=True, text=True).stdout
        results[reader] = result = json.loads(output)
        ratio = result["best"] / results["likewise.read_ratings"]["best"]
        print(
            f"{reader:36}{result['first']:9.3f}{result['best']:9.3f}{ratio:7.1f}{result['peak']:11.0f}"
            f"{result['observed']:11,}"
        )
    agree = len({(result["observed"], result["sum"]) for result in results.values()}) == 1
    print("all readers agree" if agree else "READERS DISAGREE")


def _quoted(users: list[int], items: list[int], ratings: list[float]) -> bytes:
    lines = (f'"{u}","{i}","{r:g}"\n' for u, i, r in zip(users, items, ratings, strict=True))
    return ("user,item,rating\n" + "".join(lines)).encode()


def _commas(users: list[int], items: list[int], ratings: list[float]) -> bytes:
    lines = (f"{u};{i};{r:.1f}\n".replace(".", ",") for u, i, r in zip(users, items, ratings, strict=True))
    return ("user;item;rating\n" + "".join(lines)).encode()


def _inches(users: list[int], items: list[int], ratings: list[float]) -> bytes:
    lines = (f'{u},{i},{r:g},"a ""b""",12" c\n' for u, i, r in zip(users, items, ratings, strict=True))
    return ("user,item,rating,note,size\n" + "".join(lines)).encode()


def _frame(kind: str, users: list[int], items: list[int], ratings: list[float]) -> bytes:
    import io

    import polars as pl

    buffer = io.BytesIO()
    frame = pl.DataFrame({"user": users, "item": items, "rating": ratings})
    frame.write_parquet(buffer) if kind == "parquet" else frame.write_ndjson(buffer)
    return buffer.getvalue()


CLOTHES: dict[str, Callable[[list[int], list[int], list[float]], bytes]] = {
    "every field in quotes": _quoted,
    "decimal commas": _commas,
    "quotes and inches": _inches,
    "Parquet": partial(_frame, "parquet"),
    "JSON lines": partial(_frame, "json"),
}


def dress(path: Path, folder: Path, repeat: int) -> None:
    """Write the same ratings in each way, read them, and print the best CPU time."""
    plain = ours(path).tocoo()
    columns = (plain.row + 1).tolist(), (plain.col + 1).tolist(), plain.data.tolist()
    print(f"\n{'the same ratings':36}{'MB':>6}{'best, CPU s':>13}")
    for name, write in CLOTHES.items():
        file = folder / "dressed"
        file.write_bytes(write(*columns))
        seconds = []
        for _ in range(repeat):
            began = time.process_time()
            same = (ours(file) != plain.tocsr()).nnz == 0
            seconds.append(time.process_time() - began)
        print(f"{name:36}{file.stat().st_size / 1e6:6.0f}{min(seconds):13.2f}" + "  DIFFERS" * (not same))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--path", type=Path)
    parser.add_argument("--reader", choices=READERS, help=argparse.SUPPRESS)
    parser.add_argument("--generate", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.generate:
        generate(chosen.generate)
        return
    if chosen.reader:
        print(json.dumps(measure(chosen.reader, chosen.path, chosen.repeat)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = chosen.path
        if path is None and os.environ.get("LIKEWISE_DATA"):
            path = Path(os.environ["LIKEWISE_DATA"]) / "ml-1m" / "ratings.dat"
        if path is None:
            path = Path(folder) / "ratings.dat"
            # In a process of its own: the peak memory of a parent counts for the children that it starts.
            subprocess.run([sys.executable, __file__, "--generate", str(path)], check=True)
        compare(path, chosen.repeat)
        dress(path, Path(folder), min(chosen.repeat, 3))


if __name__ == "__main__":
    main()
