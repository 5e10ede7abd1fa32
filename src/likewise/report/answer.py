"""The one answer of an audit: a sentence, three rows, groups, the worst pairs explained, and what all this does not show."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from likewise.fairness import SampledFairness, Unavailable
from likewise.fairness.distances.named_outputs import IN_ORDER
from likewise.fairness.metrics.worst_pairs import WORST
from likewise.observations.ids import is_unknown
from likewise.report.accuracy import UNMEASURED
from likewise.report.groups import FEWEST_SHARED, group_alarms, group_lines, is_sparse, no_group_alarm
from likewise.report.item_lists import list_lines
from likewise.report.numbers import Row, number, shown, with_ends
from likewise.report.rows import headline, sandwich_row, sandwich_text

if TYPE_CHECKING:
    from likewise.fairness import Contribution, PairExplanation
    from likewise.report.records import AuditRecord

_FEATURES = 3
"""How many features a pair's explanation names in a line."""

_OTHERWISE = "; by what two people both observed (co-observed) the answer may be the opposite, as this d measures activity"

_EQUALS_L2 = ("l2", "absolute")
"""Norms of D that are l2; of one number both are the same."""


@dataclass(frozen=True)
class PairStory:
    """Why a pair is among the worst, in words."""

    left: str  # the two individuals, with their groups
    right: str
    numbers: str  # ratio, D and d
    close: str  # which features make d small
    apart: str  # which outputs make D large
    features: tuple[tuple[str, str, str], ...]  # both rows side by side: feature, left, right
    brief: str  # the same in a line, with the names of features alone

    def __str__(self) -> str:
        return f"{self.left} and {self.right}: {self.numbers}. Close in {self.close}; apart in {self.apart}."


@dataclass(frozen=True)
class Answer:
    """The answer of a report: what the terminal, the page and JSON show first.

    Parameters
    ----------
    sentence : str
        Better, worse, or cannot be told; for whom; at which cost.
    verdicts : tuple of str
        Whether the limit that was given holds, for each arm; what became of checks.
    alarms : tuple of str
        Which groups are treated differently from similar people of other groups; how many of the worst pairs are so because values are missing.
    tested : tuple of str
        That no group is seen to be treated differently, or why that was not tested; empty where there is an alarm, or no groups.
    rows : tuple of Row
        Gap of similar pairs, error, and the proved constant or the largest ratio.
    remarks : tuple of str
        In which order classes were taken, where D depends on it; of which D and d the proofs are, where the audit has others; what the estimate itself does as the outputs, where an algorithm ran on it;
        why there is no error, where there is none.
    lists : tuple of str
        Who would rather have another's list of items, and how exposure is shared.
    groups : tuple of str
    arm : str
        Whose pairs are told.
    pairs : tuple of PairStory
    across : tuple of PairStory
        Of two groups, where few of the worst pairs are.
    columns : tuple of str
        Which columns of which file were read as what.
    limits : tuple of str
        What this does not show.
    """

    sentence: str
    verdicts: tuple[str, ...]
    alarms: tuple[str, ...]
    tested: tuple[str, ...]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]
    lists: tuple[str, ...]
    groups: tuple[str, ...]
    arm: str
    pairs: tuple[PairStory, ...]
    across: tuple[PairStory, ...]
    columns: tuple[str, ...]
    limits: tuple[str, ...]

    @classmethod
    def of(cls, report: AuditRecord) -> Answer:
        """Collect the answer of a report; its pairs and groups are those of the arm that would be used."""
        judged = (arm for arm in report.arms.values() if arm.verdict is not None)
        explained = [pair for pair in report.main_arm.explained if pair.ratio > 0]
        stories = [_story(pair, is_sparse(report)) for pair in explained]
        return cls(
            sentence=report.findings[0],
            verdicts=(
                *(f"{arm.label}: {arm.verdict}" for arm in judged),
                *_whatever_is_missing(report),
                *map(str, report.checks),
            ),
            alarms=(*group_alarms(report), *filter(None, [report.reference.missing_in_worst])),
            tested=no_group_alarm(report),
            rows=headline(report),
            remarks=(
                *filter(None, [report.data.searched]),
                *_order_of_classes(report),
                *_proofs_distances(report),
                *_estimate_alone(report),
                *_no_error(report),
            ),
            lists=list_lines(report),
            groups=tuple(group_lines(report)),
            arm=report.main_arm.label,
            # Those that are explained beyond the worst ones are of two groups.
            pairs=tuple(stories[:WORST]),
            across=tuple(stories[WORST:]),
            columns=tuple(roles.sentence() for roles in report.data.columns),
            limits=tuple(_limits(report)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists and text."""
        return {
            "sentence": self.sentence,
            "verdicts": list(self.verdicts),
            "alarms": list(self.alarms),
            "tested": list(self.tested),
            "rows": [
                {"label": row.label, "values": list(row.values), "change": row.change} for row in self.rows
            ],
            "remarks": list(self.remarks),
            "lists": list(self.lists),
            "groups": [*self.tested, *self.groups],
            "limits": list(self.limits),
        }


def _whatever_is_missing(report: AuditRecord) -> tuple[str, ...]:
    return tuple(f"{arm.label}: {arm.completions}" for arm in report.arms.values() if arm.completions)


def undecided_lines(report: AuditRecord) -> tuple[str, ...]:
    """Say of the worst pairs for which missing entries decide on which features it depends, for every arm."""
    judged = [(arm.label, arm.completions.undecided) for arm in report.arms.values() if arm.completions]
    return tuple(f"{label}: {shown(str(pair))}." for label, pairs in judged for pair in pairs)


def _order_of_classes(report: AuditRecord) -> tuple[str, ...]:
    """Say in which order classes were taken, where D depends on it; once where all arms have the same."""
    outputs = [arm.fairness.output for arm in report.arms.values()]
    told = [f"D takes the {one.columns}." for one in outputs if one.columns.startswith(IN_ORDER)]
    return tuple(dict.fromkeys(told))


def _proofs_distances(report: AuditRecord) -> tuple[str, ...]:
    """Say which D and d the three numbers are of, where the audit compares by others, or the arms by different ones."""
    told = {arm.label: arm.sandwich.distance for arm in report.arms.values() if arm.sandwich}
    by_l2 = report.main_arm.fairness.output.norm in _EQUALS_L2
    alike = len(set(told.values())) == 1
    if not sandwich_row(list(report.arms.values())) or (alike and by_l2 and report.reference.kind != "given"):
        return ()
    named = (
        [report.main_arm.sandwich.distance]
        if alike and report.main_arm.sandwich
        else [f"{shown(label)}, {distance}" for label, distance in told.items()]
    )
    apart = (
        ""
        if alike
        else " The arms have different ones: compare neither with the other, nor with the largest ratio."
    )
    return (f"Measured, found, proved are of the proofs' D and d: l2, and {'; '.join(named)}.{apart}",)


def _estimate_alone(report: AuditRecord) -> tuple[str, ...]:
    """Say what error, gap and constant the estimate itself has: without the algorithm, people may be served better, and something is proved."""
    itself = report.estimate_alone
    if itself is None or itself.error is None:
        return ()
    said = [f"error {number(itself.error.rmse)}"]
    if itself.on_truth is not None:
        gap = itself.on_truth.relative_gap
        said.insert(0, f"gap {with_ends(gap.value, gap.low, gap.high)}")
    if itself.sandwich is not None:
        said.append(
            f"measured, found, proved {sandwich_text(itself.sandwich)} by l2 over {itself.sandwich.distance}"
        )
    return (f"The estimate itself, without the algorithm: {', '.join(said)}.",)


def _no_error(report: AuditRecord) -> tuple[str, ...]:
    """Say why there is no error; the row of it says only that there is none."""
    return tuple(finding for finding in report.findings if finding.startswith(UNMEASURED))


def _on_paper(pair: PairExplanation, sparse: bool) -> str:
    """Say that nothing sets two people apart, and by how much is known of them; where that is little, they are not called equal."""
    n = pair.reference.n_features
    if not sparse or not pair.reference.by_feature:
        return "equal on paper"
    if n < FEWEST_SHARED:
        return f"no difference in the {n} {'feature' if n == 1 else 'features'} known of them"
    return f"equal on paper in {n} features"


def _story(pair: PairExplanation, sparse: bool) -> PairStory:
    d, output = pair.reference, pair.output
    every = {part.feature: part for part in chain(d.apart, d.together)}
    left, right = _named(pair.left, pair.left_group), _named(pair.right, pair.right_group)
    apart = f"D {number(output.distance)}, d {number(d.distance)}"
    numbers = (
        f"ratio {number(pair.ratio)} ({apart})"
        if isfinite(pair.ratio)
        else f"{_on_paper(pair, sparse)} ({apart})"
    )
    # A single output without a name is the output, not "0".
    named = output.n_features > 1 or not all(isinstance(part.feature, int) for part in output.apart)
    names = [
        ", ".join(shown(part.feature) for part in parts[:_FEATURES])
        for parts in (d.together, output.apart if named else ())
    ]
    told = [f"{word} in {these}" for word, these in zip(("close", "apart"), names, strict=True) if these]
    return PairStory(
        left,
        right,
        numbers,
        _listed(d.together) if d.by_feature else "all features together (d is no sum over single ones)",
        _listed(output.apart, named=named)
        if output.by_feature
        else "all outputs together (D is no sum over single ones)",
        tuple((shown(part.feature), _value(part.left), _value(part.right)) for part in every.values()),
        "; ".join([f"{left} and {right}: {numbers}", *told]),
    )


def _named(individual: object, group: object) -> str:
    return shown(individual) if is_unknown(group) else f"{shown(individual)} ({shown(group)})"


def _listed(parts: tuple[Contribution, ...], *, named: bool = True) -> str:
    told = [
        f"{shown(part.feature) if named else 'the output'} ({_value(part.left)} and {_value(part.right)})"
        for part in parts[:_FEATURES]
    ]
    return ", ".join(told) or "nothing that stands out"


def _value(value: float | str) -> str:
    if isinstance(value, str):
        return shown(value)
    return "missing" if isnan(value) else number(value)


def _limits(report: AuditRecord) -> list[str]:
    """Say what the numbers do not show; the most important first."""
    fairness = report.main_arm.fairness
    by_activity = report.reference.measures_activity and report.truth is None
    lines = [
        "Whether d is the right notion of similarity: that is a choice, and everything here depends on it"
        f"{_OTHERWISE if by_activity else ''}.",
        "Whether the observations themselves are biased.",
    ]
    if not isinstance(fairness, SampledFairness):
        lines.append("How individuals who are not in these data would be treated, except for what is proved.")
    if any(arm.error and not arm.test_error for arm in report.arms.values()):
        lines.append(
            "The error on entries that people did not choose to fill: hidden observations are drawn from those they did."
        )
    if report.main_arm.accuracy is not None:
        lines.append("Whether the target is itself fair: accuracy takes it as it is.")
    missing = report.main_arm.certificate
    if isinstance(missing, Unavailable):
        lines.append(f"A proved constant of the outputs: none, because {missing.reason.rstrip('.')}.")
    return lines
