"""Error, time and memory of the estimators on MovieLens, and of other libraries' on the same held-out ratings, in one run.

Run ``LIKEWISE_DATA=... python benchmarks/bench_estimators.py`` (``--folds 5`` for all folds of MovieLens). Each fit runs in a process of
its own. ``--fancyimpute PYTHON`` names the interpreter of an environment in which fancyimpute is installed. A process that takes
more CPU seconds than the limit is ended, and its row says so; so does that of the same estimator on larger data, which is then not tried.
CPU seconds are user and system of all threads together, which other work on the machine disturbs least; memory is the peak of the
process. Every prediction is clipped to the range of the ratings.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

LOW, HIGH = 1.0, 5.0
OURS: dict[str, dict[str, Any]] = {
    "biases": {},
    "svt": {"centering": "biases", "shrinker": "optimal-frobenius"},
    "svt cross-validated": {"threshold": "cross-validated", "centering": "biases", "shrinker": "identity"},
    "soft-impute": {},
    "als": {},
    "als rank 10": {"rank": 10},
    "auto": {},
    "cai-candes-shen to 0.9": {"centering": "biases", "tol": 0.9},
}
FANCY = "fancyimpute SoftImpute"
PEERS = (FANCY, f"{FANCY}, BiScaler", "KNNImputer", "IterativeImputer")
SIZES: dict[str, tuple[str, int | None]] = {
    "100K-300": ("MovieLens 100K, the 300 most rated items", 300),
    "100K": ("MovieLens 100K", None),
    "1M-500": ("MovieLens 1M, the 500 most rated items", 500),
    "1M": ("MovieLens 1M", None),
}
"""From small to large: the name of the data, and how many items are kept."""

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]
Result = dict[str, float]


def triplets(path: Path, separator: str) -> Triplets:
    text = path.read_text().replace(separator, " ")
    table = np.array([line.split()[:3] for line in text.splitlines()], dtype=np.int64)
    return table[:, 0] - 1, table[:, 1] - 1, table[:, 2].astype(float)


def take(data: Triplets, chosen: np.ndarray) -> Triplets:
    rows, columns, values = data
    return rows[chosen], columns[chosen], values[chosen]


def load(size: str, fold: int) -> tuple[Triplets, Triplets, tuple[int, int]]:
    """Return training and test ratings and the shape: official folds of MovieLens 100K, random ones of MovieLens 1M."""
    folder = Path(os.environ["LIKEWISE_DATA"])
    if size.startswith("1M"):
        data = triplets(folder / "ml-1m" / "ratings.dat", "::")
        part = np.random.default_rng(0).permutation(data[0].size) % 5 == fold
        return most_rated(SIZES[size][1], take(data, ~part), take(data, part), (6040, 3952))
    base, test = (triplets(folder / "ml-100k" / f"u{fold + 1}.{part}", "\t") for part in ("base", "test"))
    return most_rated(SIZES[size][1], base, test, (943, 1682))


def most_rated(
    n_items: int | None, base: Triplets, test: Triplets, shape: tuple[int, int]
) -> tuple[Triplets, Triplets, tuple[int, int]]:
    if n_items is None:
        return base, test, shape
    popular = np.argsort(-np.bincount(base[1], minlength=shape[1]))[:n_items]
    place = np.full(shape[1], -1)
    place[popular] = np.arange(n_items)
    renumbered = [(i, place[j], x) for i, j, x in (base, test)]
    kept = [take(data, data[1] >= 0) for data in renumbered]
    return kept[0], kept[1], (shape[0], n_items)


def with_ours(name: str) -> Callable[..., np.ndarray]:
    from likewise import make_estimator
    from likewise.observations import ObservedMatrix

    def fit(train: Triplets, test: Triplets, shape: tuple[int, int]) -> np.ndarray:
        observed = ObservedMatrix.from_triplets(
            train[0] + 1, train[1] + 1, train[2], shape=shape, value_range=(LOW, HIGH)
        )
        estimator = make_estimator(name.split(maxsplit=1)[0], random_state=0, **OURS[name])
        return estimator.fit(observed).estimate_.entries(test[0], test[1])

    return fit


def with_peer(name: str) -> Callable[..., np.ndarray]:
    complete = completing(name)

    def fit(train: Triplets, test: Triplets, shape: tuple[int, int]) -> np.ndarray:
        dense = np.full(shape, np.nan)
        dense[train[0], train[1]] = train[2]
        return np.clip(complete(dense)[test[0], test[1]], LOW, HIGH)

    return fit


def completing(name: str) -> Callable[[np.ndarray], np.ndarray]:
    if name.startswith(FANCY):
        from fancyimpute import BiScaler, SoftImpute

        if name == FANCY:
            return SoftImpute(verbose=False).fit_transform
        scaler = BiScaler(scale_rows=False, scale_columns=False, verbose=False)
        return lambda dense: scaler.inverse_transform(
            SoftImpute(verbose=False).fit_transform(scaler.fit_transform(dense))
        )
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer

    if name == "KNNImputer":
        return KNNImputer(n_neighbors=20, keep_empty_features=True).fit_transform
    imputer = IterativeImputer(n_nearest_features=30, keep_empty_features=True, random_state=0)
    return imputer.fit_transform


def work(name: str, size: str, fold: int) -> None:
    """Fit once and print the result as JSON: the work of one process."""
    train, test, shape = load(size, fold)
    fit = (with_ours if name in OURS else with_peer)(name)
    started, began = process_time(), perf_counter()
    predicted = fit(train, test, shape)
    result = {
        "rmse": float(np.sqrt(np.mean((predicted - test[2]) ** 2))),
        "cpu": process_time() - started,
        "wall": perf_counter() - began,
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
    }
    print(json.dumps(result))


def run(name: str, size: str, fold: int, python: str, limit: int) -> Result | str:
    """Return what one process measured, or why there is nothing."""
    command = [python, __file__, "--worker", name, size, str(fold), "--limit", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        return f"over {limit} CPU s"
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return said[-1]
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def row(name: str, results: list[Result | str]) -> str:
    failed = [result for result in results if isinstance(result, str)]
    if failed:
        return f"| {name} | {failed[0]} | | | |"
    mean = {key: float(np.mean([result[key] for result in results])) for key in results[0]}
    return (
        f"| {name} | {mean['rmse']:.4f} | {mean['cpu']:.1f} | {mean['wall']:.1f} | {mean['mebibytes']:.0f} |"
    )


def table(size: str, names: list[str], arguments: argparse.Namespace, given_up: dict[str, str]) -> None:
    """Print a row for every estimator; of one that was over the limit on smaller data, that it was not tried."""
    load_before = os.getloadavg()[0]
    folds = range(arguments.folds)
    print(f"\n{SIZES[size][0]}, {len(folds)} fold{'s' * (len(folds) > 1)}; load {load_before:.1f}\n")
    print("| estimator | RMSE | CPU s a fold | wall s a fold | peak MiB |\n|---|---|---|---|---|")
    for name in names:
        python = arguments.fancyimpute if name.startswith(FANCY) else sys.executable
        results: list[Result | str] = [given_up[name]] if name in given_up else []
        if not python:
            results = ["not run: no --fancyimpute"]
        elif not results:
            results = [run(name, size, fold, python, arguments.limit) for fold in folds]
        if any(isinstance(result, str) and result.startswith("over") for result in results):
            given_up.setdefault(name, f"over {arguments.limit} CPU s on {SIZES[size][0]}, so not tried")
        print(row(name, results), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=1, choices=range(1, 6))
    parser.add_argument("--only", nargs="*", default=[*OURS, *PEERS], help="names of estimators")
    parser.add_argument("--data", nargs="*", default=[*SIZES], choices=[*SIZES])
    parser.add_argument("--fancyimpute", default="", help="interpreter that has fancyimpute")
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds that a process may take")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        resource.setrlimit(resource.RLIMIT_CPU, (arguments.limit, resource.RLIM_INFINITY))
        work(arguments.worker[0], arguments.worker[1], int(arguments.worker[2]))
        return
    given_up: dict[str, str] = {}
    names = [name for name in (*OURS, *PEERS) if name in arguments.only]
    for size in (size for size in SIZES if size in arguments.data):
        table(size, names, arguments, given_up)


if __name__ == "__main__":
    main()
