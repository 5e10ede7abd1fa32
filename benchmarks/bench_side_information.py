"""What is known beside the values: error with and without it, on ratings of films and of coats, and of people without a rating.

$ LIKEWISE_DATA=... python benchmarks/bench_side_information.py [ml-1m] [ml-100k] [ablation] [coat] [cold] [arms] [time]

By default all, which takes some ten minutes on one core. Root mean squared errors in stars (of Coat, mean squared ones, as published), CPU seconds of
all threads, peak memory of the process so far. Settings were chosen on a tenth of the training data of a split that is not among these.

ml-1m     a tenth hidden at random, seeds 0 to 4
ml-100k   the five official splits
ablation  MovieLens 1M, seed 0: each source alone, all, none
coat      ratings of coats that people chose, tested on coats drawn at random (Schnabel et al. 2016: 1.093 with propensities)
cold      MovieLens 1M: a tenth of the people, or of the films, have no rating in training; predicted from their features, and without
arms      MovieLens 100K: the paper's neighbours and net on the ratings, and on the estimates without and with sources: error and gap of similar pairs
time      MovieLens 100K: a tenth hidden at random, and the latest tenth
"""

from __future__ import annotations

import os
import re
import resource
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from likewise import ObservedMatrix, hold_out, make_estimator, read_ratings
from likewise.errors import LikewiseWarning
from likewise.estimation import MatrixEstimator
from likewise.fairness import ObservedDistance, measure_sampled
from likewise.fairness.held_out import MeasuredSplit, measure_held_out, reference_pairs
from likewise.inference import as_model
from likewise.inference.net.dense_net import DenseNetModel
from likewise.observations import HoldOut, with_features

SEEDS, PAIRS = 5, 40_000
ML_1M = {"rank": 48, "noise": 0.65}
ML_100K = {"rank": 32, "noise": 0.7}
COAT = {"rank": 10, "noise": 0.7}
Known = dict[str, Any]


def main() -> None:
    warnings.simplefilter("ignore", LikewiseWarning)
    if (named := os.environ.get("LIKEWISE_DATA")) is None:
        print("LIKEWISE_DATA names no folder; nothing to measure")
        return
    folder, wanted = Path(named), sys.argv[1:] or list(PARTS)
    for part in wanted:
        print(f"\n{part:34} {'error':>8} {'CPU s':>6} {'peak GiB':>9}")
        PARTS[part](folder)


def films_1m(folder: Path) -> tuple[ObservedMatrix, Known]:
    """MovieLens 1M; of people gender, age group and job, of films genres and year."""
    ratings = read_ratings(folder / "ml-1m" / "ratings.dat", value_range=(1, 5))
    people = fields(folder / "ml-1m" / "users.dat", "::")
    films = fields(folder / "ml-1m" / "movies.dat", "::")
    users = {
        "id": [int(p[0]) for p in people],
        "gender": [p[1] for p in people],
        "age": [f"from {p[2]}" for p in people],
        "job": [f"job {p[3]}" for p in people],
    }
    items = {
        "id": [int(f[0]) for f in films],
        "genre": [f[2] for f in films],
        "year": [int(f[1].strip()[-5:-1]) for f in films],
    }
    return ratings, {"rows": pl.DataFrame(users), "columns": pl.DataFrame(items)}


def films_100k(folder: Path) -> Known:
    """MovieLens 100K: of people age, gender and job, of films genres and year."""
    people, films = fields(folder / "ml-100k" / "u.user", "|"), fields(folder / "ml-100k" / "u.item", "|")
    users = {
        "id": [int(p[0]) for p in people],
        "age": [int(p[1]) for p in people],
        "decade": [f"{int(p[1]) // 10}0s" for p in people],
        "gender": [p[2] for p in people],
        "job": [p[3] for p in people],
    }
    years = [re.search(r"\d{4}$", f[2]) for f in films]
    items = {
        "id": [int(f[0]) for f in films],
        "genre": ["|".join(f"genre {k}" for k, flag in enumerate(f[5:]) if flag == "1") for f in films],
        "year": [None if year is None else int(year[0]) for year in years],
    }
    return {"rows": pl.DataFrame(users), "columns": pl.DataFrame(items)}


def fields(file: Path, separator: str) -> list[list[str]]:
    return [line.split(separator) for line in file.read_text(encoding="latin-1").splitlines()]


def fitted(title: str, split: HoldOut, known: Known | None, **options: Any) -> tuple[MatrixEstimator, float]:
    """Fit least squares to the training data, and print the error on what is hidden."""
    training = split.training if known is None else with_features(split.training, **known)
    computed = process_time()
    estimator = make_estimator("als", random_state=0, **options).fit(training)
    computed = process_time() - computed
    gaps = estimator.estimate_.entries(split.rows, split.columns) - split.values
    error = float(np.sqrt(np.mean(gaps**2)))
    print(f"{title:34} {error:8.4f} {computed:6.1f} {peak():9.2f}", flush=True)
    return estimator, error


def ml_1m(folder: Path) -> None:
    ratings, known = films_1m(folder)
    errors = [
        fitted(f"all sources, seed {seed}", hold_out(ratings, 0.1, seed), known, sources="all", **ML_1M)[1]
        for seed in range(SEEDS)
    ]
    print(f"{'mean':34} {np.mean(errors):8.4f}")


def ablation(folder: Path) -> None:
    ratings, known = films_1m(folder)
    split = hold_out(ratings, 0.1, 0)
    for sources in ("none", "row-features", "column-features", "row-pattern", "column-pattern", "all"):
        fitted(sources, split, known, sources=sources, **{**ML_1M, "rank": 20})


def ml_100k(folder: Path) -> None:
    known, errors = films_100k(folder), []
    for number, split in enumerate(official_splits(folder / "ml-100k"), start=1):
        pair = [
            fitted(f"u{number}, {sources}", split, known, sources=sources, **ML_100K)[1]
            for sources in ("none", "all")
        ]
        errors.append(pair)
    print(f"{'mean, none and all':34} {np.mean(errors, axis=0).round(4)}")


def official_splits(folder: Path) -> Iterator[HoldOut]:
    for number in range(1, 6):
        training = read_ratings(folder / f"u{number}.base", shape=(943, 1682), value_range=(1, 5))
        i, j, stars = np.loadtxt(folder / f"u{number}.test", dtype=int, usecols=(0, 1, 2)).T
        yield HoldOut(training, i - 1, j - 1, stars.astype(float))


def coat(folder: Path) -> None:
    """Mean squared errors, means over the seeds of the first factors."""
    train, test, people, coats = (
        np.loadtxt(folder / "coat" / f"{name}.ascii")
        for name in ("train", "test", "user_features", "item_features")
    )
    observed = ObservedMatrix(np.where(train > 0, train, np.nan), value_range=(1, 5))
    known, (i, j) = with_features(observed, people, coats), np.nonzero(test)
    for features, propensities in ((False, None), (False, "1-bit"), (True, None), (True, "1-bit")):
        computed, errors = process_time(), []
        for seed in range(SEEDS):
            options = {"propensities": propensities, "random_state": seed, **COAT}
            estimator = make_estimator("als", **options).fit(known if features else observed)
            errors.append(np.mean((estimator.estimate_.entries(i, j) - test[i, j]) ** 2))
        title = f"{'features' if features else 'no features'}, propensities {propensities}"
        print(f"{title:34} {np.mean(errors):8.4f} {process_time() - computed:6.1f} {peak():9.2f}", flush=True)


def cold(folder: Path) -> None:
    """A tenth of the people lose all ratings, then a tenth of the films."""
    ratings, known = films_1m(folder)
    rows, columns = ratings.positions()
    for axis, places, length in (("rows", rows, ratings.shape[0]), ("columns", columns, ratings.shape[1])):
        what = "people" if axis == "rows" else "films"
        hidden = (np.random.default_rng(0).random(length) < 0.1)[places]
        split = HoldOut(ratings.keep(~hidden), rows[hidden], columns[hidden], ratings.values.data[hidden])
        others = {name: features for name, features in known.items() if name != axis}
        fitted(f"new {what}, their features absent", split, others, **{**ML_1M, "rank": 20})
        fitted(f"new {what}, features known", split, known, **{**ML_1M, "rank": 20})


def arms(folder: Path) -> None:
    """The paper's nearest neighbours and its net (where PyTorch is), on the ratings and on two estimates.

    Two d: l1 between the zero-filled training ratings, where similar is the tenth with the smallest d; and how far the hidden ratings of two people are apart.
    """
    known, split = films_100k(folder), next(official_splits(folder / "ml-100k"))
    scaled, d = split.training.scaled("symmetric"), ObservedDistance(split.training, "l1")
    matrices = {"ratings (h)": scaled.zero_filled()}
    for sources in ("none", "all"):
        estimator, _ = fitted(f"the estimate itself, {sources}", split, known, sources=sources, **ML_100K)
        matrices[f"estimate, {sources}"] = estimator.estimate_.on_working_range().to_dense()
    shape = split.training.shape
    hidden = sparse.csr_array(((split.values - 3) / 2, (split.rows, split.columns)), shape=shape)
    pairs = reference_pairs(hidden, rng=np.random.default_rng(0))
    models = {"neighbours": as_model("knn")}
    if find_spec("torch") is not None:
        models["net"] = DenseNetModel(random_state=0)
    for name, model in models.items():
        found = {}
        for title, matrix in matrices.items():
            computed = process_time()
            outputs = found[title] = model(matrix, scaled)
            error = np.sqrt(np.mean((3 + 2 * outputs[split.rows, split.columns] - split.values) ** 2))
            similar = measure_sampled(outputs, d, n_pairs=PAIRS, worst=0, random_state=0).similar
            told = f"similar on zero-filled {similar.scale_free_ratio.value:.3f}"
            print(
                f"{name + ' on ' + title:34} {error:8.4f} {process_time() - computed:6.1f} {peak():9.2f}  {told}",
                flush=True,
            )
        truth = measure_held_out([MeasuredSplit(pairs, found)], rng=np.random.default_rng(0))
        for title, metrics in truth.arms.items():
            print(f"  on hidden ratings, {title:14} gap of similar {metrics.relative_gap}")


def time(folder: Path) -> None:
    ratings = read_ratings(folder / "ml-100k" / "u.data", time=3, value_range=(1, 5))
    known = films_100k(folder)
    for by in ("random", "time"):
        split = hold_out(ratings, 0.1, 0, by=by)  # type: ignore[arg-type]
        for sources in ("none", "all"):
            fitted(f"split {by}, {sources}", split, known, sources=sources, **ML_100K)


def peak() -> float:
    """Peak memory of this process, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


PARTS = {
    "ml-1m": ml_1m,
    "ml-100k": ml_100k,
    "ablation": ablation,
    "coat": coat,
    "cold": cold,
    "arms": arms,
    "time": time,
}


if __name__ == "__main__":
    main()
