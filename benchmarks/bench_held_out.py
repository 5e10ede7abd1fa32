"""Fairness on the truth, on real data: the gap of people who are similar on what nobody saw, beside the error.

    LIKEWISE_DATA=/path/to/data python benchmarks/bench_held_out.py [--data ml-100k ml-1m coat insteval] [--least-shared 15] [--splits 1]

Half of the observations are kept aside to measure distance and error; the estimators and the paper's nearest neighbours see the other half.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

from likewise import ObservedMatrix, make_estimator, read_ratings
from likewise.fairness.held_out import MeasuredSplit, measure_held_out, reference_pairs
from likewise.inference import as_model
from likewise.observations import hold_out
from likewise.pipeline.held_out import kept_aside

FILES = {
    "ml-100k": "ml-100k/u.data",
    "ml-1m": "ml-1m/ratings.dat",
    "insteval": "insteval/InstEval.csv",
    "coat": "coat/train.ascii",
    "douban": "douban/train.csv",
}
ESTIMATORS = ("auto", "svt", "biases")


def read(name: str, folder: Path) -> ObservedMatrix:
    path = folder / FILES[name]
    if name == "coat":  # a dense matrix in which 0 is missing
        stars = np.loadtxt(path)
        return ObservedMatrix(np.where(stars == 0, np.nan, stars), value_range=(1, 5))
    columns = {"user": "s", "item": "d", "rating": "y"} if name == "insteval" else {}
    return read_ratings(path, value_range=(1, 5), **columns)


def arms(training: ObservedMatrix, seed: int) -> dict[str, np.ndarray]:
    """The paper's neighbours on zero-filled data (h) and on estimates (f), and the estimates themselves."""
    scaled, model = training.scaled("symmetric"), as_model("knn")
    outputs = {"h": model(scaled.zero_filled(), scaled)}
    for name in ESTIMATORS:
        fitted = make_estimator(name, random_state=seed).fit(training)
        outputs[name] = fitted.estimate_.on_working_range().to_dense()
        if name != "biases":
            outputs[f"f on {name}"] = model(outputs[name], scaled)
    return outputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=list(FILES), choices=list(FILES))
    parser.add_argument("--least-shared", type=int, default=15)
    parser.add_argument("--splits", type=int, default=1)
    options = parser.parse_args()
    folder = Path(os.environ["LIKEWISE_DATA"])
    warnings.simplefilter("ignore")
    for name in options.data:
        began, Z = time.process_time(), read(name, folder)
        splits, errors = [], {}
        for seed in range(options.splits):
            hidden = hold_out(Z, 0.5, seed)
            outputs = arms(hidden.training, seed)
            aside = kept_aside(hidden, "symmetric")
            pairs = reference_pairs(aside, least_shared=options.least_shared, rng=np.random.default_rng(seed))
            splits.append(MeasuredSplit(pairs, outputs))
            unit = float(Z.value_range.high - Z.value_range.low) / 2  # of [-1, 1]
            for arm, values in outputs.items():
                squares = (values[hidden.rows, hidden.columns] - aside[hidden.rows, hidden.columns]) ** 2
                errors.setdefault(arm, []).append(unit * float(np.sqrt(squares.mean())))
        found = measure_held_out(splits, rng=np.random.default_rng(0))
        print(
            f"\n{name}: {found.pairs}\n  reliability of d {found.reliability:.2f}; {time.process_time() - began:.0f} CPU s"
        )
        print(
            f"  {'outputs':12} {'RMSE':>6}  gap of similar pairs      rank correlation          freed of noise"
        )
        for arm, metrics in found.arms.items():
            print(
                f"  {arm:12} {np.mean(errors[arm]):6.3f}  {metrics.relative_gap!s:24}  {metrics.rank_correlation!s:24}  {metrics.corrected_correlation}"
            )


if __name__ == "__main__":
    main()
