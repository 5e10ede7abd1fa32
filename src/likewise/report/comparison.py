"""Every figure of both arms side by side, named and explained: what the table and the page both draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING

from likewise.fairness import SampledFairness
from likewise.fairness.sentences import similar_ratio
from likewise.report.numbers import number, percent_change, value_text

if TYPE_CHECKING:
    from likewise.fairness import AnyMetricValue
    from likewise.report.records import Arm, AuditRecord

_NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Row:
    """One figure of every arm.

    Parameters
    ----------
    label : str
        Its name.
    meaning : str
        What it tells, in a sentence.
    values : tuple of str
        One for each arm.
    change : str
        From the first arm to the second; empty where the arms cannot be compared.
    """

    label: str
    meaning: str
    values: tuple[str, ...]
    change: str = ""


@dataclass(frozen=True)
class Group:
    """Figures that are read together."""

    title: str
    rows: tuple[Row, ...]


_SIMILAR = {
    "similar_scale_free_ratio": (
        "scale-free ratio",
        "How differently similar individuals are treated, relative to how differently all are: 1 means that similarity makes "
        "no difference. It does not fall when all outputs shrink.",
    ),
    "similar_mean_ratio": ("mean ratio D/d", "Output distance over reference distance."),
    "similar_max_ratio": ("largest ratio", "The pair of similar individuals that is treated worst."),
    "similar_output_gap": ("mean output distance", "How far apart the outputs of similar individuals are."),
}
_SIMILAR_FINITE_SCALE_FREE = (
    "scale-free ratio, finite pairs",
    "The same without the pairs at distance zero whose outputs differ: the one that the findings name.",
)
_SIMILAR_FINITE = {
    "similar_finite_mean_ratio": (
        "mean ratio D/d, finite pairs",
        "The same without the pairs at distance zero whose outputs differ.",
    ),
}
_ALL_PAIRS = {
    "mean_ratio": (
        "mean ratio IF",
        "The paper's figure: the sum of D/d over ordered pairs, over m squared. A constant output scores 0, so read it with "
        "error and spread.",
    ),
    "finite_mean_ratio": (
        "mean ratio IF, finite pairs",
        "The same without the pairs whose ratio is infinite.",
    ),
    "pair_mean_ratio": ("mean ratio over pairs", "Each unordered pair once."),
    "scale_free_ratio": ("scale-free ratio", "D over its mean, divided by d over its mean, averaged."),
    "max_ratio": (
        "largest ratio",
        "The smallest L for which the outputs are L-Lipschitz fair on these pairs.",
    ),
}
_OUTPUTS = {
    "output_spread": (
        "output spread",
        "Root mean square distance of the outputs to their mean; 0 is constant.",
    ),
    "mean_output_distance": ("mean output distance D", "Over all pairs."),
    "mean_reference_distance": ("mean reference distance d", "Over all pairs; equal in a valid comparison."),
}
_ON_REQUEST = {
    "violation_": "Violations of D <= L d",
    "slack_for_": "Slack that leaves a share of pairs in violation",
    "neighbor_": "Each individual's nearest others",
    "within_": "Pairs of the same group",
    "across_": "Pairs of different groups",
}
"""Figures that are measured only where they are asked for, by how their names begin."""

_OF_EVERY_TWO_GROUPS = {
    "mean_ratio": "Every two groups: mean ratio D/d",
    "similar_mean_ratio": "Every two groups: mean ratio D/d of the most similar pairs",
}
_MOST_KINDS = 21
"""Every two of six groups, each and itself included; more would bury the rest of the table."""

_COUNTS = {
    "n_pairs": ("pairs", "With a defined reference distance."),
    "n_zero_distance": ("at distance zero", "Pairs that the reference distance cannot tell apart."),
    "n_infinite": ("infinite ratios", "Pairs at distance zero whose outputs differ."),
    "n_undefined": ("undefined distance", "They count nowhere."),
}
_ERRORS = {
    "rmse": ("RMSE", "Root mean squared error, in the units of the data."),
    "mae": ("MAE", "Mean absolute error, in the units of the data."),
    "mse": ("MSE", "Mean squared error, in the units of the data squared."),
    "mse_scaled": ("MSE on the method's working range", "Comparable with the paper's tables."),
}


def comparison(report: AuditRecord) -> tuple[Group, ...]:
    """Return every figure of every arm, in the order in which to read them.

    Parameters
    ----------
    report : AuditRecord

    Returns
    -------
    tuple of Group
    """
    arms = list(report.arms.values())
    comparable = report.reference.valid_comparison
    similar = f"The {arms[0].fairness.similar.share:.0%} most similar pairs"
    groups = [
        Group(similar, (*_similar_rows(arms, comparable), *_similarity_rows(arms))),
        Group("All pairs", (*_figure_rows(arms, _ALL_PAIRS, comparable), *_quantile_rows(arms, comparable))),
        Group("Outputs", tuple(_figure_rows(arms, _OUTPUTS, comparable))),
        *_groups_on_request(arms, comparable),
        Group("Counted pairs", tuple(_count_rows(arms))),
    ]
    return (_error_group(arms), *groups) if any(arm.error for arm in arms) else tuple(groups)


def _figure_rows(arms: list[Arm], names: dict[str, tuple[str, str]], comparable: bool) -> Iterable[Row]:
    every = [arm.fairness.figures() for arm in arms]
    for name, (label, meaning) in names.items():
        yield _row(label, meaning, [figures[name] for figures in every], comparable)


def _similar_rows(arms: list[Arm], comparable: bool) -> Iterable[Row]:
    """Yield the figures of similar pairs; those of the finite ones too where another mean is infinite."""
    yield from _figure_rows(arms, _SIMILAR, comparable)
    if not all(isfinite(arm.fairness.similar.mean_ratio.value) for arm in arms):
        yield _finite_scale_free_row(arms, comparable)
        yield from _figure_rows(arms, _SIMILAR_FINITE, comparable)


def _finite_scale_free_row(arms: list[Arm], comparable: bool) -> Row:
    values = [similar_ratio(arm.fairness) for arm in arms]
    texts = tuple(_finite_text(arm, value) for arm, value in zip(arms, values, strict=True))
    return Row(*_SIMILAR_FINITE_SCALE_FREE, texts, _change(values) if comparable else "")


def _finite_text(arm: Arm, value: float) -> str:
    """Write a ratio of finite pairs; one of drawn pairs, which has no interval, as what it is about."""
    text = number(value if isfinite(value) else nan)
    return f"about {text}" if isinstance(arm.fairness, SampledFairness) and isfinite(value) else text


def _groups_on_request(arms: list[Arm], comparable: bool) -> Iterable[Group]:
    names = list(arms[0].fairness.figures())
    for prefix, title in _ON_REQUEST.items():
        chosen = {name: (_spoken(name.removeprefix(prefix)), "") for name in names if name.startswith(prefix)}
        if chosen:
            yield Group(title, tuple(_figure_rows(arms, chosen, comparable)))
    for name, title in _OF_EVERY_TWO_GROUPS.items():
        if rows := tuple(_rows_of_every_two_groups(arms, name, comparable)):
            yield Group(title, rows)


def _rows_of_every_two_groups(arms: list[Arm], name: str, comparable: bool) -> Iterable[Row]:
    """Yield a row for every two groups where there are few; all of them are in the JSON."""
    splits = [arm.fairness.groups.by_groups for arm in arms if arm.fairness.groups]
    if splits and len(splits[0]) > _MOST_KINDS:
        return
    for kinds in zip(*splits, strict=True):
        yield _row(kinds[0].name, "", [getattr(kind, name) for kind in kinds], comparable)


def kinds_left_out(report: AuditRecord) -> int:
    """Return how many kinds of pairs of groups there are if the table shows none of them because they are too many; else 0."""
    splits = [arm.fairness.groups.by_groups for arm in report.arms.values() if arm.fairness.groups]
    kinds = max(map(len, splits), default=0)
    return kinds if kinds > _MOST_KINDS else 0


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _similarity_rows(arms: list[Arm]) -> Iterable[Row]:
    similar = [arm.fairness.similar for arm in arms]
    yield Row(
        "up to distance d",
        "Pairs no farther apart count as similar.",
        tuple(number(s.radius) for s in similar),
    )
    yield Row(
        "how many", "More than asked for where distances tie.", tuple(f"{s.n_pairs:,}" for s in similar)
    )


def _quantile_rows(arms: list[Arm], comparable: bool) -> Iterable[Row]:
    for q in arms[0].fairness.quantiles:
        label = "median ratio" if q == 0.5 else f"{q:.4g} quantile of ratios"
        meaning = f"At least {q:.4g} of the pairs have a ratio no larger than this."
        yield _row(label, meaning, [arm.fairness.quantiles[q] for arm in arms], comparable)


def _count_rows(arms: list[Arm]) -> Iterable[Row]:
    for name, (label, meaning) in _COUNTS.items():
        yield Row(label, meaning, tuple(f"{getattr(arm.fairness, name):,}" for arm in arms))


def _error_group(arms: list[Arm]) -> Group:
    hidden = next(arm.error.n for arm in arms if arm.error)
    rows = []
    for name, (label, meaning) in _ERRORS.items():
        values = [None if arm.error is None else float(getattr(arm.error, name)) for arm in arms]
        texts = tuple(_NOT_MEASURED if value is None else number(value) for value in values)
        rows.append(Row(label, meaning, texts, _change([value for value in values if value is not None])))
    return Group(f"Error on {hidden:,} hidden observations", tuple(rows))


def _row(label: str, meaning: str, figures: list[AnyMetricValue], comparable: bool) -> Row:
    change = _change([figure.value for figure in figures]) if comparable else ""
    return Row(label, meaning, tuple(map(value_text, figures)), change)


def _change(values: list[float]) -> str:
    return percent_change(*values) if len(values) == 2 else ""
