"""Named checks on a report, for pipelines: ``gap<=0.9``, ``rmse<=1.0:warning``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass, replace
from difflib import get_close_matches
from math import isfinite, isinf, isnan, nan
from typing import TYPE_CHECKING, Literal, Self, TypeVar

from likewise.errors import InputError
from likewise.fairness import Certificate, GroupEffects, SampledValue, Unavailable
from likewise.report.gap import Gap
from likewise.report.groups import less_sure
from likewise.report.numbers import number, with_ends
from likewise.report.records import CheckResult

if TYPE_CHECKING:
    from likewise.fairness import AnyMetricValue
    from likewise.report.records import Arm, AuditRecord

    Record = TypeVar("Record", bound=AuditRecord)

Ends = tuple[float, float, float]
"""A number and its interval, which is the number itself where it is exact."""

_UNKNOWN: Ends = (nan, nan, nan)
_FORM = re.compile(r"\s*([\w-]+)\s*(<=|>=)\s*([^\s:]+)\s*(?::\s*(error|warning)\s*)?")


def _gap(arm: Arm) -> Ends:
    gap = Gap.of_arm(arm)
    return (gap.value, gap.low, gap.high) if gap.has_interval else _exact(gap.value)


def _rmse(arm: Arm) -> Ends:
    if arm.error is None:
        return _of_target("RMSE")(arm)
    ends = arm.error.rmse_interval
    return _exact(arm.error.rmse) if ends is None else (arm.error.rmse, ends.low, ends.high)


def _mae(arm: Arm) -> Ends:
    return _of_target("MAE")(arm) if arm.error is None else _exact(arm.error.mae)


def _of_target(name: str) -> Callable[[Arm], Ends]:
    def found(arm: Arm) -> Ends:
        value = None if arm.accuracy is None else arm.accuracy.values.get(name)
        if value is None:
            return _UNKNOWN
        ends = value.interval
        return _exact(value.value) if ends is None else (value.value, ends.low, ends.high)

    return found


def _envy(arm: Arm) -> Ends:
    if arm.lists is None or isinstance(arm.lists.envy, Unavailable):
        return _UNKNOWN
    return _exact(arm.lists.envy.share)


def _proved(arm: Arm) -> Ends:
    return _exact(arm.certificate.value) if isinstance(arm.certificate, Certificate) else _UNKNOWN


def _group_difference(arm: Arm) -> Ends:
    """Return the largest difference of a group from similar people, by the mean difference between two people, and what is certain of all groups."""
    effects = arm.group_effects
    if not isinstance(effects, GroupEffects):
        return _UNKNOWN
    every = effects.effects
    surely = (min(abs(one.low), abs(one.high)) if one.low * one.high > 0 else 0.0 for one in every)
    low = max(
        by * one.share / abs(one.difference) if by else 0.0 for by, one in zip(surely, every, strict=True)
    )
    return max(one.share for one in every), low, max(one.at_most for one in every)


def _why_not(name: str, arm: Arm) -> str:
    """Return why a number was not measured, where that is known."""
    found = {
        "group-difference": arm.group_effects,
        "envy": arm.lists and arm.lists.envy,
        "proved": arm.certificate,
    }
    told = found.get(name)
    return told.reason if isinstance(told, Unavailable) else ""


def _metric(name: str) -> Callable[[Arm], Ends]:
    def found(arm: Arm) -> Ends:
        value: AnyMetricValue | None = arm.fairness.metrics().get(name)
        if value is None:
            return _UNKNOWN
        return (
            (value.value, value.low, value.high) if isinstance(value, SampledValue) else _exact(value.value)
        )

    return found


def _exact(value: float) -> Ends:
    return value, value, value


NUMBERS: dict[str, Callable[[Arm], Ends]] = {
    "gap": _gap,
    "rmse": _rmse,
    "mae": _mae,
    "auc": _of_target("AUC"),
    "log-loss": _of_target("log loss"),
    "accuracy": _of_target("accuracy"),
    "ndcg": _of_target("nDCG"),
    "recall": _of_target("recall"),
    "envy": _envy,
    "mean-ratio": _metric("mean_ratio"),
    "largest-ratio": _metric("max_ratio"),
    "scale-free-ratio": _metric("similar_scale_free_ratio"),
    "violations": _metric("violation_rate"),
    "spread": _metric("output_spread"),
    "proved": _proved,
    "group-difference": _group_difference,
}
"""What a check can be about, of the arm that would be used."""


def _finite_first(arm: Arm) -> str:
    """Return the mean ratio of the pairs that have one, and how many have none."""
    finite, n = arm.fairness.finite_mean_ratio.value, arm.fairness.n_infinite
    return f"{number(finite)} over finite pairs; infinite with {n:,} {'pair' if n == 1 else 'pairs'} at d = 0 < D"


def _of_groups(report: AuditRecord) -> str:
    """Name the unit of a difference of groups, which could be taken for another, and its confidence where that is not the one asked for."""
    effects, asked = report.main_arm.group_effects, report.settings.get("confidence", 0.0)
    sure = less_sure(effects, asked) if isinstance(effects, GroupEffects) else ""
    return f" times the mean difference between two people{sure}"


@dataclass(frozen=True)
class Check:
    """A limit on a number of a report, such as ``gap<=0.9``.

    Parameters
    ----------
    name : str
        A key of `NUMBERS`.
    relation : {"<=", ">="}
    limit : float
    severity : {"error", "warning"}
    """

    name: str
    relation: str
    limit: float
    severity: str = "error"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read ``gap<=0.9`` or ``rmse<=1.0:warning``.

        Raises
        ------
        InputError
            No such form, an unknown name, or a limit that is no finite number.

        Examples
        --------
        >>> Check.read("gap <= 0.9:warning")
        Check(name='gap', relation='<=', limit=0.9, severity='warning')
        """
        form = _FORM.fullmatch(text)
        if form is None:
            raise InputError(f"check {text!r}", "NAME<=LIMIT or NAME>=LIMIT, with :warning behind it or not")
        name, relation, limit, severity = form.groups()
        name = name.replace("_", "-")
        if name not in NUMBERS:
            near = get_close_matches(name, NUMBERS, n=1)
            hint = f"did you mean {near[0]}?" if near else ""
            raise InputError(f"check {text!r} of {name!r}", f"one of {', '.join(NUMBERS)}", hint)
        try:
            value = float(limit)
        except ValueError:
            value = nan
        if not isfinite(value):
            raise InputError(f"check {text!r} with limit {limit!r}", "a finite number")
        return cls(name, relation, value, severity or "error")

    def judge(self, report: AuditRecord) -> CheckResult:
        """Hold the number of the arm that would be used against the limit; an interval holds or breaks it only as a whole."""
        value, low, high = NUMBERS[self.name](report.main_arm)
        text = str(self)
        if isnan(value):
            return CheckResult(
                text, self.severity, "not measured", value, _why_not(self.name, report.main_arm)
            )
        said = with_ends(value, low, high) if low < high else number(value)
        if self.name == "group-difference":
            said += _of_groups(report)
        if self.name == "mean-ratio" and isinf(value):
            said = _finite_first(report.main_arm)
        return CheckResult(text, self.severity, self._status(low, high), value, said)

    def _status(self, low: float, high: float) -> Literal["holds", "broken", "cannot be told"]:
        ends = (low <= self.limit, high <= self.limit)
        if self.relation == ">=":
            ends = (low >= self.limit, high >= self.limit)
        if all(ends):
            return "holds"
        return "cannot be told" if any(ends) else "broken"

    def __str__(self) -> str:
        return f"{self.name}{self.relation}{self.limit:g}"


def with_checks(report: Record, checks: Sequence[str | Check]) -> Record:
    """Return the report with what became of these checks, which it then shows.

    Parameters
    ----------
    report : AuditReport
    checks : list of str or Check

    Returns
    -------
    AuditReport

    Raises
    ------
    InputError
        A check that cannot be read.
    """
    if not isinstance(checks, list | tuple) or not all(isinstance(check, str | Check) for check in checks):
        raise InputError(f"checks of type {type(checks).__name__}", "a list of checks, text or Check")
    if isinstance(report, type) or not is_dataclass(report) or not hasattr(report, "arms"):
        raise InputError(f"report of type {type(report).__name__}", "an AuditReport")
    read = [check if isinstance(check, Check) else Check.read(check) for check in checks]
    return replace(report, checks=tuple(check.judge(report) for check in read))
