"""Check the numbers in the docs that a command makes in seconds: each check makes a sentence or a row anew and looks for it in the page.

    python docs/check_numbers.py            # prints what differs, and exits with 1 if anything does

`tests/test_numbers.py` runs the same checks. docs/measured.md lists the other numbers, with day, machine and command.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np

from likewise import frontier
from likewise.errors import LikewiseWarning
from likewise.estimation import SVT, ObservationStatistics, PaperCorollary, make_estimator
from likewise.observations import clustered, write_ratings
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction import Settings
from likewise.reproduction.units import Unit, run_unit

DOCS = Path(__file__).parent
LEVELS = (0.05, 0.1, 0.2, 0.4)


def text_of(page: str) -> str:
    """Return a page with line breaks as spaces, as sentences run over them."""
    return " ".join((DOCS / page).read_text(encoding="utf-8").split())


def script(path: str) -> ModuleType:
    """Import a script of the repository by its path."""
    file = DOCS.parent / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))  # it may import its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module


quoted = script("docs/quoted_tables.py")


def experiment_1(level: float, seed: int) -> ClusteredData:
    """Return data of Experiment 1."""
    return clustered(observed_fraction=level, random_state=seed)


def threshold_of_the_regimes() -> Iterator[str]:
    """docs/method.md: the threshold of Corollary 4.2's order in Experiment 1, and the singular values beside it."""
    taus, largest = [], []
    for level in LEVELS:
        Z = experiment_1(level, 0).observed.scaled().values
        taus.append(PaperCorollary()(ObservationStatistics.of(Z)))
        largest.append(np.linalg.svd(Z.toarray(), compute_uv=False)[0])
    yield "it is {:.1f}, {:.1f}, {:.1f} and {:.1f} at".format(*taus)
    yield "is {:.1f}, {:.1f}, {:.1f} and {:.1f} (seed 0)".format(*largest)


RULES = (
    *(("paper-synthetic", "rescaled", "`rescaled` "), ("released-code", "rescaled", "")),
    *((rule, "rescaled", "") for rule in ("noise-edge", "noise-edge-residual", "optimal-hard", "screenot")),
    *((rule, "rescaled", "") for rule in ("sign-flip", "cross-validated", "adaptive")),
    ("noise-edge-residual", "optimal-frobenius", "`optimal-frobenius` "),
    ("cross-validated", "optimal-frobenius", "`optimal-frobenius` "),
)
"""Threshold, shrinker, and how the row shows the shrinker."""


def rows_of_thresholds() -> Iterator[str]:
    """docs/thresholds.md: the table of Experiment 1, three seeds."""
    data = {(p, seed): experiment_1(p, seed) for p in LEVELS for seed in range(3)}
    for rule, shrinker, shown in RULES:
        row = []
        for level in LEVELS:
            ones = [data[level, seed] for seed in range(3)]
            fits = [SVT(rule, shrinker, random_state=0).fit(one.observed) for one in ones]
            errors = [
                np.sqrt(np.mean((fit.estimate_.to_dense() - one.truth) ** 2))
                for fit, one in zip(fits, ones, strict=True)
            ]
            components = np.mean([fit.rank_ for fit in fits])
            row.append(f"{np.mean(errors):.3f}".removeprefix("0") + f" ({components:.0f})")
        yield f"| `{rule}` | {shown}| {' | '.join(row)} |"


def rows_of_a_frontier() -> Iterator[str]:
    """docs/frontier.md: the rows of Experiment 1, five seeds; K* and error need no pairs, so few are drawn."""
    for name, estimator in (
        ('`SVT("noise-edge")`', SVT("noise-edge", random_state=0)),
        (
            "`noise-edge-residual`, `optimal-frobenius`",
            SVT("noise-edge-residual", "optimal-frobenius", random_state=0),
        ),
    ):
        for level in LEVELS:
            found = [
                frontier(
                    experiment_1(level, seed).observed, estimator=estimator, pairs=100, random_state=seed
                )
                for seed in range(5)
            ]
            free, half = found[0].unconstrained, found[0].within(found[0].unconstrained.k_star / 2)
            changes = [
                100 * (one.within(one.unconstrained.k_star / 2).error.rmse / one.unconstrained.error.rmse - 1)
                for one in found
            ]
            numbers = [f"{free.k_star:#.3g}", f"{free.error.rmse:.3f}", f"{half.error.rmse:.3f}"]
            shown = " | ".join(number.removeprefix("0") for number in numbers)
            data = "Experiment 1, p" if level == LEVELS[0] and name.startswith("`SVT") else "p"
            change = f"{np.mean(changes):+.1f}% ({min(changes):.1f} to {max(changes):.1f})"
            yield (
                f"| {data} = {level:g} |".replace("0.", ".")
                + f" {name if level == LEVELS[0] else ''} | {shown} | {change} |".replace("  |", " |")
            )


def last_line_of_a_frontier() -> Iterator[str]:
    """docs/frontier.md: what `likewise frontier` prints last for the data of Experiment 1."""
    from likewise.cli.main import run

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "exp1.csv"
        write_ratings(file, experiment_1(0.2, 0).observed)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert (
                run(["frontier", str(file), "--estimator", "svt", "--out", str(Path(folder) / "frontier")])
                == 0
            )
    yield next(line for line in printed.getvalue().splitlines() if line.startswith("K* at half or less"))


def distance_of_the_empty_entry() -> Iterator[str]:
    """docs/frontier.md: how far the empty entry is from every value in the regressions of the drawing, at every budget."""
    observed = script("docs/frontiers.py").ratings()
    found = [
        float(re.search(r"at distance ([\d.]+)", point.certificate.function)[1])
        for name in ("als", "soft-impute", "biases")
        for point in frontier(observed, estimator=name, pairs=1000, random_state=0)
    ]
    yield f"at {min(found):.1f} to {max(found):.1f} from every value here"


def least_squares_on_experiment_1() -> Iterator[str]:
    """docs/iterative_estimators.md: its error, and what a given noise changes where observations are few."""

    def error(level: float, seed: int, **options: float) -> tuple[float, int]:
        data = experiment_1(level, seed)
        fit = make_estimator("als", random_state=0, **options).fit(data.observed)
        hidden = np.ones(data.truth.shape, dtype=bool)
        hidden[data.observed.positions()] = False
        return float(np.mean((fit.estimate_.to_dense() - data.truth)[hidden] ** 2)), fit.rank_

    errors = {level: np.mean([error(level, seed)[0] for seed in range(2)]) for level in LEVELS}
    given, ranks = zip(*(error(0.05, seed, noise=0.2) for seed in range(2)), strict=True)
    kept = max(error(0.05, seed)[1] for seed in range(2))
    numbers = [f"{each:.3f}"[1:] for each in errors.values()]
    yield "p = .05, .1, .2, .4 (seeds 0 and 1): `als` {}, {}, {}, {}".format(*numbers)
    yield f"keeps {kept or 'none'} of the 9 components; with .2 given it keeps {min(ranks)}"
    yield f"the error falls from {numbers[0]} to {f'{np.mean(given):.3f}'[1:]}"


def shares_of_the_lower_bound() -> Iterator[str]:
    """docs/reproduction.md: the best answer and the estimate of the proposition as shares of the lower bound's shape."""
    settings = Settings(("minimax",), 1, ("h",))
    arms = [run_unit(Unit("minimax", size, 1), settings, None)["arms"] for size in (0.1, 0.8)]
    best, own = (
        [arm[name]["metrics"]["share_of_rate"] for arm in arms] for name in ("best answer", "universal")
    )
    yield r"its error is {:.3f} of the shape at $\theta^2 = 0.1$ and {:.3f} at 0.8".format(*best)
    yield "is {:.3f} and {:.3f} of the shape".format(*own)


def slopes_of_activations() -> Iterator[str]:
    """docs/certificates.md: the largest slopes of SiLU and GELU."""
    from scipy.special import erf, expit

    x = np.linspace(-5, 5, 100_001)
    silu = expit(x) * (1 + x * (1 - expit(x)))
    gelu = (1 + erf(x / np.sqrt(2))) / 2 + x * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    yield f"SiLU {silu.max():.1f}; GELU {gelu.max():.3f}"


def pairs_beyond_the_largest() -> Iterator[str]:
    """docs/intervals.md: draws after which few pairs exceed the largest drawn."""
    draws = [next(n for n in range(1, 10**4) if 1 - 0.05 ** (1 / n) <= share) for share in (0.01, 0.001)]
    yield "At 95%: 1% after {:,} draws, 0.1% after {:,}".format(*draws)


def random_labels() -> Iterator[str]:
    """docs/fairness_metrics.md: consistency of random labels under both conventions, in expectation."""
    k = 5
    others, itself = 0.5, 0.5 * (k - 1) / k  # |y - mean of k| is 1/2 on average; one of the k is y itself
    yield f"Random 0/1 labels then score {1 - itself} at k = {k} instead of {1 - others}"


def numbers_of_pairs() -> Iterator[tuple[str, str]]:
    """How many pairs the people of a data set make."""
    for page, people, shown in (
        ("all_pairs.md", 6040, "{:.1f} million pairs, outputs"),
        ("kernels.md", 6040, "{:.1f} million pairs of"),
        ("fair_and_proved.md", 1905, "the {:.1f} million pairs"),
    ):
        yield page, shown.format(people * (people - 1) / 2 / 1e6)
    yield "all_pairs.md", f"480,189 people, {480_189 * 480_188 / 2:.3g} pairs".replace("e+", "e")
    yield "all_pairs.md", f"no bin is wider than {np.ceil(1e5 * 2.0**-12) / 1e3}%"


def limits_in_the_code() -> Iterator[tuple[str, str]]:
    """Limits that are constants of the code."""
    from likewise.estimation.auto import candidates
    from likewise.estimation.thresholding import assumptions
    from likewise.fairness.exact.exact_metrics import NEAR_CONSTANT
    from likewise.fairness.held_out.pairs import ENOUGH_PAIRS, FEWER_SHARED, LEAST_PAIRS, LEAST_SHARED
    from likewise.fairness.metrics import group_effect

    parts = {0.1: "a tenth", 0.3: "three tenths"}
    yield "fairness_metrics.md", f"the difference is at least {parts[group_effect.MATERIAL]} of the mean"
    yield (
        "fairness_metrics.md",
        f"If their distance is {parts[group_effect.NEAR]} of the mean distance or more",
    )
    yield "fairness_metrics.md", f"or below {NEAR_CONSTANT:.0%} of the root mean square"
    yield "fair_and_proved.md", f"Eligible are pairs with {LEAST_SHARED} or more features in common"
    yield "fair_and_proved.md", f"Where fewer than {LEAST_PAIRS} pairs have {LEAST_SHARED} in common"
    rungs = f"{FEWER_SHARED[0]}, {FEWER_SHARED[1]} and {FEWER_SHARED[2]}"
    yield "fair_and_proved.md", f"as many of {rungs} are\nasked for as {ENOUGH_PAIRS:,} pairs have"
    yield "thresholds.md", f"coefficient of variation more than {assumptions._UNEVEN} beyond it"
    yield "thresholds.md", f"more than {assumptions._NOT_WHITE} times the variance"
    noises = ", ".join(f"{each:g}"[1:] for each in candidates.NOISES)
    yield "auto.md", f"| {noises} of the variance of the observations |"
    shares = ", ".join(f"{each:g}"[1:] for each in candidates._NUCLEAR_SHARES)
    yield "auto.md", f"| {shares} of the largest singular value of what biases leave |"


def rounding_of_numbers() -> Iterator[str]:
    """docs/spectrum.md: the units in the last place, and the largest number."""
    single, double = (np.finfo(kind) for kind in (np.float32, np.float64))
    yield f"ε = {single.eps:.1e} or {double.eps:.1e}".replace("e-0", "e-")
    yield f"above {double.max:.1e} is an error".replace("e+", "e")


def a_cluster_on_paper() -> Iterator[str]:
    """docs/scaling.md: messages of a thousand workers."""
    printed = {}
    for width in (128, 16):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            script("benchmarks/bench_scaling.py").simulate(1000, 10**6, width, 10.0, 5e-4, 48)
        printed[width] = " ".join(out.getvalue().split())
    for width, words in ((128, "messages of 488 MiB"), (16, "messages of 61 MiB")):
        assert words in printed[width], printed[width]
    yield "= 488 MiB a message"
    yield "a message has 61 MiB and a pass {} GiB".format(printed[16].split(" GiB over")[0].split()[-1])
    yield "{} GiB over the network a pass".format(printed[128].split(" GiB over")[0].split()[-1])


CHECKS: dict[str, tuple[str, Callable[[], Iterator[str] | Iterator[tuple[str, str]]]]] = {
    "threshold of the regimes": ("method.md", threshold_of_the_regimes),
    "rows of thresholds": ("thresholds.md", rows_of_thresholds),
    "rows of a frontier": ("frontier.md", rows_of_a_frontier),
    "last line of a frontier": ("frontier.md", last_line_of_a_frontier),
    "distance of the empty entry": ("frontier.md", distance_of_the_empty_entry),
    "least squares on Experiment 1": ("iterative_estimators.md", least_squares_on_experiment_1),
    "shares of the lower bound": ("reproduction.md", shares_of_the_lower_bound),
    "rates and shares": ("reproduction.md", quoted.rates_and_shares),
    "counts of published cells": ("reproduction.md", quoted.counts_of_published_cells),
    "how wide the bars are": ("reproduction.md", quoted.how_wide_the_bars_are),
    "the row K2": ("reproduction.md", quoted.the_row_k2),
    "what the net learns": ("reproduction.md", quoted.what_the_net_learns),
    "targets and the released code": ("reproduction_targets.md", quoted.targets_and_released_code),
    "slopes of activations": ("certificates.md", slopes_of_activations),
    "pairs beyond the largest": ("intervals.md", pairs_beyond_the_largest),
    "random labels": ("fairness_metrics.md", random_labels),
    "numbers of pairs": ("", numbers_of_pairs),
    "limits in the code": ("", limits_in_the_code),
    "rounding of numbers": ("spectrum.md", rounding_of_numbers),
    "a cluster on paper": ("scaling.md", a_cluster_on_paper),
}
"""By name: the page, and what makes the words that must stand in it; without a page, each comes with its own."""


def missing(name: str) -> list[str]:
    """Return what the page should say and does not."""
    page, made = CHECKS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        found = [each if isinstance(each, tuple) else (page, each) for each in made()]
    return [
        f"docs/{where}: {words}" for where, words in found if " ".join(words.split()) not in text_of(where)
    ]


def main() -> int:
    """Print what differs."""
    found = [line for name in CHECKS for line in missing(name)]
    print("\n".join(found) or f"{len(CHECKS)} checks of numbers passed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
