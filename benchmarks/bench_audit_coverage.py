"""How often the intervals of whole audits hold the true metrics, over simulated data sets.

Run ``python benchmarks/bench_audit_coverage.py``: some minutes on two cores. Unlike ``bench_coverage.py`` it calls ``measure_sampled``
alone and holds every metric of its result against the truth. Nominal confidence is 95%; shares below 94% are marked with ``<``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from time import perf_counter

import numpy as np

from likewise.fairness import RowDistance
from likewise.fairness.exact.blocks import pair_positions
from likewise.fairness.metrics.metric_value import order_statistics, share_rank
from likewise.fairness.sampled.measure import SampledFairness, measure_sampled

Values = np.ndarray
WANTED, LIMIT, SLACK = 0.94, 0.4, 0.02
BOUNDS = {"ratio_bound": np.sqrt(0.38), "output_bound": 1.0, "reference_bound": np.sqrt(3)}

DESIGNS = {
    "this data set, 60 people, 150 draws": (60, {"n_pairs": 150}),
    "this data set, 60 people, 1,000 draws": (60, {"n_pairs": 1000}),
    "the population, 110 people, disjoint": (110, {"population": "population", **BOUNDS}),
    "the population, 1,100 people, disjoint": (1100, {"population": "population", **BOUNDS}),
}


def draw_people(m: int, rng: np.random.Generator) -> tuple[Values, Values]:
    """Three features in [0, 1], on a grid so that distances tie and can be 0; a score that changes slowly with them."""
    people = rng.integers(0, 5, (m, 3)) / 4
    return people, people @ [0.5, 0.3, 0.2]


def true_metrics(reference: Values, output: Values, radius: float, n_individuals: float) -> dict[str, float]:
    """Compute every metric from both distances of all pairs; `n_individuals` is infinite for a population."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(reference > 0, output / reference, np.where(output > 0, np.inf, 0.0))
    near, excess = reference <= radius, np.maximum(output - LIMIT * reference, 0)
    ordered = 1 - 1 / n_individuals
    scale = reference.mean() / output.mean()
    metrics = {
        "mean_ratio": ratios.mean() * ordered,
        "pair_mean_ratio": ratios.mean(),
        "finite_mean_ratio": ratios.mean() * ordered,
        "max_ratio": ratios.max(),
        "scale_free_ratio": ratios.mean() * scale,
        "mean_reference_distance": reference.mean(),
        "mean_output_distance": output.mean(),
        "output_spread": np.sqrt((output**2).mean() / 2 * ordered),
        "similar_share": near.mean(),
        "capped_mean_ratio": np.minimum(ratios, LIMIT).mean(),
        "similar_mean_ratio": ratios[near].mean(),
        "similar_max_ratio": ratios[near].max(),
        "similar_output_gap": output[near].mean(),
        "similar_relative_gap": output[near].mean() / output.mean(),
        "similar_scale_free_ratio": ratios[near].mean() * scale,
        "similar_finite_mean_ratio": ratios[near].mean(),
        "violation_rate": np.mean(excess > SLACK),
        "violation_mean_excess": np.maximum(excess - SLACK, 0).mean(),
        "violation_max_excess": max(excess.max() - SLACK, 0),
    }
    for q in (0.5, 0.9, 0.99):
        metrics[f"ratio_quantile_{q:g}"] = order_statistics(ratios, [share_rank(q, ratios.size)])[0]
    for share in (0.01, 0.05, 0.1):
        metrics[f"slack_for_{share:g}"] = order_statistics(excess, [share_rank(1 - share, excess.size)])[0]
    return metrics


def distances(people: Values, scores: Values, left: Values, right: Values) -> tuple[Values, Values]:
    return np.linalg.norm(people[left] - people[right], axis=1), np.abs(scores[left] - scores[right])


@cache
def population() -> tuple[Values, Values]:
    """Both distances of all 125 x 125 kinds of pairs: the population, exactly."""
    grid = np.stack(np.meshgrid(*[np.arange(5) / 4] * 3, indexing="ij"), -1).reshape(-1, 3)
    left, right = (index.ravel() for index in np.indices((125, 125)))
    return distances(grid, grid @ [0.5, 0.3, 0.2], left, right)


def truth(found: SampledFairness, people: Values, scores: Values) -> dict[str, float]:
    m, radius = len(people), found.similar.radius
    if found.population.endswith("data set"):
        left, right = pair_positions(np.arange(m * (m - 1) // 2), m)
        reference, output, n_individuals = *distances(people, scores, left, right), float(m)
    else:
        reference, output, n_individuals = *population(), np.inf
    metrics = true_metrics(reference, output, radius, n_individuals)
    beyond = output > found.max_ratio.value * reference * (1 + 1e-12)
    return metrics | {"share_above_max": beyond.mean()}


def simulate(design: str, n_simulations: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Count, metric by metric, how often the interval holds the truth; and the wrong verdicts."""
    m, options = DESIGNS[design]
    covered, wrong = Counter(), Counter()
    for k in range(n_simulations):
        rng = np.random.default_rng([seed, m, k])
        people, scores = draw_people(m, rng)
        found = measure_sampled(
            scores,
            RowDistance(people),
            lipschitz=LIMIT,
            slack=SLACK,
            tolerance=0.3,
            random_state=rng,
            worst=0,
            **options,
        )
        true = truth(found, people, scores)
        for name, metric in found.metrics().items():
            covered[name] += metric.low * (1 - 1e-9) <= true[name] <= metric.high * (1 + 1e-9)
        status = "holds" if true["violation_rate"] <= 0.3 else "violated"
        wrong[found.verdict.status] += found.verdict.status not in (status, "inconclusive")
        wrong["made"] += found.verdict.status != "inconclusive"
    return covered, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    started, n = perf_counter(), arguments.simulations
    print(
        f"{n:,} simulated data sets a column, seed {arguments.seed}, nominal 95%. Marked <: below {WANTED:.0%}.\n"
    )
    parts = 10
    with ProcessPoolExecutor() as executor:
        jobs = {
            design: [
                executor.submit(simulate, design, n // parts, arguments.seed + 1000 * k) for k in range(parts)
            ]
            for design in DESIGNS
        }
        results = {design: [job.result() for job in jobs[design]] for design in DESIGNS}
    covered = {design: sum((part for part, _ in found), Counter()) for design, found in results.items()}
    wrong = {design: sum((part for _, part in found), Counter()) for design, found in results.items()}
    print(f"| metric | {' | '.join(DESIGNS)} |")
    print("|---|" + "---|" * len(DESIGNS))
    shares = []
    for name in covered[next(iter(DESIGNS))]:
        row = [covered[design][name] / (n // parts * parts) for design in DESIGNS]
        shares += row
        print(
            f"| {name} | {' | '.join(f'{share:.1%}' + (' <' if share < WANTED else '') for share in row)} |"
        )
    verdicts = [
        f"{(found['holds'] + found['violated']) / n:.1%} wrong, {found['made'] / n:.0%} made"
        for found in wrong.values()
    ]
    print(f"| verdict | {' | '.join(verdicts)} |")
    print(
        f"\n{sum(share < WANTED for share in shares)} of {len(shares)} cells below 94%, lowest {min(shares):.1%}."
    )
    print(f"{perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
