"""Proved constants of estimates by regression on MovieLens: how tight they are, and what a budget costs.

python benchmarks/bench_regression_constants.py RATINGS [--estimators auto als biases]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from likewise import LowRankEstimate, hold_out, make_estimator, read_ratings
from likewise.certificates.individual_constants import individual_constants
from likewise.certificates.regression import RegressionCertificate, certify_regression
from likewise.certificates.worst_rows import worst_rows
from likewise.estimation.budget.regression import within_regression_budget
from likewise.fairness import PatternDistance
from likewise.observations import HoldOut


def rmse(estimate: LowRankEstimate, hidden: HoldOut) -> float:
    return float(np.sqrt(np.mean((estimate.entries(hidden.rows, hidden.columns) - hidden.values) ** 2)))


BLOCK = 250
"""Rows that are held against all others at once."""


def unseen_rows(values: sparse.csr_array, proved: RegressionCertificate, rng, count: int) -> sparse.csr_array:
    """Rows that nobody gave, within the domain: rows of the fit thinned at random, and a few features with values drawn anew."""
    thinned = values[rng.integers(values.shape[0], size=count)].tocoo()
    keep = rng.random(thinned.data.size) < rng.uniform(0.02, 1.0, size=count)[thinned.row]
    position = thinned.row[keep], thinned.col[keep]
    data = np.where(rng.random(count) < 0.5, 0, 1)[position[0]] * thinned.data[keep]
    anew = data == 0  # half of the rows keep their patterns and get values drawn anew
    data[anew] = rng.choice(np.linspace(-1, 1, 5), size=int(anew.sum()))
    rows = sparse.csr_array((data, position), shape=thinned.shape)
    return sparse.csr_array(rows[np.flatnonzero(proved.covers(rows))])


def pairs_exceeding(proved: RegressionCertificate, rows: sparse.csr_array) -> tuple[int, int, float]:
    """Hold every pair of rows against the bound feature by feature, before clipping: how many, how many exceed it, how near the nearest comes."""
    regression = proved.map
    found = [np.append(regression.noise * u, offset) for u, offset in regression.solve(rows)]
    images = np.column_stack([regression.regressors, np.ones(regression.shape[0])])
    gram = images.T @ images
    root = np.linalg.cholesky(gram + 1e-14 * np.trace(gram) * np.eye(len(gram)))
    points = np.array(found) @ root
    bound = PatternDistance(rows, 1.0, feature_weights=proved.slopes, empty_weights=proved.empty_slopes)
    exceeding, closest = 0, 0.0
    for start in range(0, len(points), BLOCK):
        stop = min(start + BLOCK, len(points))
        shares = cdist(points[start:stop], points) / np.maximum(bound.block(start, stop), 1e-300)
        shares[np.arange(stop - start), np.arange(start, stop)] = 0.0
        exceeding += int((shares > 1 + 1e-6).sum())
        closest = max(closest, float(shares.max()))
    return len(points) * (len(points) - 1) // 2, exceeding, closest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("--estimators", nargs="*", default=["auto", "als", "biases"])
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--people", type=int, default=1000, help="whose own constants are computed")
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
            f"\n{name}, {regression.shape[1]} regressors: K = {proved.certificate.value:.2f}, c = {proved.empty:.2f}, attained {found.ratio / proved.certificate.value:.1%}; {time.process_time() - began:.0f} CPU s"
        )
        rng, checked, exceeding, closest = np.random.default_rng(0), 0, 0, 0.0
        while checked < options.pairs:
            rows = unseen_rows(values, proved, rng, 4000)
            count, above, nearest = pairs_exceeding(proved, rows)
            checked, exceeding, closest = checked + count, exceeding + above, max(closest, nearest)
        print(
            f"  {exceeding} of {checked:,} pairs exceed the bound; the closest reaches {closest:.1%}; {time.process_time() - began:.0f} CPU s"
        )
        people = np.sort(rng.permutation(values.shape[0])[: options.people])
        own = individual_constants(proved, sparse.csr_array(values[people]))
        print(
            f"  constants of {people.size} individuals: median {np.median(own):.2f}, from {own.min():.2f} to {own.max():.2f}; {time.process_time() - began:.0f} CPU s",
            flush=True,
        )
        print(f"  without a budget: RMSE {rmse(estimate, hidden):.4f}")
        for share in (0.75, 0.5, 0.25, 0.1):
            held = within_regression_budget(estimate, values, share * proved.certificate.value)
            print(
                f"  K <= {held.limit:.2f}: RMSE {rmse(held.estimate, hidden):.4f}, prior {held.strength:.1f} times as strong"
            )


if __name__ == "__main__":
    main()
