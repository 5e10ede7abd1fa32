"""Tables as data: built once, written to the terminal, Markdown, LaTeX, CSV and HTML alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, isnan

from likewise.reproduction.arms import WITHOUT
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.metrics import METRICS, Metric
from likewise.reproduction.published import PublishedCell, published_cell
from likewise.reproduction.results import Reproduction
from likewise.reproduction.summary import Summary

NOTHING = "-"

TRUTH = "A itself"
"""The perfect answer as outputs: a mean ratio below its own comes from outputs that shrink."""


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Parameters
    ----------
    label : str
    cells : tuple of str
    published : bool
        Whether the paper says it.
    """

    label: str
    cells: tuple[str, ...]
    published: bool = False


@dataclass(frozen=True)
class Section:
    """Lines that belong together.

    Parameters
    ----------
    title : str
    note : str
        In smaller letters: the reference distance.
    rows : tuple of Row
    """

    title: str
    note: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A table with a heading.

    Parameters
    ----------
    key : str
        For names of files and anchors.
    title, caption : str
    columns : tuple of str
        Above the cells; the labels have none.
    sections : tuple of Section
    """

    key: str
    title: str
    caption: str
    columns: tuple[str, ...]
    sections: tuple[Section, ...]


def cell_table(found: Reproduction, experiment: Experiment) -> Table:
    """Set the figures of an experiment beside the published ones."""
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
    found: Reproduction, experiment: Experiment, levels: tuple[float, ...], key: str, metric: Metric
) -> Section:
    rows = list(_published_rows(experiment, levels, metric))
    for arm in found.arms:
        summaries = [found.summary(experiment.key, level, arm.name, key) for level in levels]
        if any(summaries):
            rows.append(Row(arm.name, tuple(map(summary_text, summaries))))
    if rows and metric.of_truth:
        summaries = [found.summary_of_truth(experiment.key, level, key) for level in levels]
        rows.append(Row(TRUTH, tuple(map(summary_text, summaries))))
    return Section(metric.title, metric.reference, tuple(rows))


def _published_rows(experiment: Experiment, levels: tuple[float, ...], metric: Metric) -> Iterator[Row]:
    for who, name in ((WITHOUT, metric.published_h), ("f", metric.published_f)):
        cells = [published_cell(experiment.key, name, level) for level in levels] if name else []
        if any(cells):
            yield Row(f"published {who}", tuple(map(published_text, cells)), published=True)


def _caption(found: Reproduction, experiment: Experiment) -> str:
    sizes = experiment.sizes(experiment.levels[0])
    fixed = {"m": sizes["n_individuals"], "n": sizes["n_features"], "c": sizes["n_clusters"]}
    fixed |= {"p": sizes["observed_fraction"]}
    fixed.pop(experiment.axis, None)
    words = ", ".join(f"{name} = {value:g}" for name, value in fixed.items())
    n = found.settings.simulations
    bars = "mean +/- 2 standard deviations" if n > 1 else "one"
    learned = "observed Z" if found.settings.targets == "observed" else "the truth A"
    return (
        f"{words}; {bars} of {n} simulation{'s' * (n > 1)}; model {found.settings.model}, which learns {learned} at the "
        "observed entries; smaller ratios are stronger fairness."
    )


def summary_text(summary: Summary | None) -> str:
    """Write a mean with its bar.

    Examples
    --------
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

    Examples
    --------
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
