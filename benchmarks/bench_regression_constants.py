"""Proved constants of estimates by regression on MovieLens: how tight they are, and what a budget costs.

python benchmarks/bench_regression_constants.py RATINGS [--estimators auto als biases]
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace

import numpy as np

from likewise import LowRankEstimate, hold_out, make_estimator, read_ratings
from likewise.certificates.regression import certify_regression
from likewise.certificates.worst_rows import worst_rows
from likewise.estimation.budget.regression import within_regression_budget
from likewise.observations import HoldOut


def rmse(estimate: LowRankEstimate, hidden: HoldOut) -> float:
    return float(np.sqrt(np.mean((estimate.entries(hidden.rows, hidden.columns) - hidden.values) ** 2)))


def pairs_exceeding(estimate: LowRankEstimate, proved, values, rng, n_pairs: int) -> tuple[int, float]:
    """Hold random pairs of rows of the fit, thinned at random so that patterns differ, against the bound feature by feature."""
    exceeding, closest = 0, 0.0
    on_range = replace(estimate, scale=estimate.on_working_range().scale)
    for _ in range(max(1, n_pairs // 1000)):
        kept = values[rng.integers(values.shape[0], size=46)].tocoo()
        keep = rng.random(kept.data.size) < rng.uniform(0.02, 1.0, size=46)[kept.row]
        rows = type(values)((kept.data[keep], (kept.row[keep], kept.col[keep])), shape=kept.shape)
        inside = np.flatnonzero(proved.covers(rows))
        if inside.size < 2:
            continue
        coefficients, offsets = on_range.folding.fold(rows[inside], on_range)
        estimates = coefficients @ estimate.right.T + (0 if offsets is None else offsets[:, None])
        estimates = np.clip(estimates + estimate.column_offsets, -1, 1)
        left, right = np.triu_indices(inside.size, 1)
        apart = np.linalg.norm(estimates[left] - estimates[right], axis=1)
        bound = proved.bound(rows[inside[left]], rows[inside[right]])
        exceeding += int((apart > bound * (1 + 1e-9)).sum())
        closest = max(closest, float(np.max(apart / np.maximum(bound, 1e-300))))
    return exceeding, closest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("--estimators", nargs="*", default=["auto", "als", "biases"])
    parser.add_argument("--pairs", type=int, default=100_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    hidden = hold_out(read_ratings(options.ratings, value_range=(1, 5)), 0.1, 0)
    values = hidden.training.scaled("symmetric").values
    for name in options.estimators:
        began = time.process_time()
        estimate = make_estimator(name, random_state=0).fit(hidden.training).estimate_
        regression = estimate.folding.regression(estimate)
        proved, found = certify_regression(regression, values), worst_rows(regression)
        print(
            f"\n{name}: K = {proved.certificate.value:.2f}, c = {proved.empty:.2f}, attained {found.ratio / proved.certificate.value:.1%}; {time.process_time() - began:.0f} CPU s"
        )
        exceeding, closest = pairs_exceeding(
            estimate, proved, values, np.random.default_rng(0), options.pairs
        )
        print(f"  {exceeding} pairs exceed the bound; the closest reaches {closest:.1%}")
        print(f"  without a budget: RMSE {rmse(estimate, hidden):.4f}")
        for share in (0.75, 0.5, 0.25, 0.1):
            held = within_regression_budget(estimate, values, share * proved.certificate.value)
            print(
                f"  K <= {held.limit:.2f}: RMSE {rmse(held.estimate, hidden):.4f}, prior {held.strength:.1f} times as strong"
            )


if __name__ == "__main__":
    main()
