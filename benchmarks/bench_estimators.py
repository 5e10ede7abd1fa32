"""Error, time and memory of the estimators on MovieLens, and beside other libraries' on the largest data those can take.

Run ``LIKEWISE_DATA=... python benchmarks/bench_estimators.py`` (``--folds 5`` for all folds of MovieLens 1M). Each fit runs in a process of
its own. ``--fancyimpute PYTHON`` names the interpreter of an environment in which fancyimpute is installed. Times are of the CPU, user and
system, all threads together, which other work on the machine disturbs least; memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

LOW, HIGH = 1.0, 5.0
SMALL = 300  # items of the comparison with other libraries: the most rated ones
OURS: dict[str, dict[str, Any]] = {
    "biases": {},
    "als": {},
    "als rank 10": {"rank": 10},
    "als lambda 12": {"regularization": 12.0},
    "soft-impute": {},
    "svt": {"centering": "biases", "shrinker": "identity"},
}
PEERS = ("fancyimpute SoftImpute", "KNNImputer", "IterativeImputer")

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]


def triplets(path: Path, separator: str) -> Triplets:
    text = path.read_text().replace(separator, " ")
    table = np.array([line.split()[:3] for line in text.splitlines()], dtype=np.int64)
    return table[:, 0] - 1, table[:, 1] - 1, table[:, 2].astype(float)


def take(data: Triplets, chosen: np.ndarray) -> Triplets:
    rows, columns, values = data
    return rows[chosen], columns[chosen], values[chosen]


def load(name: str, fold: int) -> tuple[Triplets, Triplets, tuple[int, int]]:
    """Return training and test ratings and the shape."""
    folder = Path(os.environ["LIKEWISE_DATA"])
    if name == "MovieLens 1M":
        data = triplets(folder / "ml-1m" / "ratings.dat", "::")
        part = np.random.default_rng(0).permutation(data[0].size) % 5 == fold
        return take(data, ~part), take(data, part), (6040, 3952)
    base, test = (triplets(folder / "ml-100k" / f"u{fold + 1}.{part}", "\t") for part in ("base", "test"))
    if name == "MovieLens 100K":
        return base, test, (943, 1682)
    popular = np.argsort(-np.bincount(base[1], minlength=1682))[:SMALL]
    place = np.full(1682, -1)
    place[popular] = np.arange(SMALL)
    renumbered = [(i, place[j], x) for i, j, x in (base, test)]
    kept = [take(data, data[1] >= 0) for data in renumbered]
    return kept[0], kept[1], (943, SMALL)


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
    def fit(train: Triplets, test: Triplets, shape: tuple[int, int]) -> np.ndarray:
        dense = np.full(shape, np.nan)
        dense[train[0], train[1]] = train[2]
        filled = imputer(name).fit_transform(dense)
        return np.clip(filled[test[0], test[1]], LOW, HIGH)

    return fit


def imputer(name: str) -> Any:
    if name == "fancyimpute SoftImpute":
        from fancyimpute import SoftImpute

        return SoftImpute(verbose=False)
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer

    if name == "KNNImputer":
        return KNNImputer(n_neighbors=20, keep_empty_features=True)
    return IterativeImputer(n_nearest_features=30, keep_empty_features=True, random_state=0)


def work(name: str, data: str, fold: int) -> None:
    """Fit once and print the result as JSON: the work of one process."""
    train, test, shape = load(data, fold)
    fit = (with_ours if name in OURS else with_peer)(name)
    started = process_time()
    predicted = fit(train, test, shape)
    result = {
        "rmse": float(np.sqrt(np.mean((predicted - test[2]) ** 2))),
        "seconds": process_time() - started,
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
    }
    print(json.dumps(result))


def run(name: str, data: str, fold: int, python: str) -> dict[str, float] | None:
    command = [python, __file__, "--worker", name, data, str(fold)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        print(f"{name}: {said[-1]}", file=sys.stderr)
        return None
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def table(data: str, folds: range, names: list[str], python_of: dict[str, str]) -> None:
    print(
        f"\n{data}, {len(folds)} folds\n\n| estimator | RMSE | CPU seconds a fold | peak MiB |\n|---|---|---|---|"
    )
    for name in names:
        results = [run(name, data, fold, python_of.get(name, sys.executable)) for fold in folds]
        found = [result for result in results if result]
        if found:
            mean = {key: float(np.mean([result[key] for result in found])) for key in found[0]}
            print(
                f"| {name} | {mean['rmse']:.4f} | {mean['seconds']:.1f} | {mean['mebibytes']:.0f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=1, choices=range(1, 6), help="of MovieLens 1M")
    parser.add_argument("--only", nargs="*", default=[*OURS, *PEERS], help="names of estimators")
    parser.add_argument("--data", nargs="*", default=["1M", "100K", "small"])
    parser.add_argument("--fancyimpute", default="", help="interpreter that has fancyimpute")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker[0], arguments.worker[1], int(arguments.worker[2]))
        return
    ours = [name for name in OURS if name in arguments.only]
    peers = [name for name in PEERS if name in arguments.only]
    if not arguments.fancyimpute and PEERS[0] in peers:
        peers.remove(PEERS[0])
    if "1M" in arguments.data:
        table("MovieLens 1M", range(arguments.folds), ours, {})
    if "100K" in arguments.data:
        table("MovieLens 100K", range(5), ours, {})
    if "small" in arguments.data:
        small = f"MovieLens 100K, the {SMALL} most rated items"
        table(small, range(1), [*ours, *peers], {PEERS[0]: arguments.fancyimpute})


if __name__ == "__main__":
    main()
