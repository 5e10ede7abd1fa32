"""The tables that have no published numbers: the theorems, the rate of Proposition 4.4, and real ratings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from likewise.reproduction.error_rate import THEOREM_ARM
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.metrics import ON_INPUT, ON_OBSERVED
from likewise.reproduction.results import Reproduction
from likewise.reproduction.summary import Summary
from likewise.reproduction.tables import NOTHING, Row, Section, Table, short, summary_text

_DESCRIBED = {"threshold": "tau", "rank": "rank", "clipped": "clipped", "spread": "spread"}


def theory_table(found: Reproduction) -> Table:
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


def rate_table(found: Reproduction, experiment: Experiment) -> Table:
    """Set the error of each estimate beside the rate of Proposition 4.4, as m and n grow."""
    levels = found.settings.levels(experiment)
    rates = [
        Summary.of(record["rate"] for record in found.simulations(experiment.key, level)) for level in levels
    ]
    names = [THEOREM_ARM.name, *(arm.name for arm in found.arms if arm.estimator is not None)]
    titles = {
        "mse_all": "Mean squared error over all entries",
        "share_of_rate": "Error as a share of the rate",
        "rank": "Rank",
    }
    sections = [
        Section(
            title,
            "",
            tuple(Row(name, _rate_cells(found, experiment.key, levels, name, metric)) for name in names),
        )
        for metric, title in titles.items()
    ]
    rate = Section(
        "Rate: min(||A||_* / (rho_2 sqrt(rho_1 p)), ||A||_*^2 / (rho_1 rho_2), 1)",
        "",
        (Row("rate", tuple(map(summary_text, rates))),),
    )
    return Table(
        "rate",
        experiment.title,
        f"n = 4 m, c = {experiment.n_clusters}, p = {experiment.observed_fraction:g}; the proposition says that the error of {THEOREM_ARM.name} "
        "is at most a constant times the rate, whatever m and n: its share stays bounded.",
        tuple(f"m = {level:g}" for level in levels),
        (rate, *sections),
    )


def _rate_cells(
    found: Reproduction, key: str, levels: tuple[float, ...], name: str, metric: str
) -> tuple[str, ...]:
    return tuple(
        summary_text(Summary.of(record["figures"].get(metric) for record in found.of_arm(key, level, name)))
        for level in levels
    )


def ratings_table(found: Reproduction, experiment: Experiment) -> Table:
    """Show the figures of real ratings, on both references."""
    record = found.simulations(experiment.key, experiment.levels[0])[0]
    arms = {arm.name: record["arms"][arm.name] for arm in found.arms}
    figures = ("mean_ratio", "scale_free_ratio", "similar_ratio")
    references = {
        "observed": ("One fixed reference", ON_OBSERVED),
        "input": ("The released code's reference", ON_INPUT),
    }
    sections = [
        Section(title, note, tuple(_measured_rows(arms, reference, figures)))
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


def estimates_table(found: Reproduction, experiment: Experiment) -> Table:
    """Show what the estimates of real ratings are like."""
    record = found.simulations(experiment.key, experiment.levels[0])[0]
    rows = [
        Row(arm.name, tuple(_number(record["arms"][arm.name]["figures"].get(key)) for key in _DESCRIBED))
        for arm in found.arms
    ]
    return Table(
        f"experiment-{experiment.key}-estimates",
        f"{experiment.title}, the estimates",
        "Threshold tau and rank, the share of A_hat that clipping to [0, 1] changes, and the spread of the outputs over the drawn pairs.",
        tuple(_DESCRIBED.values()),
        (Section("Estimates and outputs", "", tuple(rows)),),
    )


def _measured_rows(arms: dict[str, Any], reference: str, figures: tuple[str, ...]) -> Iterator[Row]:
    for name, arm in arms.items():
        measured = arm["measured"][reference]
        yield Row(name, tuple(_interval(measured[figure]) for figure in figures))


def _interval(figure: dict[str, Any]) -> str:
    return f"{short(float(figure['value']))} [{short(float(figure['low']))}, {short(float(figure['high']))}]"


def _number(value: Any) -> str:
    return NOTHING if value is None else short(float(value))
