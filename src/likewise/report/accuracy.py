"""Errors on hidden observations, and accuracy against a target, as they are said: rows of the table, and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from likewise.fairness.metrics.target_accuracy import common_measure, label_of
from likewise.report.gap import interval_text
from likewise.report.numbers import (
    NOT_MEASURED,
    Group,
    Row,
    brief,
    change_between,
    change_text,
    direction,
    number,
    with_ends,
)

if TYPE_CHECKING:
    from likewise.fairness import ErrorMetrics, SampledValue, TargetAccuracy, TargetValue
    from likewise.report.records import Arm

_OF_TARGET = {
    "AUC": "How often a person with target 1 has a higher output than one with target 0, ties counted half: 1 is perfect, 0.5 is chance.",
    "log loss": "Minus the mean logarithm of the probability of the true class: 0 is perfect.",
    "accuracy": "Share of individuals whose class the outputs predict correctly.",
    "RMSE": "Root mean squared error, in the units of the target.",
    "MAE": "Mean absolute error, in the units of the target.",
    "nDCG": "Discounted gain of the lists over that of the best ones there could be: 1, the best; 0, nothing that was liked.",
    "recall": "Share of what an individual liked that is in the list.",
}


def target_row(label: str, told: list[TargetAccuracy], name: str) -> Row:
    """Return one number of accuracy of every arm, with intervals."""
    found = [accuracy.values.get(name) for accuracy in told]
    values = [one.value for one in found if one is not None]
    return Row(
        label,
        _OF_TARGET[name],
        tuple(map(_target_text, found)),
        change_between(values),
    )


def unmeasured_lists(n_arms: int) -> Row:
    """Return the row of lists of items that nothing was held against: they have no error."""
    return Row(label_of("nDCG"), _OF_TARGET["nDCG"], (NOT_MEASURED,) * n_arms)


def _target_text(found: TargetValue | None) -> str:
    if found is None:
        return NOT_MEASURED
    ends = found.interval
    return number(found.value) if ends is None else with_ends(found.value, ends.low, ends.high)


def target_groups(arms: list[Arm]) -> Iterator[Group]:
    """Yield what was measured against the target, if there is one."""
    told = [arm.accuracy for arm in arms if arm.accuracy is not None]
    if told:
        names = dict.fromkeys(name for accuracy in told for name in accuracy.values)
        title = f"Outputs against {told[0].against} of {told[0].n:,} individuals"
        yield Group(title, tuple(target_row(name, told, name) for name in names))


def change_of_accuracy(before: Arm, after: Arm) -> str | None:
    """Say how the accuracy against the target changes; None where both have no number in common."""
    one, other = before.accuracy, after.accuracy
    if one is None or other is None or (measure := common_measure([one, other])) is None:
        return None
    pair = one.values[measure].value, other.values[measure].value
    verb = {-1: "falls", 0: "stays the same", 1: "rises"}[direction(*pair)]
    name = "share predicted correctly" if measure == "accuracy" else measure
    return f"the {name} {verb} ({brief(pair[0])} before, {brief(pair[1])} after)"


def cost_of(before: Arm, after: Arm, change: SampledValue | None) -> str:
    """Say what a change costs in accuracy, to stand at the end of the answer."""
    if (told := change_of_accuracy(before, after)) is not None:
        return f"; {told}"
    if before.error is None or after.error is None:
        return "; what it costs in accuracy was not measured"
    pair = before.error.rmse, after.error.rmse
    numbers = f"RMSE {brief(pair[0])} before, {brief(pair[1])} after"
    if (verb := _change_of_error(pair, change)) is None:
        return f"; whether the error changes cannot be told ({numbers})"
    return f"; the error {verb} ({numbers})"


def _change_of_error(pair: tuple[float, float], change: SampledValue | None) -> str | None:
    """Return what the error does; None where that cannot be told, as the interval of its change holds 0."""
    way = direction(*pair)
    if way and change is not None and change.low <= 0 <= change.high:
        return None
    return {-1: "falls", 0: "stays the same", 1: "rises"}[way]


def accuracy_sentence(*arms: Arm) -> str:
    """Say how well the outputs tell the target, for whom, and what was taken for what."""
    told = [arm.accuracy for arm in arms if arm.accuracy is not None]
    if not told:
        return ""
    values = " before; ".join(str(accuracy) for accuracy in told) + (" after" if len(told) > 1 else "")
    unknown = f"; {told[0].n_unknown:,} whose target is unknown are left out" if told[0].n_unknown else ""
    notes = "; ".join(dict.fromkeys(note for accuracy in told for note in accuracy.notes))
    return (
        f"Against {told[0].against}, by {told[0].predicted_by}: {values}{unknown}. {_capital(notes)}{'.' * bool(notes)}"
    ).rstrip()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_ERRORS = {
    "rmse": ("RMSE", "Root mean squared error, in {unit}."),
    "mae": ("MAE", "Mean absolute error, in {unit}."),
    "mse": ("MSE", "Mean squared error, in the square of {unit}."),
    "mse_scaled": ("MSE on the method's working range", "Comparable with the paper's tables."),
}


def error_groups(arms: list[Arm]) -> Iterator[Group]:
    """Yield the errors that were measured: on hidden observations, and on those of a test from elsewhere."""
    for errors, what in (
        ([arm.error for arm in arms], "hidden observations"),
        ([arm.test_error for arm in arms], "test observations from elsewhere"),
    ):
        known = [error for error in errors if error is not None]
        if known:
            yield Group(f"Error on {known[0].n:,} {what}", tuple(_error_rows(errors)))


def _error_rows(errors: list[ErrorMetrics | None]) -> Iterator[Row]:
    unit = next(error.unit for error in errors if error is not None)
    for name, (label, meaning) in _ERRORS.items():
        values = [None if error is None else float(getattr(error, name)) for error in errors]
        texts = tuple(NOT_MEASURED if value is None else number(value) for value in values)
        yield Row(
            label,
            meaning.format(unit=unit),
            texts,
            change_between([value for value in values if value is not None]),
        )


UNMEASURED = "Accuracy was not measured"
"""How the finding begins that there is no error."""


def error_alone(arm: Arm, unmeasured: str | None) -> str:
    """Say the error of the only arm; why there is none, where that is known."""
    if arm.error is not None:
        return f"The error on hidden observations: RMSE {brief(arm.error.rmse)}, in {arm.error.unit}."
    return f"{UNMEASURED} because {unmeasured}." if unmeasured else ""


def error_sentence(
    before: Arm, after: Arm, change: SampledValue | None, advice: str | None, unmeasured: str | None
) -> str:
    """Say how the error on hidden observations changes, or that it was not measured."""
    if before.error is None or after.error is None:
        because = f" because {unmeasured}" if unmeasured else ""
        return f"{UNMEASURED}{because}: whether fairness cost accuracy is not shown."
    pair = (before.error.rmse, after.error.rmse)
    verb = _change_of_error(pair, change)
    does = "The error on hidden observations " + (verb or "may be the same before and after")
    interval = "" if change is None else f", a change of {interval_text(change)}"
    text = f"{does}: RMSE {change_text(*pair)}{interval}, in {before.error.unit}."
    return f"{text} {advice}" if advice and verb == "rises" else text


def outside_test_sentence(*arms: Arm) -> str:
    """State the error on a test from elsewhere: other entries than those that people chose to fill."""
    errors = [arm.test_error for arm in arms if arm.test_error is not None]
    if not errors:
        return ""
    rmse = brief(errors[0].rmse) if len(errors) == 1 else change_text(*(error.rmse for error in errors))
    return f"On {errors[0].n:,} test observations from elsewhere: RMSE {rmse}, in {errors[0].unit}."
