"""What `auto` chooses on real ratings, how well it predicts, in what time; and nearest neighbours with and without it.

$ LIKEWISE_DATA=... python benchmarks/bench_auto.py [folds of MovieLens 1M, by default 5]
$ python benchmarks/bench_auto.py wide
Root mean squared errors in stars. MovieLens 1M in five random folds (seed 0), MovieLens 100K in its five official splits; ``wide`` generates a
matrix of 40,000 x 140,000 with power laws both ways and rank 8, and needs no data. CPU seconds are those of all threads; peak memory is that of the process so far. Surprise (surpriselib.com, on its own machine) publishes for five random folds of
MovieLens 1M: SVD++ 0.862 in 41 minutes, SVD 0.873, k-NN baseline 0.895, biases only 0.909.
"""

from __future__ import annotations

import os
import resource
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from likewise import ObservedMatrix, hold_out, make_estimator, read_ratings
from likewise.errors import LikewiseWarning
from likewise.fairness import (
    CoObservedDistance,
    ObservedDistance,
    PairwiseDistance,
    RowDistance,
    measure_sampled,
)
from likewise.fairness.sampled.sampling import draw_pairs
from likewise.inference import as_model

FOLDS, SEED, PAIRS = 5, 0, 40_000
Entries = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]]


def main() -> None:
    warnings.simplefilter("ignore", LikewiseWarning)
    if sys.argv[1:] == ["wide"]:
        predict("wide and sparse", wide_split(), "biases")
        predict("wide and sparse", wide_split())
        return
    folder = os.environ.get("LIKEWISE_DATA")
    if folder is None:
        print("LIKEWISE_DATA names no folder; nothing to measure")
        return
    n_folds = int(sys.argv[1]) if len(sys.argv) > 1 else FOLDS
    print(f"{'data':24} rmse    CPU s  wall s  peak GiB  choice")
    predict("MovieLens 100K", official_splits(Path(folder) / "ml-100k"))
    ratings = read_ratings(Path(folder) / "ml-1m" / "ratings.dat", value_range=(1, 5))
    predict("MovieLens 1M", random_folds(ratings, n_folds))
    with_and_without(ratings)


def official_splits(folder: Path) -> Iterator[tuple[ObservedMatrix, Entries]]:
    for number in range(1, 6):
        training = read_ratings(folder / f"u{number}.base", shape=(943, 1682), value_range=(1, 5))
        i, j, stars = np.loadtxt(folder / f"u{number}.test", dtype=int, usecols=(0, 1, 2)).T
        rows, columns = (
            np.searchsorted(ids, wanted)
            for ids, wanted in ((training.row_ids.astype(int), i), (training.column_ids.astype(int), j))
        )
        yield training, (rows, columns, stars.astype(float))


def wide_split(rank: int = 8) -> Iterator[tuple[ObservedMatrix, Entries]]:
    """Half stars of a shop's shape: popularity and activity by power laws, biases, and factors; a tenth is the test."""
    rng, (m, n), n_drawn = np.random.default_rng(20261129), (40_000, 140_000), 700_000
    weights = [(np.arange(size) + shift) ** -0.75 for size, shift in ((m, 8), (n, 6))]
    rows, columns = (rng.choice(w.size, n_drawn, p=w / w.sum()) for w in weights)
    rows, columns = np.divmod(np.unique(rows * n + columns), n)
    tastes = np.linspace(0.35, 0.1, rank) * rng.standard_normal((m, rank))
    traits = rng.standard_normal((n, rank))
    values = 3.5 + 0.35 * rng.standard_normal(m)[rows] + 0.4 * rng.standard_normal(n)[columns]
    values += (tastes[rows] * traits[columns]).sum(axis=1) + 0.75 * rng.standard_normal(rows.size)
    values = np.clip(np.round(2 * values) / 2, 0.5, 5)
    test = rng.random(rows.size) < 0.1
    seen = rows[~test], columns[~test], values[~test]
    yield (
        ObservedMatrix.from_triplets(*seen, shape=(m, n), value_range=(0.5, 5)),
        (rows[test], columns[test], values[test]),
    )


def random_folds(ratings: ObservedMatrix, n_folds: int) -> Iterator[tuple[ObservedMatrix, Entries]]:
    fold_of = np.random.default_rng(SEED).permutation(ratings.n_observed) % FOLDS
    rows, columns = ratings.positions()
    for fold in range(n_folds):
        test = fold_of == fold
        yield ratings.keep(~test), (rows[test], columns[test], ratings.values.data[test])


def predict(title: str, splits: Iterator[tuple[ObservedMatrix, Entries]], name: str = "auto") -> None:
    errors = []
    for number, (training, (rows, columns, stars)) in enumerate(splits, start=1):
        computed, passed = process_time(), perf_counter()
        found = make_estimator(name, random_state=SEED).fit(training)
        computed, passed = process_time() - computed, perf_counter() - passed
        errors.append(float(np.sqrt(np.mean((found.estimate_.entries(rows, columns) - stars) ** 2))))
        print(
            f"{title + f', {number}':24} {errors[-1]:.4f} {computed:6.1f}  {passed:6.1f}  {peak():8.2f}  {found.choice_.name if name == 'auto' else name}",
            flush=True,
        )
    if errors:
        print(f"{title + ', mean':24} {np.mean(errors):.4f}")


def with_and_without(ratings: ObservedMatrix) -> None:
    """A tenth hidden; the paper's K-NN (10 neighbours) on zero-filled rows, and on the estimate; d of the rows that it saw, both times."""
    hidden = hold_out(ratings, 0.1, SEED)
    scaled, knn = hidden.training.scaled("symmetric"), as_model("knn")
    auto = make_estimator("auto", random_state=SEED).fit(hidden.training)
    arms = {
        "without": scaled.zero_filled,
        "with auto": lambda: auto.estimate_.on_working_range().to_dense(),
    }
    references = {
        "observed": ObservedDistance(hidden.training, "l1"),
        "co-observed": CoObservedDistance(hidden.training, "l1"),
    }
    print(
        f"\n{'K-NN, MovieLens 1M':20} rmse    d            mean ratio  scale-free  most similar, scale-free  rank correlation of D and d  (each over "
        f"{PAIRS:,} drawn pairs)"
    )
    for name, features in arms.items():
        outputs = knn(features(), scaled)
        error = np.sqrt(np.mean((3 + 2 * outputs[hidden.rows, hidden.columns] - hidden.values) ** 2))
        for reference, d in references.items():
            found = measure_sampled(outputs, d, n_pairs=PAIRS, worst=0, random_state=SEED)
            print(
                f"{name:20} {error:.4f}  {reference:11}  {found.pair_mean_ratio.value:10.4f}  {found.scale_free_ratio.value:10.4f}  "
                f"{found.similar.scale_free_ratio.value:10.4f}  {rank_correlation(outputs, d):10.4f}",
                flush=True,
            )


def rank_correlation(outputs: NDArray[np.float64], d: PairwiseDistance) -> float:
    """Whether people who are farther apart get outputs farther apart; defined too where some are at d = 0."""
    left, right = draw_pairs(d.n_individuals, PAIRS, np.random.default_rng(SEED))
    apart, outputs_apart = d.between(left, right), RowDistance(outputs, "l2").between(left, right)
    defined = ~np.isnan(apart)
    return float(spearmanr(apart[defined], outputs_apart[defined]).statistic)


def peak() -> float:
    """Peak memory of this process, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
