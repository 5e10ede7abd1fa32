"""Tables as data: built once, written to the terminal, Markdown, LaTeX, CSV and HTML alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

from likewise.reproduction.arms import WITHOUT
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.published import PublishedCell, published_cell
from likewise.reproduction.results import METRICS, ON_INPUT, ON_OBSERVED, Metric, Results, Summary
from likewise.reproduction.settings import TARGETS_IN_WORDS
from likewise.reproduction.theory import BEST, THEOREM_ARM, VARIANCE_ARM

NOTHING = "-"

TRUTH = "A itself"
"""The perfect answer as outputs: a mean ratio below its own comes from outputs that shrink."""


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    label: str
    cells: tuple[str, ...]
    published: bool = False  # whether the paper says it


@dataclass(frozen=True)
class Section:
    """Lines that belong together."""

    title: str
    note: str  # in smaller letters: the reference distance
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A table with a heading."""

    key: str  # for names of files and anchors
    title: str
    caption: str
    columns: tuple[str, ...]  # above the cells; the labels have none
    sections: tuple[Section, ...]


def cell_table(found: Results, experiment: Experiment) -> Table:
    """Set the metrics of an experiment beside the published ones."""
    levels = found.settings.levels(experiment)
    sections = [_section(found, experiment, levels, key, metric) for key, metric in METRICS.items()]
    return Table(
        f"experiment-{experiment.key}",
        experiment.title,
        _caption(found, experiment),
        tuple(f"{experiment.axis} = {level:g}" for level in levels),
        tuple(section for section in sections if section.rows),
    )


def _section(
    found: Results, experiment: Experiment, levels: tuple[float, ...], key: str, metric: Metric
) -> Section:
    rows = list(_published_rows(experiment, levels, metric)) if found.has_published_model else []
    for arm in found.arms:
        summaries = [found.summary(experiment.key, level, arm.name, key) for level in levels]
        if any(summaries):
            rows.append(Row(arm.name, tuple(map(summary_text, summaries))))
    if all(row.published for row in rows):
        return Section(metric.title, metric.reference, ())
    if metric.of_truth:
        summaries = [found.summary_of_truth(experiment.key, level, key) for level in levels]
        rows.append(Row(TRUTH, tuple(map(summary_text, summaries))))
    return Section(metric.title, metric.reference, tuple(rows))


def _published_rows(experiment: Experiment, levels: tuple[float, ...], metric: Metric) -> Iterator[Row]:
    for who, name in ((WITHOUT, metric.published_h), ("f", metric.published_f)):
        cells = [published_cell(experiment.key, name, level) for level in levels] if name else []
        if any(cells):
            yield Row(f"published {who}", tuple(map(published_text, cells)), published=True)


def _caption(found: Results, experiment: Experiment) -> str:
    sizes = experiment.sizes(experiment.levels[0])
    fixed = {"m": sizes["n_individuals"], "n": sizes["n_features"], "c": sizes["n_clusters"]}
    fixed |= {"p": sizes["observed_fraction"]}
    fixed.pop(experiment.axis, None)
    words = ", ".join(f"{name} = {value:g}" for name, value in fixed.items())
    n = found.settings.simulations
    bars = "mean +/- 2 standard deviations" if n > 1 else "one"
    learned = TARGETS_IN_WORDS[found.settings.targets]
    return (
        f"{words}; {bars} of {n} simulation{'s' * (n > 1)}; model {found.settings.model}, which learns {learned} at the "
        "observed entries; smaller ratios are stronger fairness."
    )


def summary_text(summary: Summary | None) -> str:
    """Write a mean with its bar.

    >>> summary_text(Summary(0.3321, 0.0042, 10)), summary_text(None)
    ('0.332 ±0.004', '-')
    """
    if summary is None:
        return NOTHING
    bar = f" ±{short(summary.two_sd)}" if isfinite(summary.two_sd) else ""
    return f"{short(summary.mean)}{bar}"


def published_text(cell: PublishedCell | None) -> str:
    """Write a published number as it is printed."""
    return NOTHING if cell is None else f"{cell.value:.2f} ±{cell.bar:.3f}"


def short(value: float) -> str:
    """Write a number in a cell: three decimals, fewer of large ones.

    >>> short(0.03214), short(14.04), short(14123.0), short(2e-5), short(0.0), short(float("inf"))
    ('0.032', '14.0', '14,123', '2e-05', '0', 'infinite')
    """
    if isnan(value):
        return "undefined"
    if not isfinite(value):
        return "infinite"
    if abs(value) < 5e-4:
        return f"{value:.1g}"
    return f"{value:,.{3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0}f}"


_DESCRIBED = {"threshold": "tau", "rank": "rank", "clipped": "clipped", "spread": "spread"}


def theory_table(found: Results) -> Table:
    """Count the pairs of all simulations that exceed a proved bound, and say where Corollary 4.2 bounds K2."""
    statements: dict[str, list[dict[str, Any]]] = {}
    corollaries: list[dict[str, Any]] = []
    for experiment, level in found.cells():
        for arm in found.arms:
            for record in found.of_arm(experiment.key, level, arm.name):
                for check in record["checks"]:
                    statements.setdefault(check["statement"], []).append(check)
                corollaries += [record["corollary"]] if record["corollary"] else []
    rows = tuple(Row(statement, _check_cells(checks)) for statement, checks in statements.items())
    return Table(
        "theory",
        "The theorems held against all pairs",
        "Every pair of every simulation and arm; 'closest' is the largest output distance as a share of its bound.",
        ("pairs", "violated", "closest", "no bound"),
        (Section("Theorems 4.1 and 4.3", "", rows), *_corollary_sections(corollaries)),
    )


def _check_cells(checks: list[dict[str, Any]]) -> tuple[str, ...]:
    pairs, violated = (sum(check[name] for check in checks) for name in ("n_pairs", "n_violated"))
    closest = max(float(check["closest"]) for check in checks)
    without = sum(not check["n_pairs"] for check in checks)
    return f"{pairs:,}", f"{violated:,}", f"{closest:.2%}", f"{without} of {len(checks)}"


def _corollary_sections(corollaries: list[dict[str, Any]]) -> Iterator[Section]:
    kept = [record for record in corollaries if record["incoherence"] is not None]
    if not kept:
        return
    incoherence = Summary.of(record["incoherence"] for record in kept)
    rows = [
        Row(
            f"bounds K2 {words}",
            (f"{len(kept)}", str(sum(record[name] is None for record in kept)), NOTHING, NOTHING),
        )
        for name, words in (("measured", "with the measured mu_1"), ("printed", "as printed, mu_1 = 1"))
    ]
    note = f"estimates of rank 1 or more; measured mu_1 is {summary_text(incoherence)}; 'violated' counts those whose K2 is above it"
    yield Section("Corollary 4.2", note, tuple(rows))


def rate_table(found: Results, experiment: Experiment) -> Table:
    """Set the error of each estimate beside the rates of Proposition 4.4 and of its footnote, as m and n grow."""
    levels = found.settings.levels(experiment)
    variance = min(found.settings.deviation**2, 1.0)
    names = [
        THEOREM_ARM.name,
        VARIANCE_ARM.name,
        *(arm.name for arm in found.arms if arm.estimator is not None),
    ]
    rates = Section(
        "Rate: min(sqrt(q) ||A||_* / (rho_2 sqrt(rho_1) p), ||A||_*^2 / (rho_1 rho_2), 1)",
        f"q = p in the proposition, p s2 + p (1 - p) (1 - s2) in its footnote, s2 = {variance:g}; eps: the condition p >= rho_1^(eps - 1) holds up to it",
        tuple(
            Row(words, _record_cells(found, experiment.key, levels, name))
            for name, words in (("rate", "rate"), ("rate_variance", "with the variance"), ("exponent", "eps"))
        ),
    )
    return Table(
        "rate",
        experiment.title,
        f"n = 4 m, c = {experiment.n_clusters}, p = {experiment.observed_fraction:g}; the proposition says that the error of {THEOREM_ARM.name} "
        f"is at most a constant times the rate, whatever m and n, and the footnote says it of {VARIANCE_ARM.name} and the rate with the variance: "
        "these shares stay bounded.",
        tuple(f"m = {level:g}" for level in levels),
        (rates, *_rate_sections(found, experiment.key, levels, names)),
    )


def minimax_table(found: Results, experiment: Experiment) -> Table:
    """Set the error of each estimate beside the shape of the lower bound, on matrices that are hard to estimate."""
    levels = found.settings.levels(experiment)
    names = [BEST, THEOREM_ARM.name, *(arm.name for arm in found.arms if arm.estimator is not None)]
    shape = Section(
        "Shape of the lower bound: min(||A||_* / (rho_2 sqrt(rho_1 p)), ||A||_*^2 / (rho_1 rho_2), 1)",
        "",
        (Row("shape", _record_cells(found, experiment.key, levels, "rate")),),
    )
    return Table(
        "minimax",
        experiment.title,
        f"m = {experiment.n_individuals}, n = {experiment.n_features}, p = {experiment.observed_fraction:g}; entries are +theta or -theta, the same "
        f"within each of m p theta^2 clusters, and observations +1 or -1. The '{BEST}' knows the clusters and theta: nobody has a smaller error on "
        "average. Its share of the shape is bounded below; that of the estimate of the proposition is bounded above.",
        tuple(f"{experiment.axis} = {level:g}" for level in levels),
        (shape, *_rate_sections(found, experiment.key, levels, names)),
    )


_BESIDE_A_RATE = {
    "mse_all": "Mean squared error over all entries",
    "share_of_rate": "Error as a share of the rate",
    "share_of_rate_variance": "Error as a share of the rate with the variance",
    "rank": "Rank",
}


def _rate_sections(
    found: Results, key: str, levels: tuple[float, ...], names: list[str]
) -> Iterator[Section]:
    for metric, title in _BESIDE_A_RATE.items():
        rows = ((name, _rate_cells(found, key, levels, name, metric)) for name in names)
        known = tuple(Row(name, cells) for name, cells in rows if set(cells) != {NOTHING})
        if known:
            yield Section(title, "", known)


def _record_cells(found: Results, key: str, levels: tuple[float, ...], name: str) -> tuple[str, ...]:
    return tuple(
        summary_text(Summary.of(record[name] for record in found.simulations(key, level))) for level in levels
    )


def _rate_cells(
    found: Results, key: str, levels: tuple[float, ...], name: str, metric: str
) -> tuple[str, ...]:
    return tuple(
        summary_text(Summary.of(record["metrics"].get(metric) for record in found.of_arm(key, level, name)))
        for level in levels
    )


def ratings_table(found: Results, experiment: Experiment) -> Table:
    """Show the metrics of real ratings, on both references."""
    record = found.simulations(experiment.key, experiment.levels[0])[0]
    arms = {arm.name: record["arms"][arm.name] for arm in found.arms}
    metrics = ("mean_ratio", "scale_free_ratio", "similar_ratio")
    references = {
        "observed": ("One fixed reference", ON_OBSERVED),
        "input": ("The released code's reference", ON_INPUT),
    }
    sections = [
        Section(title, note, tuple(_measured_rows(arms, reference, metrics)))
        for reference, (title, note) in references.items()
    ]
    return Table(
        f"experiment-{experiment.key}",
        experiment.title,
        f"{record['n_pairs']:,} drawn pairs of 6,040 users, the same for all arms; ratings r / 5 on [0, 1]; 10 nearest neighbours; intervals of "
        "95% speak of all pairs; the most similar tenth is by d. The paper prints a histogram and no number. Nothing is hidden, so there "
        "is no error beside.",
        ("mean ratio", "scale-free", "most similar tenth"),
        tuple(sections),
    )


def estimates_table(found: Results, experiment: Experiment) -> Table:
    """Show what the estimates of real ratings are like."""
    record = found.simulations(experiment.key, experiment.levels[0])[0]
    rows = [
        Row(arm.name, tuple(_number(record["arms"][arm.name]["metrics"].get(key)) for key in _DESCRIBED))
        for arm in found.arms
    ]
    return Table(
        f"experiment-{experiment.key}-estimates",
        f"{experiment.title}, the estimates",
        "Threshold tau and rank, the share of A_hat that clipping to [0, 1] changes, and the spread of the outputs over the drawn pairs.",
        tuple(_DESCRIBED.values()),
        (Section("Estimates and outputs", "", tuple(rows)),),
    )


def _measured_rows(arms: dict[str, Any], reference: str, metrics: tuple[str, ...]) -> Iterator[Row]:
    for name, arm in arms.items():
        measured = arm["measured"][reference]
        yield Row(name, tuple(_interval(measured[metric]) for metric in metrics))


def _interval(metric: dict[str, Any]) -> str:
    return f"{short(float(metric['value']))} [{short(float(metric['low']))}, {short(float(metric['high']))}]"


def _number(value: Any) -> str:
    return NOTHING if value is None else short(float(value))
