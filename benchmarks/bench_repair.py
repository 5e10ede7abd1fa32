"""Pre-processing against repair of the outputs: which costs less error at the same guarantee D <= L d.

    LIKEWISE_DATA=/path/to/data python benchmarks/bench_repair.py [--data law ml-100k ml-1m] [--features 300] [--shares 0.75 0.5 0.25 0.1] [--least-squares]

A tenth of the observations is hidden; the outputs are the estimate itself. Pre-processing: the prior of its rows is made stronger until the proved constant is L.
Repair: the estimate without a budget is moved until D <= L d, in the metric that the constant is proved in. Outputs of k numbers are repaired one by one, each with its
part of L. So where there are many features some are drawn, and both are judged on the hidden entries of these alone. Errors are in units of half the value range.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

from bench_held_out import FILES, read
from likewise import ObservedMatrix, hold_out, make_estimator
from likewise.estimation.budget.regression import within_regression_budget
from likewise.fairness import PatternDistance, repair
from likewise.fairness.repair.projection import DistanceBlocks, envelopes_of_all, shared_budgets


def compare(name: str, Z: ObservedMatrix, options: argparse.Namespace) -> None:
    began, hidden = time.process_time(), hold_out(Z, 0.1, 0)
    training = hidden.training
    fitted = make_estimator(options.estimator, random_state=0).fit(training)
    proved = fitted.certificate_.regression
    outputs = fitted.estimate_.on_working_range().to_dense()
    n = outputs.shape[1]
    features = np.sort(np.random.default_rng(0).permutation(n)[: options.features])
    judged = np.isin(hidden.columns, features)
    rows, columns = hidden.rows[judged], np.searchsorted(features, hidden.columns[judged])
    scale = training.value_range.scale_to("symmetric")
    truth = scale.forward(hidden.values[judged], hidden.columns[judged])
    free, metric = outputs[:, features], PatternDistance(training, proved.empty)

    def told(values: np.ndarray) -> str:
        error = np.sqrt(np.mean((np.clip(values[rows, columns], -1, 1) - truth) ** 2))
        return f"RMSE {error:.4f}, outputs change by {np.sqrt(np.mean(np.sum((values - free) ** 2, axis=1))):.3f} root mean square"

    print(
        f"\n{name}, {options.estimator}: {len(outputs):,} people, {features.size} of {n:,} features, {truth.size:,} hidden entries, K = {proved.certificate.value:.3g}; {told(free)}"
    )
    for share in options.shares:
        limit = share * proved.certificate.value
        held = within_regression_budget(
            fitted.estimate_, training.scaled("symmetric").values, limit
        ).estimate.on_working_range()
        upper, lower = envelopes_of_all(
            DistanceBlocks(metric), free, shared_budgets(outputs, limit)[features]
        )
        print(
            f"  L = {limit:6.3g} ({share:.0%} of K): pre-processing {told(held.to_dense()[:, features])}; repair {told((upper + lower) / 2)}; {time.process_time() - began:.0f} CPU s",
            flush=True,
        )
        if features.size == n and options.least_squares:
            closest = repair(outputs, metric, lipschitz=limit, objective="least-squares")
            print(
                f"    by least squares {told(closest.outputs)}; {time.process_time() - began:.0f} CPU s",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=["law", "ml-100k", "ml-1m"], choices=list(FILES))
    parser.add_argument("--estimator", default="auto")
    parser.add_argument("--features", type=int, default=300)
    parser.add_argument("--least-squares", action="store_true", help="also, where all features are repaired")
    parser.add_argument("--shares", nargs="*", type=float, default=[0.75, 0.5, 0.25, 0.1])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.data:
        compare(name, read(name, Path(os.environ["LIKEWISE_DATA"])), options)


if __name__ == "__main__":
    main()
