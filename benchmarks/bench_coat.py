"""Coat: estimators trained on ratings that people chose to give, tested on ratings of coats drawn at random, with and without propensities.

Run ``LIKEWISE_DATA=... python benchmarks/bench_coat.py``: some minutes on one core. The folder needs ``coat/train.ascii`` and
``coat/test.ascii`` (290 people, 300 coats, stars 1 to 5, 0 where missing). A row is one estimator with one kind of propensities: mean
squared error in stars over the 4,640 test ratings, mean and standard deviation over the seeds 0 to 4 (of everything random: first
factors, held-out cells), and CPU seconds of a fit. No option was chosen by the test ratings. A last line bootstraps the people of the
test, for how sure the best difference is.

Published for these data (Schnabel et al., "Recommendations as Treatments", ICML 2016, Table 4): matrix factorisation 1.202 without
and 1.093 with propensities, there from a regression on features of people and coats that are not used here.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray

from likewise import ObservedMatrix, make_estimator
from likewise.errors import LikewiseWarning
from likewise.estimation import ESTIMATORS, propensities_of
from likewise.estimation.registry import options_of

SEEDS = range(5)
METHODS = (None, "degrees", "1-bit")
SVT_VARIANTS = {
    "svt, as in the paper": {"threshold": "paper-ratings"},
    "svt, centred by biases": {"centering": "biases"},
    "svt, biases and optimal shrinker": {"centering": "biases", "shrinker": "optimal-frobenius"},
}
Array = NDArray[np.float64]


def read(folder: Path) -> tuple[ObservedMatrix, Array]:
    """Return the ratings to learn from, and those to test on with 0 where there is none."""
    train, test = (np.loadtxt(folder / f"{part}.ascii") for part in ("train", "test"))
    return ObservedMatrix(np.where(train > 0, train, np.nan), value_range=(1, 5)), test


def variants() -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield what to call it, the name of the estimator and its options."""
    for name in ESTIMATORS:
        if name != "auto":  # which chooses for itself, and has a benchmark of its own
            yield name, name, {}
    for title, options in SVT_VARIANTS.items():
        yield title, "svt", options


def squared_errors(
    observed: ObservedMatrix, test: Array, name: str, options: dict[str, object]
) -> tuple[Array, float]:
    """Return the squared error of each test rating and the CPU seconds of the fit."""
    began = process_time()
    estimate = make_estimator(name, **options).fit(observed).estimate_
    seconds = process_time() - began
    i, j = np.nonzero(test)
    return (estimate.entries(i, j) - test[i, j]) ** 2, seconds


def bootstrap(test: Array, without: Array, with_: Array, n_draws: int = 2000) -> tuple[float, float]:
    """Return a 95% interval for the difference of mean squared errors, people drawn with replacement."""
    people = np.nonzero(test)[0]
    count = np.bincount(people, minlength=test.shape[0])
    gain = np.bincount(people, with_ - without, minlength=test.shape[0])
    drawn = np.random.default_rng(0).integers(0, test.shape[0], (n_draws, test.shape[0]))
    low, high = np.quantile(gain[drawn].sum(axis=1) / count[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    named = os.environ.get("LIKEWISE_DATA")
    if not named or not (Path(named) / "coat").is_dir():
        sys.exit("LIKEWISE_DATA must name a folder with coat/train.ascii and coat/test.ascii")
    warnings.simplefilter("ignore", LikewiseWarning)
    observed, test = read(Path(named) / "coat")
    for method in METHODS[1:]:
        began = process_time()
        print(*propensities_of(observed.values, method, random_state=0).notes, sep="; ")
        print(f"  {process_time() - began:.1f} s of CPU time")
    print(f"\n{'estimator':36} {'propensities':12} {'MSE':>7} {'sd':>7} {'CPU s':>7}")
    errors: dict[tuple[str, str | None], Array] = {}
    for title, name, options in variants():
        for method in METHODS if "propensities" in options_of(name) else (None,):
            chosen = {} if method is None else {"propensities": method}
            runs = [
                squared_errors(observed, test, name, {**options, **chosen, "random_state": s}) for s in SEEDS
            ]
            of_seeds = [run.mean() for run, _ in runs]
            errors[title, method] = np.mean([run for run, _ in runs], axis=0)
            seconds = min(time for _, time in runs)
            print(
                f"{title:36} {method or '-':12} {np.mean(of_seeds):7.3f} {np.std(of_seeds):7.3f} {seconds:7.2f}"
            )
    best = min((key for key in errors if key[1]), key=lambda key: errors[key].mean())
    plain = min((key for key in errors if not key[1]), key=lambda key: errors[key].mean())
    for against in ((best[0], None), plain):
        low, high = bootstrap(test, errors[against], errors[best])
        print(f"{best[0]} with {best[1]} against {against[0]} without: MSE {low:+.3f} to {high:+.3f} (95%)")


if __name__ == "__main__":
    main()
