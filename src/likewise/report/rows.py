"""Every row of the table of what was measured: each metric of each arm, side by side and explained."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, isinf
from typing import TYPE_CHECKING

from likewise.fairness import Certificate
from likewise.fairness.metrics.target_accuracy import common_measure, label_of
from likewise.report.accuracy import error_groups, target_groups, target_row, unmeasured_lists
from likewise.report.equal_pairs import are_all_equal, equal_pairs_row
from likewise.report.gap import Gap
from likewise.report.item_lists import list_groups
from likewise.report.numbers import (
    NOT_MEASURED,
    Group,
    Row,
    change_between,
    metric_row,
    number,
    with_ends,
)

if TYPE_CHECKING:
    from likewise.fairness import AnyMetricValue, ErrorMetrics, SampledValue
    from likewise.report.records import Arm, AuditRecord, Sandwich

_SANDWICH = (
    "Three increasing numbers: the largest D/d over pairs of the data, or of some people who were drawn; the largest that a search over unseen rows finds; a "
    "bound that no pair exceeds. D is l2 and d the distance that the bound is about, so these need not be ratios of the other rows."
)


GAP = (
    "gap of similar pairs",
    "Mean output distance of the similar pairs over that of all pairs: 0, the similar are treated alike; 1, similarity makes no difference.",
)
_SIMILAR = {
    "similar_output_gap": ("mean output distance", "How far apart the outputs of similar individuals are."),
    "similar_finite_mean_ratio": (
        "mean ratio D/d, finite pairs",
        "Output distance over reference distance, without the pairs at distance zero whose outputs differ.",
    ),
    "similar_mean_ratio": (
        "mean ratio D/d",
        "Output distance over reference distance, on average over all of these pairs.",
    ),
    "similar_max_ratio": ("largest ratio", "The largest ratio of a pair of similar individuals."),
    "similar_scale_free_ratio": (
        "scale-free ratio",
        "D over its mean, divided by d over its mean, averaged over the similar pairs. It does not fall when all outputs shrink.",
    ),
}
_NO_DIFFERENCE = (
    "scale-free ratio if similarity made no difference",
    "Mean d times the mean of 1/d over the similar pairs: what outputs that do not depend on the individuals would have.",
)
_ALL_PAIRS = {
    "finite_mean_ratio": (
        "mean ratio IF, finite pairs",
        "As the next row, without the pairs whose ratio is infinite.",
    ),
    "mean_ratio": (
        "mean ratio IF",
        "The paper's metric: the sum of D/d over ordered pairs, over m squared. A constant output scores 0, so read it with "
        "error and spread.",
    ),
    "pair_mean_ratio": ("mean ratio over pairs", "Each unordered pair once."),
    "scale_free_ratio": ("scale-free ratio", "D over its mean, divided by d over its mean, averaged."),
    "max_ratio": (
        "largest ratio",
        "The smallest L for which the outputs are L-Lipschitz fair on these pairs.",
    ),
}
_LEFT_OUT = (
    "pairs left out: d = 0 < D",
    "Nothing tells them apart and their outputs differ: their ratio is infinite.",
)
_ONLY_BESIDE_INFINITE = {"finite_mean_ratio", "similar_finite_mean_ratio"}
"""Rows that repeat another one unless that one is infinite."""

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
    "slack_for_": "Slack at which a share of the pairs violates",
    "neighbor_": "Each individual's nearest others",
    "within_": "Pairs of the same group",
    "across_": "Pairs of different groups",
}
"""Metrics that are measured only where they are asked for, by how their names begin."""

_OF_SOME_PAIRS = {
    "relative_gap": (GAP[0], "Their mean output distance where they are similar, over that of all pairs."),
    "similar_output_gap": ("mean output distance of similar pairs", ""),
    "output_gap": ("mean output distance", "Similar or not."),
    "finite_mean_ratio": ("mean ratio D/d, finite pairs", ""),
    "mean_ratio": ("mean ratio D/d", ""),
    "mean_reference_distance": ("mean reference distance", ""),
}
"""What metrics of pairs within or across groups are called."""

_OF_EVERY_TWO_GROUPS = {
    "similar_output_gap": "Every two groups: mean output distance of the most similar pairs",
    "finite_mean_ratio": "Every two groups: mean ratio D/d, finite pairs",
    "n_infinite": "Every two groups: pairs at distance zero whose outputs differ",
}
_MOST_KINDS = 21
"""Every two of six groups, each and itself included; more would bury the rest of the table."""

_COUNTS = {
    "n_pairs": ("pairs", "With a defined reference distance."),
    "n_zero_distance": ("at distance zero", "Pairs of individuals at reference distance 0."),
    "n_infinite": (
        "at distance zero, D > 0",
        "Pairs at distance zero whose outputs differ: their ratio is infinite.",
    ),
    "n_undefined": ("undefined distance", "They count nowhere."),
}


def comparison(report: AuditRecord) -> tuple[Group, ...]:
    """Return every metric of every arm, in the order in which to read them."""
    arms, comparable = list(report.arms.values()), report.comparable
    similar = f"The {arms[0].fairness.similar.share:.0%} most similar pairs"
    groups = [
        Group(
            similar,
            (gap_row(arms, comparable), *_metric_rows(arms, _SIMILAR, comparable), *_similarity_rows(arms)),
        ),
        Group("All pairs", (*_metric_rows(arms, _ALL_PAIRS, comparable), *_quantile_rows(arms, comparable))),
        Group("Outputs", (*_metric_rows(arms, _OUTPUTS, comparable), *_consistency_rows(arms, comparable))),
        *_groups_on_request(arms, comparable),
        *([Group("Registered metrics", added)] if (added := tuple(_added_rows(arms, comparable))) else []),
        Group("Counted pairs", tuple(_count_rows(arms))),
    ]
    if report.truth is not None:
        title = f"The {report.truth.nearest_share:.0%} of pairs most similar on observations kept aside"
        groups.insert(0, Group(title, truth_rows(report)))
    return (*target_groups(arms), *list_groups(arms), *error_groups(arms), *groups)


def headline(report: AuditRecord) -> tuple[Row, ...]:
    """Return the rows that matter most: the gap, the error, what is proved or else the largest ratio; a test, the sandwich and consistency where there are."""
    arms = list(report.arms.values())
    gap = truth_rows(report)[0] if report.truth else gap_row(arms, report.comparable)
    return (
        gap,
        _headline_error(report, arms),
        *_test_row(arms),
        _worst_row(report, arms),
        *sandwich_row(arms),
        *_consistency_rows(arms, report.comparable),
    )


def sandwich_row(arms: list[Arm]) -> tuple[Row, ...]:
    """Return how large D / d is, from below and from above, for each arm; nothing where no algorithm ran here, or nothing is proved of any."""
    if not any(arm.sandwich and arm.sandwich.proved is not None for arm in arms):
        return ()
    texts = tuple("not searched" if arm.sandwich is None else sandwich_text(arm.sandwich) for arm in arms)
    words = "; ".join(f"{arm.label}, {arm.sandwich.distance}" for arm in arms if arm.sandwich)
    return (Row("measured, found, proved", f"{_SANDWICH} d is, {words}.", texts),)


def sandwich_text(sandwich: Sandwich) -> str:
    """Write the three numbers, rounded, in their order."""
    three = (sandwich.measured, sandwich.found, sandwich.proved)
    return ", ".join("none" if value is None else number(float(f"{value:.3g}")) for value in three)


def _headline_error(report: AuditRecord, arms: list[Arm]) -> Row:
    """Return the error: of outputs against the target where there is one, else on hidden observations; of outputs without any, how far apart the similar are."""
    told = [arm.accuracy for arm in arms if arm.accuracy is not None]
    measure = common_measure(told)
    if measure is not None and len(told) == len(arms):
        return target_row(label_of(measure), told, measure)
    before_and_after = [arm.error.rmse for arm in arms if arm.error]
    if not before_and_after and all(arm.lists for arm in arms):
        return unmeasured_lists(len(arms))
    if not before_and_after and report.estimate is None:
        return _similar_row(arms, report.comparable)
    texts = tuple(_error_text(arm) for arm in arms)
    meaning = f"On hidden observations, in {_error_unit(arms)}."
    return Row("error (RMSE)", meaning, texts, change_between(before_and_after))


def _similar_row(arms: list[Arm], comparable: bool) -> Row:
    """Return how far apart the outputs of similar individuals are, in units of D: what the gap is a share of is not said by it."""
    gaps: list[AnyMetricValue] = [arm.fairness.similar.output_gap for arm in arms]
    return metric_row("mean D, similar pairs", _SIMILAR["similar_output_gap"][1], gaps, comparable)


def _error_unit(arms: list[Arm]) -> str:
    return next((arm.error.unit for arm in arms if arm.error), "the units of the data")


def gap_row(arms: list[Arm], comparable: bool) -> Row:
    """Return the gap of similar pairs of every arm, with intervals."""
    gaps = [Gap.of(arm.fairness) for arm in arms]
    if any(are_all_equal(arm.fairness) for arm in arms):
        return Row(*GAP, ("none, as d = 0",) * len(arms))
    texts = tuple(
        with_ends(gap.value, gap.low, gap.high) if gap.has_interval else number(gap.value) for gap in gaps
    )
    return Row(*GAP, texts, change_between([gap.value for gap in gaps]) if comparable else "")


_ON_TRUTH = {
    "relative_gap": (
        "gap of similar pairs",
        "For people who are similar on observations kept aside, on the truth and not on who observed what: 0, they are treated alike; 1, similarity "
        "makes no difference.",
    ),
    "rank_correlation": (
        "rank correlation of D and d",
        "Spearman's rank correlation: how closely outputs follow similarity.",
    ),
    "corrected_correlation": (
        "correlation, corrected for noise in d",
        "Of D^2 and d^2: an estimate of what it would be if the truth were known.",
    ),
    "mean_ratio": (
        "mean ratio D/d",
        "With d shrunk to the mean of all pairs; it falls when outputs shrink.",
    ),
}


def truth_rows(report: AuditRecord) -> tuple[Row, ...]:
    """Return what was measured on the truth, for every arm."""
    arms = [arm.on_truth for arm in report.arms.values() if arm.on_truth is not None]
    rows = []
    for name, (label, meaning) in _ON_TRUTH.items():
        values = [getattr(metrics, name) for metrics in arms]
        texts = tuple("none: d is too noisy" if value is None else _with_ends(value) for value in values)
        is_ratio = name in ("relative_gap", "mean_ratio")
        rows.append(
            Row(label, meaning, texts, change_between([value.value for value in values]) if is_ratio else "")
        )
    return tuple(rows)


def _with_ends(value: SampledValue) -> str:
    if not isfinite(value.low + value.high):
        return number(value.value)
    return with_ends(value.value, value.low, value.high)


def _test_row(arms: list[Arm]) -> tuple[Row, ...]:
    """Return the error on observations from elsewhere, where there are."""
    errors = [arm.test_error for arm in arms if arm.test_error is not None]
    if not errors:
        return ()
    meaning = f"On {errors[0].n:,} test observations from elsewhere, in {errors[0].unit}."
    texts = tuple(map(_rmse_text, errors))
    return (Row("error on the test", meaning, texts, change_between([error.rmse for error in errors])),)


def _error_text(arm: Arm) -> str:
    return NOT_MEASURED if arm.error is None else _rmse_text(arm.error)


def _rmse_text(error: ErrorMetrics) -> str:
    interval, rmse = error.rmse_interval, error.rmse
    return number(rmse) if interval is None else with_ends(rmse, interval.low, interval.high)


def _worst_row(report: AuditRecord, arms: list[Arm]) -> Row:
    proved = [arm.certificate if isinstance(arm.certificate, Certificate) else None for arm in arms]
    if any(proved):
        texts = tuple("none" if constant is None else number(constant.value) for constant in proved)
        return Row(
            "proved constant", "D is at most this many times the distance that the certificate names.", texts
        )
    if any(arm.fairness.n_infinite for arm in arms):
        return equal_pairs_row(arms, report.comparable, zero_filled=report.truth is not None)
    values = [arm.fairness.max_ratio.value for arm in arms]
    # Similarity on what was kept aside is another d.
    what = "D/d, zero-filled" if report.truth else "ratio D/d"
    change = change_between(values) if report.comparable else ""
    return Row(f"largest {what}", "The largest ratio of a pair.", tuple(map(number, values)), change)


def _metric_rows(arms: list[Arm], names: dict[str, tuple[str, str]], comparable: bool) -> Iterable[Row]:
    """Yield a row for each metric; one of finite pairs only where there are others, and none that is infinite for every arm."""
    every = [arm.fairness.metrics() for arm in arms]
    infinite = any(arm.fairness.n_infinite for arm in arms)
    for name, (label, meaning) in names.items():
        values = [metrics[name] for metrics in every]
        if all(isinf(value.value) for value in values) or (name in _ONLY_BESIDE_INFINITE and not infinite):
            continue
        yield metric_row(label, meaning, values, comparable)
        if infinite and name.endswith("finite_mean_ratio"):
            yield Row(*_LEFT_OUT, tuple(f"{_n_infinite(arm, name):,}" for arm in arms))


def _n_infinite(arm: Arm, name: str) -> int:
    """Return how many pairs of infinite ratio a mean of finite ones leaves out; all of them are similar pairs."""
    groups = arm.fairness.groups
    if groups is not None and name.startswith(("within_", "across_")):
        return (groups.within if name.startswith("within_") else groups.across).n_infinite
    return arm.fairness.n_infinite


def _added_rows(arms: list[Arm], comparable: bool) -> Iterable[Row]:
    """Yield the metrics that others registered."""
    for name in arms[0].fairness.added:
        yield metric_row(_spoken(name), "", [arm.fairness.added[name] for arm in arms], comparable)


def _groups_on_request(arms: list[Arm], comparable: bool) -> Iterable[Group]:
    names = list(arms[0].fairness.metrics())
    for prefix, title in _ON_REQUEST.items():
        chosen = {
            name: _OF_SOME_PAIRS.get(part := name.removeprefix(prefix), (_spoken(part), ""))
            for name in sorted(names, key=_finite_first)
            if name.startswith(prefix)
        }
        if chosen:
            yield Group(title, tuple(_metric_rows(arms, chosen, comparable)))
    infinite = any(arm.fairness.n_infinite for arm in arms)
    for name, title in _OF_EVERY_TWO_GROUPS.items():
        if name == "n_infinite" and not infinite:
            continue
        if rows := tuple(_rows_of_every_two_groups(arms, name, comparable)):
            yield Group(title, rows)


def _rows_of_every_two_groups(arms: list[Arm], name: str, comparable: bool) -> Iterable[Row]:
    """Yield a row for every two groups where there are few; all of them are in the JSON."""
    splits = [arm.fairness.groups.by_groups for arm in arms if arm.fairness.groups]
    if splits and len(splits[0]) > _MOST_KINDS:
        return
    for kinds in zip(*splits, strict=True):
        if name == "n_infinite":
            yield Row(kinds[0].name, "", tuple(f"{kind.n_infinite:,}" for kind in kinds))
        else:
            yield metric_row(kinds[0].name, "", [getattr(kind, name) for kind in kinds], comparable)


def kinds_left_out(report: AuditRecord) -> int:
    """Return how many kinds of pairs of groups there are if the table shows none of them because they are too many; else 0."""
    splits = [arm.fairness.groups.by_groups for arm in report.arms.values() if arm.fairness.groups]
    kinds = max(map(len, splits), default=0)
    return kinds if kinds > _MOST_KINDS else 0


def _finite_first(name: str) -> bool:
    """Order what is always finite before what may be infinite."""
    return not ("finite" in name or "gap" in name)


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _similarity_rows(arms: list[Arm]) -> Iterable[Row]:
    similar = [arm.fairness.similar for arm in arms]
    yield Row(*_NO_DIFFERENCE, tuple(number(s.no_difference) for s in similar))
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
        yield metric_row(label, meaning, [arm.fairness.quantiles[q] for arm in arms], comparable)


def _count_rows(arms: list[Arm]) -> Iterable[Row]:
    for name, (label, meaning) in _COUNTS.items():
        yield Row(label, meaning, tuple(f"{getattr(arm.fairness, name):,}" for arm in arms))


def _consistency_rows(arms: list[Arm], comparable: bool) -> tuple[Row, ...]:
    values = [arm.consistency for arm in arms if arm.consistency is not None]
    meaning = "One minus how far everybody's output is, on average, from the mean of their nearest neighbours': 1, everybody gets what those like them get."
    return (metric_row("consistency", meaning, list(values), comparable),) if values else ()
