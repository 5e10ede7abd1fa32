"""How often each interval holds the true value, over simulated data sets, beside intervals that take dependent pairs for independent.

Run ``python benchmarks/bench_coverage.py``: some minutes on two cores; ``--simulations 1000`` is quicker. A row is one interval for one
question, a column one size. Nominal confidence is 95%; shares below 94% are marked with ``<``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import cauchy

from likewise.errors import ConstantOutputWarning
from likewise.fairness import RowDistance, held_out_error, measure_fairness, measure_sampled
from likewise.fairness.metrics.jackknife import change_between
from likewise.fairness.metrics.metric_value import order_statistics, share_rank
from likewise.fairness.metrics.similar import SimilarPairs
from likewise.fairness.sampled import intervals
from likewise.fairness.sampled.intervals import Interval
from likewise.fairness.sampled.sampling import draw_disjoint_pairs, draw_pairs

WANTED = 0.94
PEOPLE = 60  # of a data set from which pairs are drawn with replacement: 1,770 pairs
CAP = 5.0  # a ratio has no mean where two features can come arbitrarily close: the mean of min(ratio, CAP) is asked for

Values = np.ndarray
Bounded = Callable[[Values, int], Interval]


@dataclass(frozen=True)
class World:
    """Where individuals come from, the ratio D / d of two of them, and the share of pairs with a ratio above a number."""

    draw: Callable[[int, np.random.Generator], Values]
    ratio: Callable[[Values, Values], Values]
    exceeds: Callable[[float], float]


def noisy_line(noise: float) -> World:
    """X and noise normal, y = x / 2 + noise: |y - y'| / |x - x'| is |1/2 + noise C|, C Cauchy; without a mean."""
    return World(
        lambda m, rng: rng.standard_normal((m, 2)) * [1, noise],
        lambda a, b: np.abs(0.5 + (a - b)[:, 1] / (a - b)[:, 0]),
        lambda t: float(cauchy.sf((t - 0.5) / noise) + cauchy.cdf((-t - 0.5) / noise)),
    )


def outliers(rate: float) -> World:
    """Few people are treated unlike everybody else, and then in every pair: violations come in bundles."""
    share = 1 - np.sqrt(1 - rate)
    return World(
        lambda m, rng: rng.random(m) < share,
        lambda a, b: (a | b).astype(float),
        lambda t: rate if 0 <= t < 1 else 0.0,
    )


def groups(n_groups: int, accepted: float) -> World:
    """Feature: one of some equal groups; output: yes or no. Ratios are 0, 1 or, for equal features, infinite."""
    differ = 2 * accepted * (1 - accepted)
    return World(
        lambda m, rng: np.column_stack([rng.integers(n_groups, size=m), rng.random(m) < accepted]),
        lambda a, b: np.where(a[:, 1] == b[:, 1], 0.0, np.where(a[:, 0] == b[:, 0], np.inf, np.ones(len(a)))),
        lambda t: differ if t < 1 else differ / n_groups if t < np.inf else 0.0,
    )


@dataclass(frozen=True)
class Question:
    """What is asked of the ratios: the answer over all pairs of a data set, over the population, and ways to bound it."""

    name: str
    world: World
    of_pairs: Callable[[Values, Values], float]  # of every pair, of the drawn ones
    of_population: Callable[[Values], float]  # of the drawn pairs, where the question is about them
    independent: dict[str, Bounded]
    all_pairs: dict[str, Bounded]


def rate_question(kind: str, rate: float) -> Question:
    world = outliers(rate) if kind == "outliers" else noisy_line(0.5)
    level = 0.5 if kind == "outliers" else brentq(lambda t: world.exceeds(t) - rate, 0, 1e6)

    def count(interval: Callable[..., Interval], **side: str) -> Bounded:
        return lambda values, _: interval(int(np.count_nonzero(values > level)), values.size, **side)

    one_sided = {
        "Clopper-Pearson, high end only": count(intervals.clopper_pearson, side="upper"),
        "Clopper-Pearson, low end only": count(intervals.clopper_pearson, side="lower"),
    }
    return Question(
        f"rate {rate:.1%}, {kind}",
        world,
        lambda every, _: float(np.mean(every > level)),
        lambda _: rate,
        {"Clopper-Pearson": count(intervals.clopper_pearson)} | (one_sided if kind == "noisy line" else {}),
        {
            "naive: Clopper-Pearson": count(intervals.clopper_pearson),
        },
    )


def mean_question(kind: str) -> Question:
    world = {"noisy line": noisy_line(0.5), "outliers": outliers(0.05)}[kind]

    def bounded(interval: Callable[..., Interval]) -> Bounded:
        return lambda values, _: interval(np.minimum(values, CAP), CAP)

    true = quad(world.exceeds, 0, CAP, points=[0.5, 1], limit=200)[0]
    student = lambda values, _: intervals.student(np.minimum(values, CAP))  # noqa: E731
    return Question(
        f"mean of min(ratio, {CAP:g}), {kind}",
        world,
        lambda every, _: float(np.minimum(every, CAP).mean()),
        lambda _: true,
        {
            "betting": bounded(intervals.betting),
            "betting, bound not known": lambda values, _: intervals.betting(np.minimum(values, CAP)),
            "empirical Bernstein": bounded(intervals.empirical_bernstein),
            "Hoeffding": bounded(intervals.hoeffding),
            "Student t (asymptotic)": student,
        },
        {
            "naive: betting": bounded(intervals.betting),
            "naive: Student t": student,
        },
    )


def quantile_question(kind: str, q: float) -> Question:
    world = {"noisy line": noisy_line(0.5), "groups": groups(4, 0.3)}[kind]
    if kind == "groups":
        true = min(t for t in (0.0, 1.0, np.inf) if world.exceeds(t) <= 1 - q)
    else:
        true = brentq(lambda t: world.exceeds(t) - (1 - q), 0, 1e6)

    def plain(values: Values, _: int) -> Interval:
        return intervals.quantile_interval(values, q)

    return Question(
        f"{q:g} quantile, {kind}",
        world,
        lambda every, _: order_statistics(every, [share_rank(q, every.size)])[0],
        lambda _: true,
        {"order statistics": plain},
        {"naive: order statistics": plain},
    )


def beyond_question(kind: str) -> Question:
    world = {"noisy line": noisy_line(0.5), "groups": groups(4, 0.3)}[kind]
    return Question(
        f"share above the largest drawn, {kind}",
        world,
        lambda every, drawn: float(np.mean(every > drawn.max())),
        lambda drawn: world.exceeds(drawn.max()),
        {"Wilks": lambda values, _: intervals.share_beyond_maximum(values.size)},
        {},
    )


def questions() -> list[Question]:
    rates = [(kind, rate) for kind in ("noisy line", "outliers") for rate in (0.005, 0.05, 0.3)]
    quantiles = [
        ("noisy line", 0.5),
        ("noisy line", 0.9),
        ("noisy line", 0.99),
        ("groups", 0.5),
        ("groups", 0.9),
    ]
    return [
        *(rate_question(*rate) for rate in rates),
        *(mean_question(kind) for kind in ("noisy line", "outliers")),
        *(quantile_question(*quantile) for quantile in quantiles),
        *(beyond_question(kind) for kind in ("noisy line", "groups")),
    ]


def ratios(question: Question, people: Values, pairs: tuple[Values, Values]) -> Values:
    return question.world.ratio(people[pairs[0]], people[pairs[1]])


def from_data_set(question: Question, size: int, rng: np.random.Generator) -> tuple[Values, float]:
    people = question.world.draw(PEOPLE, rng)
    drawn = ratios(question, people, draw_pairs(PEOPLE, size, rng))
    return drawn, question.of_pairs(ratios(question, people, np.triu_indices(PEOPLE, 1)), drawn)


def disjoint(question: Question, size: int, rng: np.random.Generator) -> tuple[Values, float]:
    drawn = ratios(question, question.world.draw(2 * size, rng), draw_disjoint_pairs(2 * size, size, rng))
    return drawn, question.of_population(drawn)


def every_pair(question: Question, size: int, rng: np.random.Generator) -> tuple[Values, float]:
    drawn = ratios(question, question.world.draw(size, rng), np.triu_indices(size, 1))
    return drawn, question.of_population(drawn)


DESIGNS = {
    "this data set: pairs drawn with replacement": (from_data_set, "pairs", (50, 200, 1000)),
    "the population: disjoint pairs": (disjoint, "pairs", (50, 200, 1000)),
    "the population: all pairs, which share people": (every_pair, "people", (30, 100, 200)),
}


def simulate(
    design: str, number: int, size: int, n_simulations: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Return, for each interval, the share of simulations that it covers and its median width."""
    question, (draw, unit, _) = questions()[number], DESIGNS[design]
    methods = question.all_pairs if unit == "people" else question.independent
    covered, widths = dict.fromkeys(methods, 0), {name: [] for name in methods}
    for k in range(n_simulations):
        values, true = draw(question, size, np.random.default_rng([seed, number, size, k]))
        for name, bound in methods.items():
            interval = bound(values, size)
            covered[name] += interval.covers(true)
            widths[name].append(interval.high - interval.low if interval.high > interval.low else 0.0)
    return {name: (covered[name] / n_simulations, float(np.median(widths[name]))) for name in methods}


def cell(share: float, width: float) -> str:
    mark = " <" if share < WANTED else ""
    return f"{share:.1%}{mark} ({width:.2g})"


def print_table(design: str, executor: ProcessPoolExecutor, n_simulations: int, seed: int) -> list[float]:
    """Print one table; return the shares covered by intervals that promise their confidence."""
    _, unit, sizes = DESIGNS[design]
    print(f"\nOf {design}. Share covered (median width).\n")
    print(f"| question | interval | {' | '.join(f'{size:,} {unit}' for size in sizes)} |")
    print("|---|---|" + "---|" * len(sizes))
    asked = questions()
    jobs = [
        [executor.submit(simulate, design, k, n, n_simulations, seed) for n in sizes]
        for k in range(len(asked))
    ]
    promised = []
    for question, row in zip(asked, jobs, strict=True):
        results = [job.result() for job in row]
        for name in results[0]:
            print(f"| {question.name} | {name} | {' | '.join(cell(*result[name]) for result in results)} |")
            if not name.startswith("naive") and "asymptotic" not in name:
                promised += [result[name][0] for result in results]
    return promised


def _clusters(m: int, rng: np.random.Generator) -> tuple[Values, Values]:
    centres = np.random.default_rng(1).standard_normal((8, 3)) * 2
    own = centres[rng.integers(8, size=m)]
    return own + 0.3 * rng.standard_normal((m, 3)), own[:, 0] + 0.5 * rng.standard_normal(m)


def _uneven(m: int, rng: np.random.Generator) -> tuple[Values, Values]:
    size = np.exp(rng.standard_normal(m))
    return size[:, None] * rng.standard_normal((m, 5)), size * rng.standard_normal(m)


def _line(m: int, rng: np.random.Generator) -> tuple[Values, Values]:
    people = rng.standard_normal((m, 3))
    return people, people @ [1, 0.5, 0.2] + 0.3 * rng.standard_normal(m)


def _step(m: int, rng: np.random.Generator) -> tuple[Values, Values]:
    people = rng.standard_normal((m, 2))
    return people, (people[:, 0] > 1).astype(float)


SHAPES: dict[str, Callable[[int, np.random.Generator], tuple[Values, Values]]] = {
    "outputs that ignore people": lambda m, rng: (rng.standard_normal((m, 3)), rng.standard_normal(m)),
    "a line with noise": _line,
    "eight clusters": _clusters,
    "yes for one in six, a step": _step,
    "yes for one in twenty, at random": lambda m, rng: (rng.standard_normal((m, 3)), rng.random(m) < 0.05),
    "heavy tails": lambda m, rng: (rng.standard_t(2.5, (m, 3)), np.exp(rng.standard_normal(m))),
    "few large individuals": _uneven,
}
"""Features and one output of m individuals."""


def smoothed(features: Values, outputs: Values) -> Values:
    """Outputs after a change: half of them follows the first feature, so that similar individuals are treated more alike, or less where outputs have steps."""
    return outputs + features[:, 0]


@cache
def true_gaps(shape: str) -> tuple[Values, Values, Values]:
    """Return increasing distances of four million pairs, and the true relative gaps of the pairs up to each: of the outputs, and after the change."""
    features, outputs = SHAPES[shape](200_000, np.random.default_rng(5))
    left, right = np.random.default_rng(6).integers(200_000, size=(2, 4_000_000))
    d = np.linalg.norm(features[left] - features[right], axis=1)
    order, gaps = np.argsort(d), []
    for values in (outputs.astype(float), smoothed(features, outputs)):
        D = np.abs(values[left] - values[right])
        gaps.append(np.cumsum(D[order]) / np.arange(1, D.size + 1) / D.mean())
    return d[order], gaps[0], gaps[1]


def measured(outputs: Values, people: RowDistance, n_pairs: int | None, seed: int) -> SimilarPairs:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantOutputWarning)
        if n_pairs is None:
            return measure_fairness(outputs, people, worst=0).similar
        return measure_sampled(outputs, people, worst=0, n_pairs=n_pairs, random_state=seed).similar


def simulate_gaps(
    shape: str, m: int, n_pairs: int | None, n_simulations: int, seed: int
) -> tuple[float, float, int]:
    """Return the share of the intervals over individuals that hold the truth, their median width, and how many there are."""
    radii, gaps, _ = true_gaps(shape)
    covered, widths = 0, []
    for k in range(n_simulations):
        features, outputs = SHAPES[shape](m, np.random.default_rng([seed, m, k]))
        similar = measured(outputs.astype(float), RowDistance(features), n_pairs, k)
        interval = similar.relative_gap_interval
        if interval is not None:
            covered += interval.covers(gaps[_place(radii, similar.radius)])
            widths.append(interval.high - interval.low)
    return covered / max(len(widths), 1), float(np.median(widths)) if widths else np.nan, len(widths)


def _place(radii: Values, radius: float) -> int:
    return max(int(np.searchsorted(radii, radius, side="right")) - 1, 0)


def simulate_changes(
    shape: str, m: int, n_pairs: int | None, n_simulations: int, seed: int
) -> tuple[float, float, float, float]:
    """Return how the interval for the change of the gap does, beside that two intervals lie apart.

    The share of the intervals that hold the true change; the share of the true changes that are told by it, and by intervals that lie apart; and the
    share of data sets in which it tells a change where there is none, as the outputs before and after differ by noise of one law.
    """
    radii, before, after = true_gaps(shape)
    covered, told, apart, wrong, n = 0, 0, 0, 0, 0
    for k in range(n_simulations):
        rng = np.random.default_rng([seed, m, k])
        features, outputs = SHAPES[shape](m, rng)
        people, of_one_law = RowDistance(features), rng.standard_normal((2, m)) * outputs.std() / 2
        one, other = (
            measured(y.astype(float), people, n_pairs, k) for y in (outputs, smoothed(features, outputs))
        )
        change = change_between(one.leaving_out, other.leaving_out, 0.95, one.n_pairs)
        ends = one.relative_gap_interval, other.relative_gap_interval
        if change is not None and all(ends):
            place = _place(radii, one.radius)
            n += 1
            covered += change.low <= after[place] - before[place] <= change.high
            told += not change.low <= 0 <= change.high
            apart += ends[0].high < ends[1].low or ends[1].high < ends[0].low
        same = [measured(outputs + noise, people, n_pairs, k) for noise in of_one_law]
        none = change_between(same[0].leaving_out, same[1].leaving_out, 0.95, one.n_pairs)
        wrong += none is not None and not none.low <= 0 <= none.high
    return covered / max(n, 1), told / max(n, 1), apart / max(n, 1), wrong / n_simulations


GAP_DESIGNS = {
    "20 people": (20, None),
    "50 people": (50, None),
    "200 people": (200, None),
    "200 people, 2,000 pairs drawn": (200, 2000),
    "2,000 people, 2,000 pairs drawn": (2000, 2000),
}


def print_relative_gaps(executor: ProcessPoolExecutor, n_simulations: int, seed: int) -> None:
    """Print how often the interval over individuals for the relative gap holds that of the population."""
    n = n_simulations // 5
    print(f"\nRelative gap of the nearest tenth, for the population; {n:,} data sets a cell.\n")
    print(f"| outputs | {' | '.join(GAP_DESIGNS)} |")
    print("|---|" + "---|" * len(GAP_DESIGNS))
    for shape in SHAPES:
        jobs = [executor.submit(simulate_gaps, shape, *design, n, seed) for design in GAP_DESIGNS.values()]
        cells = []
        for share, width, count in (job.result() for job in jobs):
            cells.append(cell(share, width) + ("" if count == n else f", {1 - count / n:.0%} without"))
        print(f"| {shape} | {' | '.join(cells)} |", flush=True)


def print_gap_changes(executor: ProcessPoolExecutor, n_simulations: int, seed: int) -> None:
    """Print how often the interval for the change of the gap holds the true one, and what it tells."""
    n = n_simulations // 5
    print(
        f"\nChange of that gap over the same pairs; {n:,} data sets a cell: share covered; told by it, by intervals apart; told where there is none.\n"
    )
    print(f"| outputs | {' | '.join(GAP_DESIGNS)} |")
    print("|---|" + "---|" * len(GAP_DESIGNS))
    for shape in SHAPES:
        jobs = [executor.submit(simulate_changes, shape, *design, n, seed) for design in GAP_DESIGNS.values()]
        cells = []
        for covered, told, apart, wrong in (job.result() for job in jobs):
            mark = "" if covered >= WANTED else " <"
            cells.append(f"{covered:.1%}{mark}; {told:.0%}, {apart:.0%}; {wrong:.1%}")
        print(f"| {shape} | {' | '.join(cells)} |", flush=True)


HARD_TO_PREDICT = {
    "all alike": (lambda _, m: np.ones(m), 1.0),
    "a gamma law": (lambda rng, m: rng.gamma(2.0, size=m), 6.0),
    "a lognormal law": (lambda rng, m: rng.lognormal(size=m), np.exp(2.0)),
}
"""The size of an individual's errors, and the mean of its square."""


def simulate_errors(law: str, m: int, n_simulations: int, seed: int) -> tuple[float, float, float]:
    """Return how the interval for the change of the RMSE does, of 8 observations of m individuals each.

    The share of intervals that hold the change where errors shrink by a tenth, the share that tells it, and the share that tells one where errors are of
    one law before and after. Half of the variance of an error is the same before and after.
    """
    draw, second_moment = HARD_TO_PREDICT[law]
    individuals, truth = np.repeat(np.arange(m), 8), np.zeros(8 * m)
    rng, covered, told, wrong = np.random.default_rng([seed, m]), 0, 0, 0
    for _ in range(n_simulations):
        size = draw(rng, m)[individuals] / np.sqrt(2)
        common, *own = rng.standard_normal((4, 8 * m)) * size
        errors = [
            held_out_error(share * (common + noise), truth, individuals=individuals)
            for share, noise in zip((1.0, 0.9, 1.0), own, strict=True)
        ]
        change, none = (
            change_between(errors[0].leaving_out, error.leaving_out, 0.95, error.n) for error in errors[1:]
        )
        covered += change.low <= -0.1 * np.sqrt(second_moment) <= change.high
        told += not change.low <= 0 <= change.high
        wrong += not none.low <= 0 <= none.high
    return covered / n_simulations, told / n_simulations, wrong / n_simulations


def print_error_changes(executor: ProcessPoolExecutor, n_simulations: int, seed: int) -> None:
    """Print how often the interval for the change of the RMSE holds the true one, and what it tells."""
    counts = (20, 50, 200, 1000)
    print(
        f"\nChange of the RMSE on the same observations; {n_simulations:,} data sets a cell: share covered; told; told where there is none.\n"
    )
    print(f"| sizes of errors | {' | '.join(f'{m:,} people' for m in counts)} |")
    print("|---|" + "---|" * len(counts))
    for law in HARD_TO_PREDICT:
        jobs = [executor.submit(simulate_errors, law, m, n_simulations, seed) for m in counts]
        cells = [
            f"{covered:.1%}{'' if covered >= WANTED else ' <'}; {told:.0%}; {wrong:.1%}"
            for covered, told, wrong in (job.result() for job in jobs)
        ]
        print(f"| {law} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gaps-only", action="store_true", help="the relative gap and its change alone")
    parser.add_argument("--errors-only", action="store_true", help="the change of the RMSE alone")
    arguments = parser.parse_args()
    started = perf_counter()
    if arguments.gaps_only:
        with ProcessPoolExecutor() as executor:
            print_relative_gaps(executor, arguments.simulations, arguments.seed)
            print_gap_changes(executor, arguments.simulations, arguments.seed)
        return
    if arguments.errors_only:
        with ProcessPoolExecutor() as executor:
            print_error_changes(executor, arguments.simulations, arguments.seed)
        return
    print(f"{arguments.simulations:,} simulated data sets a cell, seed {arguments.seed}, nominal 95%.")
    error = np.sqrt(0.95 * 0.05 / arguments.simulations)
    print(f"Standard error of a share near 95%: {error:.2%}. Marked <: below {WANTED:.0%}.")
    with ProcessPoolExecutor() as executor:
        ask = partial(
            print_table, executor=executor, n_simulations=arguments.simulations, seed=arguments.seed
        )
        promised = [share for design in DESIGNS for share in ask(design)]
        print_relative_gaps(executor, arguments.simulations, arguments.seed)
        print_gap_changes(executor, arguments.simulations, arguments.seed)
        print_error_changes(executor, arguments.simulations // 5, arguments.seed)
    below = sum(share < WANTED for share in promised)
    print(
        f"\nIntervals that promise 95%: {below} of {len(promised)} cells below 94%, lowest {min(promised):.1%}."
    )
    print(f"{perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
