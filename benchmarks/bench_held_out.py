"""Fairness on the truth, on real data: the gap of people who are similar on what nobody saw, beside the error.

    LIKEWISE_DATA=/path/to/data python benchmarks/bench_held_out.py [--data ml-100k ml-1m coat insteval law exam] [--least-shared 15] [--splits 1]
        [--estimators svt:threshold=noise-edge svt:threshold=adaptive,centering=biases auto biases]

A share of the observations is kept aside to measure distance and error; the estimators and the paper's nearest neighbours see the rest, in every split anew.
Where too little is in common, the refusal is printed. `--least-shared` asks for less in common than an audit does. An estimator can have options; of svt the
outputs on it are measured, of biases the estimate, of others both.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from likewise import ObservedMatrix, make_estimator, read_ratings
from likewise.errors import InputError
from likewise.fairness.held_out import HeldOutFairness, MeasuredSplit, measure_held_out, reference_pairs
from likewise.inference import as_model
from likewise.observations import hold_out
from likewise.pipeline.held_out import kept_aside

FILES = {
    "ml-100k": "ml-100k/u.data",
    "ml-1m": "ml-1m/ratings.dat",
    "insteval": "insteval/InstEval.csv",
    "coat": "coat/train.ascii",
    "douban": "douban/train.csv",
    "law": "law/law_data.csv",
    "exam": "exam/Gcsemv.csv",
}
TABLES = {
    "law": {"columns": ["LSAT", "UGPA", "ZFYA"], "id_columns": [0]},
    "exam": {"columns": ["written", "course"], "id_columns": ["school", "student"]},
}
ESTIMATORS = ("svt:threshold=noise-edge", "auto", "biases")
"""Singular value thresholding at the noise edge: its default, "adaptive", keeps nothing where no threshold predicts better than the mean."""
MOST_PEOPLE = 4000
"""Of more applicants that many are drawn: complete matrices of theirs are small, but nearest neighbours among all are not."""


def read(name: str, folder: Path) -> ObservedMatrix:
    path = folder / FILES[name]
    if name == "coat":  # dense matrices in which 0 is missing; those of both surveys, ratings at will first
        stars, drawn = np.loadtxt(path), np.loadtxt(path.with_name("test.ascii"))
        stars = np.where(stars == 0, drawn, stars)
        return ObservedMatrix(np.where(stars == 0, np.nan, stars), value_range=(1, 5))
    if name in TABLES:
        table = read_ratings(path, value_range="per-column", **TABLES[name])
        people = np.random.default_rng(0).permutation(table.shape[0])[:MOST_PEOPLE]
        return ObservedMatrix(table.to_dense(np.nan)[np.sort(people)], value_range="per-column")
    columns = {"user": "s", "item": "d", "rating": "y"} if name == "insteval" else {}
    return read_ratings(path, value_range=(1, 5), **columns)


def options_of(estimator: str) -> tuple[str, dict[str, str]]:
    name, _, given = estimator.partition(":")
    return name, dict(option.split("=") for option in given.split(",") if option)


def arms(training: ObservedMatrix, estimators: list[str], seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """The paper's neighbours on zero-filled data (h) and on estimates (f), and the estimates themselves."""
    scaled, model = training.scaled("symmetric"), as_model("knn")
    yield "h", model(scaled.zero_filled(), scaled)
    for estimator in estimators:
        name, given = options_of(estimator)
        fitted = make_estimator(name, random_state=seed, **given).fit(training)
        complete = fitted.estimate_.on_working_range().to_dense()
        if name != "biases":
            yield f"f on {estimator}", model(complete, scaled)
        if name != "svt":
            yield estimator, complete


def splits(
    Z: ObservedMatrix, options: argparse.Namespace, errors: dict[str, list[float]]
) -> Iterator[MeasuredSplit]:
    for seed in range(options.splits):
        hidden = hold_out(Z, options.share, seed, leave_one=True)
        aside = kept_aside(hidden, "symmetric")
        pairs = reference_pairs(aside, least_shared=options.least_shared, rng=np.random.default_rng(seed))
        outputs = {}
        for arm, values in arms(hidden.training, options.estimators, seed):
            outputs[arm] = values.astype(np.float32) if options.splits == 1 else values
            squares = (values[hidden.rows, hidden.columns] - aside[hidden.rows, hidden.columns]) ** 2
            errors.setdefault(arm, []).append(float(squares.mean()))
        yield MeasuredSplit(pairs, outputs)


def show(
    name: str, found: HeldOutFairness, errors: dict[str, list[float]], unit: float, seconds: float
) -> None:
    print(f"\n{name}, {found.n_splits} splits: {found.pairs}")
    print(f"  reliability of d {found.reliability:.2f}; {seconds:.0f} CPU s")
    width = max(map(len, found.arms))
    print(
        f"  {'outputs':{width}} {'RMSE':>6}  gap of similar pairs      rank correlation          freed of noise"
    )
    before = found.arms["h"].relative_gap
    for arm, metrics in found.arms.items():
        gap = metrics.relative_gap
        apart = "  below h, intervals apart" if gap.high < before.low else ""
        print(
            f"  {arm:{width}} {unit * np.sqrt(np.mean(errors[arm])):6.3f}  {gap!s:24}  {metrics.rank_correlation!s:24}  {metrics.corrected_correlation}{apart}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=list(FILES), choices=list(FILES))
    parser.add_argument("--least-shared", type=int, default=15)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--estimators", nargs="*", default=list(ESTIMATORS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.data:
        began, Z, errors = time.process_time(), read(name, Path(os.environ["LIKEWISE_DATA"])), {}
        try:
            found = measure_held_out(splits(Z, options, errors), rng=np.random.default_rng(0))
        except InputError as refusal:
            print(f"\n{name}: refused: {refusal}", flush=True)
            continue
        half = 1.0 if name in TABLES else float(Z.value_range.high - Z.value_range.low) / 2
        show(name, found, errors, half, time.process_time() - began)


if __name__ == "__main__":
    main()
