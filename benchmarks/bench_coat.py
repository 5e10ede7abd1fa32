"""Coat: estimators trained on ratings that people chose to give, tested on ratings of coats drawn at random, with and without propensities.

Run ``LIKEWISE_DATA=... python benchmarks/bench_coat.py [seeds, by default 5]``: some ten minutes on one core. The folder needs
``coat/train.ascii``, ``test.ascii``, ``user_features.ascii`` and ``item_features.ascii`` (290 people, 300 coats, stars 1 to 5, 0 where
missing). A row is one estimator with one kind of propensities: mean squared and mean absolute error in stars over the 4,640 test ratings,
means over the seeds (of everything random: first factors, held-out cells, folds), and CPU seconds.

Nothing is chosen by the test ratings. Where settings are chosen, it is as Schnabel et al. did: the training ratings in four folds, errors
weighted by inverse propensities, propensities of the training folds scaled by 3/4. Their propensities are ours under ``features``: a logistic
regression on all features of people and coats and all products of one of each, its penalty cross-validated. A last line bootstraps the
people of the test, for how sure the best difference is.

Published for these data (Schnabel et al., "Recommendations as treatments", ICML 2016, Table 2): matrix factorisation with such
propensities MSE 1.093, MAE 0.860; without 1.202 and 0.920.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegressionCV

from likewise import ObservedMatrix, make_estimator
from likewise.errors import LikewiseWarning
from likewise.estimation import ESTIMATORS, propensities_of
from likewise.estimation.registry import options_of

SEEDS, FOLDS = 5, 4
KINDS = (None, "degrees", "1-bit", "features")
Array = NDArray[np.float64]
Options = dict[str, Any]
Fit = Callable[[int], tuple[Array, Options]]

SVT_VARIANTS: dict[str, Options] = {
    "svt, as in the paper": {"threshold": "paper-ratings"},
    "svt, centred by biases": {"centering": "biases"},
    "svt, biases and optimal shrinker": {"centering": "biases", "shrinker": "optimal-frobenius"},
}
GRIDS: dict[str, tuple[str, list[Options]]] = {
    "biases, lambda chosen": ("biases", [{"regularization": x} for x in (None, 1, 2, 5, 10, 20, 40)]),
    "als, rank and lambda chosen": (
        "als",
        [{"rank": d, "regularization": x} for d in (5, 10, 20) for x in (2, 5, 10, 20)],
    ),
    "als, rank and noise chosen": (
        "als",
        [{"rank": d, "noise": x, "tol": 1e-3} for d in (5, 10, 20) for x in (None, 0.4, 0.6, 0.8, 1)],
    ),
}


@dataclass(frozen=True, eq=False)
class Coat:
    """Ratings to learn from, those to test on with 0 where there is none, and features of people and coats."""

    observed: ObservedMatrix
    test: Array
    people: Array
    coats: Array

    @classmethod
    def read(cls, folder: Path) -> Coat:
        """Read the four files."""
        train, test, people, coats = (
            np.loadtxt(folder / f"{name}.ascii")
            for name in ("train", "test", "user_features", "item_features")
        )
        observed = ObservedMatrix(np.where(train > 0, train, np.nan), value_range=(1, 5))
        return cls(observed, test, people, coats)

    @cached_property
    def by_features(self) -> Array:
        """Probabilities of all cells to be rated: nothing of the test, and no rating, goes in."""
        m, n = self.observed.shape
        pairs = (self.people[:, None, :, None] * self.coats[None, :, None, :]).reshape(m * n, -1)
        alone = np.hstack([np.repeat(self.people, n, axis=0), np.tile(self.coats, (m, 1))])
        rated = np.zeros((m, n), dtype=bool)
        rated[self.observed.positions()] = True
        regression = LogisticRegressionCV(
            Cs=5,
            cv=FOLDS,
            scoring="neg_log_loss",
            max_iter=300,
            l1_ratios=(0.0,),
            use_legacy_attributes=False,
        )
        fitted = regression.fit(np.hstack([alone, pairs]), rated.ravel())
        chances: Array = fitted.predict_proba(np.hstack([alone, pairs]))[:, 1].reshape(m, n)
        return chances

    def propensities(self, kind: str | None) -> Any:
        """What `propensities=` is given."""
        return self.by_features if kind == "features" else kind

    def weights(self, kind: str | None, seed: int) -> Array:
        """Of the errors on held-out training ratings."""
        if kind is None:
            return np.ones(self.observed.n_observed)
        chosen = self.propensities(kind)
        return propensities_of(self.observed.values, chosen, random_state=seed).weights

    def errors(self, name: str, options: Options) -> Array:
        """Return the error of each test rating."""
        i, j = np.nonzero(self.test)
        return make_estimator(name, **options).fit(self.observed).estimate_.entries(i, j) - self.test[i, j]

    def chosen(self, name: str, grid: list[Options], kind: str | None, seed: int) -> Options:
        """Return what has the smallest weighted error on training ratings in four folds."""
        fold = np.random.default_rng(seed).permutation(self.observed.n_observed) % FOLDS
        weights, (i, j) = self.weights(kind, seed), self.observed.positions()
        given = self.propensities(kind)
        less = given * (1 - 1 / FOLDS) if isinstance(given, np.ndarray) else given

        def loss(options: Options) -> float:
            squares = np.zeros(fold.size)
            for number in range(FOLDS):
                held = fold == number
                fitted = make_estimator(name, propensities=less, random_state=seed, **options)
                estimate = fitted.fit(self.observed.keep(~held)).estimate_
                squares[held] = (estimate.entries(i[held], j[held]) - self.observed.values.data[held]) ** 2
            return float(np.average(squares, weights=weights))

        return min(grid, key=loss)


def runs(coat: Coat) -> Iterator[tuple[str, str | None, Fit]]:
    """Yield what to call it, the kind of propensities, and what fits it under a seed."""

    def fixed(name: str, options: Options, kind: str | None) -> Fit:
        given = {} if kind is None else {"propensities": coat.propensities(kind)}
        return lambda seed: (coat.errors(name, {**options, **given, "random_state": seed}), options)

    def searched(name: str, grid: list[Options], kind: str | None) -> Fit:
        def fit(seed: int) -> tuple[Array, Options]:
            options = coat.chosen(name, grid, kind, seed)
            given = {"propensities": coat.propensities(kind), "random_state": seed}
            return coat.errors(name, {**options, **given}), options

        return fit

    plain = {name: (name, {}) for name in ESTIMATORS}
    for title, (name, options) in (plain | {t: ("svt", o) for t, o in SVT_VARIANTS.items()}).items():
        for kind in KINDS if "propensities" in options_of(name) else (None,):
            yield title, kind, fixed(name, options, kind)
    for title, (name, grid) in GRIDS.items():
        for kind in (None, "features"):
            yield title, kind, searched(name, grid, kind)


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
        sys.exit("LIKEWISE_DATA must name a folder with coat/train.ascii and the rest of coat")
    warnings.simplefilter("ignore", LikewiseWarning)
    coat, n_seeds = Coat.read(Path(named) / "coat"), int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    for kind in KINDS[1:]:
        began = process_time()
        print(
            kind,
            *propensities_of(coat.observed.values, coat.propensities(kind), random_state=0).notes,
            sep="; ",
        )
        print(f"  {process_time() - began:.1f} s of CPU time")
    print(
        f"\n{'estimator':34} {'propensities':12} {'MSE':>6} {'sd':>6} {'MAE':>6} {'CPU s':>6}  chosen at seed 0"
    )
    squares: dict[tuple[str, str | None], Array] = {}
    for title, kind, fit in runs(coat):
        began = process_time()
        found = [fit(seed) for seed in range(n_seeds)]
        seconds = (process_time() - began) / n_seeds
        of_seeds = [np.mean(errors**2) for errors, _ in found]
        squares[title, kind] = np.mean([errors**2 for errors, _ in found], axis=0)
        absolute = np.mean([np.abs(errors).mean() for errors, _ in found])
        chosen = ", ".join(f"{key} {value}" for key, value in found[0][1].items()) if title in GRIDS else ""
        print(
            f"{title:34} {kind or '-':12} {np.mean(of_seeds):6.3f} {np.std(of_seeds):6.3f} {absolute:6.3f} {seconds:6.2f}  {chosen}",
            flush=True,
        )
    best = min((key for key in squares if key[1]), key=lambda key: squares[key].mean())
    plain = min((key for key in squares if not key[1]), key=lambda key: squares[key].mean())
    for against in ((best[0], None), plain):
        low, high = bootstrap(coat.test, squares[against], squares[best])
        print(f"{best[0]} with {best[1]} against {against[0]} without: MSE {low:+.3f} to {high:+.3f} (95%)")


if __name__ == "__main__":
    main()
