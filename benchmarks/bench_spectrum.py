"""All singular triplets above a threshold, ours beside solvers that are told how many there are, in one run.

    LIKEWISE_DATA=... python benchmarks/bench_spectrum.py                    # MovieLens 1M and a quick 1M generated
    python benchmarks/bench_spectrum.py --sizes 1M 10M 92M                   # and how time grows with the observations

Each solver runs in a process of its own. *wall* is the least of the repetitions after the first, *first* the first
call (imports and library loading included, no compilation happens), *cpu* the least processor time of all threads, which
a busy machine disturbs less. *memory* is the peak beyond what the process held with the matrix loaded, in units of the
matrix's own bytes. *residual* is the worst ``||A^T u - sigma v|| / sigma``, *error* the worst relative difference of a
singular value from ours. Thresholds: 18.244 for MovieLens 1M (ratings divided by 5, 280 triplets); for generated data
between the 50th and the 51st singular value. ``--no-peers`` leaves the peers out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from netflix_shaped import MEAN_PER_USER, netflix_shaped

USERS = {"1M": 5_208, "10M": 52_083, "92M": 480_189}
COUNT = 50
SOLVERS = ("likewise", "ARPACK", "PROPACK", "randomized_svd")


def load(name: str, dtype: str) -> csr_array:
    if name != "ml-1m":
        return netflix_shaped(USERS[name]).astype(dtype, copy=False)
    from likewise import read_ratings

    folder = os.environ.get("LIKEWISE_DATA") or sys.exit("ml-1m needs real data: set LIKEWISE_DATA")
    return csr_array(read_ratings(Path(folder) / "ml-1m" / "ratings.dat").values / 5).astype(dtype)


def threshold(name: str, matrix: csr_array) -> float:
    """Return the threshold of a data set; for generated data it is computed once and kept beside them."""
    if name == "ml-1m":
        return 18.244
    kept = (
        Path(tempfile.gettempdir()) / "likewise-benchmarks" / f"threshold-{USERS[name]}-{MEAN_PER_USER}.json"
    )
    if not kept.exists():
        from likewise.spectrum import singular_triplets

        values = singular_triplets(matrix, at_most=COUNT + 1, random_state=0).values
        kept.write_text(json.dumps(float(np.sqrt(values[-1] * values[-2]))))
    return float(json.loads(kept.read_text()))


def solve(solver: str, matrix: csr_array, tau: float, count: int) -> tuple:
    """Return left vectors, values, right vectors, and what the solver says of completeness."""
    if solver == "likewise":
        from likewise.spectrum import singular_triplets

        found = singular_triplets(matrix, above=tau, random_state=0)
        return found.left, found.values, found.right, str(found.completeness)
    if solver == "randomized_svd":
        from sklearn.utils.extmath import randomized_svd

        left, values, right = randomized_svd(matrix, count, n_iter=7, random_state=0)
    else:
        left, values, right = svds(matrix, k=count, solver=solver.lower(), rng=np.random.default_rng(0))
    order = np.argsort(-values)
    return left[:, order], values[order], right[order].T, "told the number"


def kilobytes(field: str) -> int:
    """Read VmRSS or VmHWM of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


def worker(name: str, solver: str, dtype: str, repeats: int, count: int) -> dict:
    matrix = load(name, dtype)
    tau = threshold(name, matrix)
    own_bytes = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    held = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        left, values, right, said = solve(solver, matrix, tau, count)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    peak = 1024 * (kilobytes("VmHWM") - held) / own_bytes
    back = matrix.T @ left.astype(np.float64)
    residual = np.linalg.norm(back - right.astype(np.float64) * values, axis=0) / values
    return {
        "first": walls[0],
        "wall": min(walls[1:] or walls),
        "cpu": min(cpus[1:] or cpus),
        "memory": peak,
        "residual": float(residual.max()),
        "values": values.astype(float).tolist(),
        "said": said,
        "nnz": matrix.nnz,
    }


def run(name: str, solver: str, dtype: str, repeats: int, count: int) -> dict | None:
    arguments = [name, solver, dtype, str(repeats), str(count)]
    process = subprocess.run(
        [sys.executable, __file__, "--worker", *arguments], capture_output=True, text=True, check=False
    )
    if process.returncode:
        said = process.stderr.strip().splitlines() or [
            f"ended with {process.returncode}, a signal if negative"
        ]
        print(f"{name:7}{solver:16}{dtype:9} failed: {said[-1]}")
        return None
    return json.loads(process.stdout.splitlines()[-1])


def compare(name: str, dtype: str, repeats: int, peers: bool) -> dict:
    """Print the rows of one data set and return ours."""
    ours = run(name, "likewise", dtype, repeats, 0) or sys.exit(1)
    exact = np.array(ours["values"])
    rows = {"likewise": ours}
    for solver in SOLVERS[1:] if peers else ():
        rows[solver] = run(name, solver, dtype, repeats, exact.size)
    for solver, row in rows.items():
        if row is not None:
            error = np.abs(np.array(row["values"]) / exact - 1).max()
            print(
                f"{name:7}{solver:16}{dtype:9}{len(row['values']):4}{row['first']:8.2f}{row['wall']:8.2f}{row['cpu']:8.2f}"
                f"{row['wall'] / ours['wall']:8.2f}{row['memory']:8.2f}{row['residual']:10.1e}{error:10.1e}  {row['said']}",
                flush=True,
            )
    return ours


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", nargs="+", choices=["ml-1m", *USERS], default=["ml-1m", "1M"])
    parser.add_argument("--dtype", nargs="+", choices=["float32", "float64"], default=["float32", "float64"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    from likewise._kernels import kernel_info

    print(f"{kernel_info()}, load {os.getloadavg()[0]:.1f}")
    print(
        f"{'data':7}{'solver':16}{'dtype':9}{'k':>4}{'first s':>8}{'wall s':>8}{'cpu s':>8}{'/ ours':>8}{'memory':>8}"
        f"{'residual':>10}{'error':>10}  completeness"
    )
    for dtype in options.dtype:
        sizes = {name: compare(name, dtype, options.repeats, not options.no_peers) for name in options.sizes}
        generated = [row for name, row in sizes.items() if name in USERS]
        if len(generated) > 1:
            steps = np.diff(np.log([[row["nnz"], row["wall"], row["cpu"]] for row in generated]), axis=0)
            print(
                f"exponent of wall time, step by step: {(steps[:, 1] / steps[:, 0]).round(2)}, of cpu: {(steps[:, 2] / steps[:, 0]).round(2)}"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        name, solver, dtype, repeats, count = sys.argv[2:]
        print(json.dumps(worker(name, solver, dtype, int(repeats), int(count))))
    else:
        main()
